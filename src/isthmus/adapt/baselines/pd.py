"""PD tracking: the joints are driven to the states that the simulator expects next.

    a = kp (q_want - q) + kd (v_want - v) + b        o_want = T_src(o, pi_src(o))

for each actuator its own joint, with gains tuned on the target's own motion. In hindsight, the joint state that was
reached is the one that was wanted: kp, kd and b are those for which the law would have given the actions that were
applied, by least squares. b is what it takes on average to hold the joint, as an integrator would find it. Actions at a
limit are left out, since there any larger one would have done the same. Where actions are positions, the law gives what
to add to q_want.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import FitReport, Joints, Source
from isthmus.core import AnyPolicy, Episode, Float, History, PolicyState, Problem, Simulator, act
from isthmus.core.linear import solve
from isthmus.policies import AdaptedPolicy, Decision, Unadapted

KIND = "pd-gains"
RIDGE = 1e-6
"""Share of the features' own size that keeps gains finite where a joint hardly moved."""
FEWEST = 10
"""Actions within the limits that the gains of an actuator are tuned on at least."""


@dataclass(frozen=True)
class PdPolicy(AdaptedPolicy):
    """The source's policy, whose expected joint states are tracked."""

    policy: AnyPolicy
    simulator: Simulator
    joints: Joints
    gains: Float
    """Rows of kp, kd and b (3, act)."""
    positions: bool = False
    """Whether actions are positions."""

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, and what it is meant to reach."""
        a_src, state = act(self.policy, history, state)
        o_want = self.simulator.predict(history, a_src)
        errors = joint_errors(self.joints, history.current, o_want)
        command = np.einsum("nag,ga->na", errors, self.gains)
        if self.positions:
            command += self.joints(o_want)[0]
        return Decision(a_src, o_want, command), state


class PdMethod:
    """Three numbers for each actuator."""

    history = 1
    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source) -> None:
        """Start without gains."""
        if source.joints is None:
            raise Problem("PD tracking needs actuators that each drive one joint, and this robot has others")
        self._source, self._joints = source, source.joints
        self._gains: Float | None = None

    def policy(self) -> PdPolicy | Unadapted:
        """The tracking policy, once there are gains."""
        policy, simulator = self._source.pi_src, self._source.simulator
        if self._gains is None:
            return Unadapted(policy, simulator)
        positions = self._source.spec.commands == "position"
        return PdPolicy(policy, simulator, self._joints, self._gains, positions)

    def learn(
        self,
        episodes: Sequence[Episode],
        round_number: int,  # noqa: ARG002
        progress: Callable[[int, float], None],  # noqa: ARG002
    ) -> FitReport:
        """Tune the gains on everything so far."""
        runs = [one for episode in episodes for one in episode]
        errors = np.concatenate(
            [joint_errors(self._joints, one.observations[:-1], one.observations[1:])[one.context :] for one in runs]
        )
        actions = np.concatenate([one.applied[one.context :] for one in runs])
        spec = self._source.spec
        inside = (actions > spec.action_low) & (actions < spec.action_high)
        if spec.commands == "position":
            actions = actions - np.concatenate([self._joints(one.observations[1:])[0][one.context :] for one in runs])
        fitted = [_tune(errors[rows, i], actions[rows, i]) for i, rows in enumerate(inside.T)]
        self._gains = np.stack([gains for gains, _ in fitted], axis=1)
        action_std = [float(actions[rows, i].std()) if rows.any() else 0.0 for i, rows in enumerate(inside.T)]
        return FitReport(0, 0, (), error=tuple(left for _, left in fitted), action_std=tuple(action_std))

    def state(self) -> MethodState:
        """The gains as plain data."""
        if self._gains is None:
            raise ValueError("there are no gains yet")
        return MethodState(KIND, {"gains": self._gains})

    def restore(self, state: MethodState) -> None:
        """Take over gains."""
        gains = np.asarray(state.arrays.get("gains"), dtype=np.float64)
        if gains.shape != (3, self._source.spec.action_size) or not np.isfinite(gains).all():
            raise state.foreign()
        self._gains = gains


def joint_errors(joints: Joints, now: Float, wanted: Float) -> Float:
    """What the law weighs, between observations (n, obs): position and velocity errors, and a one (n, act, 3)."""
    (q, v), (q_want, v_want) = joints(now), joints(wanted)
    turn = q_want - q
    turn -= (
        2 * np.pi * np.round(turn / (2 * np.pi))
    )  # an angle may come back within one turn; no joint makes one a step
    return np.stack((turn, v_want - v, np.ones_like(v)), axis=2)


def _tune(errors: Float, actions: Float) -> tuple[Float, float]:
    """The gains (3,) of one actuator from errors (n, 3) and actions (n,), and what they leave of the actions."""
    if len(actions) < FEWEST:
        return np.zeros(3), 0.0
    size = np.sqrt(np.square(errors).mean(axis=0))
    size = np.where(size > 0, size, 1.0)
    scaled = errors / size
    gains = solve(scaled.T @ scaled + RIDGE * len(actions) * np.eye(3), scaled.T @ actions)
    return gains / size, float(np.sqrt(np.square(actions - scaled @ gains).mean()))
