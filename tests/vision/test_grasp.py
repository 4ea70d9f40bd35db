from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics", reason="the Fetch is that of gymnasium-robotics")

from isthmus.core import Problem
from isthmus.experiments.vision.grasp_film import FPS, LAST, GraspFilm
from isthmus.vision.grasp import Gripper
from isthmus.vision.grasp_trials import grasp_trials
from isthmus.vision.localiser.settings import TrainSettings, begin
from isthmus.vision.stage.scene import SceneFile, read_scene


@pytest.fixture(scope="module")
def gripper():
    return Gripper("cube")


@pytest.mark.parametrize("yaw", [0.0, -0.7, 0.45])
def test_a_cube_is_picked_at_its_true_place_and_yaw(gripper, yaw):
    place = np.array([1.33, 0.66])
    assert gripper.attempt(place, yaw, place, yaw).picked


def test_an_error_beside_the_fingers_misses_and_the_gripper_is_ready_for_the_next(gripper):
    """The fingers close along y at yaw 0, so that an error along x leaves the object beside them."""
    place = np.array([1.27, 0.84])
    missed = gripper.attempt(place, 0.0, np.add(place, [0.035, 0]), 0.0)
    assert not missed.picked
    assert missed.lifted < 0.05
    assert gripper.attempt(place, 0.0, place, 0.0).picked


def test_the_gripper_turns_to_the_said_yaw(gripper):
    place = np.array([1.3, 0.75])
    beside, between = np.add(place, [0, 0.035]), np.add(place, [0.035, 0])
    assert not gripper.attempt(place, 0.0, beside, np.pi / 2).picked
    assert gripper.attempt(place, 0.0, between, np.pi / 2).picked


def test_the_scene_is_in_the_coordinates_of_the_robot():
    scene = read_scene(SceneFile("fetch", "cube"))
    assert scene.table.z == pytest.approx(0.4)
    assert scene.table.centre[:2] == pytest.approx([1.3, 0.75])
    assert scene.radius == pytest.approx(0.025 * np.sqrt(2))


def test_localisers_of_other_scenes_and_objects_are_refused(tmp_path):
    begin(tmp_path, TrainSettings(SceneFile("table", "cube")))
    with pytest.raises(Problem, match="the Fetch grasps the cube or the cylinder of the scene 'fetch'"):
        grasp_trials(tmp_path, 1, 0, lambda _: None)
    with pytest.raises(Problem, match="knows cube, cylinder, not 'cone'"):
        Gripper("cone")


def test_a_film_shows_every_pose_of_every_grasp(gripper, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    film, located = GraspFilm(), SimpleNamespace(pixel=np.array([320.0, 240.0]))
    for count in (4, 7):
        trial = SimpleNamespace(picture=np.zeros((480, 640, 3), np.uint8))
        for _ in range(count):
            film.watch(trial, located, gripper)
    film.save(tmp_path / "grasps.mp4")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(tmp_path / "grasps.mp4")
    assert frames == 4 + 7 + 2 * LAST
    assert seconds == pytest.approx(frames / FPS, abs=0.2)
    assert [one.name for one in tmp_path.iterdir()] == ["grasps.mp4"]


def test_a_film_without_a_grasp_is_refused(tmp_path):
    with pytest.raises(Problem, match="no grasp was tried"):
        GraspFilm().save(tmp_path / "grasps.mp4")
    assert not any(tmp_path.iterdir())
