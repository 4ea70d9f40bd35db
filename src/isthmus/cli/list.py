"""What exists, with a line each."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem

if TYPE_CHECKING:
    import mujoco

    from isthmus.robots.registry import TaskKind


@dataclass(frozen=True)
class Tasks:
    """List the robots and what they are to do.

    Example: `isthmus list tasks`
    """

    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Print the tasks."""
        from isthmus.experts import expert_path
        from isthmus.robots import TASKS

        rows = [
            (
                kind.name,
                kind.summary,
                expert_path(kind.name).exists() or _brings_policy(kind),
                {name.replace("_", "-"): meaning for name, meaning in kind.options.items()},
            )
            for kind in TASKS.values()
        ]
        if self.json:
            print_json([dict(zip(("name", "summary", "expert", "options"), row, strict=True)) for row in rows])
            return
        print_table(
            "",
            ("task", "what it is", "expert", "options, as in task:option=1"),
            [
                (name, summary, "ships" if ships else "none", "; ".join(f"{o}: {m}" for o, m in options.items()))
                for name, summary, ships, options in rows
            ],
        )


def _brings_policy(kind: "TaskKind") -> bool:
    """Whether a policy comes with the task itself; a robot whose extra is not installed brings none."""
    with suppress(Problem):
        return kind.make().policy is not None
    return False


@dataclass(frozen=True)
class Gaps:
    """List the differences between source and target that can be dialled in.

    Example: `isthmus list gaps --json`
    """

    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Print the gaps."""
        from isthmus.gaps import KINDS
        from isthmus.robots import TASKS

        models: dict[str, mujoco.MjModel] = {}
        for name, task in TASKS.items():
            with suppress(Problem):  # a robot whose extra is not installed
                models[name] = task.make().robot_model.model
        fits = {gap: [name for name, model in models.items() if kind.fits(model)] for gap, kind in KINDS.items()}
        if self.json:
            columns = (
                *("name", "usage", "summary", "touches", "unit"),
                *("low", "high", "neutral", "example", "whole", "beside", "words"),
            )
            print_json(
                [{key: getattr(kind, key) for key in columns} | {"tasks": fits[kind.name]} for kind in KINDS.values()]
            )
            return
        print_table(
            "",
            ("gap", "what it is", "range", "none at ", "tasks"),
            [
                (
                    kind.usage,
                    kind.summary + (f"; beside {kind.beside}" if kind.beside else ""),
                    " or ".join(kind.words) if kind.words else f"{kind.low:g} to {kind.high:g} {kind.unit}",
                    kind.text(kind.neutral),
                    "all" if len(fits[kind.name]) == len(models) else ", ".join(fits[kind.name]),
                )
                for kind in KINDS.values()
            ],
        )
        stdout.print(
            "\nGaps combine: gravity=1.2,mass:torso=1.3,motor-noise=0.2. BODY is one of the robot's bodies. "
            "random:SEED draws a few gaps that fit the robot. See docs/gaps.md."
        )


@dataclass(frozen=True)
class Methods:
    """List the ways across a gap.

    Example: `isthmus list methods`
    """

    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Print the methods."""
        from isthmus.adapt import METHODS

        rows = [{"name": kind.name, "summary": kind.summary, "sees": kind.sees} for kind in METHODS.values()]
        if self.json:
            print_json(rows)
            return
        print_table("", ("method", "what it does", "what it sees"), [tuple(row.values()) for row in rows])
