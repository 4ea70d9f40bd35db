from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.baselines.pd import joint_errors
from isthmus.adapt.common.method_state import MethodState
from isthmus.core import History, Problem, Trajectory, act, stream
from isthmus.experts import load_expert
from isthmus.robots import load_task
from isthmus.sim.anatomy import joints_of
from isthmus.transfer import Config, RunFolder, run_transfer

TASK = load_task("hopper")
SPEC = TASK.robot_model.spec


def method():
    source = Source(load_expert(TASK), TASK.source(), TASK.unclamped(4), SPEC, 0, robot_model=TASK.robot_model)
    return make_method("pd", source, MethodSettings())


def episode(actions, observations):
    return [Trajectory(observations, actions, np.clip(actions, -1, 1), actions, observations[1:])]


def test_joints_are_read_from_an_observation():
    observations = stream(0).standard_normal((3, 12))
    positions, velocities = joints_of(TASK.robot_model)(observations)
    np.testing.assert_array_equal(positions, observations[:, 3:6])
    np.testing.assert_array_equal(velocities, observations[:, 9:12])


def test_gains_that_made_the_actions_are_found_in_hindsight_without_those_at_a_limit():
    rng, joints = stream(1), joints_of(TASK.robot_model)
    observations = 0.1 * rng.standard_normal((200, 12))
    errors = joint_errors(joints, observations[:-1], observations[1:])
    wanted = np.array([[3.0, 1.0, 2.0], [0.5, 2.5, 4.0], [0.1, -0.2, 0.0]])
    actions = np.einsum("nag,ga->na", errors, wanted)
    assert (np.abs(actions) > 1).any()
    tuned = method()
    learned = tuned.learn([episode(actions, observations)], 0, lambda *_: None)
    np.testing.assert_allclose(tuned.policy().gains, wanted, rtol=1e-4, atol=1e-4)
    assert max(learned.error) < 1e-3


def test_an_angle_that_comes_round_makes_no_jump():
    reacher = load_task("reacher")
    now, then = (reacher.source(1).reset(stream(2)) for _ in range(2))
    for observations, angle in ((now, 3.1), (then, -3.1)):
        observations[0, 0], observations[0, 2] = np.cos(angle), np.sin(angle)
    assert joint_errors(joints_of(reacher.robot_model), now, then)[0, 0, 0] == pytest.approx(2 * np.pi - 6.2)


def test_a_joint_that_is_where_it_is_wanted_is_held():
    tuned = method()
    rng = stream(3)
    tuned.learn([episode(0.1 * rng.standard_normal((50, 3)), rng.standard_normal((51, 12)))], 0, lambda *_: None)
    decider = tuned.policy()
    resting = replace(decider, simulator=_Still())
    held = np.tile(decider.gains[2], (2, 1))
    np.testing.assert_array_equal(act(resting, History.of(rng.standard_normal((2, 12))))[0], held)


class _Still:
    def predict(self, history, _actions):
        return history.current


def test_it_tracks_better_than_nothing_on_a_tilted_arm(tmp_path):
    config = Config("reacher", "tilt=45", "pd", samples=250, evaluation_episodes=50)
    result = run_transfer(config, RunFolder(tmp_path / "run"))
    assert result.samples == 250
    assert result.normalised_adapted > result.normalised_unadapted + 0.04


def test_a_robot_without_driven_joints_and_a_damaged_file_are_refused(tmp_path):
    source = Source(load_expert(TASK), TASK.source(), TASK.unclamped(4), SPEC, 0)
    with pytest.raises(Problem, match="each drive one joint"):
        make_method("pd", source, MethodSettings())
    (tmp_path / "gains.npz").write_bytes(b"no gains")
    with pytest.raises(Problem, match=r"gains\.npz"):
        method().restore(MethodState.read(tmp_path / "gains.npz", "pd-gains"))
