from dataclasses import replace

import numpy as np

from isthmus.core import Estimator
from isthmus.vision.estimator import CameraEstimator
from isthmus.vision.localiser.confidence import Calibration
from isthmus.vision.localiser.locate import Localiser, Located, ObjectFacts
from isthmus.vision.samples import Frame
from isthmus.vision.stage.scene import Table

TABLE = Table("table", (-1.0, -1.0), (1.0, 1.0), 0.89)


class Scripted(Localiser):
    """A localiser that reads its answer from the picture: x, y and confidence, each in hundredths."""

    def locate(self, picture, camera):
        x, y, confidence = picture[0, 0] / 100
        place = np.array([x, y, self.facts.height]) if x < 2 else np.full(3, np.nan)
        return Located(place, None, 0.01, confidence, np.zeros(2), np.zeros(3))


def made(pictures, **settings):
    blind = Scripted(None, None, Frame(), ObjectFacts("cube", 0.93, 0.05, 4), TABLE, Calibration())
    taken = []

    def take(row, sensed):
        taken.append(row)
        return np.full((1, 1, 3), pictures[row].pop(0), np.uint8), None

    return CameraEstimator(blind, take, (1, 2, 3), **settings), taken


def test_the_object_is_where_the_camera_sees_it_and_the_rest_is_sensed():
    estimator, _ = made({0: [[40, 20, 90]], 1: [[50, 30, 90]]})
    sensed = np.arange(10.0).reshape(2, 5)
    observed = estimator.begin(sensed, slice(None))
    assert observed.tolist() == [[0, 0.4, 0.2, 0.93, 4], [5, 0.5, 0.3, 0.93, 9]]
    assert sensed[0, 1] == 1


def test_the_last_sure_place_stays_until_there_is_another():
    estimator, _ = made({0: [[10, 10, 20], [40, 20, 90], [90, 90, 30], [250, 0, 90], [50, 50, 60]]})
    sensed, applied = np.zeros((1, 4)), np.zeros((1, 1))
    seen = [estimator.begin(sensed, slice(None))] + [estimator(sensed, applied, slice(None)) for _ in range(4)]
    assert [one[0, 1].round(2) for one in seen] == [0.1, 0.4, 0.4, 0.4, 0.5]


def test_a_new_episode_forgets_the_old_one_in_its_rows_only():
    estimator, taken = made({0: [[10, 10, 90], [20, 20, 10]], 1: [[30, 30, 90], [60, 60, 10]]})
    estimator.begin(np.zeros((2, 4)), slice(None))
    second = estimator.begin(np.zeros((1, 4)), np.array([False, True]))
    assert second[0, 1] == 0.6
    first = estimator(np.zeros((1, 4)), np.zeros((1, 1)), np.array([True, False]))
    assert first[0, 1] == 0.1
    assert taken == [0, 1, 1, 0]


def test_pictures_are_taken_every_so_often():
    estimator, taken = made({0: [[10, 10, 90], [20, 20, 90]]}, every=3)
    sensed, applied = np.zeros((1, 4)), np.zeros((1, 1))
    seen = [estimator.begin(sensed, slice(None))] + [estimator(sensed, applied, slice(None)) for _ in range(3)]
    assert [one[0, 1] for one in seen] == [0.1, 0.1, 0.1, 0.2]
    assert len(taken) == 2


def test_it_is_an_estimator():
    estimator: Estimator = made({})[0]
    assert replace(estimator, every=2).every == 2
