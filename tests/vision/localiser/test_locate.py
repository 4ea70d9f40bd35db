import dataclasses

import numpy as np
import pytest

from isthmus.vision.localiser.confidence import Calibration
from isthmus.vision.localiser.evaluate import Trial, score, summarise
from isthmus.vision.localiser.locate import Localiser, ObjectFacts
from isthmus.vision.samples import Frame
from isthmus.vision.stage.scene import Table

FRAME = Frame()
EDGE, CELLS = FRAME.crop, FRAME.crop // 4
WIDTH, HEIGHT = FRAME.coarse
FACTS = ObjectFacts("cube", 0.93, 0.057, 4)
TABLE = Table("table", (-1.26, -0.61), (-0.5, 0.61), 0.89)


def seen_in(crop):
    """Corner and edge of the window of the picture that a crop shows, from its colours."""
    colours = crop.astype(float) * 4
    half, quarter = EDGE // 2, EDGE // 4
    middle = colours[half - 1 : half + 1, half - 1 : half + 1, :2].mean((0, 1))
    across = colours[half, half + quarter, 0] - colours[half, quarter, 0]
    return middle - across, 2 * across


def network_of(camera, target, decoy=None, *, turn=0.3):
    """Networks that know where things are: the coarse one prefers the decoy, the crop tells them apart."""
    at = camera.project(target)[0]
    other = None if decoy is None else camera.project(decoy)[0]

    def bump(rows, columns, place, height):
        down, across = np.mgrid[:rows, :columns] + 0.5
        return height - ((across - place[0]) ** 2 + (down - place[1]) ** 2) / (2 * 0.8**2)

    def coarse(pictures):
        assert pictures.shape == (1, HEIGHT, WIDTH, 3)
        rows, columns = -(-(HEIGHT + 16) // 8), -(-(WIDTH + 16) // 8)
        heat = bump(rows, columns, (at / FRAME.scale + 8) / 8, 8.0)
        if other is not None:
            heat = np.maximum(heat, bump(rows, columns, (other / FRAME.scale + 8) / 8, 9.0))
        return heat[None]

    def crop(crops):
        places, nothing = np.full((len(crops), CELLS, CELLS), -20.0), np.zeros(len(crops))
        for number, one in enumerate(crops):
            corner, edge = seen_in(one)
            inside = (at - corner) * (CELLS / edge)
            if np.all((inside > 1) & (inside < CELLS - 1)):
                places[number] = bump(CELLS, CELLS, inside, 6.0)
        turns = np.zeros((len(crops), 2, CELLS, CELLS))
        turns[:, 0], turns[:, 1] = np.cos(4 * turn), np.sin(4 * turn)
        return places, nothing, turns

    return Localiser(coarse, crop, FRAME, FACTS, TABLE, Calibration())


@pytest.fixture
def picture():
    """A picture whose colours are its coordinates, divided by four."""
    y, x = np.mgrid[:480, :640]
    return np.stack([(x + 2) // 4, (y + 2) // 4, 0 * x], axis=2).astype(np.uint8)


def test_the_second_stage_overrules_the_first(camera, picture):
    target, decoy = np.array([-0.83, 0.11, 0.93]), np.array([-0.62, -0.22, 0.93])
    located = network_of(camera, target, decoy).locate(picture, camera)
    assert located.position == pytest.approx(target, abs=0.015)  # colours tell places to four pixels here
    assert located.sure
    assert located.std < 0.02


def test_what_is_not_on_the_table_is_not_looked_at(camera, picture):
    target, beyond, behind = np.array([-0.83, 0.11, 0.93]), np.array([-0.83, 0.95, 0.93]), np.array([0.9, 0.1, 0.93])
    edge = np.array([-0.52, 0.6, 0.93])
    for place, found in ((edge, True), (beyond, False), (behind, False)):
        made = network_of(camera, place)
        looked = []
        crop = lambda crops, made=made, looked=looked: looked.append(crops) or made.crop(crops)  # noqa: E731
        Localiser(made.coarse, crop, FRAME, FACTS, TABLE, Calibration()).locate(picture, camera)
        middles = [corner + edge / 2 for corner, edge in map(seen_in, looked[0])]
        near = [np.abs(middle - camera.project(place)[0]).max() < 30 for middle in middles]
        assert any(near) == found
    away = dataclasses.replace(network_of(camera, target), table=Table("table", (-9.0, 3.0), (-8.0, 4.0), 0.89))
    assert away.locate(picture, camera).position == pytest.approx(target, abs=0.015)  # no cell shows that table


def test_yaw_is_turned_from_the_view_into_the_world(camera, picture):
    target = np.array([-0.83, 0.11, 0.93])
    view = np.arctan2(0.11 - camera.position[1], -0.83 - camera.position[0])
    located = network_of(camera, target, turn=0.3).locate(picture, camera)
    assert located.yaw == pytest.approx(0.3 + view, abs=0.03)


def test_an_object_that_no_crop_confirms_is_not_sure(camera, picture):
    nowhere = network_of(camera, np.array([-0.83, 0.11, 0.93]))
    blind = Localiser(nowhere.coarse, lambda crops: _nothing(len(crops)), FRAME, FACTS, TABLE, Calibration())
    assert not blind.locate(picture, camera).sure


def _nothing(count):
    return np.zeros((count, CELLS, CELLS)), np.full(count, 30.0), np.zeros((count, 2, CELLS, CELLS))


def test_errors_and_right_objects_are_counted(camera, picture):
    target, decoy = np.array([-0.83, 0.11, 0.93]), np.array([-0.62, -0.22, 0.93])
    localiser = network_of(camera, target, decoy)
    good = Trial("distractors", picture, camera, target, 0.0, decoy[None])
    swapped = Trial("distractors", picture, camera, decoy, 0.0, target[None])
    figures = summarise(score(localiser, [good, swapped]), FACTS.radius)["distractors"]
    assert figures["right"] == 0.5
    assert figures["median_cm_right"] < 1.5
    assert figures["mean_cm"] == pytest.approx(100 * np.linalg.norm(target - decoy) / 2, abs=1)
    assert figures["right_when_sure"] == 0.5
