"""Take what does best where it can be tried: in the simulator, as the target's samples have put it right.

Every candidate is rehearsed there, from the same starts and under the same disturbances, before it goes to the robot.
The source's policy as it is stays unless another one surely does better; one that only seems to is rehearsed for
longer. What is new has been learned from more, and is taken unless what was taken last surely does better; what was
taken last is not given up for the source's policy unless that surely does better. Where all of them fall short, other
weights are tried: an underactuated robot has to miss something. And where that falls short too, and the policy may be
changed, it is trained on in the corrected simulator, and rehearsed like the others.

Where commands take effect late, all learn as from a robot that is on time, and decide for when it will be.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from isthmus.adapt.action_residual.method import ActionResidualMethod
from isthmus.adapt.auto.delay_compensation import DelayCompensatedMethod
from isthmus.adapt.auto.selection import PREVIOUS, UNADAPTED, CandidateSelection
from isthmus.adapt.baselines.unadapted import UnadaptedMethod
from isthmus.adapt.common.method_names import current_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.method import FinetuneMethod
from isthmus.adapt.method import FitReport, Method, Source
from isthmus.adapt.model_inverse.method import ModelInverseMethod
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, Problem, Simulator
from isthmus.core.metric import ROOT_WEIGHT, Metric
from isthmus.policies import TracedPolicy
from isthmus.sysid.delay import LONGEST_DELAY, estimate_delay, shift_by_delay

KIND = "auto"
FINETUNED = "fine-tune"
DELAY_COMPENSATED = "delay-compensated"


class AutoMethod:
    """Candidates, and rehearsals that choose among them."""

    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start with the source's policy as it is."""
        if source.rehearsal is None:
            raise Problem("auto tries its candidates in simulation, and needs a simulator whose score is known")
        self._source, self._settings, self._rehearsal = source, settings, source.rehearsal
        corrects = source.physics is not None and settings.components.correction
        self._model_inverse = ModelInverseMethod(source) if corrects else None
        self._finetune = FinetuneMethod(source) if settings.may_retrain else None
        self._finetuned = False
        self._unadapted = UnadaptedMethod(source)
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
        episodes = [shift_by_delay(episode, delay) for episode in episodes]
        reports = {name: method.learn(episodes, round_number, progress) for name, method in self._learners.items()}
        physics = self._model_inverse.fitted if self._model_inverse else None
        perturbation_in, parts = partial(self._action_residual.perturbation, episodes), self._settings.components
        rehearsal = self._rehearsal(episodes, perturbation_in, physics, delay, correct=parts.correction)
        selection = CandidateSelection(rehearsal, self.history, self._unadapted, fall_back=parts.fall_back)
        if not selection.is_needless or self._selected[0] != UNADAPTED:
            selection.add(self._candidates | ({} if self._selected[0] == UNADAPTED else {PREVIOUS: self._selected[1]}))
        if self._model_inverse is not None and not self._model_inverse.is_idle and selection.falls_short:
            reports |= dict.fromkeys(self._weighed, reports["model-inverse"])
            selection.add(self._weighed)
        if self._finetune is not None and selection.falls_short:
            reports[FINETUNED] = self._finetune.learn_in(rehearsal, round_number, progress)
            self._finetuned = True
            selection.add({FINETUNED: self._compensated(self._finetune)})
        name = selection.selected
        if name != PREVIOUS:
            self._selected = name, copy(selection.methods[name])
        about = reports.get(self._selected[0], reports["residual-action"])
        predicted_scores = selection.predicted_scores
        return replace(
            about, chosen=self._selected[0], predicted_scores=predicted_scores, predicted=predicted_scores[name].score
        )

    def state(self) -> MethodState:
        """What was taken, and what the candidates go on from: the states of all of them, packed."""
        name, selected = self._selected
        parts = self._parts | ({} if name in (UNADAPTED, DELAY_COMPENSATED) else {PREVIOUS: selected})
        packed = {part: method.state().packed() for part, method in parts.items()}
        return MethodState(KIND, packed, {"taken": name, "practised": self._finetuned, "late": self._delay_steps})

    def restore(self, state: MethodState) -> None:
        """Take over what was taken."""
        state = replace(state, arrays={current_method(part): packed for part, packed in state.arrays.items()})
        name, delay = current_method(str(state.about.get("taken"))), state.about.get("late", 0)
        if not isinstance(delay, int) or not 0 <= delay <= LONGEST_DELAY:
            raise Problem(f"{state.origin} is damaged: it says that commands are {delay} steps late")
        self._finetuned = state.about.get("practised") is True
        self._begin(delay)
        known = self._candidates | self._weighed
        if self._finetune is not None and self._finetuned:
            known[FINETUNED] = self._compensated(self._finetune)
        wanted = {*self._parts, *(() if name in (UNADAPTED, DELAY_COMPENSATED) else (PREVIOUS,))}
        if name not in (UNADAPTED, *known) or wanted != set(state.arrays):
            raise state.foreign()
        for part, method in self._parts.items():
            method.restore(state.part(part, method.kind))
        if name != UNADAPTED:
            selected = copy(known[name])
            self._selected = name, selected
            if name != DELAY_COMPENSATED:
                selected.restore(state.part(PREVIOUS, selected.kind))

    @property
    def _learners(self) -> dict[str, Method]:
        """Who learns in every round."""
        learners: dict[str, Method] = {"residual-action": self._action_residual}
        return learners if self._model_inverse is None else learners | {"model-inverse": self._model_inverse}

    @property
    def _parts(self) -> dict[str, Method]:
        """All that has learned something."""
        finetuned = {FINETUNED: self._finetune} if self._finetune is not None and self._finetuned else {}
        return self._learners | finetuned

    @property
    def _candidates(self) -> dict[str, Method]:
        """Who may be taken, each of them in time."""
        as_it_is = {DELAY_COMPENSATED: self._compensated(self._unadapted)} if self._delay_steps else {}
        return as_it_is | {name: self._compensated(method) for name, method in self._learners.items()}

    @property
    def _weighed(self) -> dict[str, Method]:
        """What was identified, with other errors in mind where not all can be avoided."""
        if self._model_inverse is None:
            return {}
        found = {"model-inverse, even weights": self._model_inverse.weighing(Metric.evened)}
        root = self._source.unactuated
        if root is not None and root.any():
            found["model-inverse, weights on the root"] = self._model_inverse.weighing(
                lambda metric: metric.evened().stressing(root, ROOT_WEIGHT)
            )
        return {name: self._compensated(method) for name, method in found.items()}

    def _compensated(self, method: Method) -> Method:
        """The method as it is on a robot that is on time."""
        return DelayCompensatedMethod(method, self._simulator, self._delay_steps) if self._delay_steps else method

    def _simulator(self) -> Simulator:
        """Where to look ahead: with the physics that was identified, if any."""
        return self._source.simulator if self._model_inverse is None else self._model_inverse.simulator
