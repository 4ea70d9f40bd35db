from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cv2", reason="vision needs OpenCV: pip install 'isthmus[vision]'")

from isthmus.bench.vision import can_render
from isthmus.core import Problem
from isthmus.experiments.vision import ablation
from isthmus.experiments.vision.ablation import FULL, VARIANTS, cells_of, publish_ablation, run_cell, table_of
from isthmus.io import read_json
from isthmus.vision.localiser import train as training
from isthmus.vision.localiser.settings import TrainSettings
from isthmus.vision.randomise import Randomise
from isthmus.vision.ranges import Range
from isthmus.vision.stage.draw import CONDITIONS
from isthmus.vision.stage.scene import SceneFile, read_scene
from isthmus.vision.tracer import photographs

TINY = TrainSettings(SceneFile("table", "cube"), Randomise(textures=8), images=16, batch=4, widths=(4, 4, 4, 4))


class Painter:
    """Stands for the path tracer."""

    variant = "painted"

    def __init__(self, samples):
        self.samples = samples

    def render(self, stage, camera, rng):
        return rng.integers(0, 256, (camera.height, camera.width, 3), np.uint8)


class StopHereError(Exception):
    pass


def test_every_variant_differs_from_everything_in_one_thing_for_every_seed():
    cells = cells_of(TINY, 2)
    assert [one.seed for one in cells] == sorted(one.seed for one in cells)
    assert {(one.variant, one.seed) for one in cells} >= {(name, seed) for name in VARIANTS for seed in (0, 1)}
    for one in cells:
        changed = replace(one.settings, randomise=TINY.randomise, images=TINY.images, minutes=TINY.minutes, seed=0)
        assert changed == TINY
        assert (one.settings == replace(TINY, seed=one.seed)) == (one.variant == FULL)
    assert [one.name for one in cells_of(TINY, 2, ("no noise",))] == ["no-noise-0", "no-noise-1"]
    with pytest.raises(Problem, match=r"unknown kind of training 'no nose': choose from .* did you mean 'no noise'"):
        cells_of(TINY, 1, ("no nose",))


@pytest.mark.skipif(not can_render(), reason="nothing can be rendered on this machine")
def test_a_study_goes_on_where_it_was_stopped_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "TRIALS", 1)
    monkeypatch.setattr(training, "EVERY", 0.0)
    monkeypatch.setattr(photographs, "Tracer", Painter)
    photographs.make_photographs(read_scene(TINY.scene), "validation", 1, tmp_path, 1, lambda *_: None)
    cell = next(one for one in cells_of(TINY, 1) if one.variant == "no distractors")
    assert cell.settings.randomise.distractors == Range(0, 0)
    seen = []

    def stop(progress):
        seen.append(progress.images)
        if len(seen) == 2:
            raise StopHereError

    with pytest.raises(StopHereError):
        run_cell(cell, tmp_path, tmp_path, "validation", 1, stop, judged=1)
    found = run_cell(cell, tmp_path, tmp_path, "validation", 1, stop, judged=1)
    assert seen == [4, 8, 8, 12, 16]  # the batch after the last checkpoint is trained on again
    assert found["images"] == 16
    monkeypatch.setattr(ablation, "train", None)  # would fail if it were called
    assert run_cell(cell, tmp_path, tmp_path, "validation", 1, stop, judged=1) == found
    publish_ablation(tmp_path, [found], "isthmus vision ablate")
    assert read_json(tmp_path / "ablation.json")["cells"] == [found]


def test_the_table_has_means_and_deviations_over_seeds():
    def cell(seed, error):
        figures = {condition: {"median_cm": error, "right": 0.5 + 0.25 * seed} for condition in CONDITIONS}
        return {"variant": "no noise", "seed": seed, "photographs": figures}

    _, [row] = table_of([cell(0, 1.0), cell(1, 2.0)])
    assert row[:4] == ("no noise", "2", "1.50 ± 0.71", "0.62")
