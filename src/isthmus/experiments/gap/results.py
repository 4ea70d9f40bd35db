"""The figures of a gap report, for files, tables and pages."""

from typing import Any

import numpy as np

from isthmus.core import Int
from isthmus.core.commit import current_commit
from isthmus.replay.advice import DIALS, grouped, looks_like, not_told_apart, unknown
from isthmus.replay.errors import errors, resolution
from isthmus.replay.explain import predictor
from isthmus.replay.gap import FITTED, PREVIOUS, SOURCE, GapReport, Row
from isthmus.replay.spectrum import BANDS
from isthmus.replay.windows import Windows

SPEEDS = ("slow", "middle", "fast")
"""Replays in three parts of equal number, by how fast the joints moved."""


def figures(report: GapReport, command: str, notes: tuple[str, ...], steps: list[str]) -> dict[str, Any]:
    """All numbers as JSON has them."""
    source, best = report.row(SOURCE), report.row(report.best)
    return {
        "command": command,
        "commit": current_commit(),
        "joints": list(report.rig.joints),
        "actuators": list(report.rig.actuators),
        "held_joints": list(report.rig.held),
        "rate": 1 / report.parts.train.dt,
        "seconds": {name: getattr(report.parts, name).seconds for name in ("train", "validation", "test")},
        "split": report.parts.how,
        "recordings": {name: list(getattr(report.parts, name).motions) for name in ("train", "validation", "test")},
        "notes": list(notes),
        "resolution": resolution(report.parts.train).tolist(),
        "foretold": report.foretold,
        "replay_seconds": report.seconds,
        "models": [_row(one, source) for one in report.rows],
        "best": report.best,
        "ratio": best.horizons[-1].rms / source.horizons[-1].rms if source.horizons[-1].rms else 0.0,
        "ratio_all_replays": best.whole.rms / source.whole.rms if source.whole.rms else 0.0,
        "best_starts": {name: {"rms": one.rms, "median": one.median} for name, one in report.best_starts.items()},
        "families": {
            "alone": {family: 1 - error / report.source for family, error in report.alone.items()},
            "order": [
                {"family": one.family, "rivals": list(one.rivals), "gaps": DIALS[one.family]}
                for one in report.explained
            ],
            "looks_like": looks_like(report.explained),
        },
        "shares": report.shares,
        "explained": grouped(report),
        "parameters": parameters(report),
        "not_told_apart": not_told_apart(report.fitted)[:20],
        "undetermined": unknown(report.fitted),
        "motions": by_motion(report),
        "speeds": by_speed(report),
        "spectra": spectra(report),
        "next": steps,
    }


def _row(row: Row, source: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "validation": row.validation,
        "horizons": [
            {"seconds": one.seconds, "rms": one.rms, "median": one.median, "joints": one.joints.tolist()}
            for one in row.horizons
        ],
        "share_of_simulator": row.horizons[-1].rms / source.horizons[-1].rms if source.horizons[-1].rms else None,
        "all_replays": {"rms": row.whole.rms, "median": row.whole.median, "joints": row.whole.joints.tolist()},
    }


def parameters(report: GapReport) -> list[dict[str, Any]]:
    """What was fitted, with how sure it is."""
    fitted = report.fitted
    return [
        {
            "name": one.name,
            "family": one.family,
            "unit": one.unit,
            "simulator": one.nominal,
            "robot": float(one.value(np.asarray(z))),
            "determined": float(known),
        }
        for one, z, known in zip(fitted.free, fitted.z, fitted.determined, strict=True)
    ]


def by_motion(report: GapReport) -> list[dict[str, Any]]:
    """Errors of the longest replays in every held-out recording."""
    test, where = report.parts.test, report.windows
    starts = np.asarray(test.starts)
    rows = np.asarray(np.searchsorted(starts, where.first, side="right"), np.int64) - 1
    names = [test.names[int(row)] for row in rows]
    out: list[dict[str, Any]] = []
    for motion in test.motions:
        mine = np.array([name == motion for name in names], np.bool_)
        if mine.any():
            out.append({"motion": motion, "replays": int(mine.sum()), **_both(report, where.first[mine], where.length)})
    return out


def by_speed(report: GapReport) -> list[dict[str, Any]]:
    """Errors of the longest replays, by how fast the joints moved in them."""
    where = report.windows
    scale = np.maximum(report.parts.test.velocity.std(axis=0), 1e-9)
    speed = np.sqrt(np.mean(np.square(where.of(report.parts.test.velocity) / scale), axis=(1, 2)))
    order = np.argsort(speed, kind="stable")
    parts = [one for one in np.array_split(order, len(SPEEDS)) if len(one)]
    return [
        {
            "speed": name,
            "replays": len(rows),
            "from": float(speed[rows].min()),
            "to": float(speed[rows].max()),
            **_both(report, where.first[np.sort(rows)], where.length),
        }
        for name, rows in zip(SPEEDS, parts, strict=False)
    ]


def _both(report: GapReport, first: Int, length: int) -> dict[str, Any]:
    where = Windows(first, length)
    models = {"simulator": predictor(report.rig), "fitted": predictor(report.rig, report.fitted, report.residual)}
    return {name: errors(one, report.parts.test, where).joints.tolist() for name, one in models.items()}


def spectra(report: GapReport) -> list[dict[str, Any]]:
    """Coherence, transfer functions and errors by band of every joint."""
    return [
        {
            "joint": one.joint,
            "actuator": one.actuator,
            "frequency": one.frequency.tolist(),
            "coherence": one.coherence.tolist(),
            "gain": np.abs(one.recorded).tolist(),
            "phase": np.angle(one.recorded).tolist(),
            "models": {
                name: {"gain": np.abs(values).tolist(), "phase": np.angle(values).tolist()}
                for name, values in one.simulated.items()
            },
            "farthest_off": {name: one.differs(name) for name in one.simulated},
            "bands": {"hz": list(BANDS[:-1]), **{name: values.tolist() for name, values in one.bands.items()}},
        }
        for one in report.spectra
    ]


def verdict(report: GapReport) -> str:
    """The gap and what is left of it, in a sentence."""
    source, best = report.row(SOURCE).horizons[-1], report.row(report.best).horizons[-1]
    worst = report.rig.joints[
        int(np.argmax(source.joints / np.maximum(report.row(PREVIOUS).horizons[-1].joints, 1e-9)))
    ]
    return (
        f"over {source.seconds:.2g} s the simulator is off by {source.rms:.3g} rms on held-out recordings, most at "
        f"{worst} for how far it goes, and by {best.rms:.3g} as fitted ({best.rms / max(source.rms, 1e-12):.2f} of "
        f"that); {looks_like(report.explained)}{_best_starts(report)}"
    )


def _best_starts(report: GapReport) -> str:
    """What is said of replays that hang on what no sensor sees."""
    if not report.best_starts:
        return ""
    before, after = report.best_starts[SOURCE], report.best_starts[FITTED]
    return (
        f"; {1 - report.foretold:.0%} of the replays hang on what no sensor sees of their start: from the best starts "
        f"that the sensors allow, all replays are off by {before.median:.3g} in the median in the simulator and by "
        f"{after.median:.3g} as fitted (rms {before.rms:.3g} and {after.rms:.3g})"
    )


def table(report: GapReport) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: every model with its errors on held-out recordings."""
    lengths = [_length(one.seconds) for one in report.rows[0].horizons]
    whole = report.row(SOURCE)
    columns = ["model", *(f"{one} " for one in lengths), "ratio ", "all ", "median "]
    rows = [
        [
            row.name,
            *(f"{one.rms:.3g}" for one in row.horizons),
            f"{row.horizons[-1].rms / max(whole.horizons[-1].rms, 1e-12):.2f}",
            f"{row.whole.rms:.3g}",
            f"{row.whole.median:.3g}",
        ]
        for row in report.rows
    ]
    return columns, rows


def _length(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.95 else f"{1e3 * seconds:.3g} ms"


def markdown(report: GapReport) -> str:
    """The table in markdown, with the verdict above it."""
    columns, rows = table(report)
    lines = [
        verdict(report) + ".",
        "",
        "| " + " | ".join(one.strip() for one in columns) + " |",
        "|---" * len(columns) + "|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
