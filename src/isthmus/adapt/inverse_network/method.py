"""The paper's method: a deep inverse dynamics model of the target, learned in hindsight."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.inverse_network.network import KIND, InverseNetwork
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.method import FitReport, Source
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, stream
from isthmus.policies import TransferPolicy, Unadapted


class InverseMethod:
    """phi(tau, o_want), direct or as a correction of the source's action.

    Until there is a model, the source's own action is run: for the correction form this is the pre-training on
    unadapted trajectories, and for the direct form it is safer than the commands of an untrained network.
    """

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings, *, correction: bool) -> None:
        """Start without a model."""
        self._source, self._settings, self._correction = source, settings, correction
        self._model: InverseNetwork | None = None

    @property
    def history(self) -> int:
        """How many observations the model looks at."""
        return self._settings.history

    def policy(self) -> TransferPolicy | Unadapted:
        """The adapted policy, once there is a model."""
        policy, simulator = self._source.pi_src, self._source.simulator
        if self._model is None:
            return Unadapted(policy, simulator)
        return TransferPolicy(policy, simulator, self._model, self._correction)

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Refit on everything so far, starting from the model there is."""
        from isthmus.adapt.inverse_network.fit import fit  # noqa: PLC0415 - torch is needed to learn, not to act

        spec = self._source.spec
        sensed = spec.robot_dimensions
        fitted = fit(
            Windows.of(episodes, self.history, spec),
            np.searchsorted(sensed, spec.targets),
            self._settings.fit,
            stream(self._source.seed, "fit", round_number),
            correction=self._correction,
            start=self._model,
            progress=progress,
        )
        blind = len(sensed) < spec.observation_size
        self._model = replace(fitted.model, sensed=sensed) if blind else fitted.model
        return FitReport(
            epochs=len(fitted.losses) - 1,
            best=fitted.best,
            losses=fitted.losses,
            error=tuple(fitted.error.tolist()),
            action_std=tuple(fitted.action_std.tolist()),
        )

    def state(self) -> MethodState:
        """The model as plain data."""
        if self._model is None:
            raise ValueError("there is no model yet")
        return self._model.state()

    def restore(self, state: MethodState) -> None:
        """Take over a model."""
        self._model = InverseNetwork.of_state(state)
