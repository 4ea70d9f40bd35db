import copy
import dataclasses

import mujoco
import numpy as np
import pytest

from isthmus.core import History, Problem, stream
from isthmus.robots import load_task
from isthmus.sim import MujocoWorld


def heavier(model, factor):
    changed = copy.copy(model)
    changed.body_mass[:] *= factor
    changed.body_inertia[:] *= factor
    mujoco.mj_setConst(changed, mujoco.MjData(changed))
    return changed


def test_different_robots_in_one_world_are_as_each_would_be_alone(reacher, rng):
    models = [heavier(reacher.robot_model.model, factor) for factor in (0.5, 1.0, 2.0)]
    together = MujocoWorld(reacher.robot_model, 3, models=models)
    start = np.repeat(together.reset(rng)[:1], 3, axis=0)
    alone = [MujocoWorld(reacher.robot_model, 1, models=[model]) for model in models]
    together.place(start)
    for world in alone:
        world.place(start[:1])
    for _ in range(10):
        commands = np.repeat(rng.uniform(-1, 1, (1, 2)), 3, axis=0)
        seen = together.step(commands).observations
        for i, world in enumerate(alone):
            np.testing.assert_array_equal(world.step(commands[:1]).observations[0], seen[i])
    assert len(np.unique(seen.round(6), axis=0)) == 3


def test_a_world_of_different_robots_refuses_to_predict(reacher, rng):
    models = [heavier(reacher.robot_model.model, factor) for factor in (0.5, 2.0)]
    world = MujocoWorld(reacher.robot_model, 2, models=models)
    with pytest.raises(Problem, match="different robots cannot predict"):
        world.predict(History.of(world.reset(rng)), np.zeros((2, 2)))


def test_models_must_be_as_many_as_simulations(reacher):
    with pytest.raises(Problem, match="3 simulations need 3 models, got 2"):
        MujocoWorld(reacher.robot_model, 3, models=[reacher.robot_model.model] * 2)


@pytest.mark.parametrize("n", [0, -1])
def test_a_world_of_nothing_is_refused(reacher, n):
    with pytest.raises(Problem, match=f"at least one simulation, got {n}"):
        MujocoWorld(reacher.robot_model, n)


def test_a_gap_changes_the_target_and_not_the_source(reacher, rng):
    source = reacher.source(1)
    target = MujocoWorld(reacher.robot_model, 1, models=heavier(reacher.robot_model.model, 0.2))
    start = source.reset(rng)
    target.place(start)
    again = reacher.source(1)
    again.place(source.place(start))
    for _ in range(5):
        commands = rng.uniform(-1, 1, (1, 2))
        seen = source.step(commands).observations
        assert np.abs(target.step(commands).observations - seen).max() > 1e-3
        np.testing.assert_array_equal(again.step(commands).observations, seen)


def test_a_world_predicts_with_its_own_model(reacher, rng):
    source, target = (
        reacher.source(1),
        MujocoWorld(reacher.robot_model, 1, models=heavier(reacher.robot_model.model, 3)),
    )
    history, actions = History.of(source.reset(rng)), np.array([[1.0, -1.0]])
    assert np.abs(source.predict(history, actions) - target.predict(history, actions)).max() > 1e-2


def test_a_world_goes_on_with_another_model_from_where_it_is(reacher, rng):
    heavy = heavier(reacher.robot_model.model, 2.0)
    world, other = reacher.source(3), MujocoWorld(reacher.robot_model, 3, models=heavy)
    observations, actions = world.reset(rng), rng.uniform(-1, 1, (3, 2))
    light = world.predict(History.of(observations), actions)
    world.adopt(heavy)
    expected = other.predict(History.of(observations), actions)
    assert np.abs(expected - light).max() > 1e-3
    np.testing.assert_array_equal(world.predict(History.of(observations), actions), expected)
    np.testing.assert_allclose(world.step(actions).observations, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["hopper", "humanoid"])
def test_a_hasty_world_is_close_and_of_the_same_model(name):
    task, rng = load_task(name), stream(0)
    world, size = task.source(8), task.robot_model.spec.action_size
    observations, actions = world.reset(rng), 0.3 * rng.uniform(-1, 1, (8, size))
    for model in (task.robot_model.model, heavier(task.robot_model.model, 1.5)):
        world.adopt(model)
        exact, close = (one.predict(History.of(observations), actions) for one in (world, world.coarse))
        moved = np.abs(exact - observations).max()
        assert 0 < np.abs(close - exact).max() < 0.1 * moved
    assert world.coarse is world.coarse


def test_a_world_that_is_quick_has_no_hasty_one(reacher):
    quick = heavier(reacher.robot_model.model, 1.0)
    quick.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER.value
    assert MujocoWorld(reacher.robot_model, models=quick).coarse is None
    assert MujocoWorld(reacher.robot_model, 2, models=[quick, quick]).coarse is None


def test_worlds_that_have_ended_stay_where_they_are(fragile):
    world = MujocoWorld(fragile, 3)
    world.reset(np.random.default_rng(0))
    commands = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    ended = []
    for _ in range(20):
        step = world.step(commands)
        ended.append(step.ended)
    over = int(np.argmax([one[0] for one in ended]))
    assert 0 < over < 19
    assert [one.tolist() for one in ended] == [[step >= over, False, False] for step in range(20)]
    last = step.observations[0]
    assert 0.5 < np.arctan2(last[2], last[0]) < 1.0
    moved = world.step(commands).observations
    np.testing.assert_array_equal(moved[0], last)
    assert (moved[2] != step.observations[2]).any()


def test_an_ended_world_moves_again_after_a_reset_or_when_placed(fragile, rng):
    world = MujocoWorld(fragile, 2)
    start = world.reset(rng)
    commands = np.array([[1.0, 0.0], [0.0, 0.0]])
    for revive in (lambda: world.reset(rng, np.array([True, False])), lambda: world.place(start)):
        while not world.step(commands).ended[0]:
            pass
        before = revive()
        step = world.step(commands)
        assert step.ended.tolist() == [False, False]
        assert (step.observations[0] != before[0]).any()


def test_which_is_over_is_said_in_an_array_of_its_own(fragile, rng):
    world = MujocoWorld(fragile, 1)
    world.reset(rng)
    first = world.step(np.ones((1, 2)))
    first.ended[:] = True
    before = first.observations
    assert (world.step(np.ones((1, 2))).observations != before).any()


def test_a_simulation_that_is_not_finite_any_more_is_an_error(reacher, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file
    model = copy.copy(reacher.robot_model.model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    wild = copy.copy(model)
    wild.dof_damping[:] = -1e9
    world = MujocoWorld(reacher.robot_model, 3, models=[model, wild, model])
    world.reset(rng)

    def run():
        for _ in range(50):
            world.step(np.ones((3, 2)))

    with pytest.raises(FloatingPointError, match=r"the simulation diverged in world 1 \(1 of 3\)"):
        run()


def test_the_fields_are_live_and_hold_what_the_embodiment_reads(reacher, rng):
    world = reacher.source(2)
    observations = world.reset(rng)
    assert {"qpos", "qvel", *reacher.robot_model.reads} == set(world.fields)
    np.testing.assert_array_equal(world.fields["qpos"][:, 2:], observations[:, 4:6])
    observations = world.step(np.ones((2, 2))).observations
    np.testing.assert_array_equal(world.fields["qvel"][:, :2], observations[:, 6:8])


def test_a_copy_to_draw_does_not_disturb_the_simulation(reacher):
    world, undisturbed = reacher.source(2), reacher.source(2)
    for one in (world, undisturbed):
        one.reset(np.random.default_rng(0))
    data = world.data(1)
    np.testing.assert_array_equal(data.qpos, world.fields["qpos"][1])
    data.qpos[:] = 9.0
    commands = np.ones((2, 2))
    np.testing.assert_array_equal(world.step(commands).observations, undisturbed.step(commands).observations)


def test_a_control_step_is_as_many_physics_steps_as_the_embodiment_says(reacher, rng):
    once = dataclasses.replace(reacher.robot_model, frame_skip=1)
    slow, fast = reacher.source(1), MujocoWorld(once, 1)
    fast.place(slow.place(slow.reset(rng)))
    commands = np.array([[0.7, -0.3]])
    fast.step(commands)
    np.testing.assert_array_equal(fast.step(commands).observations, slow.step(commands).observations)


def test_two_worlds_of_one_task_share_no_state(reacher, rng):
    first, second = reacher.source(1), reacher.source(1)
    before = second.reset(rng)
    first.reset(rng)
    first.step(np.ones((1, 2)))
    np.testing.assert_array_equal(second.step(np.zeros((1, 2)), np.array([False])).observations, before)


def test_a_light_arm_moves_faster_than_a_heavy_one(rng):
    light, heavy = (load_task(f"reacher:arm-mass={mass}").source(1) for mass in (1, 34))
    light.place(heavy.reset(rng))
    commands = np.array([[1.0, 0.0]])
    assert light.step(commands).observations[0, 6] > 1.1 * heavy.step(commands).observations[0, 6] > 0


def test_a_simulation_that_diverges_is_an_error_not_a_silent_reset(reacher, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wild = copy.copy(reacher.robot_model.model)
    wild.dof_damping[:] = -50000
    world = MujocoWorld(reacher.robot_model, 1, models=wild)
    world.reset(rng)
    with pytest.raises(FloatingPointError):
        [world.step(np.ones((1, 2))) for _ in range(50)]


def test_on_one_thread_it_predicts_the_same_and_goes_along_with_another_model(reacher, rng):
    world, model = reacher.source(), heavier(reacher.robot_model.model, 2.0)
    seen, actions = reacher.source(5).reset(rng), rng.uniform(-1, 1, (5, 2))
    assert world.serial is world.serial.serial
    for _ in range(2):
        told = world.serial.predict(History.of(seen), actions)
        np.testing.assert_array_equal(told, world.predict(History.of(seen), actions))
        assert world.serial._predictors[5].batch.nthread == 1
        world.adopt(model)
