import json

import numpy as np
import pytest

from isthmus.core import History, Problem, stream
from isthmus.experts.make import make_expert
from isthmus.experts.randomised import RandomisedWorlds
from isthmus.experts.settings import TrainSettings
from isthmus.gaps import Ranges
from isthmus.robots import load_task

HOPPER = load_task("hopper")
REACHER = load_task("reacher")


def step_from_rest(worlds, n):
    """Where the robots get to when all start in the same state and are told the same."""
    worlds.place(np.tile(HOPPER.source().reset(stream(0)), (n, 1)))
    return worlds.step(np.full((n, 3), 0.5)).observations


def test_every_simulation_has_dynamics_of_its_own():
    drawn = RandomisedWorlds(HOPPER, 4, Ranges.parse("mass=0.7:1.3")).drawn(stream(1))
    seen = step_from_rest(drawn, 4)
    assert len(np.unique(seen[:, 4])) == 4
    same = step_from_rest(RandomisedWorlds(HOPPER, 4, Ranges.parse("mass=1:1")).drawn(stream(1)), 4)
    np.testing.assert_array_equal(
        same[0], HOPPER.source().predict(History.of(HOPPER.source().reset(stream(0))), np.full((1, 3), 0.5))[0]
    )


def test_dynamics_are_drawn_anew_for_the_episodes_that_begin_and_for_no_others():
    worlds, rng = RandomisedWorlds(HOPPER, 3, Ranges.parse("gravity=0.8:1.2")), stream(2)

    def fall():
        """How fast each robot falls after a step without ground."""
        worlds.fields["qpos"][:, 1] += 1.0
        before = worlds.fields["qvel"][:, 1].copy()
        worlds.step(np.zeros((3, 3)))
        return worlds.fields["qvel"][:, 1] - before

    worlds.reset(rng)
    first, second = fall(), fall()
    np.testing.assert_allclose(first, second, rtol=1e-2)
    worlds.reset(rng, np.array([False, True, False]))
    third = fall()
    np.testing.assert_allclose(third[[0, 2]], first[[0, 2]], rtol=1e-2)
    assert abs(third[1] / first[1] - 1) > 0.02


def test_a_delay_is_drawn_for_each_simulation():
    worlds = RandomisedWorlds(REACHER, 40, Ranges.parse("delay=0:1"))
    first = worlds.reset(stream(3))
    moved = np.abs(worlds.step(np.ones((40, 2))).observations - first)[:, 6:8].max(axis=1) > 1e-3
    assert 5 < moved.sum() < 35  # the others have not been told yet
    assert (np.abs(worlds.step(np.ones((40, 2))).observations - first)[:, 6:8].max(axis=1) > 1e-3).all()


def test_a_robust_training_is_the_same_again_and_says_how_it_was_made(tmp_path):
    settings = TrainSettings(steps=400, worlds=4, batch=50, hidden=8, randomise="mass=0.8:1.25,delay=0:1")
    made = [make_expert("reacher", tmp_path / f"{name}.npz", settings, 1, 6, lambda *_: None) for name in "ab"]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert "--randomise mass=0.8:1.25,delay=0:1" in made[0]["command"]
    assert made[0]["stages"][0]["settings"]["randomise"] == "mass=0.8:1.25,delay=0:1"
    written = json.loads((tmp_path / "a.json").read_text())["evaluation"]
    assert written["randomised"]["gym_return"]["mean"] != written["gym_return"]["mean"]


def test_a_training_under_ranges_that_do_not_fit_is_refused(tmp_path):
    with pytest.raises(Problem, match="two numbers"):
        TrainSettings(randomise="mass")
    settings = TrainSettings(steps=400, worlds=4, batch=50, hidden=8, randomise="gravity=0.8:1.2")
    with pytest.raises(Problem, match="does not fit"):
        make_expert("reacher", tmp_path / "mine.npz", settings, 0, 5, lambda *_: None)
