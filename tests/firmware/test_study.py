"""The study of the seeded bugs says what was caught and what was a false alarm."""

from pathlib import Path

from isthmus.experiments.plot_firmware import plot_story
from isthmus.firmware.reference import BUGS
from isthmus.firmware.study import FIRST_SEED, cells, conclusions


def test_every_bug_and_every_seed_has_its_cells() -> None:
    names = [cell.name for cell in cells(3)]
    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("campaign/clean/")] == [
        f"campaign/clean/{FIRST_SEED + k}" for k in range(3)
    ]
    for bug in BUGS:
        assert f"{'race' if bug == 'isr-race' else 'campaign'}/{bug}/0" in names
        assert f"harm/{bug}/2" in names


def test_conclusions_count_catches_and_false_alarms() -> None:
    done = {
        "campaign/gyro-sign/0": {"violated": {"nominal": ["x"], "walking": ["y"]}, "cpu_seconds": 10.0},
        "campaign/no-clamp/0": {"violated": {}, "cpu_seconds": 10.0},
        "campaign/clean/10": {"violated": {}, "cpu_seconds": 9.5},
        "campaign/clean/11": {"violated": {"pushed": ["z"]}, "cpu_seconds": 9.0},
        "race/clean/0": {"violated": {}, "cpu_seconds": 20.0},
        "race/isr-race/0": {"violated": {"race-hunt": ["w"]}, "cpu_seconds": 20.0},
        "harm/gyro-sign/0": {"clean": 0.02, "bug": 2.5},
        "harm/gyro-sign/1": {"clean": 0.03, "bug": 2.25},
    }
    found = conclusions(done)
    assert found["caught"] == {"gyro-sign": ["nominal", "walking"], "isr-race": ["race-hunt"]}
    assert (found["clean_campaigns"], found["false_alarms"], found["race_hunts_false_alarms"]) == (2, 1, 0)
    assert found["cpu_seconds_of_a_campaign"] == [9.5, 9.0]
    assert found["harm"]["gyro-sign"]["bug"] == [2.5, 2.25]


def test_the_story_is_drawn(tmp_path: Path) -> None:
    def runs(height: float) -> list[list[dict[str, float]]]:
        return [[{"torque_step_rms": 0.1 + k, "height_m": height} for k in range(2)] for _ in range(3)]

    plot_story((0.4, 0.6, 2.0), {"in order of arrival": runs(0.05), "by their id": runs(0.26)}, tmp_path / "story.png")
    assert (tmp_path / "story.png").read_bytes()[:4] == b"\x89PNG"
