"""A task: a robot, and how its runs are scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from isthmus.core import AnyPolicy, Estimator, Float, Problem
from isthmus.gaps import Gap
from isthmus.hardware.real_robot import RealRobot, Wiring
from isthmus.policies import View
from isthmus.policies.observation import ObservationSpec
from isthmus.sim import Chain, Channel, Fields, MujocoWorld, RobotModel, SealedRobot
from isthmus.sim.robot_model import State
from isthmus.sim.unclamped import unclamped_world

DEFAULT_CAMERA = {"lookat": (0.0, 0.0, 0.5), "distance": (3.0,), "azimuth": (90.0,), "elevation": (-15.0,)}
Links = Callable[[int], tuple[Channel, Channel]]
"""Makes, for n robots, the channel of commands and that of observations."""
StepReward = Callable[[Float, Float, Float], Float]
"""From the measures before, the commands and the measures after, each (n, ...), to what a step is worth (n,)."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Everything that is particular to one robot, in one value.

    Only evaluation and expert training may use `measure`, `reward` and `score`; adaptation cannot import tasks at all.
    """

    name: str
    robot_model: RobotModel
    measure: Callable[[Fields], Float]
    """What a score is made of, read from the simulation (n, m)."""
    score: StepReward
    """What results are reported in: the reward without its torque penalty."""
    reward: StepReward | None = None
    """Gym's own reward; the score where there is none."""
    gym_id: str = ""
    """Gymnasium's environment with the same physics and reward, if there is one."""
    views: tuple[View, ...] = ()
    """What policies made for Gymnasium's environment see; the first is what our experts are trained on."""
    observation_spec: ObservationSpec | None = None
    """What policies in files are shown, and what their actions mean, where they are not made for one of the views."""
    policy: AnyPolicy | None = None
    """A policy that comes with the task."""
    judged: Callable[[np.random.Generator, int], State] | None = None
    """Draws where judged episodes start, for a task that is not judged where it is trained."""
    speed_limits: Float | None = None
    """Of the joints of a real robot (act,), in rad/s: what keeps it safe."""
    real: RealRobot | None = None
    """What a real robot needs to be driven: its joints and limits."""
    go_on: Callable[[Float], Float] | None = None
    """Moves on by one step what is the task's own in an observation (obs,): a robot does not know of it."""
    estimator: Callable[[int], Estimator] | None = None
    """Makes what turns the sensors of n target robots into observations; by default those show the observation."""
    sensors: tuple[str, ...] = ()
    """What a real robot senses: `encoders`, `imu`, `positions`, `velocities` or names of observations; everything by
    default."""
    links: Links | None = None
    """What lies between a policy and its robot in every simulation, the source's too: a processor and its buses."""
    camera: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: dict(DEFAULT_CAMERA))
    """Where pictures are taken from: lookat, distance, azimuth, elevation."""

    def __post_init__(self) -> None:
        """A task without a reward of its own is paid its score, and shows all it observes."""
        if self.reward is None:
            object.__setattr__(self, "reward", self.score)
        if not self.views:
            object.__setattr__(self, "views", (View("own", self.robot_model.spec.observation_size),))

    @property
    def view(self) -> View:
        """What our experts see."""
        return self.views[0]

    def wired(self) -> Wiring:
        """How a real robot of this task is driven; raises `Problem` where the task does not say enough for that."""
        declared = self.real
        if declared is None and self.speed_limits is not None and self.robot_model.spec.commands == "position":
            declared = RealRobot(velocity=self.speed_limits)
        if declared is None:
            raise Problem(
                f"{self.name} says nothing of a real robot: give its Task `real=RealRobot(velocity=..., ...)`, "
                "as docs/your-robot.md shows, or use a Gymnasium environment as --target"
            )
        return declared.wired(self.robot_model.spec)

    @property
    def trial(self) -> "Task":
        """This task as it is judged."""
        return self if self.judged is None else replace(self, robot_model=replace(self.robot_model, start=self.judged))

    def step_reward(self, before: Float, commands: Float, after: Float) -> Float:
        """Gym's own reward of a step (n,)."""
        return (self.reward or self.score)(before, commands, after)

    def source(self, n: int = 1) -> MujocoWorld:
        """The simulator that the policy was made in."""
        actions, sensors = self.linked(n, None, None)
        return MujocoWorld(self.robot_model, n, actions=actions, sensors=sensors)

    def unclamped(self, n: int = 1) -> MujocoWorld:
        """The simulator with actuators that know no limits."""
        return unclamped_world(self.robot_model, n)

    def target(self, gap: Gap, n: int = 1) -> MujocoWorld:
        """The same robot, behind a gap."""
        body = self.robot_model
        gap = gap.resolve(body.model)
        models = gap.apply(body.model)
        actions, sensors = self.linked(n, gap.action_channel(body.spec, n), gap.sensor_channel(body.spec, n, body))
        return MujocoWorld(
            body,
            n,
            models=models,
            actions=actions,
            sensors=sensors,
            estimator=self.made_estimator(n),
        )

    def linked(self, n: int, actions: Channel | None, sensors: Channel | None) -> tuple[Channel | None, Channel | None]:
        """Channels of a gap, if any, with those that the robot has anyway."""
        if self.links is None:
            return actions, sensors
        to_robot, to_policy = self.links(n)
        return (
            to_robot if actions is None else Chain((to_robot, actions)),
            to_policy if sensors is None else Chain((sensors, to_policy)),
        )

    def made_estimator(self, n: int = 1) -> Estimator | None:
        """A new estimator for n robots, if the task has one."""
        return None if self.estimator is None else self.estimator(n)

    def robot(self, gap: Gap, n: int = 1) -> SealedRobot:
        """The target as adaptation gets it."""
        return SealedRobot(self.target(gap, n))
