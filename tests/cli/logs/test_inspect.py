import json

import pytest

from isthmus.cli.main import main


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.csv"
    rows = "".join(f"{number / 100},{number % 7 * 20.5},{number % 5}\n" for number in range(200))
    path.write_text("time,hip_pos,note\n" + rows)
    return path


def test_a_log_is_listed_and_drawn(log, tmp_path, capsys):
    main(["logs", "inspect", str(log), "--out", str(tmp_path / "pictures")])
    said = capsys.readouterr().out
    assert "hip_pos" in said
    assert "position, deg" in said
    assert (tmp_path / "pictures" / "run.svg").read_text().startswith("<?xml")


def test_as_json(log, capsys):
    main(["logs", "inspect", str(log), "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["series"]] == ["hip_pos", "note"]
    assert found["series"][0]["rate"] == pytest.approx(100)


def test_a_missing_log_is_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["logs", "inspect", str(tmp_path / "none.bag")])
    assert stop.value.code == 2
    assert capsys.readouterr().err.strip().count("\n") == 0
