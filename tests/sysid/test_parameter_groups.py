import copy

import mujoco
import numpy as np
import pytest

from isthmus.core import History, stream
from isthmus.gaps import Gap
from isthmus.robots import TASKS, load_task
from isthmus.sysid import Physics
from isthmus.sysid.parameter_groups import FARTHEST

SERVO = """
<mujoco>
  <worldbody>
    <body name="arm">
      <joint name="elbow" axis="0 1 0"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="elbow" kp="20" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


def by_name(physics, values=None):
    values = [quantity.values for quantity in physics.groups] if values is None else values
    return {quantity.name: value for quantity, value in zip(physics.groups, values, strict=True)}


@pytest.mark.parametrize("name", TASKS)
def test_every_robot_as_it_is_given_is_at_zero(name):
    body = load_task(name).robot_model
    physics = Physics(body)
    changed, own = physics.model(physics.values(np.zeros(physics.size))), copy.copy(body.model)
    mujoco.mj_setConst(own, mujoco.MjData(own))
    for field in ("body_mass", "body_inertia", "dof_damping", "dof_armature", "actuator_gainprm", "geom_friction"):
        np.testing.assert_array_equal(getattr(changed, field), getattr(own, field))
    low, high = physics.bounds
    assert (low <= 0).all()
    assert (high == FARTHEST).all()


def test_quantities_are_what_the_model_has():
    cheetah = by_name(Physics(load_task("half-cheetah").robot_model))
    assert cheetah["mass"].sum() == pytest.approx(14.0)
    assert {name: len(values) for name, values in cheetah.items()} == {
        "gravity": 3,
        "mass": 7,
        "damping": 6,
        "armature": 6,
        "stiffness": 6,
        "dry friction": 6,
        "strength": 6,
        "contact friction": 1,
    }
    reacher = by_name(Physics(load_task("reacher").robot_model))
    assert reacher["mass"].sum() == pytest.approx(34.0)  # the arm's: the mark it reaches for is no part of it
    assert not {"stiffness", "contact friction"} & set(reacher)


def test_a_single_servo_has_no_other_to_be_compared_with():
    model = mujoco.MjModel.from_xml_string(SERVO)
    body = load_task("reacher").robot_model
    physics = Physics(type(body)(**(vars(body) | {"model": model})))
    assert [quantity.name for quantity in physics.groups] == ["gravity", "mass", "dry friction"]


def test_strength_mass_and_passive_torques_can_be_told_by_their_ratio_only():
    body = load_task("half-cheetah").robot_model
    physics, rng = Physics(body), stream(0)
    z = 0.3 * np.abs(rng.standard_normal(physics.size))
    values = physics.values(z)
    twice = [2 * one if quantity.torque else one for quantity, one in zip(physics.groups, values, strict=True)]
    world = load_task("half-cheetah").source(8)
    observations = world.reset(rng)
    for _ in range(20):
        observations = world.step(rng.uniform(-1, 1, (8, 6))).observations
    actions = rng.uniform(-1, 1, (8, 6))
    same = physics.predict(values, observations, actions)
    np.testing.assert_allclose(physics.predict(twice, observations, actions), same, atol=1e-5)
    assert np.abs(same - world.predict(History.of(observations), actions)).max() > 0.1


@pytest.mark.parametrize(
    ("gap", "name"),
    [
        ("gravity=1.2", "gravity"),
        ("mass=1.3", "mass"),
        ("damping=2", "damping"),
        ("armature=1.5", "armature"),
        ("joint-friction=2", "dry friction"),
        ("contact-friction=0.5", "contact friction"),
    ],
)
def test_a_gap_in_physics_is_a_value_of_its_quantity(gap, name):
    task = load_task("half-cheetah")
    target = Gap.parse(gap).apply(task.robot_model.model)
    body = type(task.robot_model)(**(vars(task.robot_model) | {"model": target}))
    physics = Physics(task.robot_model)
    values = by_name(physics)
    values[name] = 0.5 * np.ones(1) if name == "contact friction" else by_name(Physics(body))[name]
    changed = physics.model(list(values.values()))
    for field in ("body_mass", "body_inertia", "dof_damping", "dof_armature", "dof_frictionloss", "geom_friction"):
        np.testing.assert_allclose(getattr(changed, field), getattr(target, field), rtol=1e-12)
    np.testing.assert_allclose(changed.opt.gravity, target.opt.gravity)
    np.testing.assert_allclose(changed.body_invweight0, target.body_invweight0)
