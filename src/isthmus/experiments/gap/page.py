"""The page of a gap report."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from isthmus.experiments.gap.results import figures, markdown, table, verdict
from isthmus.experiments.page import Page, publish
from isthmus.replay.advice import MEANINGS
from isthmus.replay.gap import GapReport

NAME = "gap"
"""Of the files."""
PERCENT_KNOWN = 0.5


def write_gap_report(
    folder: Path, report: GapReport, command: str, notes: tuple[str, ...], steps: list[str]
) -> dict[str, Any]:
    """Write gap.json, .md, .svg and .html; returns the figures."""
    from isthmus.experiments.gap.drawing import draw  # noqa: PLC0415 - matplotlib is an extra

    data = figures(report, command, notes, steps)
    publish(folder, NAME, data, markdown(report), draw(report), page(report, data))
    return data


def page(report: GapReport, data: dict[str, Any]) -> Page:
    """The page; text is escaped when it is rendered."""
    lead = [f"{verdict(report)}.", *(f"Next: {one}." for one in data["next"]), *(f"{one}." for one in data["notes"])]
    sections = [_models(report, data), _families(data), _parameters(data), _bands(data), _motions(data)]
    content = {"title": "Gap report", "lead": lead, "sections": sections, "command": data["command"]}
    return Page("page.html", content)


def _models(report: GapReport, data: dict[str, Any]) -> dict[str, Any]:
    columns, rows = table(report)
    return {
        "title": "Models on held-out recordings",
        "columns": columns,
        "rows": rows,
        "text": [
            f"Split: {data['split']}. Open-loop errors of joint positions, rms over joints. Families are added one "
            "after the other, chosen by the validation recordings.",
            f"{data['foretold']:.0%} of the longest replays can be foretold: an error of the start that no sensor sees "
            "does not grow in them. The columns before the last two are of those; the last two are the rms and the "
            "median of all of the longest.",
        ],
    }


def _families(data: dict[str, Any]) -> dict[str, Any]:
    alone, order = data["families"]["alone"], [one["family"] for one in data["families"]["order"]]
    rows = [
        [
            family,
            f"{share:.0%}",
            f"{data['shares'].get(f'+ {family}', 0.0):.0%}" if family in order else "",
            str(order.index(family) + 1) if family in order else "",
            MEANINGS[family],
        ]
        for family, share in sorted(alone.items(), key=lambda one: -one[1])
    ]
    explained = ", ".join(f"{name} {share:.0%}" for name, share in data["explained"].items())
    return {
        "title": "What explains it",
        "columns": ["family", "alone, validation ", "in turn, held out ", "turn ", "what it means"],
        "rows": rows,
        "text": [f"Of the simulator's mean square error on held-out recordings: {explained}."],
    }


def _parameters(data: dict[str, Any]) -> dict[str, Any]:
    rows = [
        [one["name"], one["unit"], f"{one['simulator']:.4g}", f"{one['robot']:.4g}", f"{one['determined']:.0%}"]
        for one in data["parameters"]
        if one["determined"] >= PERCENT_KNOWN
    ]
    text = ["Determined is the share of the prior uncertainty that the recordings have removed."]
    if data["undetermined"]:
        text.append(f"Not determined by these recordings: {', '.join(data['undetermined'])}.")
    if data["not_told_apart"]:
        text.append(f"Known only together: {'; '.join(data['not_told_apart'])}.")
    return {
        "title": "Parameters",
        "columns": ["parameter", "unit", "simulator ", "robot ", "determined "],
        "rows": rows,
        "text": text,
    }


def _bands(data: dict[str, Any]) -> dict[str, Any]:
    if not data["spectra"]:
        return {"title": "Frequencies", "columns": [], "rows": [], "text": []}
    edges = data["spectra"][0]["bands"]["hz"]
    names = [f"{low:g} to {high:g} Hz " for low, high in pairwise(edges)] + [f"from {edges[-1]:g} Hz "]
    rows: list[list[str]] = []
    for one in data["spectra"]:
        for model in ("simulator", "fitted"):
            worst = one["farthest_off"][model]
            said = "" if worst is None else f"{worst[0]:.3g} Hz, gain x{worst[1]:.2f}"
            rows.append([one["joint"], one["actuator"], model, *(f"{v:.3g}" for v in one["bands"][model]), said])
    return {
        "title": "Frequencies",
        "columns": ["joint", "command", "model", *names, "transfer function farthest off"],
        "rows": rows,
        "text": ["Errors of the longest held-out replays in every band; their squares add up."],
    }


def _motions(data: dict[str, Any]) -> dict[str, Any]:
    def cells(values: list[float]) -> str:
        return ", ".join(f"{one:.3g}" for one in values)

    rows = [
        [one["motion"], str(one["replays"]), cells(one["simulator"]), cells(one["fitted"])] for one in data["motions"]
    ]
    rows += [
        [f"{one['speed']} motion", str(one["replays"]), cells(one["simulator"]), cells(one["fitted"])]
        for one in data["speeds"]
    ]
    return {
        "title": "Motions",
        "columns": ["motion", "replays ", "simulator", "fitted"],
        "rows": rows,
        "text": [f"Errors of each joint ({', '.join(data['joints'])})."],
    }
