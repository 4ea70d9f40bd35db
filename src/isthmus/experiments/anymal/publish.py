"""The figures of the ANYmal experiment as JSON, a table, a plot and a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.experiments.anymal.experiment import ARMS, BARE, SECOND, Found, Plan
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Json
from isthmus.experiments.page import Page, publish
from isthmus.experiments.tables import Section
from isthmus.report.video import Video

if TYPE_CHECKING:
    from isthmus.experiments.drawing import Figure

NAME = "anymal"
DRIVES = ("model", "sweep ", "of ideal ", "blocks ", "gait ", "of ideal ")
WALKS = ("trained with", "own ", "speed ", "speed error ", "falls ", "slow, medium, fast ")
TITLES = {
    "network": "network",
    "fitted": "fitted PD",
    "ideal": "ideal drives",
    "trot": "bare trot, no policy",
    "standing": "zero action",
}


def summary(found: Found, robots: Sequence[str]) -> Json:
    """Means over seeds with their range: of the drive models, and of each arm on each robot."""
    arms = {arm: _cells(found, arm) for arm in (*ARMS, *BARE)}
    return {
        "drives": {
            model: {"sweep": error, "gait": _gait(found, model)} for model, error in found.drives["sweep"].items()
        },
        "walks": {
            arm: {robot: _walks([cell[robot] for cell in cells if robot in cell]) for robot in ("own", *robots)}
            for arm, cells in arms.items()
            if cells
        },
    }


def write(found: Found, plan: Plan, folder: Path, command: str, video: Video | None = None) -> Json:
    """Write anymal.json, .md, .svg and .html; returns what is in the first."""
    robots = [robot for robot in (plan.robot, SECOND) if any(robot in cell for cell in found.cells.values())]
    figures = summary(found, robots)
    commits = commit_text([{"commit": one["commit"]} for one in (found.drives, *found.cells.values())])
    data = {
        "command": command,
        "commit": commits,
        "robots": robots,
        **figures,
        "data": found.drives,
        "cells": dict(found.cells),
    }
    sections = _sections(found, figures, robots)
    lead = (
        f"Made by `{command}`, commit {commits}. {found.drives['seconds']:.0f} s of motion at 400 Hz; policies of "
        f"{plan.settings.samples:,} control steps; {plan.walks} walks of {plan.steps / 50:g} s each, with pushes."
    )
    text = "\n\n".join(("# ANYmal", lead, *(one.to_markdown() for one in sections), f"![ANYmal]({NAME}.svg)")) + "\n"
    content = {"title": "ANYmal", "lead": (lead.replace("`", ""),), "sections": sections}
    shown = {"video": video.url if video else "", "caption": video.text if video else ""}
    publish(folder, NAME, data, text, draw(figures, plan.robot), Page("anymal.html", {**content, **shown}))
    return data


def drive_rows(figures: Json) -> list[tuple[str, ...]]:
    """The table of drive models, under `DRIVES`."""
    rows: list[tuple[str, ...]] = []
    for model, both in figures["drives"].items():
        sweep, gait = both["sweep"], both["gait"]
        walked = ("", "") if gait is None else (f"{gait['rmse']:.2f}", f"{gait['ratio']:.3f}")
        blocks = f"{sweep['least']:.1f}-{sweep['most']:.1f}"
        rows.append((model, f"{sweep['rmse']:.2f}", f"{sweep['ratio']:.3f}", blocks, *walked))
    return rows


def walk_rows(figures: Json, robot: str) -> list[tuple[str, ...]]:
    """The table of walks on a stand-in, under `WALKS`."""
    rows: list[tuple[str, ...]] = []
    for arm, walks in figures["walks"].items():
        there, own = walks[robot], walks["own"]
        if there is None:
            continue
        bands = ", ".join(f"{one:.0%}" for one in there["falls_by_speed"])
        speed, error, falls = (_ranged(there[name]) for name in ("share", "error", "falls"))
        rows.append((TITLES[arm], f"{own['share']['mean']:.0%}", speed, error, falls, bands))
    return rows


def draw(figures: Json, robot: str) -> "Figure":
    """Speed error and falls of each arm on the stand-in: a dot a seed, a bar their mean."""
    from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure  # noqa: PLC0415 - matplotlib is an extra

    arms = [arm for arm, walks in figures["walks"].items() if walks[robot] is not None]
    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    for axes, (name, title) in zip(
        figure.subplots(1, 2), (("error", "speed error"), ("falls", "walks that end in a fall")), strict=True
    ):
        for place, arm in enumerate(arms):
            one = figures["walks"][arm][robot][name]
            colour = ADAPTED if arm == "network" else UNADAPTED if arm in ARMS else EXPERT
            axes.barh(place, one["mean"], color=colour, alpha=0.35)
            axes.plot(one["values"], [place] * len(one["values"]), "o", color=colour, markersize=4)
        axes.set_yticks(range(len(arms)), [TITLES[arm] for arm in arms])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _sections(found: Found, figures: Json, robots: Sequence[str]) -> list[Section]:
    drives = Section(
        "Models of the drives",
        DRIVES,
        drive_rows(figures),
        text=(
            f"Error of the joint torque on a sweep that was held out (torque spread {found.drives['torque_std']:.1f} N "
            "m), with the least and largest of its 2 s blocks, and on the walks of the trained policies; in N m, and "
            "as a share of the ideal law's.",
        ),
    )
    walks = [
        Section(
            f"Walks on the {robot} stand-in",
            WALKS,
            walk_rows(figures, robot),
            text=(
                "Mean action, carried over unchanged. Own, speed: share of the commanded speed in the simulator of the "
                "training and on the stand-in, zero after a fall. Speed error: by how much walks miss the command. "
                "Slow, medium, fast: falls by commanded speed. Means over seeds, with their range.",
            ),
        )
        for robot in robots
    ]
    return [drives, *walks]


def _cells(found: Found, arm: str) -> list[Json]:
    return [cell for file, cell in sorted(found.cells.items()) if file.rpartition("-")[0] == arm or file == arm]


def _gait(found: Found, model: str) -> Json | None:
    """Errors on the walks of all policies."""
    errors = [cell["gait"][model] for cell in found.cells.values() if "gait" in cell]
    return {key: float(np.mean([one[key] for one in errors])) for key in errors[0]} if errors else None


def _walks(summaries: Sequence[Mapping[str, Any]]) -> Json | None:
    if not summaries:
        return None
    found: Json = {"seeds": len(summaries)}
    for name in ("share", "error", "falls"):
        values = [float(one[name]) for one in summaries]
        found[name] = {"mean": float(np.mean(values)), "least": min(values), "most": max(values), "values": values}
    for name in ("share_by_speed", "falls_by_speed"):
        found[name] = [float(one) for one in np.mean([one[name] for one in summaries], axis=0)]
    return found


def _ranged(one: Json) -> str:
    if len(one["values"]) == 1:
        return f"{one['mean']:.0%}"
    return f"{one['mean']:.0%} ({100 * one['least']:.0f}-{100 * one['most']:.0f})"
