import dataclasses

from isthmus.io import write_json
from isthmus.transfer.config import Config
from isthmus.transfer.old_names import CONFIG, RESULT, ROUND, current_names
from isthmus.transfer.result import Result


def with_old_names(data, keys):
    """Plain data as an earlier version wrote it."""
    old = {new: name for name, new in keys.items()}
    if isinstance(data, dict):
        return {old.get(key, key): with_old_names(value, keys) for key, value in data.items()}
    return data


def test_a_configuration_of_an_earlier_version_is_read(tmp_path):
    config = Config("reacher", "tilt=90", "residual-action", round_ends=(100, 200), stop_at_score=0.9)
    written = with_old_names(config.to_json(), CONFIG) | {"method": "explained"}
    assert {"stops", "enough", "glances"} <= written.keys()
    assert {"lines", "following", "doubt", "price"} <= written["settings"]["parts"].keys()
    write_json(tmp_path / "config.json", written)
    assert Config.load(tmp_path / "config.json") == config


def test_a_method_may_be_asked_for_by_its_old_name():
    assert Config("reacher", method="grounded").method == "fine-tune"


def test_a_result_of_an_earlier_version_is_read(tmp_path):
    result = Result(
        *("reacher", "tilt=90", "auto", 2, 0, 500, -10.0, -3.0, -8.0, -3.1),
        std={"zero": 1.0, "expert": 1.0, "unadapted": 1.0, "adapted": 1.0},
        normalised_unadapted=0.2,
        normalised_adapted=0.99,
        evaluation_episodes=50,
        curve=(),
        seconds={"collect": 1.0},
        versions={"numpy": "2"},
        chosen="model-inverse, even weights",
    )
    written = with_old_names(dataclasses.asdict(result), RESULT) | {"chosen": "identified, even weights"}
    assert "spread" in written
    write_json(tmp_path / "result.json", written)
    assert Result.load(tmp_path / "result.json") == result


def test_a_round_of_an_earlier_version_is_read():
    fit = {"spread": [0.1], "chosen": "explained", "foreseen": {"explained": {"score": 1.0}, "in time": {"score": 0.5}}}
    assert current_names({"fit": fit}, ROUND) == {
        "fit": {
            "action_std": [0.1],
            "chosen": "residual-action",
            "predicted_scores": {"residual-action": {"score": 1.0}, "delay-compensated": {"score": 0.5}},
        }
    }
