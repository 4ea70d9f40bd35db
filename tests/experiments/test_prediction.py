import pytest

from isthmus.experiments.drawing import save_drawing
from isthmus.experiments.prediction import Prediction, PredictionQuality, draw_predictions

RUNS = [Prediction(0.9, 0.85), Prediction(1.0, 0.6), Prediction(0.5, 0.7), Prediction(-0.2, -0.15)]


def test_near_predictions_are_those_within_a_tenth_on_either_side():
    found = PredictionQuality.of(RUNS)
    assert (found.runs, found.near) == (4, 0.5)
    assert found.bias == pytest.approx(0.05)
    assert found.rmse == pytest.approx(((0.0025 + 0.16 + 0.04 + 0.0025) / 4) ** 0.5)
    assert str(found).startswith("50% of 4 predictions within 0.1")


def test_without_predictions_there_is_nothing_to_say():
    assert PredictionQuality.of([]) is None


def test_every_run_is_a_point_of_the_drawing(tmp_path):
    figure = draw_predictions(RUNS)
    points = figure.axes[0].lines[-1]
    assert list(points.get_xdata()) == [one.predicted for one in RUNS]
    assert list(points.get_ydata()) == [one.achieved for one in RUNS]
    save_drawing(figure, tmp_path / "predictions.svg")
    assert (tmp_path / "predictions.svg").exists()
