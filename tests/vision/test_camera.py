import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.vision.camera import Camera, heading


def test_a_ray_through_the_pixel_of_a_point_meets_the_point(camera):
    points = np.array([[-0.9, 0.2, 0.93], [-0.6, -0.4, 0.93], [-1.1, 0.05, 0.93]])
    assert camera.to_plane(camera.project(points), 0.93) == pytest.approx(points, abs=1e-9)


def test_pixels_grow_to_the_right_and_down():
    level = Camera.from_fovy(np.zeros(3), np.array([1.0, 0, 0, 0]), 50.0, (640, 480))  # looks along -z, x to the right
    right, up = level.project(np.array([[0.1, 0, -2.0], [0, 0.1, -2.0]]))
    assert right[0] > 320
    assert right[1] == pytest.approx(240)
    assert up[1] < 240
    assert level.project(np.array([[0, 2.0 * np.tan(np.deg2rad(25)), -2.0]]))[0] == pytest.approx([320, 0])


def test_what_is_behind_the_camera_or_above_the_horizon_is_nowhere(camera):
    behind = np.array(camera.position) + camera.rotation[:, 2]
    assert np.isnan(camera.project(behind)).all()
    assert np.isnan(camera.to_plane(camera.project(np.add(camera.position, [5.0, 0, 0.5])), 0.9)).all()


def test_a_resized_camera_sees_the_same_at_scaled_pixels(camera):
    point = np.array([[-0.9, 0.2, 0.93]])
    assert camera.resized(160, 120).project(point) == pytest.approx(camera.project(point) / 4)
    with pytest.raises(Problem, match="no scaled one"):
        camera.resized(160, 160)


def test_a_camera_is_the_same_after_its_file(camera, tmp_path):
    camera.save(tmp_path / "camera.json")
    assert Camera.load(tmp_path / "camera.json") == camera


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "not the file of a camera"),
        ('{"kind": "camera", "position": [0, 0, 1]}', "has no quaternion"),
        (
            '{"kind": "camera", "position": [0, 0, 1], "quaternion": [1, 0, 0, 0], "focal": 0, "width": 9,"height": 9}',
            "focal length must be at least",
        ),
        (
            '{"kind": "camera", "position": [0, 0, 1], "quaternion": [0, 0, 0, 0], "focal": 9, "width": 9,"height": 9}',
            "quaternion has length 1",
        ),
    ],
)
def test_a_file_that_is_no_camera_is_refused(text, said, tmp_path):
    (tmp_path / "camera.json").write_text(text)
    with pytest.raises(Problem, match=said):
        Camera.load(tmp_path / "camera.json")


def test_heading_is_the_direction_of_view_seen_from_above(camera):
    assert heading(camera, np.array([-1.7, 1.07, 0])) == pytest.approx(np.pi / 2)
