import dataclasses
import json

from isthmus.adapt.settings import Components
from isthmus.experiments import ablation as module
from isthmus.experiments.ablation import Ablated, ablation


def test_an_ablation_has_every_part_left_out_once_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CASES", {"reacher": Ablated(250, ("tilt=90",))})
    nothing = Components(regression=False, observer=False)
    monkeypatch.setattr(
        module, "VARIANTS", {"whole": ("residual-action", Components()), "nothing": ("residual-action", nothing)}
    )
    seen = []
    done = ablation(["reacher"], 1, tmp_path / "runs", tmp_path, 1, lambda progress: seen.append(progress.latest))
    assert [cell.name for cell in seen[1:]] == ["reacher, tilt=90, whole, seed 0", "reacher, tilt=90, nothing, seed 0"]
    medians = {row["variant"]: row["median"] for row in done.rows()}
    assert medians["whole"] > 0.95 > medians["nothing"]
    page = (tmp_path / "ablation.md").read_text()
    assert "Made by `isthmus experiment ablation --seeds 1`" in page
    assert "Normalised score, one seed; 50 episodes" in page
    assert f"| {medians['unadapted']:.2f} | {medians['whole']:.2f} | {medians['nothing']:.2f} |" in page
    first = (tmp_path / "ablation.json").read_text()
    assert json.loads(first)["rows"] == done.rows()
    ablation(["reacher"], 1, tmp_path / "runs", tmp_path, 1, lambda _progress: None)
    assert (tmp_path / "ablation.json").read_text() == first
    dataclasses.replace(done, seeds=2).write(tmp_path)
    page = (tmp_path / "ablation.md").read_text()
    assert f"| {medians['whole']:.2f} ({medians['whole']:.2f}) |" in page
    assert "the median of 2 seeds and, in brackets, the worst" in page


def test_the_study_leaves_out_each_part_alone():
    left_out = [parts for _method, parts in module.VARIANTS.values() if parts != Components()]
    assert [sum(not there for there in vars(parts).values()) for parts in left_out] == [1] * len(vars(Components()))
    assert len(set(left_out)) == len(left_out)
    of_auto = [parts for method, parts in module.VARIANTS.values() if method == "auto"]
    assert of_auto == [Components(), Components(correction=False), Components(fall_back=False)]
