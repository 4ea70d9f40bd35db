"""The whole robot, millisecond by millisecond; it knows nothing of ROS."""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.robots.fetch.arm import HOME, JOINTS, PREFIX, arm_spec, body_of, joint_of
from isthmus.robots.fetch.standin.drives import TICK, Drives
from isthmus.robots.fetch.standin.parameters import Parameters

T = TypeVar("T")


class Wire(Generic[T]):
    """Messages that arrive `latency` seconds later, and `jitter` more on average."""

    def __init__(self, latency: float, jitter: float, rng: np.random.Generator) -> None:
        """Nothing is on its way yet."""
        self._latency, self._jitter, self._rng = latency, jitter, rng
        self._under_way: deque[tuple[float, T]] = deque()

    def send(self, message: T, now: float) -> None:
        """Put a message on its way; it arrives after those before it."""
        arrives = now + self._latency + float(self._rng.exponential(self._jitter))
        last = self._under_way[-1][0] if self._under_way else arrives
        self._under_way.append((max(arrives, last), message))

    def arrived(self, now: float) -> list[T]:
        """What is there by now, in order."""
        there: list[T] = []
        while self._under_way and self._under_way[0][0] <= now:
            there.append(self._under_way.popleft()[1])
        return there


class Path:
    """The wanted joint angles over time; the last point is held."""

    def __init__(self, at: Float) -> None:
        """Hold where the arm is (7,)."""
        self._points: list[tuple[float, Float]] = [(0.0, at.copy())]

    def follow(self, now: float, points: list[tuple[float, Float]]) -> None:
        """Leave the path for `points`, each the seconds from now and the angles (7,), in order."""
        at, _ = self.at(now)
        self._points = [(now, at), *((now + max(after, 1e-3), angles) for after, angles in points)]

    def hold(self, now: float) -> None:
        """Stay where the path is now."""
        at, _ = self.at(now)
        self._points = [(now, at)]

    def at(self, now: float) -> tuple[Float, Float]:
        """Angles and speeds wanted at that time, each (7,)."""
        while len(self._points) > 1 and self._points[1][0] <= now:
            self._points.pop(0)
        begin, start = self._points[0]
        if len(self._points) == 1:
            return start, np.zeros_like(start)
        end, goal = self._points[1]
        speed = (goal - start) / (end - begin)
        return start + speed * max(now - begin, 0.0), speed


CORD = "cord"
TIES = ("cord_anchor", "cord_arm")
"""Where it is tied: to the world, and to the elbow."""
GEAR_INERTIA = 0.02
"""Of what turns between the backlash and the link, in kg m^2."""


def make_body(parameters: Parameters) -> mujoco.MjModel:
    """The arm without motors, and the cord with its elastic pull; an actuator adds its hysteresis."""
    spec = arm_spec()
    spec.option.timestep = TICK
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    for joint, factor in zip(JOINTS, parameters.link_mass, strict=True):
        turned = joint_of(spec, joint)
        turned.armature, turned.damping, turned.frictionloss = GEAR_INERTIA, np.zeros(3), 0.0
        link = turned.parent
        link.mass, link.inertia = link.mass * factor, np.asarray(link.inertia) * factor
    hand = body_of(spec, f"{PREFIX}gripper_link")
    hand.add_body(
        name="payload", pos=(0.05, 0, 0), mass=parameters.payload, inertia=np.full(3, 1e-3), explicitinertial=True
    )
    tied = body_of(spec, f"{PREFIX}elbow_flex_link").add_site(name=TIES[1], pos=(0.02, 0, 0), size=np.full(3, 0.02))
    anchor = spec.worldbody.add_site(name=TIES[0], pos=parameters.cord_anchor, size=np.full(3, 0.02))
    tied.rgba = anchor.rgba = (0.9, 0.3, 0.1, 1.0)
    cord = spec.add_tendon(name=CORD, width=0.006, rgba=(0.9, 0.3, 0.1, 1.0))
    cord.stiffness = (parameters.cord_stiffness, 0.0, 0.0)
    cord.springlength = (0.0, parameters.cord_rest)
    cord.wrap_site(anchor.name)
    cord.wrap_site(tied.name)
    spec.add_actuator(name=CORD, target=CORD, trntype=mujoco.mjtTrn.mjTRN_TENDON.value)
    return spec.compile()


class Hysteresis:
    """A force that turns round as the cord does (Dahl's model), beside its elastic pull."""

    def __init__(self, parameters: Parameters) -> None:
        """Begin relaxed."""
        self._most, self._travel = parameters.cord_hysteresis, parameters.cord_travel
        self._rest = parameters.cord_rest
        self._force, self._length = 0.0, 0.0

    def pull(self, length: float) -> float:
        """The pull in N at this length in m; none while the cord is slack."""
        moved, self._length = length - self._length, length
        if length <= self._rest:
            self._force = 0.0
            return 0.0
        against = self._force / self._most * (1.0 if moved > 0 else -1.0) if self._most else 0.0
        self._force += self._most * moved / self._travel * (1.0 - against)
        self._force = min(max(self._force, -self._most), self._most)
        # A cord cannot push: what it gives way by is never more than what it pulls with.
        return max(self._force, -self._most * (length - self._rest) / self._travel)


ARM = len(JOINTS)
Points = list[tuple[float, Float]]


@dataclass(frozen=True)
class Reading:
    """What the encoders say of the arm at one time."""

    time: float
    positions: Float
    velocities: Float
    efforts: Float


class Machine:
    """Body, drives, cord and wires of one robot."""

    def __init__(self, parameters: Parameters, seed: int = 0) -> None:
        """Stand at home, cold."""
        self._of = parameters
        self.model = make_body(parameters)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:ARM] = HOME
        mujoco.mj_forward(self.model, self.data)
        self._drives, self._cord = Drives(parameters, HOME), Hysteresis(parameters)
        self._path = Path(HOME)
        commands, sensors = np.random.default_rng(seed).spawn(2)
        self._commands: Wire[Points | None] = Wire(parameters.latency, parameters.jitter, commands)
        self._readings: Wire[Reading] = Wire(parameters.sensor_latency, parameters.sensor_jitter, sensors)
        self._seen: deque[Float] = deque([self._encoders()] * parameters.speed_window, parameters.speed_window)
        self._ticks = 0
        self._torque = [0.0] * ARM
        self._cord_id = self.model.tendon(CORD).id

    @property
    def time(self) -> float:
        """Seconds since it was switched on."""
        return self._ticks * TICK

    @property
    def warmth(self) -> Float:
        """Kelvin of the motors above the room (7,)."""
        return self._drives.warmth

    @property
    def positions(self) -> Float:
        """Where the joints really are (7,)."""
        return np.array(self.data.qpos[:ARM])

    @property
    def speeds(self) -> Float:
        """How fast they really are (7,)."""
        return np.array(self.data.qvel[:ARM])

    def ties(self) -> list[tuple[str, Float]]:
        """What each end of the cord is tied to, and where in its frame (3,)."""
        sites = [self.model.site(name) for name in TIES]
        return [(self.model.body(site.bodyid[0]).name.removeprefix(PREFIX), site.pos.copy()) for site in sites]

    def command(self, points: Points | None) -> None:
        """Send the arm along points; None has it hold where it is."""
        self._commands.send(points, self.time)

    def tick(self) -> None:
        """One millisecond."""
        now, data = self.time, self.data
        for points in self._commands.arrived(now):
            if points is None:
                self._path.hold(now)
            else:
                self._path.follow(now, points)
        wanted, speed = self._path.at(now)
        numbers = (wanted, speed, data.qfrc_bias, data.qpos, data.qvel)
        self._torque = self._drives.tick(*(array.tolist() for array in numbers))
        data.qfrc_applied[:] = self._torque
        data.ctrl[0] = -self._cord.pull(float(data.ten_length[self._cord_id]))
        mujoco.mj_step(self.model, data)
        self._ticks += 1
        self._seen.append(self._encoders())

    def wanted(self) -> tuple[Float, Float]:
        """Angles and speeds that the arm controller is after now, each (7,)."""
        return self._path.at(self.time)

    def measured(self) -> Reading:
        """What the encoders say now."""
        window = self._seen
        velocities = (window[-1] - window[0]) / (TICK * (len(window) - 1))
        return Reading(self.time, window[-1], velocities, np.array(self._torque))

    def read(self) -> None:
        """Take a reading and send it off."""
        self._readings.send(self.measured(), self.time)

    def readings(self) -> list[Reading]:
        """The readings that have arrived by now."""
        return self._readings.arrived(self.time)

    def _encoders(self) -> Float:
        step = self._of.encoder
        return np.rint(np.asarray(self.data.qpos) / step) * step
