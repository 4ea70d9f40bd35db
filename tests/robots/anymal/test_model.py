"""ANYmal's model: the mended URDF, its legs, its trot and its inertial variants."""

import importlib.metadata

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.robots.anymal import model as anymal_model
from isthmus.robots.anymal.inertias import HEAVIER, SHIFT, inertial_models
from isthmus.robots.anymal.legs import feet, foot, reach
from isthmus.robots.anymal.model import EFFORT, JOINTS, LEGS, STANCE, add_ideal_drives, add_motors, anymal_spec
from isthmus.robots.anymal.trot import FASTEST, LIFT, PERIOD, trot


@pytest.fixture(scope="module")
def model():
    return anymal_spec().compile()


def test_the_robot_weighs_what_its_links_weigh_and_has_twelve_joints_and_a_free_base(model):
    assert (model.nq, model.nv, model.nbody) == (19, 18, 14)
    np.testing.assert_allclose(model.body_mass.sum(), 30.475, atol=0.001)
    assert tuple(model.joint(number).name for number in range(1, model.njnt)) == JOINTS
    assert not model.jnt_limited.any()


def test_nothing_touches_but_feet_knees_and_belly_with_the_floor(model):
    assert [model.geom(number).name for number in range(model.ngeom) if model.geom_contype[number]] == ["floor"]
    touching = np.flatnonzero(model.geom_conaffinity)
    assert (model.geom_type[touching] == mujoco.mjtGeom.mjGEOM_SPHERE).sum() == 4
    bodies = {model.body(int(body)).name for body in model.geom_bodyid[touching]}
    assert bodies == {"base", *(f"{leg}_{link}" for leg in LEGS for link in ("THIGH", "SHANK"))}


def test_motors_take_torques_and_ideal_drives_take_angles():
    spec = anymal_spec()
    add_motors(spec)
    motors = spec.compile()
    data = mujoco.MjData(motors)
    data.ctrl[:] = np.arange(12.0)
    mujoco.mj_forward(motors, data)
    np.testing.assert_allclose(data.qfrc_actuator[6:], np.arange(12.0))
    spec = anymal_spec()
    add_ideal_drives(spec, 1.0)
    drives = spec.compile()
    data = mujoco.MjData(drives)
    data.qpos[7:], data.qvel[6:] = STANCE, 0.5
    data.ctrl[:] = STANCE + np.linspace(-0.9, 0.1, 12)
    mujoco.mj_forward(drives, data)
    wanted = np.clip(80 * np.linspace(-0.9, 0.1, 12) - 2 * 0.5, -EFFORT, EFFORT)
    np.testing.assert_allclose(data.qfrc_actuator[6:], wanted, atol=1e-9)


def test_without_its_wheel_a_sentence_says_what_to_install(monkeypatch):
    def nothing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(anymal_model, "distribution", nothing)
    with pytest.raises(Problem, match=r"example-robot-data.*pip install isthmus\[anymal\]"):
        anymal_spec()


def test_feet_are_where_mujoco_has_them(model):
    angles = STANCE + np.random.default_rng(1).uniform(-0.5, 0.5, 12)
    data = mujoco.MjData(model)
    data.qpos[7:] = angles
    mujoco.mj_forward(model, data)
    spheres = model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    np.testing.assert_allclose(feet(angles), data.geom_xpos[spheres] - data.qpos[:3], atol=1e-3)


@pytest.mark.parametrize("leg", LEGS)
def test_inverse_kinematics_puts_the_foot_where_it_is_wanted(leg):
    near = STANCE[3 * LEGS.index(leg) :][:3]
    place = foot(leg, near) + np.array([[0.08, 0.03, 0.05], [-0.1, -0.02, 0.09]])
    np.testing.assert_allclose(foot(leg, reach(leg, place, near)), place, atol=1e-4)


def test_the_trot_lifts_diagonal_feet_in_turn_and_strides_as_far_as_the_speed_needs():
    times, speed = np.linspace(0, PERIOD, 401), 0.6
    places = feet(trot(times, np.full(401, speed))) - feet(STANCE)
    heights, forward = places[..., 2], places[..., 0]
    np.testing.assert_allclose(heights.max(axis=0), LIFT, atol=0.005)
    np.testing.assert_allclose(heights[:, 0], heights[:, 3], atol=0.003)
    assert (np.minimum(heights[:, 0], heights[:, 1]) < 0.005).all()
    np.testing.assert_allclose(np.ptp(forward, axis=0), speed * PERIOD / 2, atol=0.005)
    standing = heights[:, 0] < 1e-4
    backward = np.diff(forward[:, 0])[standing[1:] & standing[:-1]] / np.diff(times)[0]
    np.testing.assert_allclose(np.median(backward), -speed, rtol=0.02)


def test_the_trot_repeats_and_is_bounded_by_its_fastest():
    first, again = trot(np.array([0.13, 0.13 + 3 * PERIOD]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(first, again, atol=1e-9)
    fast, faster = trot(np.array([0.1, 0.1]), np.array([FASTEST, 2 * FASTEST]))
    np.testing.assert_allclose(fast, faster)


def test_inertial_models_differ_by_no_more_than_they_are_said_to(model):
    drawn = inertial_models(model, 40, np.random.default_rng(3))
    factors = np.array([one.body_mass[1:] / model.body_mass[1:] for one in drawn])
    shifts = np.array([one.body_ipos[1:] - model.body_ipos[1:] for one in drawn])
    joints = np.array([one.body_pos[2:] - model.body_pos[2:] for one in drawn])
    for values, most in ((factors - 1, HEAVIER), (shifts, SHIFT), (joints, SHIFT)):
        assert np.abs(values).max() <= most
        assert 0.9 * most < np.abs(values).max()
        assert np.abs(values.mean()) < most / 5
    np.testing.assert_array_equal(model.body_pos[1], drawn[0].body_pos[1])
    np.testing.assert_allclose(drawn[0].body_inertia[3] / model.body_inertia[3], factors[0, 2])
