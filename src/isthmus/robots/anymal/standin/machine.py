"""Stand-in ANYmals: other masses, and drives that are not ideal."""

import copy
from dataclasses import replace

import mujoco
import numpy as np

from isthmus.core import Bool, Float
from isthmus.robots.anymal.model import JOINTS, TIMESTEP
from isthmus.robots.anymal.standin.drive import SeriesElasticDrives
from isthmus.robots.anymal.standin.parameters import Parameters
from isthmus.robots.anymal.task import robot_model
from isthmus.sim import MujocoWorld

GANTRY = 0.9
"""How high the base of a robot hangs that is played to in the air, in m."""
NOISES = {"position": "angle_noise", "velocity": "speed_noise", "torque": "torque_noise"}
"""What the joints measure, and the parameter that has its noise."""
PUSHED_EVERY, PUSH = 200, 0.3
"""An operator pushes a robot that is played to: steps of 2.5 ms between pushes, standard deviation in m/s."""


class Machine:
    """n robots of one kind."""

    def __init__(self, n: int, parameters: Parameters, seed: int) -> None:
        """Build them; `seed` decides how they start and the noise of their sensors."""
        body = robot_model(motors=True)
        self.drives = SeriesElasticDrives(n, parameters.drive, parameters.delay, TIMESTEP)
        model = _with_masses(body.model, parameters)
        self.world = MujocoWorld(body, n, models=model, drives=self.drives)
        single = replace(body, frame_skip=1)
        self._playing = MujocoWorld(single, n, models=model, drives=self.drives)
        self._parameters, self._rng = parameters, np.random.default_rng(seed)
        self._running = np.ones(n, np.bool_)

    def reset(self, commands: Float) -> Float:
        """Start new walks under the commanded speeds (n,); returns observations (n, obs)."""
        self.world.reset(self._rng)
        self._running[:] = True
        self.world.fields["qpos"][:, -1] = commands
        return _observed(self.world)

    def step(self, targets: Float, kicks: Float | None) -> tuple[Float, Bool, dict[str, Float]]:
        """Hold joint targets (n, 12) for a control period, after kicks (n, 2) to the base in m/s.

        Returns observations, who has fallen, and what the joints of all measured at 400 Hz (steps, n, 12); nothing new
        is measured after a fall.
        """
        if kicks is not None:
            self.world.fields["qvel"][:, :2] += kicks
        kept = self.drives.recorded = []
        step = self.world.step(targets)
        self.drives.recorded = None
        log = {name: np.zeros((len(kept), *targets.shape)) for name in NOISES}
        for row, measured in enumerate(kept):
            for name, numbers in zip(NOISES, measured, strict=True):
                log[name][row, self._running] = self._noisy(name, numbers)
        self._running = ~step.ended
        return step.observations, step.ended, log

    def _noisy(self, name: str, numbers: Float) -> Float:
        return numbers + self._rng.normal(0, getattr(self._parameters, NOISES[name]), numbers.shape)

    def play(self, targets: Float, hung: Bool) -> dict[str, Float]:
        """Follow joint targets (T, n, 12), a sample every 2.5 ms, some robots `hung` (n,) in the air, others pushed.

        Returns measured `position`, `velocity` and `torque` (T, n, 12), each taken as the target arrives, and `fresh`
        (T, n): 1 where a robot that had fallen was put up again.
        """
        world, rng = self._playing, self._rng
        world.reset(rng)
        shape = targets.shape
        log = {name: np.zeros(shape) for name in NOISES} | {"fresh": np.zeros(shape[:2])}
        log["fresh"][0] = 1.0
        qpos, qvel = world.fields["qpos"], world.fields["qvel"]
        joints, speeds = slice(7, 7 + len(JOINTS)), slice(6, 6 + len(JOINTS))
        for row, target in enumerate(targets):
            qpos[hung, :7], qvel[hung, :6] = (0, 0, GANTRY, 1, 0, 0, 0), 0.0
            if row % PUSHED_EVERY == PUSHED_EVERY - 1:
                pushed = rng.normal(0, PUSH, (len(qpos), 2)) * (rng.random((len(qpos), 1)) < 0.5)
                qvel[~hung, :2] += pushed[~hung]
            log["position"][row], log["velocity"][row] = qpos[:, joints], qvel[:, speeds]
            log["torque"][row] = self.drives.torque
            ended = world.step(target).ended
            if ended.any():
                world.reset(rng, ended)
                log["fresh"][min(row + 1, len(targets) - 1), ended] = 1.0
        return log | {name: self._noisy(name, log[name]) for name in NOISES}


def _observed(world: MujocoWorld) -> Float:
    seen = np.empty((world.n, world.spec.observation_size))
    world.robot_model.observe(world.fields, seen)
    return seen


def _with_masses(model: mujoco.MjModel, parameters: Parameters) -> mujoco.MjModel:
    model = copy.copy(model)
    base = model.body("base").id
    bodies = slice(base, base + len(parameters.link_mass))
    model.body_mass[bodies] *= parameters.link_mass
    model.body_inertia[bodies] *= parameters.link_mass[:, None]
    model.body_ipos[base] += parameters.base_shift
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model
