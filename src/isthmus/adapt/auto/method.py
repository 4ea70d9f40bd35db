"""Take what does best where it can be tried: in the simulator, as the target's samples have put it right.

Every candidate is rehearsed there, from the same starts and under the same disturbances, before it goes to the robot.
The source's policy as it is stays unless another one surely does better; one that only seems to is rehearsed for
longer. Where all of them fall short, other metrics are tried: an underactuated robot has to miss something, and what
it should rather miss differs from policy to policy. And where that falls short too, and the policy may be changed, it
is trained on in the corrected simulator, and rehearsed like the others.

What was taken has run on the target since, and the records of that count. Where they are surely closer to the
simulation than those of the source's policy as it is, it stays unless another one surely does better. Where they are
surely further from it, it is given up for good, whatever rehearsals say.

Where commands take effect late, all learn as from a robot that is on time, and decide for when it will be.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from isthmus.adapt.action_residual.method import ActionResidualMethod
from isthmus.adapt.auto.delay_compensation import DelayCompensatedMethod
from isthmus.adapt.auto.evidence import surely_closer, unadapted_runs
from isthmus.adapt.auto.metrics import commands_in, differ, other_metrics, some_states
from isthmus.adapt.auto.selection import PREVIOUS, SURELY, UNADAPTED, CandidateSelection
from isthmus.adapt.auto.stand_in import StandInMethod
from isthmus.adapt.baselines.unadapted import UnadaptedMethod
from isthmus.adapt.common.checkpoint import Checkpoint
from isthmus.adapt.common.method_names import current_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.metric_state import metric_arrays
from isthmus.adapt.conditioned.method import ConditionedMethod
from isthmus.adapt.finetune.method import FinetuneMethod
from isthmus.adapt.method import FitReport, Method, Source
from isthmus.adapt.model_inverse.method import ModelInverseMethod
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, Problem, Simulator
from isthmus.core.metric import Metric
from isthmus.policies import TracedPolicy
from isthmus.sysid.delay import LONGEST_DELAY, estimate_delay, shift_by_delay

KIND = "auto"
RESIDUAL, INVERSE, FINETUNED = "residual-action", "model-inverse", "fine-tune"
CONDITIONED, ROBUST = "conditioned", "robust"
OWN_COURSE = (FINETUNED, CONDITIONED, ROBUST)
"""Who does not keep to the source's trajectory: being away from it says nothing against them."""
DELAY_COMPENSATED = "delay-compensated"


class AutoMethod:
    """Candidates, each a method in a metric, and rehearsals that choose among them."""

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start with the source's policy as it is."""
        if source.rehearsal is None:
            raise Problem("auto tries its candidates in simulation, and needs a simulator whose score is known")
        self._source, self._settings, self._rehearsal = source, settings, source.rehearsal
        corrects = source.physics is not None and settings.components.correction
        self._model_inverse = ModelInverseMethod(source, settings.smoothness) if corrects else None
        told = corrects and source.conditioned is not None
        self._conditioned = ConditionedMethod(source) if told else None
        self._finetune = FinetuneMethod(source, settings) if settings.may_retrain else None
        self._finetuned = False
        self._unadapted, self._stand_in = UnadaptedMethod(source), StandInMethod(source)
        self._given_up = set[str]()
        self._seen = 0
        self._metrics = dict[str, Metric]()
        self._begin(delay=0)

    def _begin(self, delay: int) -> None:
        """Start with the source's policy as it is, on a robot whose commands are so late."""
        self._delay_steps = delay
        # A disturbance is tracked step by step, so a predicted state is no substitute for the measured one.
        history = 1 if delay else max(self._settings.history, 2)
        self._action_residual = ActionResidualMethod(self._source, replace(self._settings, history=history))
        self._selected: tuple[str, Method] = UNADAPTED, self._unadapted

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._delay_steps + 1 if self._delay_steps else self._action_residual.history

    def keep_in(self, checkpoint: Checkpoint) -> None:
        """Keep what practice comes to there."""
        if self._finetune is not None:
            self._finetune.keep_in(checkpoint)

    def policy(self) -> TracedPolicy:
        """What was taken."""
        return self._selected[1].policy()

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Let every candidate learn, and take the one that does best in rehearsal."""
        delay = estimate_delay(episodes, self._source.unclamped)
        if delay != self._delay_steps:
            self._begin(delay)
        is_proven = self._judge(episodes)
        episodes = [shift_by_delay(episode, delay) for episode in episodes]
        reports = {name: method.learn(episodes, round_number, progress) for name, method in self._learners.items()}
        physics = self._model_inverse.followed if self._model_inverse else None
        perturbation_in, parts = partial(self._action_residual.perturbation, episodes), self._settings.components
        if self._conditioned is not None and physics is not None:
            self._conditioned.tell(physics)
        covariance = self._model_inverse.covariance if self._model_inverse else None
        rehearsal = self._rehearsal(
            episodes, perturbation_in, physics, delay, correct=parts.correction, covariance=covariance
        )
        selection = CandidateSelection(
            rehearsal, self.history, self._unadapted, fall_back=parts.fall_back, is_proven=is_proven
        )
        if not selection.is_needless or self._selected[0] != UNADAPTED:
            self._add(selection, self._candidates(episodes))
            selection.add({} if self._selected[0] == UNADAPTED else {PREVIOUS: self._selected[1]})
            self._try_metrics(selection, episodes)
        if self._finetune is not None and selection.falls_short:
            reports[FINETUNED] = self._finetune.learn_in(rehearsal, round_number, progress)
            self._finetuned = True
            self._add(selection, {FINETUNED: self._finetune})
        name = selection.selected
        if name != PREVIOUS:
            self._selected = name, copy(selection.methods[name])
        about = reports.get(self._selected[0].partition(",")[0], reports[RESIDUAL])
        predicted_scores = selection.predicted_scores
        return replace(
            about,
            chosen=self._selected[0],
            predicted_scores=predicted_scores,
            predicted=predicted_scores[name].score,
            falls_short=selection.falls_short,
        )

    def _judge(self, episodes: Sequence[Episode]) -> bool:
        """Whether what was taken is proven by what was recorded since; if it is refuted, it is given up."""
        fresh, self._seen = episodes[self._seen :], len(episodes)
        name = self._selected[0]
        if name == UNADAPTED or name in OWN_COURSE:
            return False
        ours, plain = [episode[0] for episode in fresh], unadapted_runs(self._source.spec, episodes)
        if surely_closer(self._source, plain, ours, SURELY):
            self._given_up.add(name)
            self._selected = UNADAPTED, self._unadapted
        return surely_closer(self._source, ours, plain, SURELY)

    def _add(self, selection: CandidateSelection, candidates: Mapping[str, Method]) -> None:
        """Rehearse candidates, each of them in time, but for those that the target has refuted."""
        left = {name: one for name, one in candidates.items() if name not in self._given_up}
        selection.add({name: self._compensated(method) for name, method in left.items()})

    def _candidates(self, episodes: Sequence[Episode]) -> dict[str, Method]:
        """Who may be taken: all methods, in the cost-to-go and in the metric of what was taken last."""
        found: dict[str, Method] = {DELAY_COMPENSATED: self._unadapted} if self._delay_steps else {}
        found.update(self._learners)
        found.update(self._told)
        if self._source.stand_in is not None:
            found[ROBUST] = self._stand_in
        label = self._selected[0].partition(", ")[2]
        if label:
            found |= {
                f"{kind}, {label}": method.in_metric(self._metric(label), episodes)
                for kind, method in self._learners.items()
            }
        return found

    def _try_metrics(self, selection: CandidateSelection, episodes: Sequence[Episode]) -> None:
        """Rehearse the methods in other metrics, one after the other, as long as all fall short.

        With physics that is known, the perfect one-step inverse tells what a metric is worth, and the other method is
        tried in the best of them alone. A metric that leads to the actions of one before it is not rehearsed.
        """
        inverts = self._model_inverse is not None and not self._model_inverse.is_idle
        kind, tried = INVERSE if inverts else RESIDUAL, list[str]()
        spec, seen = self._source.spec, some_states(episodes)
        known = [commands_in(spec, self._learners[kind], seen)]
        for label in other_metrics(self._source):
            name = f"{kind}, {label}"
            if not selection.falls_short:
                return
            if name in selection.methods:
                continue
            method = self._learners[kind].in_metric(self._metric(label), episodes)
            commands = commands_in(spec, method, seen)
            if all(differ(spec, commands, others) for others in known):
                known.append(commands)
                tried.append(name)
                self._add(selection, {name: method})
        best = selection.best(tried)
        if inverts and best is not None and selection.falls_short:
            label = best.partition(", ")[2]
            other = self._action_residual.in_metric(self._metric(label), episodes)
            self._add(selection, {f"{RESIDUAL}, {label}": other})

    def _metric(self, label: str) -> Metric:
        """The metric of that name, worked out once."""
        if label not in self._metrics:
            self._metrics[label] = other_metrics(self._source)[label]()
        return self._metrics[label]

    def state(self) -> MethodState:
        """What was taken, and what the candidates go on from: the states of all of them, packed."""
        name, selected = self._selected
        parts = self._parts | ({} if name in (UNADAPTED, DELAY_COMPENSATED) else {PREVIOUS: selected})
        packed = {part: method.state().packed() for part, method in parts.items()}
        about = {"taken": name, "practised": self._finetuned, "late": self._delay_steps}
        return MethodState(KIND, packed, about | {"seen": self._seen, "given_up": sorted(self._given_up)})

    def restore(self, state: MethodState) -> None:
        """Take over what was taken."""
        state = replace(state, arrays={current_method(part): packed for part, packed in state.arrays.items()})
        if CONDITIONED not in state.arrays:  # a run of before there was such a policy
            self._conditioned = None
        name, delay = current_method(str(state.about.get("taken"))), state.about.get("late", 0)
        if not isinstance(delay, int) or not 0 <= delay <= LONGEST_DELAY:
            raise Problem(f"{state.origin} is damaged: it says that commands are {delay} steps late")
        self._finetuned = state.about.get("practised") is True
        self._seen, self._given_up = _seen(state), {str(one) for one in state.about.get("given_up", ())}
        self._begin(delay)
        wanted = {*self._parts, *(() if name in (UNADAPTED, DELAY_COMPENSATED) else (PREVIOUS,))}
        if wanted != set(state.arrays):
            raise state.foreign()
        for part, method in self._parts.items():
            method.restore(state.part(part, method.kind))
        if name != UNADAPTED:
            self._selected = name, self._restored(name, state)

    def _restored(self, name: str, state: MethodState) -> Method:
        """The candidate of that name, as it was taken."""
        kind, _, label = name.partition(", ")
        known = self._parts | {ROBUST: self._stand_in}
        known |= {DELAY_COMPENSATED: self._unadapted} if self._delay_steps else {}
        if kind not in known or (label and label not in other_metrics(self._source)):
            raise state.foreign()
        method = self._compensated(copy(known[kind]))
        if kind != DELAY_COMPENSATED:
            part = state.part(PREVIOUS, method.kind)
            if label and "metric_root" not in part.arrays:  # a file from before metrics were kept
                about = {**part.about, "effort": self._metric(label).effort}
                part = replace(part, arrays={**part.arrays, **metric_arrays(self._metric(label))}, about=about)
            method.restore(part)
        return method

    @property
    def _learners(self) -> "dict[str, ActionResidualMethod | ModelInverseMethod]":
        """Who learns in every round."""
        learners: dict[str, ActionResidualMethod | ModelInverseMethod] = {RESIDUAL: self._action_residual}
        return learners if self._model_inverse is None else learners | {INVERSE: self._model_inverse}

    @property
    def _parts(self) -> dict[str, Method]:
        """All that has learned something."""
        finetuned = {FINETUNED: self._finetune} if self._finetune is not None and self._finetuned else {}
        return {**self._learners, **finetuned, **self._told}

    @property
    def _told(self) -> dict[str, Method]:
        """Who is told the physics that was identified, if the task comes with such a policy."""
        return {} if self._conditioned is None else {CONDITIONED: self._conditioned}

    def _compensated(self, method: Method) -> Method:
        """The method as it is on a robot that is on time."""
        return DelayCompensatedMethod(method, self._simulator, self._delay_steps) if self._delay_steps else method

    def _simulator(self) -> Simulator:
        """Where to look ahead: with the physics that was identified, if any."""
        return self._source.simulator if self._model_inverse is None else self._model_inverse.simulator


def _seen(state: MethodState) -> int:
    """How many episodes were learned from before that state."""
    seen = state.about.get("seen", 0)
    if not isinstance(seen, int) or seen < 0:
        raise Problem(f"{state.origin} is damaged: it says that {seen} episodes were seen")
    return seen
