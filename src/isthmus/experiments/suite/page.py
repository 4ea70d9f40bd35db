"""The suite as far as it is: tables, drawing and page."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from isthmus.experiments.by_seed import MISSING, commit_text
from isthmus.experiments.grid import Json
from isthmus.experiments.page import Page, publish
from isthmus.experiments.suite.calibration import COLUMNS as CALIBRATED
from isthmus.experiments.suite.calibration import Calibration
from isthmus.experiments.suite.drawing import draw_suite
from isthmus.experiments.suite.families import FAMILIES
from isthmus.experiments.suite.outcomes import Outcomes, Recovered
from isthmus.experiments.suite.settings import EPISODES, HARM, LEAST_LOSS
from isthmus.experiments.tables import Section

TITLE = "The suite of calibrated gaps"
PREDICTED = 0.1
"""How near a prediction should be."""
APART = tuple(one.name for one in FAMILIES if not one.counts)
RULE = (
    "The headline counts families in which what differs at a step can be told, at least in part, from what was "
    f"observed before. That excludes {', '.join(APART)}: no controller can make up for what cannot be told, so it is "
    "shown apart. The rule was written before the suite was first run."
)


def write_suite(outcomes: Outcomes, calibrations: Sequence[Calibration], command: str, folder: Path) -> None:
    """Write suite.json, .md, .svg and .html."""
    sections = _sections(outcomes, calibrations)
    lead = [state_text(outcomes), RULE, _scale(outcomes)]
    commit = commit_text([one.versions for one in outcomes.every]) if outcomes.every else MISSING
    made = f"Made by `{command}`, commit {commit}; figures in [suite.json](suite.json)."
    text = [f"# {TITLE}", made, *lead, f"![{TITLE}](suite.svg)", *(one.to_markdown() for one in sections)]
    content = {"title": TITLE, "lead": [*lead, f"Commit {commit}."], "sections": sections, "command": command}
    drawing = draw_suite(outcomes) if outcomes.every else None
    data = suite_json(outcomes, calibrations, command)
    publish(folder, "suite", data, "\n\n".join(text) + "\n", drawing, Page("page.html", content))


def suite_json(outcomes: Outcomes, calibrations: Sequence[Calibration], command: str) -> Json:
    """As plain data."""
    return {
        "command": command,
        "commit": commit_text([one.versions for one in outcomes.every]),
        "missing": outcomes.missing,
        "headline": {
            method: {
                "recovered": {
                    str(budget): asdict(Recovered.of(outcomes.of(method, headline=True), budget))
                    for budget in outcomes.budgets
                },
                "harmed": outcomes.harmed(method),
                "runs": len(outcomes.of(method)),
            }
            for method in outcomes.methods
        },
        "predicted_within": {str(PREDICTED): outcomes.within(PREDICTED)},
        "calibration": {one.task: {"commit": one.commit, "command": one.command} for one in calibrations},
        "runs": [one.to_json() for one in outcomes.every],
    }


def headline_columns(outcomes: Outcomes) -> tuple[str, ...]:
    """Of the headline's table."""
    return ("method", *(f"{budget:,} " for budget in outcomes.budgets), "runs ", f"worse by {HARM} ")


def headline_rows(outcomes: Outcomes) -> list[tuple[str, ...]]:
    """A row a method: the share of the loss that is recovered, by budget, and how often it does harm."""
    return [_headline_row(outcomes, method) for method in outcomes.methods]


def state_text(outcomes: Outcomes) -> str:
    """How much is there."""
    done = f"{len(outcomes.every):,} runs"
    return f"PARTIAL: {done}, {outcomes.missing:,} missing." if outcomes.missing else f"{done}."


def _headline_row(outcomes: Outcomes, method: str) -> tuple[str, ...]:
    counted = outcomes.of(method, headline=True)
    shares = (Recovered.of(counted, budget).text for budget in outcomes.budgets)
    harmed = outcomes.harmed(method)
    return (method, *shares, str(len(counted)), MISSING if harmed is None else f"{harmed:.0%}")


def _scale(outcomes: Outcomes) -> str:
    return (
        "Recovered is (adapted - unadapted) / (1 - unadapted), where 1 is the policy in its own simulator and 0 is "
        f"doing nothing there: 1 is all of the loss, negative is harm. Median, and quartiles in brackets, after so "
        f"many samples, {EPISODES} episodes a score; elsewhere after {outcomes.budget:,}. Runs in which the "
        f"unadapted policy loses less than {LEAST_LOSS:g} have no share. Worse by {HARM}: the share of all scores, of "
        "every family and budget, that are so much below the unadapted policy."
    )


def _sections(outcomes: Outcomes, calibrations: Sequence[Calibration]) -> list[Section]:
    within = outcomes.within(PREDICTED)
    predicted = f"{within:.0%} of {len(outcomes.predictions())} predictions" if within is not None else "No prediction"
    return [
        Section("Share of the loss that is recovered", headline_columns(outcomes), headline_rows(outcomes)),
        Section("By robot", _by_columns("robot", outcomes), _by_robot(outcomes)),
        Section("By family", _by_columns("family", outcomes), _by_family(outcomes)),
        Section("Every gap", ("robot", "gap", "family", "unadapted ", *(f"{one} " for one in outcomes.methods)),
                _every_gap(outcomes), (f"Scores after {outcomes.budget:,} samples, the mean of the seeds there are.",)),
        Section(
            "Predicted against achieved",
            ("runs with a prediction ", f"within {PREDICTED} "),
            [(str(len(outcomes.predictions())), MISSING if within is None else f"{within:.0%}")],
            (f"{predicted} came within {PREDICTED} of the score that was achieved.",),
        ),
        Section("Calibration", CALIBRATED, [row for one in calibrations for row in one.rows()]),
    ]  # fmt: skip


def _by_columns(first: str, outcomes: Outcomes) -> tuple[str, ...]:
    return (first, *(f"{method} " for method in outcomes.methods))


def _by_robot(outcomes: Outcomes) -> list[tuple[str, ...]]:
    budget = outcomes.budget
    return [
        (task, *(Recovered.of(outcomes.of(one, task=task, headline=True), budget).text for one in outcomes.methods))
        for task in outcomes.tasks
    ]


def _by_family(outcomes: Outcomes) -> list[tuple[str, ...]]:
    budget = outcomes.budget
    return [
        (
            f"{name} (not in the headline)" if name in APART else name,
            *(Recovered.of(outcomes.of(one, family=name), budget).text for one in outcomes.methods),
        )
        for name in outcomes.families
    ]


def _every_gap(outcomes: Outcomes) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for task, gap, name in dict.fromkeys((one.task, one.gap, one.family) for one in outcomes.every):
        here = [one for one in outcomes.every if (one.task, one.gap) == (task, gap)]
        cells = [
            [score for one in here if one.method == method and (score := one.score(outcomes.budget)) is not None]
            for method in outcomes.methods
        ]
        rows.append((task, gap, name, _mean([one.unadapted for one in here]), *map(_mean, cells)))
    return rows


def _mean(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):z.2f}" if scores else MISSING
