"""Mistakes with what a policy sees: a normaliser that is missing, and inputs that were constant while it learned."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import AnyPolicy, Float, History, Int, PolicyState, PolicyWrapper, act, rollout, stream
from isthmus.policies import NetworkPolicy, ZeroPolicy
from isthmus.tasks import Task

ROLLOUTS, STEPS, WORLDS = 4, 100, 32
"""How often statistics are gathered anew, and over how much."""
EXPLORE, SHAKE = 1.0, 0.2
"""Noise on the commands while statistics are gathered, in half the actuators' range: without a policy, and with it."""
CLIP = 10.0
"""Deviations at which VecNormalize clips."""
CONSTANT = 1e-3
"""A normaliser with a scale up to this one has seen a constant: VecNormalize then has the root of its epsilon, 1e-4."""
NAMED = 3
"""Inputs that are named one by one."""


@dataclass(frozen=True)
class OtherInputs(PolicyWrapper):
    """A policy that sees its observations changed."""

    policy: AnyPolicy
    change: Callable[[Float], Float]

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act), and the state for the next step."""
        return act(self.policy, History(self.change(history.observations), history.actions), state)


def standardised(task: Task, policy: AnyPolicy) -> Iterator[AnyPolicy]:
    """The policy with statistics that it may have been trained with: of exploration, then of its own motion with those.

    They are not the ones it was trained with, so its return is below what it was.
    """
    first = OtherInputs(policy, _standardise(task, ZeroPolicy(task.robot_model.spec.action_size), EXPLORE))
    yield first
    for mended in (policy, first):
        for _ in range(ROLLOUTS):
            mended = OtherInputs(policy, _standardise(task, mended, SHAKE))  # noqa: PLW2901 - each from the one before
            yield mended


def _standardise(task: Task, policy: AnyPolicy, noise: float) -> Callable[[Float], Float]:
    """Standardise by the statistics of a trajectory under noise."""
    world, rng = task.source(WORLDS), stream(0, "check", "statistics")
    start = world.reset(rng)

    def shaken(commands: Float) -> Float:
        return commands + noise * world.spec.half_range * rng.standard_normal((WORLDS, 1))

    moments = rollout(world, policy, start, steps=STEPS, explore=shaken, restart=rng)
    every = np.concatenate([start, *(moment.after for moment in moments)])
    mean, std = every.mean(axis=0), every.std(axis=0)
    scale = np.where(std > 1e-6, std, 1.0)
    return lambda values: np.clip((values - mean) / scale, -CLIP, CLIP)


def held_inputs(task: Task, policy: AnyPolicy) -> Iterator[tuple[str, AnyPolicy]]:
    """The policy with inputs held that may have been constant in training, and what they are.

    Contact forces are the usual case: some simulators report none, and a policy that was trained there has arbitrary
    weights on them. What belongs to the state itself is never held, unless a normaliser says that it was constant.
    """
    start = task.source(WORLDS).reset(stream(0, "check", "statistics"))
    for name, members in _families(task).items():
        held = np.array(members)
        if not _matter(policy, start, held):
            continue
        kind = f"{len(members)} inputs of the kind {name!r}"
        yield kind, OtherInputs(policy, _hold(held, np.zeros(len(held))))
        resting = start.mean(axis=0)[held]
        if resting.any():
            yield kind, OtherInputs(policy, _hold(held, resting))
    if isinstance(policy, NetworkPolicy) and policy.network.input_clip < np.inf:
        network = policy.network
        still = np.flatnonzero(network.input_scale <= CONSTANT)
        if len(still):
            see = _after(policy.see, _hold(still, network.input_mean[still]))
            yield f"inputs {', '.join(map(str, still[:NAMED]))}{_more(len(still))}", replace(policy, see=see)


def _families(task: Task) -> dict[str, list[int]]:
    """Observed numbers that are not of the state, by kind: their names without bodies, joints and counts."""
    spec, model = task.robot_model.spec, task.robot_model.model
    parts = {model.body(i).name for i in range(model.nbody)} | {model.joint(i).name for i in range(model.njnt)}
    families: dict[str, list[int]] = {}
    for i in sorted(set(range(spec.observation_size)) - set(spec.targets.tolist())):
        words = spec.observation_names[i].split()
        kind = " ".join(word for word in words if word not in parts and not word.isdecimal())
        families.setdefault(kind or spec.observation_names[i], []).append(i)
    return families


def _matter(policy: AnyPolicy, observations: Float, inputs: Int) -> bool:
    """Whether the policy looks at any of these inputs."""
    other = observations.copy()
    other[:, inputs] += stream(0, "check", "inputs").standard_normal((len(other), len(inputs)))
    return not np.array_equal(act(policy, History.of(other))[0], act(policy, History.of(observations))[0])


def _hold(held: Int, at: Float) -> Callable[[Float], Float]:
    def change(values: Float) -> Float:
        changed = values.copy()
        changed[..., held] = at
        return changed

    return change


def _after(see: Callable[[Float], Float], change: Callable[[Float], Float]) -> Callable[[Float], Float]:
    return lambda observations: change(see(observations))


def _more(count: int) -> str:
    return f" and {count - NAMED} more" if count > NAMED else ""
