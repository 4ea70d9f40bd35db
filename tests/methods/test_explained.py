import numpy as np
import pytest

from isthmus.core import Trajectory, stream
from isthmus.gaps import Gap
from isthmus.methods import MethodSettings, Source
from isthmus.methods.explained import ENOUGH, ExplainedMethod, _latest
from isthmus.policies import ZeroPolicy
from isthmus.tasks import load_task
from isthmus.worlds import MujocoWorld

TASK, GAP = load_task("reacher"), Gap.parse("armature=3")


def swung(number, steps=40):
    robot, rng = TASK.target(GAP, 1), stream(number)
    seen, commands = [robot.reset(rng)], rng.uniform(-1, 1, (steps, 2))
    seen += [robot.step(command[None]).observations for command in commands]
    seen = np.concatenate(seen)
    return [Trajectory(seen, commands, commands, commands, seen[1:])]


def test_what_another_simulator_explains_is_no_disturbance_in_it():
    source = Source(ZeroPolicy(2), TASK.source(), TASK.unlimited(4), TASK.embodiment.spec, 0)
    method, episodes = ExplainedMethod(source, MethodSettings(history=2)), [swung(number) for number in range(6)]
    assert not method.upset(episodes).response.disturbance.spread.any()  # nothing was learned yet
    method.learn(episodes, 0, lambda *_: None)
    in_source = method.upset(episodes).response.disturbance
    right = MujocoWorld(TASK.embodiment, models=GAP.apply(TASK.embodiment.model))
    assert (method.upset(episodes, right).response.disturbance.spread < 0.01 * in_source.spread).all()
    np.testing.assert_array_equal(
        method.upset(episodes).response.disturbance.spread, in_source.spread
    )  # what is learned stays


@pytest.mark.parametrize(("lengths", "taken"), [((10, 20), [0, 1]), ((10, ENOUGH - 5, 10), [1, 2]), ((5, ENOUGH), [1])])
def test_disturbances_are_told_from_the_latest_episodes(lengths, taken):
    def still(steps):
        nothing = np.zeros((steps, 2))
        return [Trajectory(np.zeros((steps + 1, 11)), nothing, nothing, nothing, np.zeros((steps, 11)))]

    latest = _latest([still(steps) for steps in lengths])
    assert [one.samples for [one] in latest] == [lengths[number] for number in taken]
