"""A longer link, against the same robot written down with the longer link, and against the pendulum's formula."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.gaps.links import not_to_be_stretched
from isthmus.robots import TASKS, load_task
from isthmus.sim.anatomy import robot_bodies

G = 9.81
CAN_STRETCH = [
    (name, body)
    for name in sorted(TASKS)
    for model in [load_task(name).robot_model.model]
    for body in robot_bodies(model)
    if not_to_be_stretched(model, body) is None
]

LEG = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <default><geom density="800" contype="1" conaffinity="1"/></default>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body name="hip" pos="0 0 {hip}">
      <joint name="up" type="slide" axis="0 0 1" ref="{hip}"/>
      <geom type="sphere" size="0.1"/>
      <body name="thigh" pos="0.1 0 0">
        <joint name="swing" axis="0 1 0" pos="0 0 0.02" range="-1 1"/>
        <geom type="capsule" size="0.04 {thigh_half}" pos="0 0 {thigh_at}"/>
        <geom type="cylinder" size="0.02 {rod_half}" pos="{rod_x} 0 {rod_z}" quat="0.9 0.1 -0.3 0.2"/>
        <geom type="sphere" size="0.05" pos="0 {knob_y} {knob_at}"/>
        <site name="mark" pos="{mark_x} 0 {mark_at}"/>
        <body name="shin" pos="0 0 {shin_at}" quat="0.8 0.1 0.5 0.2">
          <joint name="knee" axis="0 1 0" pos="0 0 0"/>
          <geom type="capsule" size="0.03 0.2" pos="0 0 -0.2"/>
          <body name="toe" pos="0 0 -0.4"><geom type="sphere" size="0.06"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="swing"/><motor joint="knee"/></actuator>
</mujoco>
"""


def leg(factor, hip):
    """The leg with a thigh `factor` times as long: everything on it is that much further from the joint at z = 0.02."""

    def at(z):
        return 0.02 + factor * (z - 0.02)

    return mujoco.MjModel.from_xml_string(
        LEG.format(
            hip=hip,
            thigh_half=0.25 * factor,
            thigh_at=at(-0.25),
            rod_half=0.1 * factor,
            rod_x=0.03 * factor,
            rod_z=at(-0.2),
            knob_y=0.03 * factor,
            knob_at=at(-0.3),
            mark_x=0.01 * factor,
            mark_at=at(-0.45),
            shin_at=at(-0.5),
        )
    )


def stretched(model, body, factor):
    return Gap(((f"link-length:{body}", factor),)).apply(model)


def height_of_lowest_point(model):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    toe = model.body("toe").id
    return data.xpos[toe, 2] - 0.06


IN_OTHER_AXES = {"body_inertia", "body_iquat", "bvh_aabb", "names_map"}
"""Principal axes may be listed in another order, and bounding boxes are drawn along them."""


def numbers(model):
    for name in dir(model):
        if not name.startswith("_") and name not in IN_OTHER_AXES:
            value = getattr(model, name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                yield name, value


@pytest.mark.parametrize("factor", [0.6, 1.0001, 1.3, 2.0])
def test_it_is_the_model_that_is_written_with_the_longer_link(factor):
    made = stretched(leg(1, hip=1.5), "thigh", factor)
    written = leg(factor, hip=made.qpos0[0])
    compared = 0
    for (name, ours), (_, theirs) in zip(numbers(made), numbers(written), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=name)
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("factor", [0.6, 1.3, 2.0])
def test_it_moves_like_the_model_that_is_written_with_the_longer_link(factor, rng):
    made = stretched(leg(1, hip=1.5), "thigh", factor)
    written = leg(factor, hip=made.qpos0[0])
    ours, theirs = mujoco.MjData(made), mujoco.MjData(written)
    touched = 0
    for _ in range(600):
        ours.ctrl[:] = theirs.ctrl[:] = rng.uniform(-5, 5, 2)
        mujoco.mj_step(made, ours)
        mujoco.mj_step(written, theirs)
        touched += ours.ncon
        np.testing.assert_allclose(ours.qpos, theirs.qpos, atol=1e-6)
        np.testing.assert_allclose(ours.site_xpos, theirs.site_xpos, atol=1e-6)
    assert touched > 0


@settings(max_examples=20)  # each is simulated for two swings
@given(st.floats(0.5, 2))
def test_a_pendulum_swings_as_slowly_as_its_length_demands(factor):
    """A rod about its end: T = 2 pi sqrt(I / (m g l / 2)), whatever its density."""
    model = mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <option timestep="0.001" integrator="RK4"/>
          <worldbody>
            <body name="rod" pos="0 0 3">
              <joint name="pivot" axis="0 1 0"/>
              <geom type="cylinder" size="0.01 0.5" pos="0 0 -0.5" density="300"/>
            </body>
          </worldbody>
          <actuator><motor joint="pivot"/></actuator>
        </mujoco>
        """
    )
    longer = stretched(model, "rod", factor)
    length = 1.0 * factor
    assert longer.body("rod").mass[0] == pytest.approx(factor * model.body("rod").mass[0])
    data = mujoco.MjData(longer)
    data.qpos[0] = 0.02
    crossings = []
    while len(crossings) < 2:
        before = data.qpos[0]
        mujoco.mj_step(longer, data)
        if before > 0 >= data.qpos[0]:
            crossings.append(data.time - 0.001 * data.qpos[0] / (data.qpos[0] - before))
    inertia_per_mass = length**2 / 3 + 0.01**2 / 4
    expected = 2 * np.pi * np.sqrt(inertia_per_mass / (G * length / 2))
    assert crossings[1] - crossings[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("task_name", "body"), CAN_STRETCH)
def test_on_every_robot_the_parts_stay_together(task_name, body):
    """Where a child turns about, and where a link's own ends are, move away from its joint in proportion."""
    source = load_task(task_name).robot_model.model
    target = stretched(source, body, 1.2)
    link = source.body(body).id
    first, second = mujoco.MjData(source), mujoco.MjData(target)
    for model, data in ((source, first), (target, second)):
        mujoco.mj_forward(model, data)
    turning = np.isin(source.jnt_type, (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_BALL.value))
    own = np.flatnonzero(turning & (source.jnt_bodyid == link))
    at = (first.xanchor[own[-1]], second.xanchor[own[-1]]) if own.size else (first.xpos[link], second.xpos[link])
    for child in np.flatnonzero(source.body_parentid == link):
        joints = np.flatnonzero(turning & (source.jnt_bodyid == child))
        ends = (
            (first.xanchor[joints[-1]], second.xanchor[joints[-1]])
            if joints.size
            else (first.xipos[child], second.xipos[child])
        )
        np.testing.assert_allclose(ends[1] - at[1], 1.2 * (ends[0] - at[0]), atol=1e-9)
    for geom in np.flatnonzero(source.geom_bodyid == link):
        np.testing.assert_allclose(second.geom_xpos[geom] - at[1], 1.2 * (first.geom_xpos[geom] - at[0]), atol=1e-9)
    grown = target.body_mass[link] / source.body_mass[link]
    assert 1 <= grown < 1.2
    unchanged = np.arange(source.nbody) != link
    np.testing.assert_array_equal(target.body_mass[unchanged], source.body_mass[unchanged])


@pytest.mark.parametrize(("task_name", "body"), CAN_STRETCH)
def test_making_it_longer_and_shorter_again_gives_the_robot_back(task_name, body):
    source = load_task(task_name).robot_model.model
    back = stretched(stretched(source, body, 1.25), body, 0.8)
    for name in ("body_mass", "body_pos", "body_ipos", "geom_pos", "geom_size", "jnt_pos", "qpos0", "dof_M0"):
        np.testing.assert_allclose(getattr(back, name), getattr(source, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_robot_that_stands_starts_as_high_over_the_ground_as_before(factor):
    source = leg(1, hip=1.5)
    target = stretched(source, "thigh", factor)
    assert height_of_lowest_point(target) == pytest.approx(height_of_lowest_point(source))
    assert target.qpos0[0] - source.qpos0[0] == pytest.approx(0.52 * (factor - 1))
    data = mujoco.MjData(target)
    mujoco.mj_forward(target, data)
    assert data.body("hip").xpos[2] == pytest.approx(data.qpos[0])  # its height still reads what it is


@pytest.mark.parametrize("name", ["hopper", "half-cheetah", "humanoid"])
def test_a_walker_with_longer_legs_does_not_start_in_the_ground(name, rng):
    task = load_task(name)
    body = {"hopper": "leg", "half-cheetah": "bshin", "humanoid": "right_shin"}[name]
    source, target = task.source(), task.target(Gap.parse(f"link-length:{body}=1.4"))
    target.reset(np.random.default_rng(0))
    source.reset(np.random.default_rng(0))
    deepest = [min((contact.dist for contact in world.data(0).contact), default=0.0) for world in (source, target)]
    assert deepest[1] > deepest[0] - 0.02
    moved = target.fields["qpos"] - source.fields["qpos"]
    assert np.count_nonzero(np.abs(moved) > 1e-12) == 1
    assert moved.max() > 0.04


@pytest.mark.parametrize(
    ("geoms", "complaint"),
    [
        ('<geom type="box" size="0.1 0.1 0.4"/>', "'link' is not made of capsules, cylinders and spheres only"),
        ('<geom type="sphere" size="0.1"/>', "'link' has no length"),
        (
            '<inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/><geom type="capsule" size="0.1 0.4"/>',
            "the inertia of 'link' is not that of its shape at one density",
        ),
        (
            '<geom type="capsule" size="0.1 0.4"/><geom type="sphere" size="0.1" pos="1 0 0" density="9"/>',
            "the inertia of 'link' is not that of its shape at one density",
        ),
    ],
)
def test_what_cannot_be_made_longer_is_a_problem(geoms, complaint):
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body name='link'><joint name='j' axis='0 1 0'/>{geoms}</body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>"
    )
    with pytest.raises(Problem, match=f"gap 'link-length' does not fit this robot: {complaint}"):
        stretched(model, "link", 1.1)
