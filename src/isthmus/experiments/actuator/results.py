"""The figures of a study of actuator models, and what they say in a sentence."""

from typing import Any

import numpy as np

from isthmus.actuators.fit.study import Row, Study
from isthmus.actuators.reading import Reading
from isthmus.core.commit import current_commit

DECIDED = 0.95
"""A model is better than a baseline if its error is less than so many times the baseline's."""


def measure_of(study: Study) -> tuple[str, str, float]:
    """What models are compared by: the field of a row, its unit, and what it is multiplied by when shown."""
    return ("torque", "N m", 1.0) if study.rows[0].replay is None else ("replay", "mrad", 1e3)


def verdict(study: Study) -> str:
    """Whether the chosen model is any good, in a sentence."""
    what, unit, factor = measure_of(study)
    best, ideal = study.best, study.rows[0]
    error, before = best.overall(what), ideal.overall(what)
    if error is None or before is None:
        return "nothing could be compared"
    share = error / before
    spread = getattr(best, what)
    worst = float(np.sqrt(np.mean(np.square(spread), axis=1)).max())
    text = (
        f"{best.name} is chosen by the validation motion; on held-out motion it is off by {factor * error:.3g} {unit} "
        f"rms ({factor * worst:.3g} in the worst block), {share:.2f} of what {ideal.name} is"
    )
    if share > DECIDED:
        return f"{text}: it is no better than the baseline, so use the baseline and look at the data"
    return f"{text}: good enough to train on if {factor * worst:.3g} {unit} do not matter to the task"


def figures(study: Study, reading: Reading, command: str) -> dict[str, Any]:
    """All numbers as JSON has them."""
    return {
        "command": command,
        "commit": current_commit(),
        "joints": list(reading.log.joints),
        "rate": 1 / reading.log.dt,
        "seconds": reading.log.seconds,
        "torque": "measured" if reading.log.torque is not None else "not measured: fitted by replay",
        "notes": list(reading.notes),
        "split": study.parts.how,
        "blocks": [block.names[0] for block in study.parts.test],
        "delay": study.delay,
        "lags": [{"lags": list(lags), "validation": error} for lags, error in study.lags],
        "resolution": [float(one) if np.isfinite(one) else None for one in reading.resolution],
        "replay_seconds": study.seconds,
        "chosen": study.chosen,
        "verdict": verdict(study),
        "models": [_row(row) for row in study.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    out: dict[str, Any] = {"name": row.name, "lags": list(row.actuator.contract.lags), "validation": row.validation}
    for what in ("torque", "replay"):
        values = getattr(row, what)
        if values is not None:
            out[what] = {"rms": row.overall(what), "blocks_joints": np.asarray(values).tolist()}
    if row.actuator.pd is not None:
        out["pd"] = {
            name: [float(one) if np.isfinite(one) else None for one in np.atleast_1d(values)]
            for name, values in row.actuator.pd.arrays().items()
        }
    if row.actuator.joint is not None:
        out["joint"] = {name: values.tolist() for name, values in row.actuator.joint.arrays().items()}
    return out


def table(study: Study) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: each model with its errors, as shares of the first model's as well."""
    what, unit, factor = measure_of(study)
    columns = ["model", f"validation {unit} ", f"held out {unit} ", "share of ideal ", f"blocks {unit} "]
    rows: list[list[str]] = []
    first = study.rows[0].overall(what) or 1.0
    for row in study.rows:
        values = getattr(row, what)
        blocks = np.sqrt(np.mean(np.square(values), axis=1))
        overall = row.overall(what) or 0.0
        rows.append(
            [
                row.name + (" *" if row.name == study.chosen else ""),
                f"{factor * row.validation:.3g}",
                f"{factor * overall:.3g}",
                f"{overall / first:.2f}",
                f"{factor * blocks.min():.3g} to {factor * blocks.max():.3g}",
            ]
        )
    return columns, rows


def markdown(study: Study) -> str:
    """The table in markdown, with the verdict above it."""
    columns, rows = table(study)
    lines = [
        verdict(study) + ".",
        "",
        "| " + " | ".join(one.strip() for one in columns) + " |",
        "|---" * len(columns) + "|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
