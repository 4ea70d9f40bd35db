import json
from dataclasses import replace

import pytest

from isthmus.core import Problem
from isthmus.core.commit import current_commit
from isthmus.experiments.random_gaps import Survey, survey
from isthmus.transfer import Result, RunFolder


def run(folder, gaps, watch=lambda _progress: None):
    return survey(
        ["reacher"],
        range(100, 100 + gaps),
        folder / "runs",
        folder,
        "isthmus experiment random-gaps",
        method="auto",
        samples=500,
        workers=1,
        watch=watch,
    )


def test_a_survey_crosses_gaps_that_nobody_chose_and_goes_on_with_more(tmp_path):
    seen = []
    first = run(tmp_path, 1)
    done = run(tmp_path, 2, lambda progress: seen.append(progress.latest and progress.latest.name))
    assert seen == [None, "reacher, random:100", "reacher, random:101"]
    assert len({row["gap"] for row in done.rows()}) == 2
    assert done.rows()[0] == first.rows()[0]
    written = json.loads((tmp_path / "survey.json").read_text())
    commit = current_commit()
    assert written == {
        "command": "isthmus experiment random-gaps",
        "commit": commit,
        "summary": done.summary(),
        "rows": done.rows(),
    }
    assert f"commit {commit};" in (tmp_path / "survey.md").read_text()
    page = (tmp_path / "survey.md").read_text()
    for row in done.rows():
        assert f"| {row['gap']} | {row['unadapted']:.3f} | {row['adapted']:.3f} | {row['foreseen']:.3f} |" in page
    assert (tmp_path / "survey.svg").read_text().startswith("<?xml")
    result = Result.load(RunFolder(next((tmp_path / "runs").iterdir())).result_path)
    judged = [(0.2, 0.9, "helps"), (0.9, 0.2, "hurts"), (0.5, 0.52, "")]
    changed = [replace(result, normalised_unadapted=old, normalised_adapted=new) for old, new, _ in judged]
    assert [row["verdict"] for row in Survey(tuple(changed)).rows()] == [verdict for _, _, verdict in judged]
    (summary,) = Survey(tuple(changed)).summary()
    assert (summary["unadapted"], summary["adapted"]) == (0.5, 0.52)
    assert summary["helps"] == summary["hurts"] == pytest.approx(1 / 3)


def test_a_survey_of_nothing_is_refused(tmp_path):
    with pytest.raises(Problem, match="at least one gap"):
        run(tmp_path, 0)
