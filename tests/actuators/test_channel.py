from dataclasses import replace

import mujoco
import numpy as np
import pytest

from isthmus.actuators import Actuator, Contract, Joint, Network, Pd, equip
from isthmus.actuators.channel import Outside
from isthmus.core import History, Problem
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sim import MujocoWorld

TASK = load_task("hopper")
ROBOT = TASK.robot_model
JOINTS = tuple(ROBOT.model.joint(int(joint)).name for joint in ROBOT.model.actuator_trnid[:, 0])
GEAR = ROBOT.model.actuator_gear[:, 0]


def model_of(joints=JOINTS, *, gain=None, delay=0.0, command="effort", limit=200.0, seen=1.0):
    size = len(joints)
    terms = Contract(
        joints, 0.002, (0,), 100.0, np.full(size, limit), np.full(size, np.inf), np.full(size, np.inf),
        np.tile([[-seen, seen], [-50.0, 50.0]], (size, 1, 1)), command=command,
    )  # fmt: skip
    kp = GEAR if gain is None else gain
    return Actuator(terms, pd=replace(Pd.ideal(np.array(kp, float), np.zeros(size)), delay=np.full(size, delay)))


def test_a_drive_that_does_what_the_motor_did_changes_nothing():
    plain, learned = MujocoWorld(ROBOT, 3), MujocoWorld(equip(ROBOT, model_of(JOINTS[::-1], gain=GEAR[::-1])), 3)
    before = [world.reset(np.random.default_rng(0)) for world in (plain, learned)]
    rng = np.random.default_rng(1)
    for _ in range(6):
        asked, later = rng.uniform(-1.5, 1.5, (3, 3)), rng.uniform(-1, 1, (3, 3))
        first, second = (world.step(asked).observations for world in (plain, learned))
        np.testing.assert_allclose(second, first, atol=1e-9)
        window = History(np.stack((before[0], first), axis=1), asked[:, None])
        np.testing.assert_allclose(learned.predict(window, later), plain.predict(window, later), atol=1e-9)
        before = [first, second]


def test_a_prediction_remembers_what_was_commanded_before():
    world = MujocoWorld(equip(ROBOT, model_of(delay=3.0)), 2)
    rng = np.random.default_rng(2)
    seen = [world.reset(rng)]
    given = [rng.uniform(-1, 1, (2, 3)) for _ in range(3)]
    seen += [world.step(asked).observations for asked in given[:2]]
    window = History(np.stack(seen, axis=1), np.stack(given[:2], axis=1))
    wanted = world.step(given[2]).observations
    np.testing.assert_allclose(world.predict(window, given[2]), wanted, atol=1e-6)
    without = world.predict(History.of(seen[-1]), given[2])
    assert np.abs(without - wanted).max() > 1e-3


def test_a_weaker_motor_is_a_gap_that_a_drive_does_not_undo():
    task = replace(TASK, robot_model=equip(ROBOT, model_of()))
    worlds = [task.target(Gap.parse(text), 1) for text in ("none", "torque-scale=0.5")]
    for world in worlds:
        world.reset(np.random.default_rng(0))
    one, other = (world.step(np.full((1, 3), 0.8)).observations for world in worlds)
    assert np.abs(one - other).max() > 1e-3


def test_the_share_outside_the_data_is_counted_over_all_worlds():
    outside = Outside()
    world = MujocoWorld(equip(ROBOT, model_of(seen=0.5), outside), 2)
    world.reset(np.random.default_rng(0))
    world.step(np.array([[0.4, 0.4, 0.4], [0.9, 0.4, 0.4]]))
    assert outside.share == pytest.approx(1 / 6)


def test_a_model_of_other_joints_or_commands_is_refused():
    with pytest.raises(Problem, match="the names must be the same"):
        equip(ROBOT, model_of(("a", "b", "c")))
    with pytest.raises(Problem, match="takes position commands and this robot is given effort commands"):
        equip(ROBOT, model_of(command="position"))


def test_joints_get_the_friction_that_was_found_with_the_drive():
    joint = Joint(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.7]))
    changed = equip(ROBOT, replace(model_of(), joint=joint)).model
    dofs = changed.jnt_dofadr[changed.actuator_trnid[:, 0]]
    np.testing.assert_allclose(changed.dof_armature[dofs], joint.armature)
    np.testing.assert_allclose(changed.dof_frictionloss[dofs], joint.frictionloss)


def test_a_damped_drive_takes_energy_out_of_a_swinging_joint():
    """A network that answers late with a spring and a damper, within limits: the swing must not grow."""
    spec = mujoco.MjSpec()
    arm = spec.worldbody.add_body(name="arm")
    arm.add_joint(name="hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
    arm.mass, arm.ipos, arm.inertia, arm.explicitinertial = 1.0, np.array((0, 0, -0.3)), np.full(3, 0.02), True
    spec.option.timestep = 0.002
    model = spec.compile()
    terms = Contract(("hinge",), 0.002, (0, 2, 4), 5.0, np.array([8.0]), np.array([np.inf]), np.array([np.inf]),
                     np.array([[[-2.0, 2.0], [-9.0, 9.0]]]))  # fmt: skip
    weights = np.array([[6.0], [3.0], [1.0], [-1.0], [-0.4], [-0.2]], np.float32)
    from isthmus.actuators import make_engine

    engine, data = (
        make_engine(Actuator(terms, network=Network((weights,), (np.zeros(1, np.float32),))), 1),
        mujoco.MjData(model),
    )
    data.qpos[0], peaks = 1.2, []
    for step in range(3000):
        torque = engine.step(np.zeros((1, 1)), data.qpos[None].copy(), data.qvel[None].copy())
        data.qfrc_applied[0] = torque[0, 0]
        mujoco.mj_step(model, data)
        if step % 300 == 299:
            mujoco.mj_energyPos(model, data)
            peaks.append(abs(data.qpos[0]) + abs(data.qvel[0]))
    assert peaks[-1] < 0.02 < peaks[0]
