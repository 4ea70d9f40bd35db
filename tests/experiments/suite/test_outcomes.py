import json

import pytest

from isthmus.experiments.comparison.case import Case, Entry
from isthmus.experiments.suite.calibration import CalibratedFamily, Calibration, Rung
from isthmus.experiments.suite.outcomes import Crossing, Outcome, Outcomes, Recovered
from isthmus.experiments.suite.page import headline_rows, write_suite

GRAVITY, NOISE = "gravity", "motor noise, independent"


def outcome(unadapted, *scores, method="auto", family=GRAVITY, seed=0, predicted=None, gap="gravity=1.3"):
    case = Case("hopper", gap, 2_000, (Entry(method),))
    curve = [[0, unadapted], *([samples, score] for samples, score in zip((500, 2_000), scores, strict=False))]
    found = {"curve": curve, "normalised": scores[-1], "predicted": predicted, "versions": {"commit": "abc"}}
    return Outcome.of(Crossing(family, 0.5, case), Entry(method), seed, found)


def test_what_is_recovered_is_a_share_of_what_was_lost():
    one = outcome(0.5, 0.4, 0.9)
    assert one.recovered(500) == pytest.approx(-0.2)
    assert one.recovered(2_000) == pytest.approx(0.8)
    assert one.recovered(100) is None
    assert outcome(0.95, 1.0, 1.0).recovered(2_000) is None


def test_independent_noise_is_shown_and_does_not_count():
    found = Outcomes((outcome(0.5, 0.9, 0.9), outcome(0.5, 0.5, 0.5, family=NOISE)), (500, 2_000), missing=0)
    assert Recovered.of(found.of("auto", headline=True), 2_000).median == pytest.approx(0.8)
    assert Recovered.of(found.of("auto", family=NOISE), 2_000).median == 0.0
    assert [row[-2] for row in headline_rows(found)] == ["1"]


def test_harm_counts_at_every_budget_and_in_every_family():
    found = Outcomes((outcome(0.5, 0.44, 0.9), outcome(0.5, 0.46, 0.9, family=NOISE)), (500, 2_000), missing=0)
    assert found.harmed("auto") == 0.25


def test_predictions_are_held_against_what_was_achieved():
    near, far = outcome(0.5, 0.9, 0.9, predicted=0.95), outcome(0.5, 0.9, 0.7, predicted=0.95, seed=1)
    found = Outcomes((near, far, outcome(0.5, 0.5, 0.5, method="pd")), (500, 2_000), missing=0)
    assert found.predictions() == [(0.95, 0.9), (0.95, 0.7)]
    assert found.within(0.1) == 0.5


def test_the_files_say_what_is_recovered_and_what_is_missing(tmp_path):
    rungs = (Rung(0.5, "gravity=1.3", 0.51), Rung(0.3, "gravity=1.5", 0.05))
    families = (CalibratedFamily(GRAVITY, rungs, "cannot leave 0.7: why", ()),)
    calibration = Calibration("hopper", "digest", 32, 0, "isthmus experiment suite --calibrate", "abc", families)
    found = Outcomes(
        (outcome(0.5, 0.6, 0.9), outcome(0.5, 0.5, 0.5, family=NOISE, gap="motor-noise=1")), (500, 2_000), missing=3
    )
    write_suite(found, [calibration], "isthmus experiment suite", tmp_path)
    text = (tmp_path / "suite.md").read_text()
    assert "PARTIAL: 2 runs, 3 missing." in text
    assert "| auto | 0.20 | 0.80 | 1 | 0% |" in text
    assert "| motor noise, independent (not in the headline) | 0.00 |" in text
    assert "| hopper | gravity | 0.3 | gravity=1.5 | 0.05 | the score jumps over this rung |" in text
    assert "cannot leave 0.7: why" in text
    plain = json.loads((tmp_path / "suite.json").read_text())
    assert plain["headline"]["auto"]["recovered"]["2000"]["median"] == pytest.approx(0.8)
    assert (tmp_path / "suite.svg").exists()
    assert "cannot leave 0.7" in (tmp_path / "suite.html").read_text()
