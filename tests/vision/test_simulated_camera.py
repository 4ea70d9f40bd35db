"""A task whose object is seen by a camera, from the simulation to the policy and back."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from isthmus.core import WorldSpec, stream
from isthmus.core.rollout import rollout
from isthmus.gaps import Gap
from isthmus.sim import RobotModel
from isthmus.tasks import Task
from isthmus.vision.estimator import CameraEstimator
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.localiser.shipped import shipped_names
from isthmus.vision.randomise import Randomise
from isthmus.vision.ranges import Range
from isthmus.vision.simulated_camera import SimulatedCamera

pytestmark = pytest.mark.usefixtures("graphics")
MJCF = """
<mujoco>
  <option timestep="0.02" gravity="0 0 0"/>
  <worldbody>
    <body pos="-.88 0 1.1">
      <joint name="x" type="slide" axis="1 0 0" damping="2"/><joint name="y" type="slide" axis="0 1 0" damping="2"/>
      <geom type="sphere" size=".02" mass=".5" contype="0" conaffinity="0"/>
    </body>
    <body name="cube" pos="-.88 0 .93">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <geom type="box" size=".04 .04 .04" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor joint="x" ctrlrange="-1 1"/><motor joint="y" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
CENTRE, HEIGHT, OBJECT = np.array([-0.88, 0.0]), 0.93, (4, 5, 6)


def pointer():
    """A hand that goes to a cube: it knows its own place and speed, and observes where the cube is."""
    model = mujoco.MjModel.from_xml_string(MJCF)
    names = ("x", "y", "speed x", "speed y", "cube x", "cube y", "cube z")

    def observe(fields, out):
        out[:, :2], out[:, 2:4] = fields["qpos"][:, :2] + CENTRE, fields["qvel"][:, :2]
        out[:, 4:6], out[:, 6] = fields["qpos"][:, 2:] + CENTRE, HEIGHT

    def restore(observations, qpos, qvel):
        qpos[:, :2], qpos[:, 2:] = observations[:, :2] - CENTRE, observations[:, 4:6] - CENTRE
        qvel[:, :2], qvel[:, 2:] = observations[:, 2:4], 0

    def start(rng, n):
        qpos = np.concatenate([np.zeros((n, 2)), rng.uniform([-0.2, -0.35], [0.2, 0.35], (n, 2))], axis=1)
        return qpos, np.zeros((n, 4))

    spec = WorldSpec(
        observation_names=names, action_names=("x", "y"), action_low=-np.ones(2), action_high=np.ones(2),
        control_period=0.1, horizon=30, targets=np.arange(4),
    )  # fmt: skip
    return Task(
        name="pointer",
        robot_model=RobotModel(
            model=model, frame_skip=5, spec=spec, reads=(), observe=observe, restore=restore, start=start
        ),
        measure=lambda fields: fields["qpos"],
        score=lambda _before, _commands, after: -np.linalg.norm(after[:, :2] - after[:, 2:], axis=1),
    )


def go_to_the_cube(history):
    seen = history.current
    return np.clip(4 * (seen[:, 4:6] - seen[:, :2]) - 2 * seen[:, 2:4], -1, 1)


def distance_at_the_end(task, n=3):
    """From the hand to where the cube truly is, once an episode is over (n,)."""
    world = task.target(Gap.parse("none"), n)
    for moment in rollout(world, go_to_the_cube, world.reset(stream(0, "start"))):
        end = moment.after
    return np.linalg.norm(end[:, :2] - CENTRE - world.fields["qpos"][:, 2:], axis=1)


@pytest.fixture
def camera(cube):
    with closing(SimulatedCamera(cube, OBJECT[:2])) as made:
        yield made


def test_the_object_is_shown_where_it_is_in_a_room_that_stays(cube):
    clean = Randomise(noise=Range(0, 0), blur=Range(0, 0), shadow=0, textures=8)
    places, pictures, pixels = ((-0.8, 0.2), (-1.0, -0.1)), [], []
    with closing(SimulatedCamera(cube, OBJECT[:2], clean, "alone")) as camera:
        for place in places:
            picture, its_camera = camera(1, np.array([0, 0, 0, 0, *place, HEIGHT]))
            pictures.append(picture.astype(int))
            pixels.append(its_camera.project(np.array([*place, HEIGHT]))[0])
    changed = np.argwhere(np.abs(pictures[0] - pictures[1]).sum(axis=2) > 0)[:, ::-1]
    away = np.linalg.norm(changed[:, None] - np.array(pixels), axis=2)  # (changed, 2)
    assert away.min(axis=1).max() < 50
    assert (away < 10).sum(axis=0).min() > 50


@pytest.mark.skipif("table-cube" not in shipped_names(), reason="no localiser ships")
def test_a_policy_goes_where_the_camera_sees_the_cube(camera):
    localiser, _ = load_localiser(Path("table-cube"))
    task = pointer()
    seen = replace(task, estimator=lambda _: CameraEstimator(localiser, camera, OBJECT, every=10))
    blind = replace(task, estimator=lambda _: Elsewhere())
    assert distance_at_the_end(task).max() < 0.01
    assert np.median(distance_at_the_end(seen)) < 0.03
    assert np.median(distance_at_the_end(blind)) > 0.1


class Elsewhere:
    """Says that the cube is in the table's middle, wherever it is."""

    def begin(self, sensed, rows):
        observed = sensed.copy()
        observed[:, 4:6] = CENTRE
        return observed

    def __call__(self, sensed, applied, rows):
        return self.begin(sensed, rows)
