"""The whole step of a policy as a graph and as C, where it needs no simulator, and the reason where it does."""

from dataclasses import dataclass, field, replace

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, Problem, act, rollout, stream
from isthmus.deploy.fused import FusedStep, fused_step
from isthmus.deploy.fused_onnx import COMMAND, HISTORY, fused_onnx
from isthmus.deploy.header import MOST_BYTES, header, header_bytes
from isthmus.deploy.load import FUSED, HEADER
from isthmus.deploy.manifest import Adapter
from isthmus.policies.onnx_runtime import open_session
from isthmus.tasks import Task

WORLDS, STEPS = 8, 32
"""Simulations along which a graph is compared with NumPy, and steps of each."""
EXACT = 1e-6
"""By how much a graph may differ from NumPy, in half ranges."""
NOISE = 0.1
"""Half ranges by which commands vary along the way, so that more is compared than one trajectory."""


def fused_files(adapter: Adapter, policy: AnyPolicy, task: Task) -> tuple[Adapter, dict[str, bytes]]:
    """The files, and the adapter with what is to be said about them."""
    step = fused_step(policy, task.robot_model.spec, adapter.history)
    if isinstance(step, str):
        return replace(adapter, fused=step, header=step), {}
    content = fused_onnx(step)
    checked = difference(policy, task, step, content, adapter.seed)
    if checked is not None and checked > EXACT:
        why = f"it differs from NumPy by {checked:.1g} of half a range"
        return replace(adapter, fused=why, header=why, fused_checked_to=checked), {}
    adapter = replace(adapter, fused_checked_to=checked)
    if (size := header_bytes(step)) > MOST_BYTES:
        why = f"its numbers take {size >> 10} kB in single precision, and {MOST_BYTES >> 10} kB fit"
        return replace(adapter, header=why), {FUSED: content}
    return adapter, {FUSED: content, HEADER: header(step, task.name).encode()}


def difference(policy: AnyPolicy, task: Task, step: FusedStep, content: bytes, seed: int) -> float | None:
    """How far the graph is from the policy, in half ranges, along simulated episodes; None without ONNX Runtime."""
    try:
        session = open_session(content)
    except Problem:
        return None
    spec, world, rng = step.spec, task.source(WORLDS), stream(seed, "bundle fused")
    watched, worst = _Watched(policy), 0.0

    def explore(commands: Float) -> Float:
        return commands + NOISE * spec.half_range * rng.standard_normal(commands.shape)

    steps = rollout(world, watched, world.reset(rng), history=step.history, steps=STEPS, restart=rng, explore=explore)
    for _ in steps:
        inputs, commands = watched.seen.pop()
        ours = session.run([COMMAND], {HISTORY: inputs})[0]
        worst = max(worst, float(np.max(np.abs(ours - spec.clip(commands)) / spec.half_range)))
    return worst


@dataclass(frozen=True)
class _Watched(PolicyWrapper):
    """A policy whose inputs and commands are kept."""

    policy: AnyPolicy
    seen: list[tuple[Float, Float]] = field(default_factory=list[tuple[Float, Float]])

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        commands, after = act(self.policy, history, state)
        n = len(commands)
        parts = (history.observations.reshape(n, -1), history.actions.reshape(n, -1))
        self.seen.append((np.concatenate(parts, axis=1), commands))
        return commands, after
