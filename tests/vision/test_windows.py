import numpy as np
import pytest

from isthmus.vision.windows import COVERS, RANGE, cut, in_crop, to_crop, windows_at

HEIGHT, RADIUS, CROP = 0.93, 0.04, 96


@pytest.fixture
def picture():
    y, x = np.mgrid[:480, :640]
    return np.stack([(x + 2) // 4, (y + 2) // 4, 0 * x], axis=2).astype(np.uint8)


def test_a_window_is_two_objects_wide_wherever_the_object_lies(camera):
    for place in ((-0.6, 0.0, HEIGHT), (-1.2, 0.3, HEIGHT)):
        middle = camera.project(np.array(place))[0]
        across = np.array([0.0, RADIUS, 0.0])
        ends = [camera.project(np.array(place) + sign * across)[0] for sign in (1, -1)]
        [(x, y, edge)] = windows_at(camera, middle[None], HEIGHT, RADIUS, CROP)
        assert edge == pytest.approx(COVERS * np.linalg.norm(ends[0] - ends[1]), rel=0.08)
        assert (x + edge / 2, y + edge / 2) == pytest.approx(middle, abs=1.1)


def test_a_nearer_object_has_a_wider_window(camera):
    places = np.array([[-0.6, 0.0, HEIGHT], [-1.2, 0.0, HEIGHT]])
    edges = windows_at(camera, camera.project(places), HEIGHT, RADIUS, CROP)[:, 2]
    nearer, further = np.argsort(np.linalg.norm(places - camera.position, axis=1))
    assert edges[nearer] > edges[further]


def test_windows_stay_within_a_range_of_the_crop(camera):
    middle = camera.project(np.array([-0.8, 0.0, HEIGHT]))
    for radius, edge in ((1e-4, round(CROP / RANGE)), (3.0, CROP * RANGE)):
        assert windows_at(camera, middle, HEIGHT, radius, CROP)[0, 2] == edge


def test_a_pixel_that_does_not_show_the_height_has_a_window_of_the_crop(camera):
    assert windows_at(camera, np.array([[320.0, -5000.0]]), HEIGHT, RADIUS, CROP)[0, 2] == CROP


def test_what_is_in_a_window_is_at_its_place_in_the_crop(picture):
    window = np.array([101.0, 60.0, 140.0])
    crop = to_crop(cut(picture, window), CROP)
    assert crop.shape == (CROP, CROP, 3)
    pixel = np.array([191.0, 130.0])
    x, y = in_crop(pixel, window, CROP)
    assert crop[int(y), int(x), :2] * 4.0 == pytest.approx(pixel, abs=4)
    corners = in_crop(np.array([[101.0, 60.0], [241.0, 200.0]]), window, CROP)
    assert corners == pytest.approx(np.array([[0, 0], [CROP, CROP]]))


def test_windows_reach_beyond_the_picture(picture):
    found = cut(picture, np.array([-10.0, 470.0, 32.0]))
    assert found.shape == (32, 32, 3)
    assert not found[:, :10].any()
    assert not found[10:].any()
    assert (found[:10, 10:] == picture[470:, :22]).all()
    assert not cut(picture, np.array([900.0, -200.0, 32.0])).any()
