"""A robot's physics from its logs: for `isthmus analyse identify --logs FILES`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.core.commit import current_commit

LEAST = 0.5
"""Share of its prior uncertainty that is gone of a parameter that counts as determined."""


def identify_logs(
    logs: Sequence[Path],
    robot: str,
    mapping: Path | None,
    gains: tuple[tuple[float, ...], tuple[float, ...]],
    train: int | None,
    out: Path | None,
    *,
    json: bool,
) -> None:
    """Fit the physics, judge it on held-out recordings, and print it."""
    from isthmus.cli.analyse.recorded import load_recorded
    from isthmus.cli.robot_models import model_file
    from isthmus.io import write_json
    from isthmus.replay.advice import not_told_apart, unknown
    from isthmus.replay.gap import PHYSICS, SOURCE, analyse
    from isthmus.replay.identified import write_mjcf

    found = load_recorded(logs, robot, mapping, *gains)
    with started_late(
        Progress(TextColumn("{task.description:<32}", markup=False), BarColumn(), TimeElapsedColumn(), console=stderr)
    ) as progress:
        bar = progress.add_task("reading", total=1.0)

        def report(what: str, done: float) -> None:
            progress.start()
            progress.update(bar, description=what, completed=done)

        done = analyse(found.model, found.recording, train=train, families=False, report=report)
    fitted = done.fitted
    rows = [
        (one, float(one.value(np.asarray(z))), float(known))
        for one, z, known in zip(fitted.free, fitted.z, fitted.determined, strict=True)
    ]
    before, after = done.row(SOURCE), done.row(PHYSICS)
    data: dict[str, Any] = {
        "robot": robot,
        "logs": [str(path) for path in logs],
        "split": done.parts.how,
        "notes": list(found.notes),
        "foretold": done.foretold,
        "errors": [
            {"seconds": one.seconds, "simulator": one.rms, "identified": other.rms}
            for one, other in zip(before.horizons, after.horizons, strict=True)
        ],
        "all_replays": {"simulator": before.whole.rms, "identified": after.whole.rms},
        "parameters": [
            {"name": p.name, "unit": p.unit, "simulator": p.nominal, "robot": value, "determined": known}
            for p, value, known in rows
        ],
        "not_told_apart": not_told_apart(fitted),
        "undetermined": unknown(fitted),
        "commit": current_commit(),
    }
    if out is not None:
        write_json(out, data)
        if (file := model_file(robot)) is not None:
            data["model"] = str(out.with_name(f"{out.stem}.identified.xml"))
            write_mjcf(file, Path(data["model"]), fitted, found.model)
    if json:
        print_json(data)
        return
    print_table(
        f"{len(logs)} log{'s' * (len(logs) != 1)}, {found.recording.seconds:.0f} s, {done.parts.how}",
        ("", "unit", "simulator ", "robot ", "determined "),
        [
            (p.name, p.unit, f"{p.nominal:.4g}", f"{value:.4g}", f"{known:.0%}")
            for p, value, known in rows
            if known > LEAST
        ],
    )
    for line in _lines(data):
        stdout.print(line, soft_wrap=True)
    if out is not None:
        stdout.print(
            f"identified: {out}" + (f"\nmodel:      {data['model']}" if "model" in data else ""), soft_wrap=True
        )


def _lines(data: dict[str, Any]) -> list[str]:
    """What is said below the table."""
    texts = [
        f"{1e3 * one['seconds']:.3g} ms: {one['simulator']:.3g} -> {one['identified']:.3g}" for one in data["errors"]
    ]
    lines = [f"open-loop errors on held-out recordings, simulator -> identified: {', '.join(texts)}"]
    if data["foretold"] < 1:
        lines.append(
            f"{data['foretold']:.0%} of the longest replays can be foretold, and are counted; over all, "
            f"{data['all_replays']['simulator']:.3g} -> {data['all_replays']['identified']:.3g}"
        )
    if data["undetermined"]:
        lines.append(f"not determined by these logs, left as the model has it: {', '.join(data['undetermined'])}")
    if data["not_told_apart"]:
        lines.append(f"known only together: {'; '.join(data['not_told_apart'][:6])}")
    return lines
