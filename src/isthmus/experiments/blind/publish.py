"""The figures of the blind quadruped as JSON, tables, a plot and a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isthmus.experiments.blind.study import MEASURED, BlindStudy, Plan
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Json
from isthmus.experiments.page import Page, publish
from isthmus.experiments.tables import Section

if TYPE_CHECKING:
    from isthmus.experiments.drawing import Figure

NAME = "blind"
WORTH = 0.5
"""Share of the loss that adaptation is to recover."""
SWEEP = ("gap", "lost ", "whole episodes ")
ERRORS = ("estimator", "where", "velocity ", "x ", "y ", "z ", "height ", "falls ", "seeds ")
CROSSINGS = ("method", "observation", "unadapted ", "adapted ", "recovered ", "worst ", "seeds ", "took")


def write(found: BlindStudy, plan: Plan, folder: Path, command: str) -> None:
    """Write blind.json, .md, .html, and .svg once there are crossings."""
    versions = [one["versions"] for one in (*found.estimators, *found.crossings)]
    commit = commit_text([*versions, {"commit": found.sweep["commit"]}])
    data = {
        "command": command,
        "commit": commit,
        "policy": plan.policy.digest,
        "sweep": found.sweep,
        "estimators": estimator_rows(found),
        "crossings": crossing_rows(found),
        "cells": [*found.estimators, *found.crossings],
    }
    sections = [
        Section(
            "The gap",
            SWEEP,
            sweep_table(found),
            text=(
                "What the policy loses of its score without adaptation, behind more and more joint friction. The "
                f"least friction that costs a quarter is crossed: {found.sweep['gap']}.",
            ),
        ),
        Section(
            "Errors of the estimators",
            ERRORS,
            estimator_table(found),
            text=(
                "Root mean squares in m/s and cm, for the base's velocity along the axes of the world and its height. "
                "Velocity is that over all axes. The estimators know the source simulator alone, except where it "
                "says that a run has learned of its target.",
            ),
        ),
        Section(
            "Crossings",
            CROSSINGS,
            crossing_table(found),
            text=(
                f"{found.sweep['gap']}, {plan.samples:,} samples: share of the expert's score, and the share of the "
                "loss that is recovered (median and worst seed). Estimated observations are of encoders and IMU.",
            ),
        ),
    ]
    lead = (
        f"Made by `{command}`, commit {commit}. A policy in mjlab's layout that sees encoders, IMU, command and its "
        "last action walks an ANYmal that is heavier and has friction in its joints."
    )
    text = "\n\n".join(("# A blind quadruped", lead, *(one.to_markdown() for one in sections)))
    drawing = draw(found) if found.crossings else None
    content = {"title": "A blind quadruped", "lead": (lead.replace("`", ""),), "sections": sections, "command": command}
    picture = "\n\n![Crossings](blind.svg)" if drawing else ""
    publish(folder, NAME, data, text + picture + "\n", drawing, Page("page.html", content))


def estimator_rows(found: BlindStudy) -> list[Json]:
    """The errors of each estimator in each place: means over the seeds."""
    every: dict[tuple[str, str], list[Json]] = {}
    for one in found.estimators:
        for where, errors in one["errors"].items():
            every.setdefault((one["estimator"], where), []).append(errors)
    for one in found.crossings:
        if "errors" in one:
            where = f"{one['gap']}, after {one['samples']:,} samples"
            every.setdefault((one["estimator"], where), []).append(one["errors"])
    return [
        {"estimator": estimator, "where": where, "count": len(rows)}
        | {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        for (estimator, where), rows in sorted(every.items(), key=lambda item: item[0][0])
    ]


def crossing_rows(found: BlindStudy) -> list[Json]:
    """Every method with every kind of observation, with all seeds."""
    every: dict[tuple[str, str], list[Json]] = {}
    for one in found.crossings:
        every.setdefault((one["method"], one["estimator"]), []).append(one)
    return [
        {
            "method": method,
            "estimator": estimator,
            "unadapted": float(np.median([row["normalised_unadapted"] for row in rows])),
            "adapted": float(np.median([row["normalised_adapted"] for row in rows])),
            "recovered": {str(row["seed"]): share(row) for row in rows},
            "median": float(np.median([share(row) for row in rows])),
            "worst": min(share(row) for row in rows),
            "chosen": sorted({row["chosen"] for row in rows if row["chosen"]}),
        }
        for (method, estimator), rows in every.items()
    ]


def share(row: Json) -> float:
    """The share of the policy's loss that one transfer recovers."""
    lost = row["expert"] - row["unadapted"]
    return (row["adapted"] - row["unadapted"]) / lost if lost > 0 else 0.0


def sweep_table(found: BlindStudy) -> list[tuple[str, ...]]:
    """What the policy loses without adaptation, under `SWEEP`."""
    return [(row["gap"], f"{row['lost']:.1%}", f"{row['full_length']:.0%}") for row in found.sweep["rows"]]


def estimator_table(found: BlindStudy) -> list[tuple[str, ...]]:
    """The errors of the estimators, under `ERRORS`."""
    return [
        (
            *(row["estimator"], row["where"]),
            *(f"{row[name]:.3f}" for name in ("velocity", "velocity x", "velocity y", "velocity z")),
            *(f"{100 * row['height']:.2f}", f"{row['falls']:.0%}", str(row["count"])),
        )
        for row in estimator_rows(found)
    ]


def crossing_table(found: BlindStudy) -> list[tuple[str, ...]]:
    """The crossings, under `CROSSINGS`."""
    return [
        (
            *(row["method"], seen(row["estimator"])),
            *(f"{row[name]:.3f}" for name in ("unadapted", "adapted")),
            *(f"{row[name]:.0%}" for name in ("median", "worst")),
            *(str(len(row["recovered"])), ", ".join(row["chosen"])),
        )
        for row in crossing_rows(found)
    ]


def seen(estimator: str) -> str:
    """What methods and policy see, in words."""
    return "true" if estimator == MEASURED else f"estimated, {estimator}"


def draw(found: BlindStudy) -> "Figure":
    """The share of the loss that each method recovers: a bar for the median, a dot for a seed."""
    from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure  # noqa: PLC0415 - matplotlib is an extra

    rows = crossing_rows(found)
    figure = Figure(figsize=(8.0, 0.9 + 0.34 * len(rows)), layout="constrained")
    axes = figure.subplots()
    shown: Sequence[str] = [f"{row['method']}, observation {seen(row['estimator'])}" for row in rows]
    for place, row in enumerate(rows):
        colour = UNADAPTED if row["estimator"] == MEASURED else ADAPTED
        seeds = list(row["recovered"].values())
        axes.barh(place, row["median"], color=colour, alpha=0.35)
        axes.plot(seeds, [place] * len(seeds), "o", color=colour, markersize=4)
    for at in (0.0, WORTH, 1.0):
        axes.axvline(at, color=EXPERT, linewidth=0.8, linestyle="--" if at == WORTH else "-")
    axes.set_yticks(range(len(rows)), shown, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(max(-1.0, min(axes.get_xlim()[0], -0.05)), 1.1)
    axes.set_xlabel("share of the loss that is recovered")
    axes.set_title(str(found.sweep["gap"]), loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
