"""Learn what commands come to in the simulator's terms, and command what comes to the source's action.

Every step on the target is explained by the action u that would have made it in the simulator. In hindsight, u is what
the source would have done to want what was reached: with the simulator's own inverse f_src(o, o'),

    u = f_src(o, o')        f_src(o, o_want) = a_src

so the action that gets to o_want is the one whose u is a_src. How commands turn into u is close to the identity, and
learned from few samples; the simulator has the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isthmus.core import Episode, Float, History, Policy, Simulator, Trajectory, WorldSpec, stream
from isthmus.methods.method import Learned, Source
from isthmus.methods.settings import MethodSettings
from isthmus.models.cost_to_go import cost_to_go
from isthmus.models.explain import Explainer
from isthmus.models.past_errors import CommandErrors, PastErrors, recorded_past
from isthmus.models.response import Response, fit_lines
from isthmus.models.saturation import is_cut_at_limit
from isthmus.policies import Decision, Unadapted


@dataclass(frozen=True, slots=True)
class ExplainedPolicy:
    """The source's policy, its commands changed so that they have their effect on the target."""

    policy: Policy
    simulator: Simulator
    response: Response
    past: PastErrors

    def decide(self, history: History) -> Decision:
        """The action for n histories, and what it is meant to reach."""
        a_src = self.policy(history)
        o_want = self.simulator.predict(history, a_src)
        return Decision(a_src, o_want, self._command(history, a_src))

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        return self._command(history, self.policy(history))

    def _command(self, history: History, a_src: Float) -> Float:
        # A source that commands beyond the limit, to be safe from noise, goes on doing so.
        wanted = self.simulator.spec.clip(a_src)
        return a_src + self.response.correction(history.current, wanted, self.past(history))


@dataclass(frozen=True)
class _Rows:
    """A trajectory, explained."""

    observations: Float
    actions: Float
    past: Float
    explained: Float


class ExplainedMethod:
    """A linear response model in the simulator's terms."""

    samples_wanted = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start without a model; the metric is found when there is something to learn."""
        self._source, self._settings = source, settings
        self._explainer: Explainer | None = None
        self._response: Response | None = None
        self._rows: dict[int, list[_Rows]] = {}

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._settings.history

    def decider(self) -> ExplainedPolicy | Unadapted:
        """The adapted policy, once there is a model."""
        policy, simulator, spec = self._source.policy, self._source.simulator, self._source.spec
        if self._response is None:
            return Unadapted(policy, simulator)
        return ExplainedPolicy(policy, simulator, self._response, PastErrors(spec, self._made_explainer()))

    def learn(self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]) -> Learned:  # noqa: ARG002
        """Explain what is new, and fit the response to everything."""
        explainer, spec = self._made_explainer(), self._source.spec
        for number in range(len(self._rows), len(episodes)):
            self._rows[number] = [_explain(one, explainer, spec, self.history) for one in episodes[number]]
        rows = [one for number in range(len(episodes)) for one in self._rows[number]]
        origin = np.concatenate([np.full(len(one.actions), n) for n in range(len(episodes)) for one in self._rows[n]])
        seen, actions, past, explained = (
            np.concatenate([getattr(one, name) for one in rows])
            for name in ("observations", "actions", "past", "explained")
        )
        targets, half = seen[:, spec.targets], spec.half_range
        spread = targets.std(axis=0)
        empty = Response(
            weights=np.zeros((0, spec.action_size)),
            mean=targets.mean(axis=0),
            scale=np.where(spread > 0, spread, 1.0),
            half_range=half,
            noise=np.zeros(spec.action_size),
            targets=spec.targets,
        )
        lines = fit_lines(
            empty.features(seen, actions, past),
            CommandErrors.of(spec, actions, explained),
            origin,
            cut=is_cut_at_limit(actions / half, explained / half),
        )
        self._response = replace(empty, weights=lines.weights, noise=lines.noise)
        return Learned(
            0, 0, (), error=tuple((lines.left * half).tolist()), spread=tuple((lines.before * half).tolist())
        )

    def save(self, path: Path) -> None:
        """Write the model."""
        if self._response is None:
            raise ValueError("there is no model yet")
        self._response.save(path)

    def restore(self, path: Path) -> None:
        """Read a model."""
        self._response = Response.load(path)

    def _made_explainer(self) -> Explainer:
        if self._explainer is None:
            source = self._source
            metric = cost_to_go(source.policy, source.unlimited, stream(source.seed, "cost-to-go"))
            self._explainer = Explainer(source.unlimited, metric)
        return self._explainer


def _explain(one: Trajectory, explainer: Explainer, spec: WorldSpec, history: int) -> _Rows:
    """What a trajectory tells: its errors are what there is to predict, and those before each step are known then."""
    now, then = one.observations[:-1], one.observations[1:]
    roughly = explainer(now, then, one.applied, iterations=1)
    past = recorded_past(spec, one.applied, roughly, history - 1)
    explained = explainer(now, then, roughly, iterations=1)
    new = slice(one.context, None)
    return _Rows(now[new], one.applied[new], past[new], explained[new])
