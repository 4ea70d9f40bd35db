"""Fit every kind of model to a log, and test all of them on motion that none has seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.fit.by_replay import KINDS, fit_by_replay, values_of
from isthmus.actuators.fit.implied import implied_torque
from isthmus.actuators.fit.inputs import contract_for
from isthmus.actuators.fit.laws import fit_pd, ideal_law, ideal_pd
from isthmus.actuators.fit.networks import (
    GruSettings,
    NetworkSettings,
    fit_gru,
    fit_linear,
    fit_mlp,
    with_note,
)  # fmt: skip
from isthmus.actuators.fit.split import Split, split
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.parts import Joint, Pd
from isthmus.actuators.plant import Plant, check_order
from isthmus.actuators.predict import predicted, rmse
from isthmus.actuators.replay import Windows, replay, thinned, windows
from isthmus.core import Float, Problem

Report = Callable[[str, float], None]
PAPER = (0.0, 0.01, 0.02)
"""Lags of Hwangbo et al. (2019), in seconds."""
LAG_SETS = (PAPER, (0.0, 0.005, 0.01), (0.0, 0.005, 0.01, 0.015, 0.02), (0.0, 0.005, 0.01, 0.02, 0.03, 0.04))
"""Lags that are tried, in seconds; besides those, the last three samples."""
STARTED = 16
"""Replays by which it is decided where the fit of a law begins."""
TRAINED, JUDGED = 32, 120
"""Replays that a law is fitted to, and that models are judged by, at most."""
NATURAL = 25.0
"""rad/s of a joint under a drive of which nothing is known: where its fit begins."""


@dataclass(frozen=True)
class Row:
    """One model and how it did."""

    actuator: Actuator
    validation: float
    """What the models are chosen by: replay in rad where there is a plant, torque in N m where there is none."""
    torque: Float | None
    """(blocks, J) N m rms on held-out motion, where torque was measured."""
    replay: Float | None
    """(blocks, J) rad rms of held-out replays, where there is a model of the robot."""

    @property
    def name(self) -> str:
        """The kind of model."""
        return self.actuator.name

    def overall(self, what: str) -> float | None:
        """The rms over all blocks and joints of `torque` or `replay`."""
        values = getattr(self, what)
        return None if values is None else rmse(values)


@dataclass(frozen=True)
class Study:
    """What came of a log."""

    rows: tuple[Row, ...]
    chosen: str
    """The model that was best on the validation motion."""
    parts: Split
    delay: float
    """Seconds that a target takes to have an effect, by the fitted law."""
    lags: tuple[tuple[tuple[int, ...], float], ...]
    """The lags that were tried and their error on the validation motion."""
    seconds: float
    """Of a replay."""

    @property
    def best(self) -> Row:
        """The chosen model."""
        return next(row for row in self.rows if row.name == self.chosen)


@dataclass(frozen=True)
class Effort:
    """How much work a study does."""

    network: NetworkSettings = field(default_factory=NetworkSettings)
    gru: GruSettings = field(default_factory=GruSettings)
    trials: NetworkSettings = field(default_factory=lambda: NetworkSettings(rows=100_000, epochs=8))
    """Of the networks that lags are chosen with."""
    seconds: float = 1.0
    """Of a replay."""


QUICK = Effort(
    NetworkSettings(rows=20_000, epochs=4, batch=512),
    GruSettings(epochs=2, sequences=128, length=40),
    NetworkSettings(rows=5_000, epochs=2, batch=512),
)


def study(log: ActuatorLog, plant: Plant | None, effort: Effort, report: Report = lambda _name, _done: None) -> Study:
    """Fit all models to one part of the log and test them on another."""
    if plant is not None:
        check_order(plant, log.position)
    parts = split(log)
    if log.torque is not None:
        models, delay, lags = _by_torque(parts, effort, report)
    elif plant is not None:
        models, delay, lags = _by_replay(parts, plant, effort, report)
    else:
        raise Problem(
            "the log has no measured torque, so that models can only be fitted by replaying it: give the robot with "
            "--robot (`--robot joints` where there is no model of it)"
        )
    judge = _Judge(parts, plant, effort.seconds)
    rows: list[Row] = []
    for number, model in enumerate(models):
        report(f"testing {model.name}", number / len(models))
        rows.append(judge(model))
    usable = [row for row in rows if np.isfinite(row.validation)]
    chosen = min(usable, key=lambda row: row.validation).name
    return Study(tuple(rows), chosen, parts, delay, lags, effort.seconds)


class _Judge:
    """Errors of a model on the validation motion, and on every block of the test."""

    def __init__(self, parts: Split, plant: Plant | None, seconds: float) -> None:
        self._parts, self._plant, self._seconds = parts, plant, seconds

    def __call__(self, model: Actuator) -> Row:
        torque = None
        if self._parts.train.torque is not None:
            torque = np.array([_each(predicted(model, block) - _torque(block)) for block in self._parts.test])
        if self._plant is None:
            return Row(
                model, rmse(predicted(model, self._parts.validation) - _torque(self._parts.validation)), torque, None
            )
        blocks = [one for one in self._parts.test if _fits(one, self._seconds)]
        if not blocks:
            raise Problem(f"held-out blocks are shorter than a replay of {self._seconds:g} s: give less with --seconds")
        replayed = np.array([_each(self._off(model, block)) for block in blocks])
        return Row(model, rmse(self._off(model, self._parts.validation)), torque, replayed)

    def _off(self, model: Actuator, log: ActuatorLog) -> Float:
        if self._plant is None:
            raise ValueError("there is nothing to replay in")
        where = thinned(windows(log, self._seconds), JUDGED)
        return (replay(model, self._plant, log, where) - where.of(log.position)).reshape(-1, len(log.joints))


def _fits(log: ActuatorLog, seconds: float) -> bool:
    return max(end - start for start, end in log.bounds) * log.dt > seconds


def _each(off: Float) -> Float:
    return np.sqrt(np.mean(np.square(off), axis=0))


def _torque(log: ActuatorLog) -> Float:
    if log.torque is None:
        raise ValueError("this log has no torque")
    return log.torque


Fitted = tuple[list[Actuator], float, tuple[tuple[tuple[int, ...], float], ...]]


def _by_torque(parts: Split, effort: Effort, report: Report) -> Fitted:
    train = parts.train
    models = [ideal_pd(train)] if (train.kp is not None and train.kd is not None) or train.command == "effort" else []
    report("PD fitted", 0.0)
    law = fit_pd(train)
    models.append(law)
    delay = float(np.median(_pd(law).delay)) * train.dt
    networks, tried = _networks(parts.train, parts.validation, _pd(law), effort, report)
    return [*models, *networks], delay, tried


def _by_replay(parts: Split, plant: Plant, effort: Effort, report: Report) -> Fitted:
    where = thinned(windows(parts.train, effort.seconds), TRAINED)
    start = first_guess(parts.train, plant)
    gains = _gains(parts.train, plant, where, start, report)
    begun = [
        fit_by_replay(parts.train, plant, thinned(where, STARTED), one, iterations=4)
        for one in _starts(start, gains, parts.train)
    ]
    best = min(begun, key=lambda one: one.rmse).actuator
    law = fit_by_replay(
        parts.train, plant, where, values_of(best, parts.train.dt), report=lambda done: report("PD fitted", done)
    ).actuator
    joint = law.joint or plant.joint
    train, validation = (_full_gain(implied_torque(one, plant, joint)) for one in (parts.train, parts.validation))
    networks, tried = _networks(train, validation, _pd(law), effort, report)
    models = [gains, law, *(replace(one, joint=joint) for one in networks)]
    return models, float(np.median(_pd(law).delay)) * parts.train.dt, tried


def _full_gain(log: ActuatorLog) -> ActuatorLog:
    """The log as a drive of full gain would have seen it: targets are nearer where the gain was less."""
    if log.gain is None:
        return log
    return replace(log, target=log.position + log.gain * (log.target - log.position), gain=None)


def _pd(model: Actuator) -> Pd:
    if model.pd is None:
        raise ValueError(f"{model.name} has no PD law")
    return model.pd


def first_guess(log: ActuatorLog, plant: Plant) -> Float:
    """Where the fit of a law begins (kinds, J)."""
    import mujoco  # noqa: PLC0415 - one number of it

    data, full = mujoco.MjData(plant.model), np.zeros((plant.model.nv, plant.model.nv))
    data.qpos[plant.positions] = np.median(log.position, axis=0)
    mujoco.mj_forward(plant.model, data)
    mujoco.mj_fullM(plant.model, data, full)
    inertia = np.diag(full)[plant.dofs]
    kp = inertia * NATURAL**2 if log.kp is None else log.kp
    kd = 1.4 * inertia * NATURAL if log.kd is None else np.maximum(log.kd, 1e-3)
    if log.command == "effort":
        kp, kd = np.ones_like(inertia), 0.1 * inertia
    load = kp * np.sqrt(np.mean(np.square(log.error), axis=0))
    one = np.ones(len(log.joints))
    delay = min(log.dt, 0.005) * one
    return np.stack((kp, kd, delay, 0.05 * load, 0.03 * kd, 0.2 * inertia, 0 * one, 20 * load, 0.02 * one))


def _gains(log: ActuatorLog, plant: Plant, where: Windows, start: Float, report: Report) -> Actuator:
    """The baseline: the law with the gains that are known, or with nothing but its gains fitted."""
    if log.command == "position" and log.kp is not None and log.kd is not None:
        law = ideal_law(log)
        return Actuator(contract_for(log, (0,), log.kp * log.error), pd=law, joint=plant.joint, name="ideal PD")
    bare = start.copy()
    bare[2:6] = 1e-6
    bare[KINDS.index("limit")], bare[KINDS.index("load")] = 1e6, 1e-5
    fitted = fit_by_replay(log, plant, where, bare, free=("kp", "kd"), report=lambda done: report("ideal PD", done))
    joint = Joint(plant.joint.armature, plant.joint.damping, plant.joint.frictionloss)
    return replace(fitted.actuator, joint=joint, name="ideal PD (gains fitted)")


def _starts(start: Float, gains: Actuator, log: ActuatorLog) -> list[Float]:
    """Where the fit may begin: the drive damps, or what lies behind its saturation does, as the back-EMF of a motor."""
    inside = _full_start(start, gains, log)
    behind = inside.copy()
    behind[KINDS.index("damping")], behind[KINDS.index("kd")] = (
        inside[KINDS.index("kd")],
        0.02 * inside[KINDS.index("kd")],
    )
    return [inside, behind]


def _full_start(start: Float, gains: Actuator, log: ActuatorLog) -> Float:
    """The first guess, with the gains that the baseline came to."""
    law, out = _pd(gains), start.copy()
    out[0], out[1] = law.kp, np.maximum(law.kd, 1e-4)
    gain = 1.0 if log.gain is None else log.gain
    pull = np.abs(law.kp * gain * log.error)
    out[KINDS.index("limit")] = np.maximum(np.quantile(pull, 0.98, axis=0), 1e-3)
    out[KINDS.index("friction")] = 0.05 * np.sqrt(np.mean(np.square(pull), axis=0)) + 1e-4
    return out


def _networks(
    train: ActuatorLog, validation: ActuatorLog, base: Pd, effort: Effort, report: Report
) -> tuple[list[Actuator], tuple[tuple[tuple[int, ...], float], ...]]:
    """The linear model and the networks; lags are those that do best on the validation motion."""
    tried: list[tuple[tuple[int, ...], float]] = []
    for number, lags in enumerate(_lag_sets(train.dt)):
        report("choosing lags", number / len(LAG_SETS))
        trial = fit_mlp(train, validation, lags, effort.trials)
        tried.append((lags, rmse((predicted(trial, validation) - _torque(validation))[validation.age() >= lags[-1]])))
    lags = min(tried, key=lambda one: one[1])[0]
    paper = steps_of(PAPER, train.dt)
    models = [
        fit_linear(train, lags),
        fit_mlp(train, validation, paper, effort.network, report=report, name="MLP 3 x 32"),
        fit_mlp(train, validation, lags, effort.network, report=report, name="MLP 3 x 32, chosen lags"),
    ]
    if len(train.joints) > 1:
        told = replace(effort.network, joint_bias=True)
        models.append(fit_mlp(train, validation, lags, told, report=report, name="MLP, joints told apart"))
    models.append(fit_gru(train, validation, effort.gru, report=report))
    told = replace(effort.network, joint_bias=len(train.joints) > 1)
    models.append(fit_mlp(train, validation, lags, told, base=base, report=report, name="physics + residual"))
    return [with_note(one, lags_seconds=list(one.contract.lag_seconds)) for one in models], tuple(tried)


def steps_of(seconds: Sequence[float], dt: float) -> tuple[int, ...]:
    """Lags in samples: the nearest to so many seconds that differ from each other."""
    return tuple(sorted({round(one / dt) for one in seconds}))


def _lag_sets(dt: float) -> list[tuple[int, ...]]:
    sets = [(0, 1, 2), *(steps_of(seconds, dt) for seconds in LAG_SETS)]
    return list(dict.fromkeys(one for one in sets if len(one) > 1))
