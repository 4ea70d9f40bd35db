"""The whole robot, millisecond by millisecond; it knows nothing of ROS."""

from collections import deque
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.robots.fetch.arm import HOME, JOINTS, PREFIX
from isthmus.robots.fetch.standin.body import CORD, TIES, make_body
from isthmus.robots.fetch.standin.cord import Hysteresis
from isthmus.robots.fetch.standin.drives import TICK, Drives
from isthmus.robots.fetch.standin.parameters import Parameters
from isthmus.robots.fetch.standin.path import Path
from isthmus.robots.fetch.standin.wire import Wire

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
