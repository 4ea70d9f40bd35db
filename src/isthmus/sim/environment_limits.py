"""What a Gymnasium environment may be commanded and may observe: what task, environment and user allow, all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import gymnasium
import numpy as np

from isthmus.core import Float, Problem, WorldSpec, unknown_name
from isthmus.hardware import Limits, ReadingCheck, SafetySettings
from isthmus.sim.environment import Environment

ABSURD = 1e6
"""No observation is larger: in SI units nothing that a robot measures of itself is."""
COMMANDS = ("low", "high", "step", "lead")
OBSERVATIONS = ("observation_low", "observation_high")


@dataclass(frozen=True)
class EnvironmentLimits:
    """The limits of one environment."""

    commands: Limits
    low: Float
    """Smallest plausible observation (obs,)."""
    high: Float
    """Largest plausible observation (obs,)."""
    positions: Sequence[int] = ()
    """Where each actuator's joint position is in an observation; empty where actions are no positions."""
    velocities: Sequence[int] = ()
    """Where its velocity is; empty where there is none."""
    speeds: Float | None = None
    """Speed limits of the joints (act,), if they are known."""

    def readings(self) -> ReadingCheck | None:
        """Tells true joint readings from others, where ranges and speeds of the joints are known."""
        if self.speeds is None or not self.positions:
            return None
        return ReadingCheck(self.commands.low, self.commands.high, self.speeds)


def environment_limits(
    environment: Environment, spec: WorldSpec, speeds: Float | None, safety: SafetySettings
) -> EnvironmentLimits:
    """The intersection of the task's limits, the action space's and those that the user's file declares.

    A task whose actions are positions, and that knows how fast its joints may be, also limits steps and leads.
    """
    space = environment.env.action_space
    if not isinstance(space, gymnasium.spaces.Box) or space.shape != (spec.action_size,):
        raise Problem(f"the environment takes actions {space}, but the task has {spec.action_size} actuators")
    for name in environment.limits:
        if name not in (*COMMANDS, *OBSERVATIONS):
            raise unknown_name(f"limit in {environment.name}:", str(name), (*COMMANDS, *OBSERVATIONS))
    declared = {name: _declared(environment, name, spec) for name in environment.limits}
    act, unbounded = np.ones(spec.action_size), np.inf
    low = np.maximum(np.maximum(spec.action_low, space.low.astype(np.float64)), declared.get("low", -unbounded))
    high = np.minimum(np.minimum(spec.action_high, space.high.astype(np.float64)), declared.get("high", unbounded))
    if not (low <= high).all():
        actuator = spec.action_names[int(np.argmax(low - high))]
        raise Problem(
            f"no command of {actuator} is within the task's range, that of {environment.name} and its limits at once"
        )
    positions, velocities = _joints(spec) if spec.commands == "position" else ([], [])
    if "lead" in declared and not positions:
        raise Problem(f"{environment.name} limits the lead, but the task does not observe where its actuators are")
    limits = Limits.of_range(low, high)
    if speeds is not None and positions:
        limits = Limits.of_positions(low, high, speeds, spec.control_period, safety)
    return EnvironmentLimits(
        commands=Limits(
            low,
            high,
            np.minimum(limits.step, declared.get("step", unbounded) * act),
            np.minimum(limits.lead, declared.get("lead", unbounded) * act),
            pull=limits.pull,
        ),
        low=np.maximum(-ABSURD, declared.get("observation_low", np.full(spec.observation_size, -unbounded))),
        high=np.minimum(ABSURD, declared.get("observation_high", np.full(spec.observation_size, unbounded))),
        positions=positions,
        velocities=velocities,
        speeds=speeds if positions else None,
    )


def _joints(spec: WorldSpec) -> tuple[list[int], list[int]]:
    """Where positions and velocities of the actuators' joints are observed, by their names."""
    names = {name: index for index, name in enumerate(spec.observation_names)}
    positions = [names[joint] for joint in spec.action_names if joint in names]
    velocities = [names[f"{joint} velocity"] for joint in spec.action_names if f"{joint} velocity" in names]
    whole = spec.action_size
    return (positions if len(positions) == whole else [], velocities if len(velocities) == whole else [])


def _declared(environment: Environment, name: str, spec: WorldSpec) -> Float:
    """A declared limit as one number for each actuator, or for each observation dimension."""
    size = spec.observation_size if name in OBSERVATIONS else spec.action_size
    try:
        value = np.broadcast_to(np.asarray(environment.limits[name], np.float64), (size,))
    except (TypeError, ValueError) as error:
        raise Problem(f"limit {name!r} of {environment.name} needs a number, or {size} of them") from error
    if np.isnan(value).any() or (name in ("step", "lead") and not (value > 0).all()):
        raise Problem(f"limit {name!r} of {environment.name} cannot be {environment.limits[name]}")
    return value
