"""What a robot file declares of the real robot: its joints, and the limits that keep it safe."""

from dataclasses import dataclass, field

import numpy as np

from isthmus.core import Float, Problem, WorldSpec
from isthmus.hardware.driver import Commands
from isthmus.hardware.envelope import Envelope
from isthmus.hardware.guard import Limits, SafetySettings
from isthmus.hardware.readings import ReadingCheck

PerJoint = Float | float | list[float] | tuple[float, ...]
"""One number for each actuator, or one for all."""


@dataclass(frozen=True, kw_only=True)
class RealRobot:
    """The real robot of a task; all that is per joint is in the order of the actions.

    What the joints are commanded by, positions or efforts, is in the task's `WorldSpec.commands`.
    """

    velocity: PerJoint
    """Speed limits, in rad/s or m/s."""
    position: tuple[PerJoint, PerJoint] | None = None
    """Smallest and largest joint positions; by default those that actions can ask for, where they ask for positions."""
    torque: PerJoint | None = None
    """Largest efforts, in N m or N; by default those that actions can ask for, where they ask for efforts."""
    rate: PerJoint | None = None
    """Largest change of a command, a second; unlimited by default. Position commands keep to the velocity besides."""
    joints: tuple[str, ...] = ()
    """What the robot itself calls the joints; by default as the actions are called."""
    scale: PerJoint = 1.0
    """Of actions: the robot is sent `zero + scale * action`, in rad or N m."""
    zero: PerJoint = 0.0
    """What the robot is sent for an action of zero."""
    gains: tuple[PerJoint, PerJoint] | None = None
    """Stiffness and damping by which efforts move the robot to where an episode begins. Without them, an episode of a
    robot that is commanded by efforts begins where the robot comes to rest."""
    driver: str = ""
    """Its address, for `--robot declared`: ros2://0/arm_controller, udp://192.168.1.5:9870."""

    def wired(self, spec: WorldSpec) -> "Wiring":
        """The declaration in full for a robot with that `spec`; raises `Problem` where both do not fit."""
        n = spec.action_size
        scale, zero = _each("scale", self.scale, n), _each("zero", self.zero, n)
        if (scale == 0).any():
            raise Problem("a real robot's scale must not be zero: no action would ever move it")
        ends = np.sort(np.stack([zero + scale * spec.action_low, zero + scale * spec.action_high]), axis=0)
        joints = self.joints or spec.action_names
        if len(joints) != n or len(set(joints)) != n:
            raise Problem(f"a real robot's joints are {n} different names, one for each action, not {joints}")
        velocity = _positive("velocity", self.velocity, n)
        if spec.commands == "effort":
            if self.position is None:
                raise Problem("a real robot that is commanded by efforts must declare its joints' range: position")
            most = np.inf if self.torque is None else _positive("torque", self.torque, n)
            low, high = np.maximum(ends[0], -most), np.minimum(ends[1], most)
        else:
            low, high = ends
        below, above = self._range(ends, n)
        if spec.commands == "position":
            low, high = np.maximum(low, below), np.minimum(high, above)
        if not (low < high).all():
            raise Problem("a real robot's limits leave no command to be given: compare its ranges with the actions'")
        return Wiring(
            joints=tuple(joints),
            commands=spec.commands,
            low=low,
            high=high,
            position_low=below,
            position_high=above,
            velocity=velocity,
            rate=np.full(n, np.inf) if self.rate is None else _positive("rate", self.rate, n),
            scale=scale,
            zero=zero,
            gains=None if self.gains is None else (_each("gains", self.gains[0], n), _each("gains", self.gains[1], n)),
            **_places(spec),
        )

    def _range(self, ends: Float, n: int) -> tuple[Float, Float]:
        if self.position is None:
            return ends[0], ends[1]
        below, above = _each("position", self.position[0], n), _each("position", self.position[1], n)
        if not (below < above).all():
            raise Problem("a real robot's position range must have its smaller end first, for every joint")
        return below, above


@dataclass(frozen=True)
class Wiring:
    """How actions become commands of a real robot, and what keeps both within its limits; arrays are (act,)."""

    joints: tuple[str, ...]
    """As the robot calls them."""
    commands: Commands
    low: Float
    """Smallest command, as the robot is sent it."""
    high: Float
    position_low: Float
    """Smallest joint position."""
    position_high: Float
    velocity: Float
    rate: Float
    """Largest change of a command, a second."""
    scale: Float
    zero: Float
    gains: tuple[Float, Float] | None
    positions: list[int] = field(default_factory=list[int])
    """Where an observation has the joints' positions."""
    velocities: list[int] = field(default_factory=list[int])
    """And their velocities."""

    def sent(self, action: Float) -> Float:
        """What the robot is sent for an action (act,)."""
        return self.zero + self.scale * action

    def asked(self, command: Float) -> Float:
        """The action (act,) that a command stands for."""
        return (command - self.zero) / self.scale

    def limits(self, period: float, safety: SafetySettings) -> Limits:
        """What the guard holds commands to, `period` seconds apart."""
        step = self.rate * period
        if self.commands == "effort":
            return Limits(self.low, self.high, step, np.full_like(self.low, np.inf), self.joints)
        fast = self.velocity * period
        return Limits(
            self.low,
            self.high,
            np.minimum(fast * safety.step, step),
            fast * safety.lead,
            self.joints,
            fast * safety.pull,
        )

    def envelope(self) -> Envelope | None:
        """What keeps efforts from driving a joint out of its range; None where positions are commanded."""
        if self.commands == "position":
            return None
        return Envelope(self.position_low, self.position_high, self.velocity, self.joints)

    def check(self) -> ReadingCheck:
        """What tells readings that can be true from those that cannot."""
        return ReadingCheck(self.position_low, self.position_high, self.velocity, self.joints)


def _each(name: str, given: PerJoint, n: int) -> Float:
    """One finite number for each actuator (n,)."""
    try:
        numbers = np.array(given, dtype=np.float64)
        each = np.broadcast_to(numbers, (n,)).copy()
    except (TypeError, ValueError):
        raise Problem(f"a real robot's {name} is one number, or {n} of them, one for each action") from None
    if not np.isfinite(each).all():
        raise Problem(f"a real robot's {name} must be finite")
    return each


def _positive(name: str, given: PerJoint, n: int) -> Float:
    each = _each(name, given, n)
    if not (each > 0).all():
        raise Problem(f"a real robot's {name} must be above zero, for every joint")
    return each


def _places(spec: WorldSpec) -> dict[str, list[int]]:
    """Where an observation has the joints; all else in it must be the task's own."""
    at = {name: column for column, name in enumerate(spec.observation_names)}
    missing = [name for joint in spec.action_names for name in (joint, f"{joint} velocity") if name not in at]
    if missing:
        raise Problem(
            f"a driver measures positions and velocities of joints, but no observation is called {missing[0]!r}: name "
            "dimensions as the actions are ('hip', 'hip velocity'), or use a Gymnasium environment as --target"
        )
    positions = [at[joint] for joint in spec.action_names]
    velocities = [at[f"{joint} velocity"] for joint in spec.action_names]
    unknown = sorted(set(spec.robot_dimensions.tolist()) - {*positions, *velocities})
    if unknown:
        raise Problem(
            f"a driver measures positions and velocities of joints, and not {spec.observation_names[unknown[0]]!r}: "
            "leave it out of WorldSpec.sensed if it is the task's own, or use a Gymnasium environment as --target"
        )
    return {"positions": positions, "velocities": velocities}
