"""Whether a robot and its policy are consistent in themselves: what any robot file can get wrong in silence.

A simulator that puts joints back in another order, or a start that gives every world the same state, runs without an
error and makes every later figure worthless.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import AnyPolicy, Float, History, act, rollout, stream
from isthmus.evaluate.preflight.check import Check, guarded
from isthmus.sim import MujocoWorld
from isthmus.tasks import Task

WORLDS, STEPS, STATES = 8, 100, 96
"""Of the trajectory along which states are compared, and how many of its states are."""
STARTS, UNLIKELY = 256, 0.25
"""Initial states that are drawn together and one by one, and the distance of their distributions (Kolmogorov and
Smirnov's) that two samples of that size come to once in a million."""
CODEC = 1e-6
"""Share of its standard deviation by which a number may change when an observation is put back."""
PREDICTION = 1e-2
"""Share of its typical change in a step by which a prediction from an observation may be off."""
BATCH = 1e-6
"""Relative difference that computing several robots together may make."""
WIDE = ("observe", "restore", "measure")
"""What has several numbers for each robot; all else has one."""
ACTION = 1e-3
"""The same for a policy, which may be of single precision, in half the actuators' range."""


@dataclass(frozen=True)
class ReferenceRollout:
    """States that the policy comes through in its own simulator, each as it is seen there."""

    qpos: Float
    qvel: Float
    observations: Float
    """Of exactly these states (n, obs): what is derived does not lag a physics step behind, as it does in motion."""

    def world(self, task: Task, rows: slice = slice(None)) -> MujocoWorld:
        """Simulations that start in these states."""

        def start(_rng: np.random.Generator, _n: int) -> tuple[Float, Float]:
            return self.qpos[rows], self.qvel[rows]

        return MujocoWorld(replace(task.robot_model, start=start), len(self.qpos[rows]))


def visit(task: Task, policy: AnyPolicy) -> ReferenceRollout:
    """Run the policy and keep where it came through; episodes that end begin anew."""
    world, rng = task.source(WORLDS), stream(0, "check", "course")

    def state() -> tuple[Float, Float]:
        return world.fields["qpos"].copy(), world.fields["qvel"].copy()

    start, steps = world.reset(rng), min(STEPS, task.robot_model.spec.horizon)
    states = [state(), *(state() for _ in rollout(world, policy, start, steps=steps, restart=rng))]
    qpos, qvel = (np.concatenate(one) for one in zip(*states[:-1], strict=True))
    chosen = np.linspace(0, len(qpos) - 1, min(STATES, len(qpos))).astype(np.int64)
    reference = ReferenceRollout(qpos[chosen], qvel[chosen], np.empty((len(chosen), 0)))
    return replace(reference, observations=reference.world(task).reset(rng))


def consistency(task: Task, policy: AnyPolicy) -> tuple[Check, ...]:
    """Every check of the robot and of how the policy is called, in an order in which the first failure tells most."""
    start = guarded(
        "start draws n states", "return (n, nq) and (n, nv), each row drawn by itself", lambda: _start(task)
    )
    try:
        reference = visit(task, policy)
    except Exception as error:  # whatever a user's functions raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        return start, Check("the policy runs in its simulator", False, reason, "see the error")
    return (
        start,
        guarded(
            "restore undoes observe",
            "restore has to write the positions and velocities that observe was given, in the same order",
            lambda: _codec(task, reference),
        ),
        guarded(
            "an observation tells the state",
            "what decides the next step and is not observed cannot be put back: observe it, or set it in restore",
            lambda: _prediction(task, policy, reference),
        ),
        guarded(
            "n robots together are as n alone",
            "observe, restore, ended, measure, score and reward work on all rows at once, each by itself",
            lambda: _batch(task, policy, reference),
        ),
        guarded(
            "the policy acts row by row",
            "a policy gives (n, act) finite numbers, each row of its own observation and of nothing else",
            lambda: _policy_batch(task, policy, reference),
        ),
    )


def _start(task: Task) -> tuple[bool, str]:
    body = task.robot_model
    together = body.start(stream(0, "check", "start"), STARTS)
    single = [body.start(stream(0, "check", "start", i), 1) for i in range(STARTS)]
    for name, size, many, ones in zip(
        ("positions", "velocities"), (body.model.nq, body.model.nv), together, zip(*single, strict=True), strict=True
    ):
        if np.shape(many) != (STARTS, size):
            return False, f"{name} of {STARTS} states have shape {np.shape(many)}, not {(STARTS, size)}"
        alone = np.concatenate([np.reshape(one, (1, size)) for one in ones])
        for column in range(size):
            if _distance(many[:, column], alone[:, column]) > UNLIKELY:
                return False, (
                    f"{name}[{column}] varies by {many[:, column].std():.3g} when {STARTS} are drawn together "
                    f"and by {alone[:, column].std():.3g} one by one"
                )
    return True, f"{STARTS} states"


def _distance(first: Float, second: Float) -> float:
    """Kolmogorov and Smirnov's distance of two samples."""
    at = np.concatenate((first, second))
    shares = [np.searchsorted(np.sort(one), at, side="right") / len(one) for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _codec(task: Task, reference: ReferenceRollout) -> tuple[bool, str]:
    seen = reference.observations
    error = np.sqrt(np.square(task.source().show(seen) - seen).mean(axis=0))
    std = seen.std(axis=0)
    return _worst(task, error, np.where(std > 1e-9, std, 1.0), CODEC, "its standard deviation")


def _prediction(task: Task, policy: AnyPolicy, reference: ReferenceRollout) -> tuple[bool, str]:
    seen, world = reference.observations, reference.world(task)
    world.reset(stream(0))
    commands, _ = act(policy, History.of(seen))
    after = world.step(commands).observations
    error = np.sqrt(np.square(task.source().predict(History.of(seen), commands) - after).mean(axis=0))
    change = np.sqrt(np.square(after - seen).mean(axis=0))
    targets = task.robot_model.spec.targets
    unit, off = np.full_like(error, np.inf), error.copy()
    unit[targets] = np.where(change > 1e-9, change, 1.0)[targets]
    return _worst(task, off, unit, PREDICTION, "its change in a step")


def _worst(task: Task, error: Float, unit: Float, limit: float, of: str) -> tuple[bool, str]:
    shares = error / unit
    worst = int(shares.argmax())
    name = task.robot_model.spec.observation_names[worst]
    return bool(shares[worst] <= limit), f"{name} off by {shares[worst]:.2g} of {of}"


def _batch(task: Task, policy: AnyPolicy, reference: ReferenceRollout) -> tuple[bool, str]:
    rows = slice(0, None, max(1, len(reference.qpos) // WORLDS))
    seen = reference.observations[rows]
    commands, _ = act(policy, History.of(seen))
    together = _one_step(task, reference.world(task, rows), seen, commands)
    picked = range(*rows.indices(len(reference.qpos)))
    alone = [
        _one_step(task, reference.world(task, slice(row, row + 1)), seen[i : i + 1], commands[i : i + 1])
        for i, row in enumerate(picked)
    ]
    for name, many in together.items():
        shape = (len(picked), *many.shape[1:]) if name in WIDE else (len(picked),)
        if many.shape != shape:
            return False, f"{name} of {len(picked)} robots has shape {many.shape}, not {shape}"
        expected = np.concatenate([one[name] for one in alone])
        if not np.isfinite(many).all():
            return False, f"{name} is not finite"
        if not np.allclose(many, expected, rtol=BATCH, atol=BATCH * float(np.abs(expected).max(initial=0.0))):
            return False, f"{name} off by {np.abs(many - expected).max():.2g}"
    return True, f"{len(picked)} robots"


def _one_step(task: Task, world: MujocoWorld, seen: Float, commands: Float) -> dict[str, Float]:
    """All that a robot's functions tell of one step, by the function's name."""
    observed = world.reset(stream(0))
    before = task.measure(world.fields).copy()
    step = world.step(commands)
    after = task.measure(world.fields).copy()
    return {
        "observe": np.stack((observed, step.observations), axis=1),
        "ended": step.ended.astype(np.float64),
        "measure": after,
        "score": np.asarray(task.score(before, step.applied, after)),
        "reward": np.asarray(task.step_reward(before, step.applied, after)),
        "restore": task.source().show(seen),
    }


def _policy_batch(task: Task, policy: AnyPolicy, reference: ReferenceRollout) -> tuple[bool, str]:
    spec, seen = task.robot_model.spec, reference.observations
    together = np.asarray(act(policy, History.of(seen))[0])
    if together.shape != (len(seen), spec.action_size) or not np.isfinite(together).all():
        return False, f"actions of shape {together.shape} for {len(seen)} observations, or not finite"
    alone = np.concatenate([act(policy, History.of(seen[i : i + 1]))[0] for i in range(len(seen))])
    again = np.asarray(act(policy, History.of(seen))[0])
    apart, changed = (float((np.abs(one - together) / spec.half_range).max()) for one in (alone, again))
    if changed > ACTION:
        return False, f"asked twice about the same, it differs by {changed:.2g} of half its range"
    return apart <= ACTION, f"together and one by one differ by {apart:.2g} of half the range"
