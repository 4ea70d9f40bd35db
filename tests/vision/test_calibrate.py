import cv2
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.vision.calibrate import calibrate_checkerboard, calibrate_points, corners_of_edges
from isthmus.vision.conform import conform

CORNERS = np.array([[-1.26, -0.5, 0.89], [-1.26, 0.6, 0.89], [-0.5, 0.55, 0.89], [-0.52, -0.61, 0.89]])


def test_a_camera_is_found_from_the_corners_of_a_table(camera):
    found = calibrate_points(CORNERS, camera.project(CORNERS), (640, 480))
    assert found.camera.position == pytest.approx(camera.position, abs=1e-3)
    assert found.camera.focal == pytest.approx(camera.focal, rel=1e-3)
    assert found.camera.rotation == pytest.approx(camera.rotation, abs=1e-3)
    assert found.error < 0.01


def test_a_known_focal_length_is_kept_and_pixel_errors_are_reported(camera):
    pixels = camera.project(CORNERS) + np.array([[1, 0], [-1, 0], [1, 0], [-1, 0]])
    found = calibrate_points(CORNERS, pixels, (640, 480), focal=camera.focal)
    assert found.camera.focal == camera.focal
    assert 0.1 < found.error < 2


def test_corners_out_of_the_picture_are_where_the_edges_meet(camera):
    corners = camera.project(CORNERS)
    after = np.roll(corners, -1, axis=0)
    edges = np.hstack([0.3 * corners + 0.7 * after, 0.8 * corners + 0.2 * after])
    assert corners_of_edges(edges) == pytest.approx(corners, abs=1e-6)
    assert not np.all((corners > 0) & (corners < [640, 480]))
    for damaged in (edges[[0, 0, 2, 3]], np.repeat(edges[:, :2], 2, axis=0).reshape(4, 4)):
        with pytest.raises(Problem, match="do not meet"):
            corners_of_edges(damaged)


@pytest.mark.parametrize(
    ("points", "order", "said"),
    [
        (CORNERS[:3], [0, 1, 2], "at least 4 points"),
        (CORNERS, [0, 2, 1, 3], "same order"),
        (np.linspace(CORNERS[0], CORNERS[1], 4), [0, 1, 2, 3], "on a line"),
    ],
)
def test_points_that_make_no_camera_are_refused(points, order, said, camera):
    with pytest.raises(Problem, match=said):
        calibrate_points(points, camera.project(points)[order], (640, 480))


def test_a_camera_is_found_from_a_checkerboard_that_lies_on_the_table(camera):
    square, inner = 0.06, (7, 4)
    board = np.full((480, 640), 200, np.uint8)
    origin = np.array([-0.7, 0.15, 0.89])  # upper left in the picture
    along, across = np.array([0.0, -1.0, 0.0]), np.array([-1.0, 0.0, 0.0])  # yaw of -90 degrees
    for column in range(-1, inner[0]):
        for row in range(-1, inner[1]):
            if (column + row) % 2:
                continue
            steps = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)]
            corners = origin + square * np.array([a * along + b * across for a, b in steps])
            pixels = np.round(camera.project(corners) * 256 - 128).astype(np.int32)
            cv2.fillConvexPoly(board, pixels, 20, cv2.LINE_AA, 8)
    picture = np.repeat(board[..., None], 3, axis=2)
    found = calibrate_checkerboard(picture, inner, square, origin, -np.pi / 2)
    seen, wanted = (one.to_plane(np.array([[320.0, 300.0]]), 0.93) for one in (found.camera, camera))
    assert found.error < 0.5
    assert seen == pytest.approx(wanted, abs=0.01)
    with pytest.raises(Problem, match="no checkerboard"):
        calibrate_checkerboard(np.zeros_like(picture), inner, square, origin, 0.0)


def test_pictures_of_other_sizes_and_lenses_show_the_same_place(camera):
    other = type(camera)(camera.position, camera.quaternion, 2 * 537.0 * 1.3, 1280, 960)
    picture = np.zeros((960, 1280, 3), np.uint8)
    point = np.array([[-0.9, 0.1, 0.93]])
    x, y = other.project(point)[0]
    picture[round(y) - 6 : round(y) + 6, round(x) - 6 : round(x) + 6] = 255
    seen, its_camera = conform(picture, other, camera)
    assert seen.shape == (480, 640, 3)
    assert its_camera.focal == pytest.approx(camera.focal)
    rows, columns = np.nonzero(seen[..., 0] > 128)
    assert its_camera.project(point)[0] == pytest.approx([columns.mean() + 0.5, rows.mean() + 0.5], abs=1.0)


def test_a_picture_that_is_not_of_its_camera_is_refused(camera):
    with pytest.raises(Problem, match="has 320 x 240 pixels, and its camera 640 x 480"):
        conform(np.zeros((240, 320, 3), np.uint8), camera, camera)
