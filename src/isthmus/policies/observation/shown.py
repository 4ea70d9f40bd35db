"""An observation spec for one robot: the frame that its policy is shown, the stack, and the commands."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int, Problem
from isthmus.policies.observation.body import Body
from isthmus.policies.observation.spec import ObservationSpec
from isthmus.policies.observation.terms import Now, Term, make_term


@dataclass(frozen=True)
class Commands:
    """From a network's actions to commands."""

    scale: Float | float
    offset: Float | float
    """In the order of the network's actions."""
    clip: float
    order: Int
    """The action of the robot that each action of the network is for."""

    def clipped(self, outputs: Float) -> Float:
        """The network's actions (..., act)."""
        return outputs if self.clip == np.inf else np.clip(outputs, -self.clip, self.clip)

    def asked(self, actions: Float) -> Float:
        """What actions (..., act) ask for, in their own order."""
        scaled = actions if isinstance(self.scale, float) and self.scale == 1.0 else self.scale * actions
        return scaled if isinstance(self.offset, float) and self.offset == 0.0 else scaled + self.offset

    def __call__(self, actions: Float) -> Float:
        """Commands (n, act) in the robot's order."""
        commands = np.empty_like(actions)
        commands[:, self.order] = self.asked(actions)
        return commands


@dataclass(frozen=True)
class Shown:
    """What a policy is shown of n robots."""

    spec: ObservationSpec
    body: Body
    terms: tuple[Term, ...]
    commands: Commands
    lags: int
    """How many actions of the past are remembered."""

    @staticmethod
    def of(spec: ObservationSpec, body: Body) -> "Shown":
        """The spec for a robot; a Problem where it names what the robot does not have."""
        joints = spec.joints or body.driven
        body.check_joints(spec.joints, "joints")
        pose = _default_pose(spec, body, joints)
        if spec.stack.frames > body.spec.horizon:
            raise Problem(
                f"a stack of {spec.stack.frames} frames is longer than the history there is: an episode of this robot "
                f"has {body.spec.horizon} steps"
            )
        terms = tuple(make_term(term, body, joints, pose) for term in spec.terms)
        lags = max((term.lag for term in spec.terms if term.kind == "last_action"), default=0)
        return Shown(spec, body, terms, _commands(spec, body, joints, pose), lags)

    @property
    def frame_size(self) -> int:
        """Numbers of one frame."""
        return sum(term.size for term in self.terms)

    @property
    def size(self) -> int:
        """Numbers that the network is given."""
        return self.frame_size * self.spec.stack.frames

    @property
    def sizes(self) -> str:
        """The sum of the terms, in words."""
        each = ", ".join(f"{term.name} {term.size}" for term in self.terms)
        frames = self.spec.stack.frames
        return f"{self.frame_size} numbers ({each})" + (
            f" in {frames} frames, {self.size} in all" if frames > 1 else ""
        )

    def frame(self, observations: Float, actions: Float, seconds: Float) -> Float:
        """One frame (n, frame) from observations (n, obs), the last actions (n, lag, act) and the time (n,)."""
        empty = np.empty((len(observations), 0))
        needed = any(term.needs_state for term in self.terms)
        qpos, qvel = self.body.state(observations) if needed else (empty, empty)
        now = Now(observations, qpos, qvel, actions, self.commands.asked(actions), seconds)
        frame = np.concatenate([term.show(now) for term in self.terms], axis=1)
        return frame if self.spec.clip is None else np.clip(frame, -self.spec.clip, self.spec.clip)

    def stacked(self, frames: Float) -> Float:
        """What the network is given (n, size) of frames (n, k, frame), oldest first."""
        n, stack = len(frames), self.spec.stack
        if stack.order == "newest first":
            frames = frames[:, ::-1]
        if stack.by == "frame":
            return frames.reshape(n, -1)
        ends = np.cumsum([term.size for term in self.terms])[:-1]
        return np.concatenate([part.reshape(n, -1) for part in np.split(frames, ends, axis=2)], axis=1)


def _default_pose(spec: ObservationSpec, body: Body, joints: tuple[str, ...]) -> Float:
    if isinstance(spec.default_pose, str):
        return body.pose(spec.default_pose, joints)
    given = dict(spec.default_pose)
    body.check_joints(list(given), "default_pose")
    if missing := [joint for joint in joints if joint not in given]:
        raise Problem(f"default_pose says nothing of the joint {missing[0]!r}: give the angle of every joint")
    return np.array([given[joint] for joint in joints])


def _commands(spec: ObservationSpec, body: Body, joints: tuple[str, ...], pose: Float) -> Commands:
    asked, count = spec.actions, body.spec.action_size
    names = asked.joints or spec.joints
    if names:
        for name in names:
            if name not in body.actuators:
                raise Problem(
                    f"actions name the joint {name!r}, which no actuator drives: choose from "
                    f"{', '.join(body.driven or body.spec.action_names)}"
                )
        order = np.array([body.actuators[name] for name in names])
        if sorted(order.tolist()) != list(range(count)):
            missing = [name for i, name in enumerate(body.spec.action_names) if i not in order]
            raise Problem(
                f"actions have to name each of the {count} actuators once, got {len(names)}"
                + (f" without {', '.join(missing[:4])}" if missing else "")
            )
    else:
        order = np.arange(count)
    scale = asked.scale if isinstance(asked.scale, float) else np.array(asked.scale)
    if not isinstance(scale, float) and len(scale) != count:
        raise Problem(f"there are {count} actions, but their scale has {len(scale)} numbers")
    offset: Float | float = 0.0
    if asked.offset == "default_pose":
        angles = dict(zip(joints, pose.tolist(), strict=True))
        by_action = {body.actuators[joint]: angle for joint, angle in angles.items() if joint in body.actuators}
        if missing := [name for i, name in enumerate(body.spec.action_names) if i not in by_action]:
            raise Problem(f"the default pose, by which actions are offset, says nothing of {missing[0]!r}")
        offset = np.array([by_action[action] for action in order.tolist()])
    return Commands(scale, offset, asked.clip or np.inf, order)
