import json

from isthmus.methods import MethodSettings
from isthmus.models import FitSettings
from isthmus.studies import survey as module
from isthmus.studies.survey import survey
from isthmus.transfer import Config


def test_a_survey_says_of_every_crossing_whether_it_helped(tmp_path, monkeypatch):
    tiny = {"round_samples": 250, "evaluation_episodes": 50, "settings": MethodSettings(fit=FitSettings(epochs=60))}
    crossings = (Config("reacher", "tilt=90", samples=250, **tiny), Config("reacher", "delay=3", samples=250, **tiny))
    monkeypatch.setattr(module, "CROSSINGS", {"reacher": crossings})
    seen = []
    done = survey(["reacher"], 1, tmp_path, 1, lambda config, result: seen.append((config.gap, result.seed)))
    assert seen == [("tilt=90", 0), ("delay=3", 0)]
    helped, hurt = done.rows()
    assert helped["verdict"] == "helps"
    assert hurt["verdict"] == "hurts"
    assert json.loads((tmp_path / "survey.json").read_text()) == done.rows()
    table = (tmp_path / "survey.md").read_text()
    assert table == done.to_markdown()
    assert f"| {helped['unadapted']:.3f} | {helped['adapted']:.3f} |" in table
