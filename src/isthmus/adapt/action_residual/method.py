"""Learn what commands come to in the simulator's terms, and command what comes to the source's action.

Every step on the target is explained by the action u that would have made it in the simulator. In hindsight, u is what
the source would have done to want what was reached: with the simulator's own inverse f_src(o, o'),

    u = f_src(o, o')        f_src(o, o_want) = a_src

so the action that gets to o_want is the one whose u is a_src. How commands turn into u is close to the identity, and
learned from few samples; the simulator has the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.action_residual.response_fit import LOOKBACK, EffectiveSteps, fit_response
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.metric_state import metric_arrays
from isthmus.adapt.common.response import KIND, Response
from isthmus.adapt.common.ridge import RidgeFit
from isthmus.adapt.method import FitReport, Perturbation, Source
from isthmus.adapt.settings import MethodSettings
from isthmus.core import (
    AnyPolicy,
    Episode,
    Float,
    History,
    PolicyState,
    Simulator,
    Trajectory,
    act,
    initial_state,
    keep_overflow,
)
from isthmus.core.metric import Metric
from isthmus.core.past_actions import past_actions
from isthmus.policies import Decision, Unadapted
from isthmus.sysid.sensor_noise import sensor_noise

ITERATIONS = 3
"""Of Gauss-Newton, for recorded steps: their effect may be far from their command."""
ENOUGH = 2000
"""Steps from which a disturbance is known."""


@dataclass(frozen=True, slots=True)
class ActionResidualPolicy:
    """The source's policy, its commands changed so that they have their effect on the target."""

    policy: AnyPolicy
    simulator: Simulator
    response: Response
    observer: DisturbanceObserver

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode: the observer's, and that of the source's policy."""
        return {**initial_state(self.policy, n), **self.observer.initial_state(n)}

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The action for n histories, and what it is meant to reach."""
        a_src, source = act(self.policy, history, state)
        o_want = self.simulator.predict(history, a_src)
        command, observed = self._command(history, a_src, state)
        return Decision(a_src, o_want, command), {**source, **observed}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories, and the state for the next step."""
        a_src, source = act(self.policy, history, state)
        command, observed = self._command(history, a_src, state)
        return command, {**source, **observed}

    def _command(self, history: History, a_src: Float, state: PolicyState) -> tuple[Float, PolicyState]:
        spec = self.simulator.spec
        wanted, past = spec.clip(a_src), history.actions.reshape(len(a_src), -1)
        belief = self.observer.belief(history, state)
        corrected = wanted + self.response.correction(history.current, wanted, past, belief)
        command = keep_overflow(a_src, corrected, spec.action_low, spec.action_high)
        return command, self.observer.next_state(history, belief, command)


class ActionResidualMethod:
    """A linear response model in the simulator's terms."""

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings, metric: Metric | None = None) -> None:
        """Start without a model; errors count by the cost-to-go, which is found when it is needed, or by `metric`."""
        self._source, self._settings, self.metric = source, settings, metric
        self._estimator: EffectiveActionEstimator | None = None
        self._response: Response | None = None
        self._steps: dict[int, list[EffectiveSteps]] = {}

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._settings.history

    def perturbation(self, episodes: Sequence[Episode], simulator: Simulator | None = None) -> Perturbation:
        """What the target makes of commands, in the terms of the source's simulator or of another one.

        Noise in sensors looks like a disturbance that does not last: where there is any, that is not counted twice.
        """
        estimator, spec = self._made_estimator(), self._source.spec
        if simulator is None:
            found = self._response or Response.plain(spec, AR1Disturbance.none(spec.action_size))
        else:
            estimator, latest = replace(estimator, simulator=simulator), enumerate(_latest(episodes))
            found, _ = self._fitted([run for number, one in latest for run in self._runs(number, one, estimator)])
        noise = sensor_noise(episodes, estimator.simulator, estimator.metric)
        if noise.any():
            found = replace(found, disturbance=found.disturbance.only(found.disturbance.correlation > 0))
        return Perturbation(found, noise)

    def policy(self) -> ActionResidualPolicy | Unadapted:
        """The adapted policy, once there is a model."""
        policy, simulator = self._source.pi_src, self._source.simulator
        if self._response is None:
            return Unadapted(policy, simulator)
        return ActionResidualPolicy(
            policy, simulator, self._response, DisturbanceObserver(self._response, self._made_estimator())
        )

    def learn(
        self,
        episodes: Sequence[Episode],
        round_number: int,  # noqa: ARG002
        progress: Callable[[int, float], None],  # noqa: ARG002
    ) -> FitReport:
        """Explain what is new, and fit the response to everything."""
        for number in range(len(self._steps), len(episodes)):
            self._steps[number] = self._runs(number, episodes[number], self._made_estimator())
        runs = [run for number in range(len(episodes)) for run in self._steps[number]]
        self._response, ridge = self._fitted(runs)
        half = self._source.spec.half_range
        return FitReport(
            0, 0, (), error=tuple((ridge.rmse * half).tolist()), action_std=tuple((ridge.baseline_rmse * half).tolist())
        )

    def state(self) -> MethodState:
        """The model as plain data."""
        if self._response is None:
            raise ValueError("there is no model yet")
        state = self._response.state()
        if self.metric is None:
            return state
        about = {**state.about, "effort": self.metric.effort}
        return replace(state, arrays={**state.arrays, **metric_arrays(self.metric)}, about=about)

    def restore(self, state: MethodState) -> None:
        """Take over a model."""
        self._response, self.metric = Response.of_state(state), state.metric(self._source.spec.targets)
        self._estimator = None

    def in_metric(self, metric: Metric, episodes: Sequence[Episode] = ()) -> "ActionResidualMethod":
        """The same method where other errors count, with what it learns from `episodes`."""
        other = ActionResidualMethod(self._source, self._settings, metric)
        if episodes:
            other.learn(episodes, 0, _unheard)
        return other

    def _runs(self, number: int, episode: Episode, estimator: EffectiveActionEstimator) -> list[EffectiveSteps]:
        return [_effective_steps(one, number, estimator, self.history) for one in episode]

    def _fitted(self, runs: Sequence[EffectiveSteps]) -> tuple[Response, RidgeFit]:
        return fit_response(self._source.spec, runs, self.history, self._settings.components)

    def _made_estimator(self) -> EffectiveActionEstimator:
        if self._estimator is None:
            source = self._source
            metric, parts = self.metric or source.cost_to_go, self._settings.components
            metric = metric if parts.metric else metric.evened()
            metric = metric if parts.effort_penalty else replace(metric, effort=0.0)
            self._estimator = EffectiveActionEstimator(source.unclamped, metric)
        return self._estimator


def _unheard(_epoch: int, _loss: float) -> None:
    """Progress of which nobody wants to know."""


def _latest(episodes: Sequence[Episode]) -> Sequence[Episode]:
    """As many of the latest episodes as it takes to know a disturbance."""
    steps = np.cumsum([sum(one.samples for one in episode) for episode in reversed(episodes)])
    return episodes[-1 - int(np.searchsorted(steps, ENOUGH)) :]


def _effective_steps(
    one: Trajectory, episode: int, estimator: EffectiveActionEstimator, history: int
) -> EffectiveSteps:
    now, then = one.observations[:-1], one.observations[1:]
    found = estimator(now, then, one.applied, iterations=ITERATIONS)
    past = past_actions(one.applied, max(LOOKBACK, history - 1))
    new = slice(one.context, None)
    return EffectiveSteps(episode, now[new], one.commands[new], one.applied[new], past[new], found[new])
