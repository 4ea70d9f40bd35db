"""Identify the physics of the target, and tell it to a policy that was trained to be told (Yu et al. 2017).

    z = argmin_z sum |o' - T_z(o, a)|^2 + |z|^2         physical parameters, from the target's own steps
    a = pi(o, q(z))                                     one policy for all robots, and the quantities q of this one

Nothing is trained again. What is kept is the policy for this robot: a network of the observation alone.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import FitReport, Source
from isthmus.core import Episode, Float, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.policies import NetworkPolicy, Unadapted
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.sysid import Transitions, holdout_split, identify
from isthmus.sysid.quantities import Quantities

KIND = "conditioned"


class ConditionedMethod:
    """One policy for many robots, told which one this is."""

    history = 1
    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source) -> None:
        """Start with the source's policy; a task that comes with no conditioned policy is refused."""
        if source.physics is None or source.robot_model is None:
            raise Problem("identification needs a simulator whose physical parameters can be changed")
        if source.conditioned is None:
            raise Problem(
                "no policy that is told physics ships with this task, or its expert is not the policy that is used: "
                "train one with `isthmus policy train TASK --conditioned --randomise mass=0.8:1.25,...`"
            )
        self._source, self._physics = source, source.physics
        self._quantities = Quantities(source.robot_model)
        self._conditioned: Callable[[], ConditionedPolicy] = cache(source.conditioned)
        self._z: Float | None = None
        self._told: NetworkPolicy | None = None

    def policy(self) -> FinetunedPolicy | Unadapted:
        """The policy for this robot, once something is known of it."""
        source = self._source
        if self._told is None:
            return Unadapted(source.pi_src, source.simulator)
        return FinetunedPolicy(source.pi_src, source.simulator, source.sim_derived(self._told))

    def learn(
        self,
        episodes: Sequence[Episode],
        round_number: int,  # noqa: ARG002
        progress: Callable[[int, float], None],  # noqa: ARG002
    ) -> FitReport:
        """Fit the physics to everything so far, going on from what there is."""
        kept, _ = holdout_split(episodes)
        self.tell(identify(self._physics, Transitions.of(kept), self._source.spec.targets, self._z).z)
        return FitReport(0, 0)

    def tell(self, z: Float) -> None:
        """Take physics that was identified already, by its parameters z (p,)."""
        every = self._quantities(self._physics.model(self._physics.values(z)))
        by_name, policy = dict(zip(self._quantities.names, every, strict=True)), self._conditioned()
        if unknown := set(policy.names) - by_name.keys():
            raise Problem(f"the conditioned policy is told {min(unknown)}, which this robot does not have")
        self._z, self._told = z, policy.at(np.array([by_name[name] for name in policy.names]))

    def state(self) -> MethodState:
        """The parameters, and the network for them, as plain data."""
        if self._z is None or self._told is None:
            raise ValueError("nothing was identified yet")
        network = self._told.network
        return MethodState(KIND, {"z": self._z, **network.arrays()}, {"activation": network.activation})

    def restore(self, state: MethodState) -> None:
        """Take over a network and its parameters."""
        z = np.asarray(state.arrays.get("z"), dtype=np.float64)
        if z.shape != (self._physics.size,) or not np.isfinite(z).all():
            raise state.foreign()
        try:
            network = Mlp.from_arrays(state.arrays, cast("Activation", state.about["activation"]))
        except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
            raise state.damaged(error) from error
        mine = self._source.policy
        see = mine.see if isinstance(mine, NetworkPolicy) else self._conditioned().see
        self._z, self._told = z, NetworkPolicy(network, see)
