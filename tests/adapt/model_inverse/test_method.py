from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.model_inverse.method import ITERATIONS, ModelInversePolicy, _Trial
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import History, Problem, act, stream
from isthmus.core.metric import Metric
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid import Physics
from isthmus.sysid.open_target import UnclampedTarget
from isthmus.transfer import Config, RunFolder, run_transfer

TASK = load_task("reacher")


def method(*, physics=True):
    source = Source(
        load_expert(TASK),
        TASK.source(),
        TASK.unclamped(4),
        TASK.robot_model.spec,
        0,
        robot_model=TASK.robot_model if physics else None,
    )
    return make_method("model-inverse", source, MethodSettings())


def test_a_heavier_tilted_arm_does_what_the_expert_does_in_simulation(tmp_path):
    config = Config(
        "reacher", "tilt=90,mass=1.3", "model-inverse", samples=100, round_samples=50, evaluation_episodes=50
    )
    result = run_transfer(config, RunFolder(tmp_path / "run"))
    assert result.samples == 100
    assert result.normalised_unadapted < 0.8
    assert result.normalised_adapted == pytest.approx(1.0, abs=0.02)


def test_physics_that_were_identified_beside_the_sensors_are_followed():
    z = np.linspace(-0.1, 0.1, Physics(TASK.robot_model).size)
    source = replace(method()._source, identified=lambda: z)
    one = make_method("model-inverse", source, MethodSettings())
    one.learn([], 0, lambda _epoch, _loss: None)
    assert np.array_equal(one.followed, z)
    assert isinstance(one.policy(), ModelInversePolicy)


def test_a_policy_that_commands_beyond_the_limits_is_corrected_to_within_them():
    """Motors of twice the strength need half the action, whatever the policy commands beyond the limit."""
    spec, strong = TASK.robot_model.spec, Gap.parse("torque-scale=2").apply(TASK.robot_model.model)
    reach = OneStepInverse(
        UnclampedTarget.of(TASK.robot_model, strong).simulator,
        spec.action_low,
        spec.action_high,
        Metric.even(spec.targets, np.ones(len(spec.targets))),
        ITERATIONS,
    )
    adapted = ModelInversePolicy(lambda history: np.tile([2.5, -3.0], (len(history.current), 1)), TASK.source(), reach)
    command, _ = act(adapted, History.of(TASK.source(3).reset(stream(2))))
    np.testing.assert_allclose(command, np.tile([0.5, -0.5], (3, 1)), atol=0.1)


def test_without_physics_to_change_and_from_a_damaged_file_it_is_refused(tmp_path):
    with pytest.raises(Problem, match="physical parameters"):
        method(physics=False)
    with pytest.raises(ValueError, match="nothing was identified"):
        method().state().write(tmp_path / "z.npz")
    (tmp_path / "z.npz").write_bytes(b"nothing")
    with pytest.raises(Problem, match=r"z\.npz"):
        method().restore(MethodState.read(tmp_path / "z.npz", "physical-parameters"))


def test_parameters_of_another_robot_are_refused(tmp_path):
    other = method()
    other._z = np.zeros(3)
    other.state().write(tmp_path / "z.npz")
    with pytest.raises(Problem, match="of this robot"):
        method().restore(MethodState.read(tmp_path / "z.npz", "physical-parameters"))


@pytest.mark.parametrize(
    ("actions", "predictions", "followed"),
    [(0.5, 0.5, True), (0.5, 1.5, False), (1.5, 0.5, False), (0.99, 0.99, False)],
)
def test_a_fit_is_followed_where_it_surely_predicts_and_tells_actions_better(actions, predictions, followed):
    rng = stream(0)
    errors, missed = rng.standard_normal((2, 50, 2))
    noise = 0.1 * rng.standard_normal((2, 50, 2))
    own = _Trial(errors, missed, np.ones(2))
    fitted = _Trial(actions * errors + noise[0], predictions * missed + noise[1], np.ones(2))
    assert (fitted.gain(own) > 0) == followed
    assert own.gain(own) == 0.0
