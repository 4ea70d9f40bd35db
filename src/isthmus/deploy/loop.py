"""Run a bundle's policy on a robot, and say how it went."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from isthmus.core import Float, Lost, Moment, Problem, World, rollout, stream
from isthmus.deploy.latency import Latency
from isthmus.deploy.policy import DeployedPolicy
from isthmus.deploy.steering import Choice, Steering
from isthmus.deploy.telemetry import Telemetry
from isthmus.hardware.stop import KEPT

STOPPED = "stopped"
"""Why a loop ended that a signal has ended."""
Look = Callable[[int, int], None]
"""Is told how many steps were taken, of how many."""


class Robot(World, Protocol):
    """A world of one robot that keeps its own time."""

    @property
    def lateness(self) -> Sequence[float]:
        """Seconds from each deadline to the command."""
        ...

    def close(self) -> None:
        """Let go of the robot."""
        ...


@dataclass(frozen=True)
class LoopSettings:
    """What a control loop does."""

    steps: int
    """Control steps of an episode, at most."""
    episodes: int = 1
    blend: float = 0.0
    """Seconds from the unadapted policy to the adapted one, at the start of each episode."""
    shadow: bool = False
    """Compute, and leave the robot to the controller that it has."""
    seed: int = 0


@dataclass(frozen=True)
class LoopReport:
    """How a control loop went."""

    latency: Latency
    episodes: int
    ended: str
    """Why it ended before its time; empty where it did not."""
    difference_rms: dict[str, float]
    """By actuator: root mean square of what the adapted policy commands beside the controller in charge (with
    `shadow`) or beside the unadapted policy (while blending), in half ranges."""
    compared_with: str
    """Whose commands those are."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def run_loop(
    robot: Robot,
    policy: DeployedPolicy,
    settings: LoopSettings,
    *,
    telemetry: Telemetry | None = None,
    look: Look | None = None,
    observed: bool = False,
) -> LoopReport:
    """Run `policy` on `robot`; `observed` says that the robot is in somebody else's hands and only looked at."""
    if (settings.blend or (settings.shadow and not observed)) and policy.source is None:
        raise Problem(
            "blending and a shadow run need the policy as it was, which is part of the robot's code: name --task"
        )
    unadapted = policy.source if settings.blend or (settings.shadow and not observed) else None
    steering = Steering(policy.policy, unadapted, policy.spec, settings.blend, shadow=settings.shadow)
    applied: list[Float] = []
    rng, ended, episodes = stream(settings.seed, "deploy"), "", 0
    try:
        for _ in range(settings.episodes):
            start = robot.reset(rng)
            for moment in rollout(robot, steering, start, history=policy.history, steps=settings.steps):
                applied.append(moment.step.applied[0])
                if telemetry is not None:
                    _record(telemetry, moment, steering.choices[-1], robot.lateness)
                if look is not None:
                    look(len(applied), settings.steps * settings.episodes)
            episodes += 1
    except Lost as lost:
        ended = str(lost).removesuffix(f"; {KEPT}")  # a loop collects nothing, and does not go on
    except KeyboardInterrupt:  # how it went is worth as much where somebody stopped it
        ended = STOPPED
    rms, whose = _difference(policy, steering.choices, applied, settings, observed=observed)
    latency = Latency.of([one.seconds for one in steering.choices], robot.lateness)
    return LoopReport(latency, episodes, ended, rms, whose)


def _record(telemetry: Telemetry, moment: Moment, choice: Choice, lateness: Sequence[float]) -> None:
    at = time.time_ns()
    telemetry.vector("/observation", moment.before[0], at)
    telemetry.vector("/command", choice.command, at)
    telemetry.vector("/adapted", choice.adapted, at)
    if choice.unadapted is not None:
        telemetry.vector("/unadapted", choice.unadapted, at)
    telemetry.vector("/applied", moment.step.applied[0], at)
    late = 1e3 * lateness[-1] if lateness else 0.0
    telemetry.message("/loop", {"compute_ms": 1e3 * choice.seconds, "late_ms": late, "weight": choice.weight}, at)


def _difference(
    policy: DeployedPolicy,
    choices: Sequence[Choice],
    applied: Sequence[Float],
    settings: LoopSettings,
    *,
    observed: bool,
) -> tuple[dict[str, float], str]:
    """How far the adapted commands are from those of whoever else was there."""
    if observed:
        if policy.spec.commands != "position":
            return {}, "nobody: what the controller in charge commands is not to be seen on this robot"
        pairs = [(one.adapted, other) for one, other in zip(choices, applied, strict=False)]
        whose = "where the controller in charge took each joint in the step"
    else:
        pairs = [(one.adapted, one.unadapted) for one in choices if one.unadapted is not None]
        whose = "the policy as it was, in command" if settings.shadow else "the policy as it was, while blending"
    if not pairs:
        return {}, "nobody"
    ours, theirs = (np.array(side) for side in zip(*pairs, strict=True))
    rms = np.sqrt(np.square((ours - theirs) / policy.spec.half_range).mean(axis=0))
    return dict(zip(policy.spec.action_names, rms.tolist(), strict=True)), whose
