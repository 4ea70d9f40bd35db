import json

import numpy as np
import pytest

from isthmus.core import History, Problem, act, stream
from isthmus.experts import conditioned_path, load_conditioned, load_expert
from isthmus.experts.assess import assess
from isthmus.experts.conditioned import ConditionedWorlds, Told
from isthmus.experts.make import make_expert
from isthmus.experts.randomised import RandomisedWorlds
from isthmus.experts.settings import TrainSettings
from isthmus.experts.shipped import provenance
from isthmus.gaps import Gap, Ranges
from isthmus.policies.conditioned import read_conditioned
from isthmus.robots import TASKS, load_task
from isthmus.sysid.quantities import Quantities

REACHER = load_task("reacher")
RANGES = Ranges.parse("mass=0.5:2,damping=0.5:2,delay=0:1")
TINY = TrainSettings(
    steps=400, worlds=4, batch=50, hidden=8, randomise="mass=0.5:2,damping=0.5:2,delay=0:1", conditioned=True
)


def test_only_quantities_that_vary_are_told():
    told = Told.of(REACHER, RANGES)
    assert {name.split()[0] for name in told.names} == {"mass", "damping"}
    assert (told.low < -0.5).all()
    assert (told.high > 0.5).all()


def test_every_robot_is_told_its_own_physics_and_told_anew_when_it_changes():
    told = Told.of(REACHER, RANGES)
    worlds = ConditionedWorlds(RandomisedWorlds(REACHER, 3, RANGES), told)
    size = REACHER.robot_model.spec.observation_size
    first = worlds.reset(stream(0)).copy()
    assert first.shape == (3, size + len(told.names))
    assert len(np.unique(first[:, size])) == 3
    after = worlds.step(np.zeros((3, 2))).observations
    np.testing.assert_array_equal(after[:, size:], first[:, size:])
    second = worlds.reset(stream(1), np.array([False, True, False]))
    changed = (second[:, size:] != first[:, size:]).any(axis=1)
    np.testing.assert_array_equal(changed, [False, True, False])


def test_a_policy_to_start_from_does_not_heed_what_it_is_told():
    told, expert = Told.of(REACHER, RANGES), load_expert(REACHER)
    wide = told.widened(expert.network)
    seen = expert.see(REACHER.source(5).reset(stream(0)))
    z = np.random.default_rng(0).normal(size=(5, len(told.names)))
    np.testing.assert_allclose(wide(np.hstack((seen, z))), expert.network(seen), atol=1e-6)


def test_a_conditioned_training_keeps_names_and_ranges_and_says_how_it_was_made(tmp_path):
    path = tmp_path / "made.npz"
    made = make_expert("reacher", path, TINY, 0, 2, lambda *_: None)
    policy = read_conditioned(path, REACHER.view.see)
    assert policy.names == Told.of(REACHER, RANGES).names
    assert "--conditioned" in made["command"]
    assert made["evaluation"]["randomised"]["gym_return"]["mean"] < 0
    assert json.loads(path.with_suffix(".json").read_text())["stages"][0]["settings"]["conditioned"] is True
    window = History.of(REACHER.source(2).reset(stream(0)))
    assert policy(window).shape == (2, 2)
    make_expert("reacher", path, TrainSettings(**{**vars(TINY), "steps": 800}), 0, 2, lambda *_: None, resume=True)
    assert not np.array_equal(read_conditioned(path, REACHER.view.see)(window), policy(window))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"randomise": ""}, "give --randomise too"),
        ({"algorithm": "gradient"}, "ppo or trpo"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, why):
    with pytest.raises(Problem, match=why):
        TrainSettings(**{**vars(TINY), **changes})


def test_ranges_without_anything_to_identify_are_refused():
    with pytest.raises(Problem, match="nothing that identification finds"):
        Told.of(REACHER, Ranges.parse("delay=0:1"))


@pytest.mark.parametrize("name", [name for name in TASKS if conditioned_path(name).exists()])
def test_a_shipped_policy_does_at_home_what_its_provenance_says_and_heeds_physics(name):
    task = load_task(name)
    policy, made = load_conditioned(task), provenance(conditioned_path(name))
    assert set(policy.names) <= set(Quantities(task.robot_model).names)
    home = policy.at(np.zeros(len(policy.names)))
    figures = assess(task, home, Gap(), 4, stream(0))["gym_return"]
    recorded = made["evaluation"]["gym_return"]
    assert figures["mean"] > recorded["mean"] - 3 * recorded["std"] - 0.05 * abs(recorded["mean"])
    window = History.of(task.source(2).reset(stream(0)))
    other = policy.at(policy.high)
    assert np.abs(act(home, window)[0] - act(other, window)[0]).max() > 0.01
