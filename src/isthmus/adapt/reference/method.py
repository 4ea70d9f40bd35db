"""Follow a reference without its actions and without a simulator: only the target's own steps are learned from.

    phi(o_t, o_{t+1}) -> a_t                    the paper's inverse network, from target steps in hindsight
    track:  a = phi(o, reference[p + 1])        p the nearest phase
    clone:  pi(reference[t]) = phi(reference[t], reference[t + 1]),  a = pi(o)

A robot that is fully actuated reaches the next recorded state from wherever it is, and `track` asks for that. An
underactuated one mostly cannot, and the network then is asked for what it has never seen. `clone` asks it only about
steps that the reference has taken, and learns a policy from the answers.

The first round babbles, since there is no action to begin with. A robot under position control is sent to the wanted
positions instead, and is interrupted as ever.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.reference import Phases, Reference
from isthmus.adapt.inverse_network.network import KIND as NETWORK_KIND
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.method import FitReport, Source
from isthmus.adapt.reference.follow import Exploring, FollowingPolicy
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, Float, History, Mlp, Problem, stream
from isthmus.core.mlp import Activation
from isthmus.policies import TracedPolicy

KIND, CLONE_KIND = "reference-inverse", "reference-clone"


class ReferenceInverseMethod:
    """The paper's inverse network, which is asked for recorded observations."""

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start without a model."""
        if source.reference is None:
            raise Problem("a source without actions needs a reference: give recorded observations")
        self._reference: Reference = source.reference
        self._spec, self._seed, self._settings = source.spec, source.seed, settings
        by_position = source.spec.commands == "position"
        follow = settings.follow if settings.follow != "auto" else ("track" if by_position else "clone")
        self._clones = follow == "clone"
        if self._clones and settings.history != 1:
            raise Problem(
                f"a cloned policy sees one observation, and history is {settings.history}: give --follow track"
            )
        self._phases = Phases(self._reference, source.spec)
        self._model: InverseNetwork | None = None
        self._clone: Mlp | None = None

    @property
    def history(self) -> int:
        """How many observations the model looks at."""
        return self._settings.history

    def policy(self) -> FollowingPolicy:
        """The policy that follows the reference, by the models there are."""
        return FollowingPolicy(self._phases, self._spec, self._model, self._clone)

    def exploring(self, rng: np.random.Generator) -> TracedPolicy:
        """What to collect with: babble at first, then the policy with noise; positions are only interrupted."""
        if self.is_interrupted:
            return self.policy()
        return Exploring(self.policy(), self._spec, rng, babbles=self._model is None)

    @property
    def is_interrupted(self) -> bool:
        """Whether random actions are to interrupt it: a robot that is sent to positions is not to be thrown about."""
        return self._spec.commands == "position"

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Fit the inverse network to everything so far, and clone the reference with its actions."""
        from isthmus.adapt.inverse_network.fit import fit  # noqa: PLC0415 - torch is needed to learn, not to act

        spec, sensed = self._spec, self._spec.robot_dimensions
        fitted = fit(
            Windows.of(episodes, self.history, spec),
            np.searchsorted(sensed, spec.targets),
            self._settings.fit,
            stream(self._seed, "fit", round_number),
            progress=progress,
        )
        blind = len(sensed) < spec.observation_size
        self._model = replace(fitted.model, sensed=sensed) if blind else fitted.model
        if self._clones:
            from isthmus.adapt.reference.clone import fit_clone  # noqa: PLC0415 - the same

            before, actions = self.labelled()
            self._clone = fit_clone(before, actions, stream(self._seed, "clone", round_number))
        return FitReport(
            epochs=len(fitted.losses) - 1,
            best=fitted.best,
            losses=fitted.losses,
            error=tuple(fitted.error.tolist()),
            action_std=tuple(fitted.action_std.tolist()),
        )

    def labelled(self) -> tuple[Float, Float]:
        """Recorded observations (m, obs), and the actions (m, act) that the network has found for them."""
        if self._model is None:
            raise ValueError("there is no model yet")
        before, after = self._reference.steps
        return before, self._spec.clip(self._model(History.of(before), after))

    def state(self) -> MethodState:
        """The models as plain data."""
        if self._model is None:
            raise ValueError("there is no model yet")
        arrays = {"inverse": self._model.state().packed()}
        if self._clone is not None:
            clone = MethodState(CLONE_KIND, self._clone.arrays(), {"activation": self._clone.activation})
            arrays["clone"] = clone.packed()
        return MethodState(KIND, arrays)

    def restore(self, state: MethodState) -> None:
        """Take over models."""
        if "inverse" not in state.arrays or ("clone" in state.arrays) != self._clones:
            raise state.foreign()
        self._model = InverseNetwork.of_state(state.part("inverse", NETWORK_KIND))
        if self._clones:
            clone = state.part("clone", CLONE_KIND)
            try:
                activation = cast("Activation", clone.about["activation"])
                self._clone = Mlp.from_arrays(dict(clone.arrays), activation)
            except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
                raise clone.damaged(error) from error
            if (self._clone.input_size, self._clone.output_size) != (
                self._spec.observation_size,
                self._spec.action_size,
            ):
                raise state.foreign()
