from dataclasses import asdict

import cv2
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.io import write_json
from isthmus.vision.tracer import photographs
from isthmus.vision.tracer.materials import KINDS, make_albedo
from isthmus.vision.tracer.photographs import (
    Labels,
    check_photographs,
    make_photographs,
    read_photographs,
    read_picture,
)
from isthmus.vision.tracer.tracer import develop


class Painter:
    """Stands for the path tracer: pictures that tell how often it was asked."""

    variant = "painted"

    def __init__(self, samples):
        self.asked = 0

    def render(self, stage, camera, rng):
        self.asked += 1
        return np.full((camera.height, camera.width, 3), self.asked, np.uint8)


@pytest.mark.usefixtures("graphics")
def test_a_set_goes_on_where_it_was_and_its_labels_are_what_was_drawn(cube, tmp_path, monkeypatch):
    monkeypatch.setattr(photographs, "Tracer", Painter)
    make_photographs(cube, "validation", 1, tmp_path, 4, lambda *_: None)
    first = (tmp_path / "validation" / "occluded" / "0000.jpg").read_bytes()
    make_photographs(cube, "validation", 2, tmp_path, 4, lambda *_: None)
    assert (tmp_path / "validation" / "occluded" / "0000.jpg").read_bytes() == first
    for condition, least, most in (("alone", 1, 1), ("distractors", 0.8, 1), ("occluded", 0.25, 0.8)):
        found = read_photographs(tmp_path, "validation", condition)
        assert len(found) == 2
        for one in found:
            assert least <= one.labels.seen <= most
            assert (len(one.labels.distractors) > 0) == (condition != "alone")
            pixel = one.labels.camera.project(np.array(one.labels.position))[0]
            assert np.all((pixel > 0) & (pixel < [640, 480]))
            assert one.read().shape == (480, 640, 3)
    with pytest.raises(Problem, match="give another folder"):
        make_photographs(cube, "validation", 1, tmp_path, 8, lambda *_: None)


def test_halves_that_do_not_exist_and_sets_that_are_not_there(cube, tmp_path):
    with pytest.raises(Problem, match="unknown half 'testing': choose from test, validation; did you mean 'test'"):
        make_photographs(cube, "testing", 1, tmp_path, 4, lambda *_: None)
    with pytest.raises(Problem, match="has no pictures"):
        read_photographs(tmp_path, "test", "alone")
    with pytest.raises(Problem, match="unknown half 'tets'"):
        check_photographs(tmp_path, "tets")


def test_damaged_labels_are_refused(camera, tmp_path):
    labels = asdict(Labels("alone", camera, (0.0, 0.0, 0.0), 0.0, 1.0))
    write_json(tmp_path / "test" / "alone" / "0000.json", labels | {"yaw": "left"})
    with pytest.raises(Problem, match="yaw is 'left', expected a number"):
        read_photographs(tmp_path, "test", "alone")


@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 4)])
def test_pictures_of_other_depths_are_refused(shape, tmp_path):
    cv2.imwrite(str(tmp_path / "p.png"), np.zeros(shape, np.uint8))
    with pytest.raises(Problem, match="3 colours of 8 bits"):
        read_picture(tmp_path / "p.png")


def test_pictures_are_read_with_red_first(tmp_path):
    cv2.imwrite(str(tmp_path / "p.png"), np.full((4, 4, 3), [10, 20, 30], np.uint8))
    assert read_picture(tmp_path / "p.png")[0, 0].tolist() == [30, 20, 10]


def test_materials_are_colours_and_differ():
    rng = np.random.default_rng(0)
    made = [make_albedo(kind, rng) for kind in KINDS]
    assert all(one.min() >= 0.01 and one.max() <= 0.95 for one in made)
    assert len({one.mean().round(4) for one in made}) == len(KINDS)


def test_more_light_makes_no_brighter_picture_but_a_contrast_stays():
    film = np.full((40, 60, 3), 0.2)
    film[10:20, 10:20] = 0.02
    one, other = (develop(scale * film, np.random.default_rng(3)).astype(float) for scale in (1, 50))
    assert one.mean() == pytest.approx(other.mean(), abs=3)
    assert one[30:, 30:].mean() > one[12:18, 12:18].mean() + 50
