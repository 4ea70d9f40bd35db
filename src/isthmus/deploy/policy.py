"""A bundle's policy at the control of one robot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isthmus.core import (
    AnyPolicy,
    Float,
    History,
    HistoryBuffer,
    PolicyState,
    Problem,
    WorldSpec,
    act,
    initial_state,
)
from isthmus.deploy.fused_onnx import COMMAND, HISTORY
from isthmus.deploy.manifest import Manifest
from isthmus.estimate.policy import EstimatedPolicy
from isthmus.policies.onnx import Session
from isthmus.tasks import Task

Runtime = Literal["numpy", "onnx", "fused"]
"""Who computes: NumPy, as in the run; ONNX Runtime for the networks; or ONNX Runtime for all of a step."""


@dataclass(frozen=True)
class FusedPolicy:
    """A whole control step in one graph."""

    session: Session

    def __call__(self, history: History) -> Float:
        """Commands (n, act) for n histories."""
        n = len(history.observations)
        parts = (history.observations.reshape(n, -1), history.actions.reshape(n, -1))
        return self.session.run([COMMAND], {HISTORY: np.concatenate(parts, axis=1)})[0]


class DeployedPolicy:
    """Gets every observation of one robot, and gives the command.

    It keeps the last observations and commands, and whatever the method remembers from step to step.
    """

    def __init__(
        self, manifest: Manifest, policy: AnyPolicy, source: AnyPolicy | None, task: Task | None, runtime: Runtime
    ) -> None:
        """Act by `policy`; `source` is the policy as it was before, where it is known."""
        self.manifest, self.policy, self.source, self.task = manifest, policy, source, task
        self.runtime: Runtime = runtime
        self.spec: WorldSpec = manifest.world.spec
        self.history: int = manifest.adapter.history
        """Observations that a step looks at."""
        self.reset()

    def reset(self) -> None:
        """Begin an episode: forget what was observed before."""
        self._buffer = HistoryBuffer(self.spec, 1, self.history)
        self._command: Float | None = None
        self._state: PolicyState = initial_state(self.policy, 1)

    def act(self, observation: Sequence[float] | Float, applied: Sequence[float] | Float | None = None) -> Float:
        """The command (act,) after an observation (obs,), within the actuators' limits.

        `applied` is what the robot was given after the last observation, where that was not the command. Where an
        estimator stands before the policy, a NaN in the observation is a value that did not arrive.
        """
        seen = np.asarray(observation, np.float64)[None]
        arrived = np.isfinite(seen) | (np.isnan(seen) & isinstance(self.policy, EstimatedPolicy))
        if seen.shape != (1, self.spec.observation_size) or not arrived.all():
            raise Problem(
                f"an observation has {self.spec.observation_size} finite numbers ({_some(self.spec)}), "
                f"got an array of shape {seen.shape[1:]}" + ("" if arrived.all() else ", not all finite")
            )
        if self._command is None:
            self._buffer.begin(seen)
        else:
            last = self._command if applied is None else np.asarray(applied, np.float64)[None]
            if last.shape != (1, self.spec.action_size):
                raise Problem(f"what was applied has {self.spec.action_size} numbers, got {last.shape[1:]}")
            self._buffer.append(last, seen)
        commands, self._state = act(self.policy, self._buffer.window, self._state)
        self._command = self.spec.clip(commands)
        return self._command[0].copy()


def _some(spec: WorldSpec) -> str:
    names = ", ".join(spec.observation_names[:4])
    return f"{names}, ..." if spec.observation_size > 4 else names
