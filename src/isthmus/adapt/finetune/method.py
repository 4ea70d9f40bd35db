"""Ground the simulator in what happened on the target, and train the policy on in it (Hanna and Stone 2017, ASAP 2025).

    o' = T_src(o, a) + r(o, a, T_src(o, a) - o)        r learned from target steps
    pi = argmax E sum of the simulator's own reward    by policy gradients in the corrected simulator

The tuned policy is deployed as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from isthmus.adapt.common.checkpoint import Checkpoint
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.finetune.practice import Limits, Practised, practise
from isthmus.adapt.finetune.storage import KIND, finetuner_of, state_of, training_of
from isthmus.adapt.method import FitReport, Rehearsal, Source
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Episode, Problem, stream
from isthmus.core.random import stream_seed
from isthmus.policies import Unadapted
from isthmus.policies.finetuner import Finetuner, Trained
from isthmus.sysid.residual import Steps, fit_residual

SPELLS = 2
"""Rounds of training in a round, after each of which the policy is judged."""
LONG_SPELLS = 4
"""The same where policies are rehearsed."""


class FinetuneMethod:
    """A corrected simulator, and training in it."""

    history = 1
    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, settings: MethodSettings | None = None) -> None:
        """Start with the source's policy."""
        settings = settings or MethodSettings()
        self._source, self._checkpoint = source, Checkpoint()
        self._limits = Limits(settings.practice, settings.practice_steps)
        self._policy, self._finetuner = finetuner_of(source)
        self._trained: Trained | None = None

    def policy(self) -> FinetunedPolicy | Unadapted:
        """The tuned policy, once there is one."""
        source = self._source
        if self._trained is None:
            return Unadapted(source.pi_src, source.simulator)
        tuned = replace(self._policy, network=self._trained.network)
        return FinetunedPolicy(source.pi_src, source.simulator, source.sim_derived(tuned))

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Learn the simulator's error from everything so far, and train in the corrected simulator."""
        source = self._source
        steps = Steps.of(episodes, source.simulator)
        correct = fit_residual(steps, source.spec.targets, stream(source.seed, "residual", round_number))
        return self._train(self._finetuner.corrected(correct), SPELLS, round_number, progress)

    def learn_in(self, rehearsal: Rehearsal, round_number: int, progress: Callable[[int, float], None]) -> FitReport:
        """Train where policies are rehearsed, and for longer: physics that was put right has less to exploit."""
        if rehearsal.finetuner is None:
            raise Problem("this simulation cannot be trained in")
        finetuner = rehearsal.finetuner(self._policy)
        if self._limits == Limits(0.0, 0):
            return self._train(finetuner, LONG_SPELLS, round_number, progress)
        return self._practise(finetuner, round_number, progress)

    def keep_in(self, checkpoint: Checkpoint) -> None:
        """Keep what practice comes to there, and go on from what is there."""
        self._checkpoint = checkpoint

    def _practise(self, finetuner: Finetuner, round_number: int, progress: Callable[[int, float], None]) -> FitReport:
        """Practise for as long as was asked for: until it earns what the source's policy does in its own simulator."""
        seed = self._source.seed
        judged = stream_seed(seed, "worth", round_number)

        def begin() -> Practised:
            trained = self._trained or finetuner.begin(stream_seed(seed, "critic"))
            return Practised(trained, trained, finetuner.worth(trained.network, judged))

        enough = self._finetuner.worth(self._policy.network, judged)
        practised = practise(
            finetuner, self._limits, enough, begin, self._checkpoint, KIND, seed, round_number, progress
        )
        self._trained = practised.kept
        return FitReport(epochs=practised.spells, best=practised.best_spell)

    def _train(
        self, finetuner: Finetuner, spells: int, round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Policy gradients may also make a policy worse: of all there were, the one is kept that earns most."""
        seed = self._source.seed
        judged = stream_seed(seed, "worth", round_number)
        batches, kept_after = 0, 0

        def watch(_batch: int, earned: float) -> None:
            nonlocal batches
            batches += 1
            progress(batches, -earned)

        kept = now = self._trained or finetuner.begin(stream_seed(seed, "critic"))
        most = finetuner.worth(kept.network, judged)
        for spell in range(spells):
            now = finetuner.train(now, stream_seed(seed, "practise", round_number, spell), watch)
            worth = finetuner.worth(now.network, judged)
            if worth > most:
                kept, most, kept_after = now, worth, batches
        self._trained = kept
        return FitReport(epochs=batches, best=kept_after)

    def state(self) -> MethodState:
        """The training as plain data."""
        return state_of(self._trained)

    def restore(self, state: MethodState) -> None:
        """Take over a training."""
        self._trained, _ = training_of(state)
