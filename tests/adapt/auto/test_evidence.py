import numpy as np
import pytest

from isthmus.adapt.auto.evidence import deviations, surely_closer, unadapted_runs
from isthmus.core import Trajectory, rollout, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.transfer.source.source import make_source

TASK = load_task("hopper")
EXPERT = load_expert(TASK)
SOURCE = make_source(TASK, EXPERT, 0)


def runs(gap, policy=EXPERT, seed=0, n=4, steps=40):
    robot = TASK.target(Gap.parse(gap), n)
    start = robot.reset(stream(seed))
    moments = list(rollout(robot, policy, start, steps=steps))
    found = []
    for world in range(n):
        kept = [one for one in moments if one.running[world]]
        seen = np.stack([start[world], *(one.step.observations[world] for one in kept)])
        asked = np.stack([one.commands[world] for one in kept])
        applied = np.stack([one.step.applied[world] for one in kept])
        found.append(Trajectory(seen, asked, applied, asked, seen[1:]))
    return found


def test_without_a_gap_nothing_is_away_from_the_simulation():
    np.testing.assert_allclose(deviations(SOURCE, runs("none"), 40), 0.0, atol=1e-6)


def test_the_larger_the_gap_the_farther_is_what_the_robot_does():
    small, large = (deviations(SOURCE, runs(f"gravity={factor}"), 40).mean() for factor in (1.05, 1.4))
    assert 0.0 < small < large


def test_more_runs_than_there_are_simulations_are_compared_too():
    many = runs("gravity=1.2", n=19)
    np.testing.assert_allclose(deviations(SOURCE, many, 40)[:4], deviations(SOURCE, many[:4], 40), rtol=0.01)


def test_who_is_closer_is_said_only_where_it_is_sure():
    close, far = runs("gravity=1.05"), runs("gravity=1.4", seed=1)
    assert surely_closer(SOURCE, close, far, 2.0)
    assert not surely_closer(SOURCE, far, close, 2.0)
    assert not surely_closer(SOURCE, close, runs("gravity=1.05", seed=1), 2.0)
    assert not surely_closer(SOURCE, close[:2], far, 2.0)  # too few to say


@pytest.mark.parametrize(
    ("interrupted", "rounding", "counts"), [(0.1, 0.0, True), (0.9, 0.0, False), (0.1, 5e-7, True), (0.1, 1e-3, False)]
)
def test_runs_of_the_unadapted_policy_are_told_by_their_commands(interrupted, rounding, counts):
    """A network's answer to a row of a batch is not that to the row alone, to the last digit."""
    rng = np.random.default_rng(0)
    source = rng.standard_normal((50, 3))
    commands = np.where(rng.random(50)[:, None] < interrupted, 0.0, source)
    seen = np.zeros((51, TASK.robot_model.spec.observation_size))
    run = Trajectory(seen, commands, commands, source + rounding, seen[1:])
    assert bool(unadapted_runs(TASK.robot_model.spec, [[run]])) is counts
