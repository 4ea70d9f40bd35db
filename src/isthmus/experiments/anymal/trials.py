"""Walks that policies are judged by: 20 seconds at a commanded speed, with pushes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isthmus.core import Bool, Float, stream
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.task import CLOCK, COMMAND, FASTEST, SLOWEST, TURN, VELOCITY, into_base
from isthmus.robots.anymal.trot import trot
from isthmus.sim import MujocoWorld, RobotModel

STEPS = 1000
SETTLING = 100
"""Steps after the start that do not count for speed: robots start at rest."""
PUSHED_EVERY, PUSH = 200, 0.5
"""Steps between pushes, and the largest change of speed along each axis, in m/s."""
BANDS = 3
"""Parts of the commanded range that results are told apart for."""
Walker = Callable[[Float], Float]
"""From observations (n, obs) to joint targets (n, 12)."""


class Robots(Protocol):
    """n ANYmals that can be told a speed to walk at."""

    n: int

    def reset(self, commands: Float) -> Float:
        """Start new walks under commanded speeds (n,); returns observations (n, obs)."""
        ...

    def step(self, targets: Float, kicks: Float | None = None) -> tuple[Float, Bool]:
        """Hold joint targets (n, 12) for a control period, after kicks (n, 2); returns observations and who fell."""
        ...


class SimulatedAnymals:
    """ANYmals in a simulation of our own."""

    def __init__(self, robot: RobotModel, n: int, seed: int = 0) -> None:
        """Set up n of them."""
        self.n, self.world, self._rng = n, MujocoWorld(robot, n, threads=1), stream(seed, "anymal", "simulated")
        self._over: tuple[Float, Bool] | None = None

    def reset(self, commands: Float) -> Float:
        """Start new walks under commanded speeds (n,); returns observations (n, obs)."""
        seen, self._over = self.world.reset(self._rng), None
        self.world.fields["qpos"][:, -1] = seen[:, COMMAND] = commands
        return seen

    def step(self, targets: Float, kicks: Float | None = None) -> tuple[Float, Bool]:
        """Hold joint targets (n, 12) for a control period, after kicks (n, 2) to the base in m/s."""
        if kicks is not None:
            self.world.fields["qvel"][:, :2] += kicks
        if self._over is not None:  # nobody is left to move
            return self._over
        step = self.world.step(targets)
        self._over = (step.observations, step.ended) if step.ended.all() else None
        return step.observations, step.ended


@dataclass(frozen=True)
class Walked:
    """Results of n walks."""

    commands: Float
    """(n,), in m/s."""
    speeds: Float
    """(n,): mean forward speed, zero after a fall, in m/s."""
    fell: Bool
    """(n,)."""

    def summary(self) -> dict[str, Any]:
        """Share of the commanded speed, by how much it is missed, and share of walks that ended in a fall."""
        share = self.speeds / self.commands
        band = np.minimum((BANDS * np.argsort(np.argsort(self.commands))) // len(share), BANDS - 1)
        return {
            "walks": len(share),
            "share": float(share.mean()),
            "error": float(np.abs(share - 1).mean()),
            "falls": float(self.fell.mean()),
            "share_by_speed": [float(share[band == one].mean()) for one in range(BANDS)],
            "falls_by_speed": [float(self.fell[band == one].mean()) for one in range(BANDS)],
        }


def walk(
    robots: Robots, walker: Walker, seed: int, *, steps: int = STEPS, look: Callable[[int, Float], None] | None = None
) -> Walked:
    """Let all robots walk at speeds from the slowest to the fastest; `look` is shown every step's observations."""
    rng = stream(seed, "anymal", "pushes")
    commands = np.linspace(SLOWEST, FASTEST, robots.n) if robots.n > 1 else np.array([(SLOWEST + FASTEST) / 2])
    seen = robots.reset(commands)
    fell, total = np.zeros(robots.n, np.bool_), np.zeros(robots.n)
    settling = min(SETTLING, steps // 2)
    for step in range(steps):
        kicks = rng.uniform(-PUSH, PUSH, (robots.n, 2)) if step % PUSHED_EVERY == PUSHED_EVERY - 1 else None
        seen, ended = robots.step(walker(seen), kicks)
        fell |= ended
        if step >= settling:
            forward = into_base(seen[:, TURN : TURN + 4], seen[:, VELOCITY : VELOCITY + 3])[:, 0]
            total += np.where(fell, 0.0, forward)
        if look is not None:
            look(step, seen)
    return Walked(commands, total / (steps - settling), fell)


def bare_trot(seen: Float) -> Float:
    """The trot without feedback."""
    return trot(seen[:, CLOCK], seen[:, COMMAND])


def standing(seen: Float) -> Float:
    """The zero action: the standing pose."""
    return np.broadcast_to(STANCE, (len(seen), len(STANCE)))
