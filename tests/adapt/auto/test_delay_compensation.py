import numpy as np
import pytest

from isthmus.adapt.auto.delay_compensation import DelayCompensatedPolicy
from isthmus.core import HistoryBuffer, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.robots import load_task


@pytest.mark.parametrize("late", [1, 3])
def test_commands_that_come_late_are_those_of_a_robot_that_is_on_time(late):
    """Where the simulator is right, a late robot does what one does that waited for so long before it began."""
    task = load_task("hopper")
    expert, spec = load_expert(task), task.robot_model.spec
    robot, simulator = task.target(Gap.parse(f"delay={late}"), 2), task.source(2)
    policy = DelayCompensatedPolicy(Unadapted(expert, task.source()), task.source(), late)
    buffer, plain = HistoryBuffer(spec, 2, late + 1), HistoryBuffer(spec, 2, 1)
    buffer.begin(robot.reset(stream(0)))
    simulator.reset(stream(0))
    for _ in range(late):
        waited = simulator.step(np.zeros((2, spec.action_size)))
    plain.begin(waited.observations)
    for _ in range(20):
        command = policy.decide(buffer.window, {})[0].command
        np.testing.assert_array_equal(command, policy.act(buffer.window, {})[0])
        asked = expert(plain.window)
        np.testing.assert_allclose(command, asked, atol=1e-3)
        step, there = robot.step(command), simulator.step(asked)
        buffer.append(step.applied, step.observations)
        plain.append(there.applied, there.observations)
