import json

import pytest

from isthmus.cli import main


def test_physics_is_told_beside_the_simulators_and_from_the_logs_of_a_run(capsys, tmp_path):
    main(["analyse", "identify", "reacher", "--gap", "tilt=30,mass=1.3,damping=1.5", "--samples", "150", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == 150
    assert found["typical_error"]["identified"] < 0.01 * found["typical_error"]["simulator"]
    together = {one["name"]: one["together"] for one in found["quantities"]}
    assert together["mass"]["estimate"] == pytest.approx(1.3 * 34, rel=0.02)
    assert together["damping"]["estimate"] == pytest.approx(1.5 * 2, rel=0.02)

    run = str(tmp_path / "run")
    options = ["--gap", "mass=1.5", "--method", "pd", "--samples", "100", "--no-report", "--evaluation-episodes", "50"]
    main(["transfer", "reacher", *options, "--out", run, "--json"])
    capsys.readouterr()
    main(["analyse", "identify", "reacher", "--logs", run])
    printed = capsys.readouterr().out
    assert "100 samples" in printed
    [mass] = [line.split() for line in printed.splitlines() if line.startswith("mass")]
    assert float(mass[-2]) == pytest.approx(1.5, rel=0.02)


def test_the_part_that_changed_is_shown_by_itself(capsys):
    main(["analyse", "identify", "hopper", "--gap", "mass:torso=1.5,damping=1.3", "--samples", "200"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    masses = {" ".join(row[1:-5]): float(row[-2]) for row in rows if row[:1] == ["mass"]}
    assert masses == {"torso": pytest.approx(1.5, abs=0.02), "of the other 3": pytest.approx(1.0, abs=0.02)}
    [damping] = [row for row in rows if row[:1] == ["damping"]]
    assert float(damping[-2]) == pytest.approx(1.3, abs=0.03)
