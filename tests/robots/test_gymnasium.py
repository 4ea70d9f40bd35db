"""Step by step, each task is Gymnasium's environment: the same physics, the same reward."""

import warnings

import gymnasium
import mujoco
import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.robots import TASKS, load_task

OWN = {"fetch-swing", "leg-squat", "anymal"}
"""Tasks that Gymnasium does not have."""
NAMES = [*sorted(set(TASKS) - OWN), "reacher:arm-mass=0", "reacher:arm-mass=3.5"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes what it thinks of Gymnasium's models to a file where it is run."""
    monkeypatch.chdir(tmp_path)


def environment(task):
    """Gymnasium's environment, with our arm if it is Reacher: all other robots must weigh the same as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that v4 is out of date, and what MuJoCo thinks of its file
        env = gymnasium.make(task.gym_id).unwrapped
        env.reset(seed=0)
    if task.name == "reacher":
        model = task.robot_model.model
        env.model.body_mass[:], env.model.body_inertia[:] = model.body_mass, model.body_inertia
        mujoco.mj_setConst(env.model, env.data)
    return env


def compared_numbers(task):
    """What Gymnasium computes at the same moment: all that a policy sees but the forces of contacts."""
    names = task.robot_model.spec.observation_names
    origin = task.view.see(np.eye(len(names))).argmax(axis=0)
    return [i for i, seen in enumerate(origin) if "contact force" not in names[seen]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_an_episode_is_that_of_gymnasium(name, seed):
    task = load_task(name)
    env, world, rng = environment(task), task.source(1), np.random.default_rng(seed)
    spec = world.spec
    seen = world.reset(rng)
    mujoco.mj_resetData(env.model, env.data)
    env.set_state(world.fields["qpos"][0], world.fields["qvel"][0])
    close = {"rtol": 0, "atol": 1e-9}
    compared = compared_numbers(task)
    np.testing.assert_allclose(task.view.see(seen)[0], env._get_obs(), **close)
    before = task.measure(world.fields).copy()
    for _ in range(50):
        command = spec.action_low + (spec.action_high - spec.action_low) * rng.uniform(-0.5, 1.5, spec.action_size)
        step = world.step(command[None])
        after = task.measure(world.fields).copy()
        observation, reward, terminated, _, _ = env.step(step.applied[0])
        np.testing.assert_allclose(world.fields["qpos"][0], env.data.qpos, **close)
        np.testing.assert_allclose(world.fields["qvel"][0], env.data.qvel, **close)
        np.testing.assert_allclose(task.view.see(step.observations)[0, compared], observation[compared], **close)
        np.testing.assert_allclose(task.step_reward(before, step.applied, after), [reward], **close)
        assert step.ended.tolist() == [terminated]
        if terminated:
            break
        before = after
    env.close()


@pytest.mark.parametrize("name", [*sorted(set(TASKS) - OWN - {"reacher"}), "reacher:arm-mass=0"])
def test_the_bodies_are_those_of_gymnasium(name):
    task = load_task(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(task.gym_id).unwrapped
    for field in ("body_mass", "body_inertia", "dof_damping", "dof_armature", "actuator_gear", "qpos0"):
        ours, theirs = getattr(task.robot_model.model, field), getattr(env.model, field)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=field)
    env.close()


@pytest.mark.parametrize("name", sorted(set(TASKS) - OWN))
def test_time_and_horizon_are_those_of_gymnasium(name):
    task = load_task(name)
    env = environment(task)
    assert task.robot_model.spec.control_period == pytest.approx(env.dt)
    assert task.robot_model.spec.horizon == gymnasium.spec(task.gym_id).max_episode_steps
    np.testing.assert_allclose(task.robot_model.spec.action_low, env.action_space.low, rtol=1e-7)
    np.testing.assert_allclose(task.robot_model.spec.action_high, env.action_space.high, rtol=1e-7)
    env.close()


def test_a_tilted_arm_moves_as_gymnasium_s_does_when_its_gravity_is_turned(reacher):
    env, target, rng = environment(reacher), reacher.target(Gap.parse("tilt=30")), np.random.default_rng(0)
    env.model.opt.gravity[:] = 9.81 * np.array([0, -0.5, -np.sqrt(3) / 2])
    target.reset(rng)
    mujoco.mj_resetData(env.model, env.data)
    env.set_state(target.fields["qpos"][0], target.fields["qvel"][0])
    for _ in range(50):
        command = rng.uniform(-1, 1, 2)
        target.step(command[None])
        env.step(command)
        np.testing.assert_allclose(target.fields["qpos"][0, :2], env.data.qpos[:2], rtol=0, atol=1e-9)
        np.testing.assert_allclose(target.fields["qvel"][0, :2], env.data.qvel[:2], rtol=0, atol=1e-8)
    env.close()
