"""A few episodes in full, for people to look at: what was seen, wanted and done, and where the robot was."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core import Float, Int, Problem, World, rollout
from isthmus.io import load_arrays, save_arrays
from isthmus.policies import DecisionLog, TracedPolicy

KIND = "trace"
ARRAYS = ("observations", "commands", "source", "wanted", "qpos", "lengths")


@dataclass(frozen=True)
class Trace:
    """n recorded episodes, padded to the longest with their last row."""

    observations: Float  # (n, T+1, obs)
    commands: Float  # (n, T, act)
    source: Float
    """What the simulation policy would have done (n, T, act)."""
    wanted: Float
    """What the simulator expected to see next (n, T, obs)."""
    qpos: Float
    """Where the robot was, to draw it (n, T+1, nq)."""
    lengths: Int
    """Steps of each episode (n,)."""

    @property
    def tracking_errors(self) -> Float:
        """Seen minus wanted in every step of every episode (steps, obs)."""
        errors = self.observations[:, 1:] - self.wanted
        return errors[np.arange(errors.shape[1]) < self.lengths[:, None]]

    def save(self, path: Path) -> None:
        """Write the trace."""
        save_arrays(path, {name: getattr(self, name) for name in ARRAYS}, {"kind": KIND})

    @staticmethod
    def load(path: Path) -> "Trace":
        """Read a trace."""
        arrays, _ = load_arrays(path, KIND)
        try:
            return Trace(**{name: arrays[name] for name in ARRAYS})
        except KeyError as error:
            raise Problem(f"{path} is not a {KIND} file: it has no {error}") from error


def record(
    world: World, policy: TracedPolicy, history: int, rng: np.random.Generator, positions: Callable[[], Float]
) -> Trace:
    """Run one episode in each of the worlds and keep everything; `positions` tells where the robots are (n, nq)."""
    log, seen = DecisionLog(policy), [world.reset(rng)]
    where, lengths = [positions().copy()], np.zeros(world.n, np.int64)
    for moment in rollout(world, log, seen[0], history=history):
        seen.append(moment.step.observations)
        where.append(positions().copy())
        lengths += moment.running
    return Trace(
        observations=np.stack(seen, axis=1),
        commands=np.stack([decision.command for decision in log.decisions], axis=1),
        source=np.stack([decision.source for decision in log.decisions], axis=1),
        wanted=np.stack([decision.wanted for decision in log.decisions], axis=1),
        qpos=np.stack(where, axis=1),
        lengths=lengths,
    )
