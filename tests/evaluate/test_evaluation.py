import warnings

import gymnasium
import numpy as np
import pytest

from isthmus.core import Policy, stream
from isthmus.evaluate import Scale, evaluate, record
from isthmus.experts import load_expert
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.robots import load_task

TASK = load_task("reacher")


def gymnasium_return(policy: Policy, qpos, qvel):
    """Gym's own loop, from the same state, on the same model."""
    from isthmus.core import History

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(TASK.gym_id).unwrapped
    env.reset(seed=0)
    for name in ("body_mass", "body_inertia", "body_invweight0", "dof_invweight0", "dof_M0", "body_subtreemass"):
        getattr(env.model, name)[:] = getattr(TASK.robot_model.model, name)
    env.set_state(qpos, qvel)
    observation, total = env._get_obs(), 0.0
    for _ in range(50):
        action = TASK.robot_model.spec.clip(policy(History.of(observation[None])))[0]
        observation, reward, *_ = env.step(action)
        total += reward
    return total


def test_returns_are_those_of_gymnasium():
    expert, world = load_expert(TASK), TASK.source(4)
    world.reset(stream(0, "evaluate"))
    starts = world.fields["qpos"].copy(), world.fields["qvel"].copy()
    outcome = evaluate(TASK, world, expert, 1, stream(0, "evaluate"))
    theirs = [gymnasium_return(expert, *start) for start in zip(*starts, strict=True)]
    # Policies act on one observation there, on four here: sums are rounded otherwise, and 50 steps of feedback follow.
    np.testing.assert_allclose(outcome.returns, theirs, rtol=1e-5)


def test_the_score_leaves_out_the_torque_penalty():
    outcome = evaluate(TASK, TASK.source(4), load_expert(TASK), 1, stream(0, "evaluate"))
    assert (outcome.scores > outcome.returns).all()
    still = evaluate(TASK, TASK.source(4), ZeroPolicy(2), 1, stream(0, "evaluate"))
    np.testing.assert_allclose(still.scores, still.returns)


def test_an_episode_counts_until_it_ends():
    hopper = load_task("hopper")
    outcome = evaluate(hopper, hopper.source(4), ZeroPolicy(3), 1, stream(0, "evaluate"))
    assert (outcome.lengths < 1000).all()
    assert (outcome.scores <= outcome.lengths * 2).all()
    np.testing.assert_allclose(outcome.scores, outcome.returns)


def test_every_evaluation_of_a_stream_starts_from_the_same_states():
    one, other = (evaluate(TASK, TASK.source(5), ZeroPolicy(2), 1, stream(3, "evaluate")) for _ in range(2))
    np.testing.assert_array_equal(one.scores, other.scores)


def test_the_scale_puts_the_zero_action_at_0_and_the_expert_at_1():
    scale = Scale(zero=-10.0, expert=-4.0)
    assert [scale(-10.0), scale(-4.0), scale(-7.0)] == [0.0, 1.0, 0.5]
    assert [scale.score(0.0), scale.score(1.0), scale.score(0.5)] == [-10.0, -4.0, -7.0]
    with pytest.raises(ValueError, match="no better than doing nothing"):
        Scale(zero=1.0, expert=1.0)


def test_a_trace_of_the_expert_at_home_sees_what_it_wanted(tmp_path):
    world = TASK.source(3)
    plain = Unadapted(load_expert(TASK), TASK.source())
    trace = record(world, plain, 1, stream(0, "trace"), lambda: world.fields["qpos"])
    assert np.abs(trace.tracking_errors).max() < 1e-9
    assert trace.qpos.shape == (3, 51, 4)
    trace.save(tmp_path / "trace.npz")
    np.testing.assert_array_equal(type(trace).load(tmp_path / "trace.npz").wanted, trace.wanted)
