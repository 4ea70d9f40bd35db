"""Says what a run will ask of a real target, and asks whether it may."""

import sys
from pathlib import Path
from typing import Any

from isthmus.cli.output import stderr
from isthmus.core import Problem
from isthmus.transfer.estimate import Estimate


def estimate_text(estimate: Estimate, target: str) -> str:
    """The estimate in one sentence."""
    steps, resets = estimate.steps, estimate.steps.resets
    resetting = "moves to the start included" if estimate.moves else "the time for resets not included"
    return (
        f"{target} will be moved for up to {steps.total:,} steps: {steps.collection:,} to learn from, "
        f"{steps.evaluation:,} to score policies and {steps.traces:,} for the report. That is about "
        f"{estimate.minutes:.1f} minutes, {resetting}, with {resets:,} resets, and more if episodes end early."
    )


def ask(estimate: Estimate, target: str, *, yes: bool) -> None:
    """Print the estimate and let the user agree to it; a Problem if they do not, or cannot be asked."""
    confirm(estimate_text(estimate, target), target, yes=yes, look="look first with --dry-run")


def confirm(what: str, target: str, *, yes: bool, look: str = "try it with --robot sim first") -> None:
    """Say what will be asked of a target and let the user agree; a Problem if they do not, or cannot be asked."""
    stderr.print(what, soft_wrap=True, markup=False)
    if yes:
        return
    if not sys.stdin.isatty():
        raise Problem(f"nobody is there to agree that {target} is moved: give --yes, or {look}")
    stderr.print("Go on? [y/N] ", end="", markup=False)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Problem("not agreed to: nothing was moved or written")


def plan(config: dict[str, Any], estimate: Estimate | None, folder: Path) -> dict[str, Any]:
    """What would be run, as plain data."""
    asked: dict[str, Any] | None = None
    if estimate is not None:
        asked = {**estimate.steps.to_json(), "total": estimate.steps.total, "minutes": round(estimate.minutes, 2)}
    return {"out": str(folder), "estimate": asked, "config": config}
