"""The gap between a simulator and a robot's recordings: where it is, what explains it, and what it looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from isthmus.replay.boosting import fit_boosting
from isthmus.replay.errors import HorizonErrors, Predictor, errors, foretellable, hold, horizons, judged, travel
from isthmus.replay.explain import WORTHWHILE, Explained, Judge, Report, explain, predictor
from isthmus.replay.fit import Fitted, Lesson, fit, lessons, quick
from isthmus.replay.parameters import Parameter, of_families, parameters
from isthmus.replay.recording import Recording
from isthmus.replay.residual import learn_residual
from isthmus.replay.rig import Rig, make_rig
from isthmus.replay.scales import measure
from isthmus.replay.simulate import Residual
from isthmus.replay.spectrum import JointSpectrum, spectra
from isthmus.replay.split import Split, split
from isthmus.replay.starts import from_best_starts
from isthmus.replay.windows import Windows

PREVIOUS, SOURCE, PHYSICS = "previous value", "simulator", "all physics"
REST, RESIDUAL, BOOSTING = "+ the rest", "residual", "gradient boosting"
"""Names of rows; those between are families."""
FITTED = "fitted"
FEW, MOST_STARTS = 6, 80
"""Joints of a robot whose best starts are looked for, and replays that this is done for."""
ENOUGH = 1e-3
"""An explanation that leaves less than this share of the mean square error needs no further fit."""
BETTER = 0.98
"""A model is preferred if it leaves less than this share of the other's mean square error on the validation part."""


@dataclass(frozen=True)
class Row:
    """One model on the held-out recordings."""

    name: str
    validation: float
    """Mean square error by which models are chosen, in shares of how far joints go."""
    horizons: tuple[HorizonErrors, ...]
    """Of replays that can be foretold, from a single step to the longest."""
    whole: HorizonErrors
    """Of all of the longest replays."""


@dataclass(frozen=True)
class GapReport:
    """All that was found."""

    rig: Rig
    parts: Split
    known: tuple[Parameter, ...]
    source: float
    """The simulator's mean square error on the validation part."""
    explained: tuple[Explained, ...]
    alone: dict[str, float]
    """The mean square error that each family leaves there by itself."""
    fitted: Fitted
    """The parameters that do best there: of the families that explain the gap, or of all."""
    residual: Residual | None
    """None where it makes the validation part no better."""
    rows: tuple[Row, ...]
    spectra: tuple[JointSpectrum, ...]
    foretold: float
    """Share of the longest held-out replays that can be foretold."""
    seconds: float
    """Of those replays."""
    windows: Windows
    """Of the held-out recordings, those that can be foretold."""
    best_starts: Mapping[str, HorizonErrors] = field(default_factory=dict[str, HorizonErrors])
    """Of the simulator and of fitted physics: all of the longest replays, each from the start that fits best among
    those that the sensors cannot tell apart. Empty where all replays can be foretold."""

    def row(self, name: str) -> Row:
        """The model of that name."""
        return next(one for one in self.rows if one.name == name)

    @property
    def best(self) -> str:
        """The name of the last of the models that are fitted physics, with a residual where that helps."""
        return RESIDUAL if self.residual is not None else self.rows[-2].name

    @property
    def shares(self) -> dict[str, float]:
        """What part of the simulator's mean square error on held-out recordings each explains, and what is left."""
        scale = np.maximum(self.row(PREVIOUS).horizons[-1].joints, 1e-9)

        def square(row: Row) -> float:
            return float(np.mean(np.square(row.horizons[-1].joints / scale)))

        whole = before = square(self.row(SOURCE))
        out: dict[str, float] = {}
        for row in self.rows[2:-1]:
            now = square(row)
            out[row.name] = (before - now) / whole if whole else 0.0
            before = now
        return out | {"unexplained": before / whole if whole else 0.0}


@dataclass(frozen=True)
class _Part:
    """The held-out recordings with the windows that count."""

    recording: Recording
    windows: tuple[Windows, ...]
    """Of every horizon, those that can be foretold."""
    whole: Windows
    """All of the longest."""

    def row(self, name: str, predict: Predictor, judge: Judge) -> Row:
        found = tuple(errors(predict, self.recording, one) for one in self.windows)
        return Row(name, judge(predict), found, errors(predict, self.recording, self.whole))


def analyse(
    model: mujoco.MjModel,
    recording: Recording,
    *,
    train: int | None = None,
    families: bool = True,
    report: Report = lambda _what, _done: None,
) -> GapReport:
    """Compare, explain and judge; with `families` false only all parameters are fitted, which is quicker."""
    parts = split(recording, train)
    rig = make_rig(model, recording.joints, recording.actuators, recording.dt)
    known = parameters(rig, measure(rig, parts.train))
    judge, course = judge_on(rig, parts.validation), lessons(rig, parts.train)
    if families:
        source, explained, alone = explain(rig, parts.train, judge, known, quick(course), report)
    else:
        source, explained, alone = judge(predictor(rig)), (), {}
    fitted = _best_fit(rig, parts.train, judge, known, explained, course, source, report)
    report("residual", 0.9)
    residual = learn_residual(rig, parts.train, fitted.free, fitted.z)
    if judge(predictor(rig, fitted, residual)) > BETTER * judge(predictor(rig, fitted)):
        residual = None
    report("testing", 0.95)
    test = _held_out(rig, parts.test)
    named: list[tuple[str, Predictor]] = [(PREVIOUS, hold), (SOURCE, predictor(rig))]
    named += [(f"+ {one.family}", predictor(rig, one.fitted)) for one in explained]
    named.append((REST if explained else PHYSICS, predictor(rig, fitted)))
    if residual is not None:
        named.append((RESIDUAL, predictor(rig, fitted, residual)))
    named.append((BOOSTING, fit_boosting(parts.train)))
    rows = tuple(test.row(name, predict, judge) for name, predict in named)
    drawn = {
        name: predict(parts.test, test.windows[-1])
        for name, predict in ((SOURCE, predictor(rig)), (FITTED, predictor(rig, fitted, residual)))
    }
    return GapReport(
        rig,
        parts,
        known,
        source,
        explained,
        alone,
        fitted,
        residual,
        rows,
        tuple(spectra(parts.test, test.windows[-1], drawn)),
        len(test.windows[-1]) / len(test.whole),
        test.whole.length * recording.dt,
        test.windows[-1],
        _from_best_starts(rig, test, fitted),
    )


def _from_best_starts(rig: Rig, test: "_Part", fitted: Fitted) -> dict[str, HorizonErrors]:
    if len(test.windows[-1]) == len(test.whole) or len(rig.joints) > FEW:
        return {}
    where = test.whole.thinned(MOST_STARTS)
    return {name: from_best_starts(rig, test.recording, where, one) for name, one in ((SOURCE, None), (FITTED, fitted))}


def _best_fit(
    rig: Rig,
    train: Recording,
    judge: Judge,
    known: tuple[Parameter, ...],
    explained: tuple[Explained, ...],
    course: list[Lesson],
    source: float,
    report: Report,
) -> Fitted:
    """Of the families that explain the gap and of all parameters, what replays the validation part best.

    Where that is hardly better than the model as it is, the model is left as it is.
    """
    candidates = [one.fitted for one in explained[-1:]]
    if explained and explained[-1].after < ENOUGH * source:
        return candidates[0]
    sets = [of_families(known, [one.family for one in explained])] if explained else []
    sets.append(known)
    for number, free in enumerate(sets):

        def progress(done: float, number: int = number) -> None:
            report("fitting", (number + done) / len(sets))

        candidates += fit(rig, train, free, course, start=candidates[0] if candidates else None, progress=progress)
    best = min(candidates, key=lambda one: judge(predictor(rig, one)))
    if source - judge(predictor(rig, best)) < WORTHWHILE * source:
        return Fitted((), np.zeros(0), np.zeros((0, 0)))
    return best


def judge_on(rig: Rig, recording: Recording) -> Judge:
    """Errors of the longest replays of a recording that can be foretold."""
    where = judged(recording, horizons(recording)[-1])
    clear = _clear(rig, recording, where)
    return Judge(rig, recording, clear, travel(recording, clear))


def _held_out(rig: Rig, recording: Recording) -> _Part:
    found = [judged(recording, seconds) for seconds in horizons(recording)]
    return _Part(recording, tuple(_clear(rig, recording, one) for one in found), found[-1])


def _clear(rig: Rig, recording: Recording, where: Windows) -> Windows:
    """The windows that can be foretold; all where hardly any can."""
    clear = foretellable(rig, recording, where)
    return Windows(where.first[clear], where.length) if clear.sum() >= 2 else where
