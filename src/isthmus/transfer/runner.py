"""Carry a policy across a gap, round by round: collect on the target, learn, evaluate.

Every piece is determined by the configuration and the pieces before it, and is on disk before the next one begins: a
run that was killed goes on where it was and comes to the same result.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.adapt import METHODS, Explorer, FitReport, Method, Source, make_method
from isthmus.adapt.auto.selection import UNADAPTED
from isthmus.adapt.common.checkpoint import Checkpointed
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import SelfExploring
from isthmus.adapt.registry import TRAINS
from isthmus.core import AnyPolicy, Episode, Problem, stream
from isthmus.core.extras import require
from isthmus.estimate.estimation import Estimation
from isthmus.evaluate import Scale, Trace, record
from isthmus.gaps import Gap
from isthmus.hardware import Stop
from isthmus.policies import Unadapted
from isthmus.sim import SealedRobot
from isthmus.tasks import Task
from isthmus.transfer.collection import ReferenceRollout, collect
from isthmus.transfer.config import Config
from isthmus.transfer.control_step import time_step
from isthmus.transfer.estimation import estimation_of
from isthmus.transfer.events import Event, Phase, Watcher
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.records import Baseline, Round, Scored
from isthmus.transfer.result import CurvePoint, Result, versions
from isthmus.transfer.source.context import SourceContext
from isthmus.transfer.source.source import rehearsal_in
from isthmus.transfer.target_steps import StepCounter
from isthmus.transfer.targets.make import Setup, make_target
from isthmus.transfer.targets.target import TRACED_EPISODES, MakeWorld, Settled, Target, clear_of

if TYPE_CHECKING:
    from isthmus.hardware.oversight import Abandon
    from isthmus.transfer.targets.robot import Attended

WAVE = 50
"""Recorded episodes that are kept as one wave."""
PHASES = ("collect", "fit", "evaluate")
"""Of a round, each of which is timed."""


def run_transfer(
    config: Config,
    folder: RunFolder,
    *,
    resume: bool = False,
    traces: bool = True,
    watch: Watcher | None = None,
    attended: "Attended | None" = None,
    stop: Stop | None = None,
    abandon: "Abandon | None" = None,
    context: SourceContext | None = None,
    emulated: Callable[[str], MakeWorld] | None = None,
    recorded: Sequence[Episode] = (),
) -> Result:
    """Run `config` in `folder`, or go on with it; `watch` hears how it goes. A report needs `traces`.

    A robot over ROS may be `attended` by somebody who looks on and can stop it. An environment is held and closed when
    a `stop` is asked for, and `abandon` ends the process if its code cannot even be interrupted. The `context` that is
    known may be shared by runs of the same task, policy and seed. A firmware target needs `emulated`, which makes
    robots from a board file. What was `recorded` of the target before is learned from first, and counts as samples.
    """
    require((*METHODS[config.method].needs, *(TRAINS if config.settings.may_retrain else ())))
    context = context or SourceContext.of(config.task, config.policy, config.seed)
    task = context.task
    gap = config.load_gap().resolve(task.robot_model.model)
    gap.apply(task.robot_model.model)  # a gap that does not fit is refused before anything is written
    estimation = estimation_of(config, context)
    seen = task if estimation is None else dataclasses.replace(task, estimator=estimation.stage)
    connect = make_target(
        config.target, Setup(config, seen, gap, attended, stop or Stop(), abandon, emulated, recorded)
    )
    with folder.claimed(config, resume=resume):
        if folder.result_path.exists():
            return Result.load(folder.result_path)
        watcher: Watcher = watch or (lambda _event: None)
        # Matrices this small gain nothing from threads, and wait for them where the machine has other work to do.
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - whoever only acts does without it

        with threadpool_limits(1, user_api="blas"), connect(folder) as target:
            return _Run(config, folder, context, gap, target, watcher, recorded, estimation).run(traces=traces)


@dataclass(frozen=True)
class _Run:
    config: Config
    folder: RunFolder
    context: SourceContext
    gap: Gap
    target: Target
    watch: Watcher
    recorded: Sequence[Episode] = ()
    estimation: Estimation | None = None

    @cached_property
    def counter(self) -> StepCounter:
        return StepCounter(self.folder.steps_path, self.folder.keep_json, lambda: self.target.taken)

    @property
    def task(self) -> Task:
        return self.context.task

    @property
    def expert(self) -> AnyPolicy:
        return self.context.policy

    def run(self, *, traces: bool) -> Result:
        method = self._method()
        baseline = self._baseline()
        rounds = list[Round]()
        if method.needs_target_data or self._estimates:
            method, rounds = self._rounds(method, baseline)
        if traces:
            self._trace(method)
        self._time_step(method)
        result = self._result(method, baseline, rounds)
        self.folder.keep({self.folder.result_path: result.save})
        self._tell("done", result.samples, len(rounds), normalised=result.normalised_adapted)
        return result

    def _method(self) -> Method:
        return make_method(self.config.method, self._source, self.config.settings)

    @cached_property
    def _source(self) -> Source:
        """What methods know, whose rehearsals have the sensors of the target as well."""
        source, estimation = self.context.source, self.estimation
        if estimation is None:
            return source
        rehearsal = rehearsal_in(self.task, self.expert, self.config.seed, estimation)
        return dataclasses.replace(source, rehearsal=rehearsal, identified=lambda: estimation.physics)

    @property
    def _estimates(self) -> bool:
        """Whether something is learned of the target's sensors."""
        return self.config.estimator != "none"

    @property
    def _plain(self) -> AbstractContextManager[None]:
        """While the policy is judged as it is, no estimator helps it."""
        return nullcontext() if self.estimation is None else self.estimation.unused()

    def _baseline(self) -> Baseline:
        """Scores of the zero action and the expert in the source, and of the expert on the target."""
        path = self.folder.baseline_path
        if path.exists():
            baseline = Baseline.load(path)
        else:
            self._tell("baseline", 0)
            began = time.perf_counter()
            zero, expert = self.context.scores(self.target, self.config.evaluation_episodes)
            with self._plain:
                unadapted = self._unadapted()
            baseline = Baseline(zero, expert, unadapted, time.perf_counter() - began)
            self.folder.keep_json(path, dataclasses.asdict(baseline))
        self._tell("baseline", 0, normalised=baseline.scale(baseline.unadapted.score))
        return baseline

    def _unadapted(self) -> Scored:
        """The expert on the target; in simulation it comes to the same every time."""
        if not self.config.target.simulated:
            with self.counter.counting("evaluation"):
                return self.target.score(self.expert, 1, self._starts())
        name = " ".join((str(self.gap), *self.config.sensors))
        return self.context.unadapted(self.target, name, self.config.evaluation_episodes)

    def _starts(self) -> np.random.Generator:
        """Every evaluation starts from the same states, which no other stream draws."""
        return stream(self.config.seed, "evaluate")

    def _rounds(self, method: Method, baseline: Baseline) -> tuple[Method, list[Round]]:
        config, folder, scale = self.config, self.folder, baseline.scale
        episodes: list[Episode] = []
        rounds: list[Round] = []
        samples = 0
        while samples < config.samples and not self._is_done(rounds):
            number = len(rounds)
            waves, done = folder.waves(number), folder.round(number)
            began = time.perf_counter()
            if done is None:
                waves = self._collect(method, number, samples, waves)
            fresh = [episode for wave in waves for episode in wave]
            if done is not None and len(fresh) != done.episodes:
                raise Problem(
                    f"round {number} made {done.episodes} episodes, but {len(fresh)} of them are in {folder.path}: "
                    "restore the missing ones"
                )
            episodes += fresh
            samples += _samples(fresh)
            if done is None:
                collected = time.perf_counter()
                method, learned = self._learn(method, episodes, number, samples)
                fitted = time.perf_counter()
                evaluated = config.is_scored(samples)
                if evaluated:
                    self._tell("evaluate", samples, number)
                    scored = self._scored(method, baseline.unadapted, self._settled(scale, samples))
                else:
                    scored = _last_scored(rounds, baseline)
                times = (began, collected, fitted, time.perf_counter())
                spent = [end - start for start, end in pairwise(times)]
                seconds: dict[str, float] = dict(zip(PHASES, spent, strict=True))
                scores = scored.score, scored.std, scale(scored.score)
                done = Round(number, samples, len(fresh), *scores, _plain(learned), seconds, evaluated, scored.effort)
                folder.save_round(number, done)
            else:
                method.restore(MethodState.read(folder.model_path(number), method.kind))
                if self.estimation is not None:
                    self.estimation.restore(folder.estimator_path(number))
            rounds.append(done)
            if done.evaluated:
                self._tell("evaluate", samples, number, normalised=done.normalised)
        return method, rounds

    def _scored(self, method: Method, unadapted: Scored, settled: Settled | None = None) -> Scored:
        """How well the method does on the target; who does as the expert does comes to what that one came to."""
        policy = method.policy()
        helped = self.estimation is not None and self.estimation.active
        if isinstance(policy, Unadapted) and policy.policy is self.expert and not helped:
            return unadapted
        with self.counter.counting("evaluation"):
            return self.target.score(policy, method.history, self._starts(), settled)

    def _is_done(self, rounds: list[Round]) -> bool:
        """Whether the last two evaluations came to what is wanted."""
        stop_at_score, last = self.config.stop_at_score, rounds[-2:]
        return stop_at_score is not None and len(last) == 2 and all(one.normalised >= stop_at_score for one in last)

    def _settled(self, scale: Scale, samples: int) -> Settled | None:
        """Whether scores are clearly above or below what would be enough; an interim score needs only a few."""
        stop_at_score = self.config.stop_at_score
        if self.config.interim_episodes and samples < self.config.samples:
            return lambda _scores: True
        return None if stop_at_score is None else clear_of(scale.score(stop_at_score))

    def _collect(self, method: Method, number: int, before: int, known: list[list[Episode]]) -> list[list[Episode]]:
        """The waves of a round: those already on disk, and the ones still missing."""
        config = self.config
        end = config.round_end(before)
        # Nothing cuts a long episode of a method that explores by itself short, if it has gone wrong.
        several = end - before if isinstance(method, SelfExploring) else end
        length = config.episode_length(number, several, self.task.robot_model.spec.horizon)
        goal = min(config.samples, end)
        waves = self._recorded_waves(known) if number == 0 else list(known)
        samples = before + sum(_samples(wave) for wave in waves)
        while samples < goal:
            n = self._robots_for(goal - samples, length, waves[-(-len(self.recorded) // WAVE) if number == 0 else 0 :])
            reference = self._beside(method, n)
            with self.counter.counting("collection"):
                wave = self._wave(method, reference, n, length, goal - samples, (number, len(waves)))
            self.folder.save_wave(number, len(waves), wave)
            waves.append(wave)
            samples += _samples(wave)
            self._tell("collect", samples, number)
        return waves

    def _beside(self, method: Method, n: int) -> ReferenceRollout | None:
        """A simulation that runs beside n robots; none for a method that knows no simulator."""
        if isinstance(method, SelfExploring):
            return None
        return ReferenceRollout(self.expert, self.task.source(n), 1, self.context.observation_scale)

    def _recorded_waves(self, known: list[list[Episode]]) -> list[list[Episode]]:
        """The waves of the first round that are on disk, after those of what was recorded before the run."""
        before = [list(self.recorded[first : first + WAVE]) for first in range(0, len(self.recorded), WAVE)]
        for number, wave in enumerate(before[len(known) :], len(known)):
            self.folder.save_wave(0, number, wave)
        return [*known, *before[len(known) :]]

    def _wave(
        self,
        method: Method,
        reference: ReferenceRollout | None,
        n: int,
        length: int,
        budget: int,
        name: tuple[int, int],
    ) -> list[Episode]:
        """Episodes of n robots; a method that is paid explores by itself, and nobody interrupts it."""
        settings, recorder = self.config.settings.collect, None
        if isinstance(method, Explorer):
            recorder, policy = (
                self.target.reward_recorder(n),
                method.explorer(stream(self.config.seed, "explore", *name)),
            )
            robot = SealedRobot(recorder)
            settings = dataclasses.replace(settings, interrupt=0.0, drift=np.inf, placed=0)
        elif isinstance(method, SelfExploring):
            robot, policy = self.target.robot(n), method.exploring(stream(self.config.seed, "explore", *name))
            if not method.is_interrupted:
                settings = dataclasses.replace(settings, interrupt=0.0)
        else:
            robot, policy = self.target.robot(n), method.policy()
        rng = stream(self.config.seed, "collect", *name)
        wave = collect(
            robot, policy, reference, settings, history=method.history, length=length, budget=budget, rng=rng
        )
        if self.estimation is not None:
            wave = self.estimation.sensed(wave)
        return wave if recorder is None else recorder.rewarded(wave)

    def _robots_for(self, budget: int, length: int, waves: list[list[Episode]]) -> int:
        """As many robots as the samples that are left allow whole episodes, as long as the last wave's were."""
        if waves:
            length = max(int(np.mean([len(episode[0]) for episode in waves[-1]])), 1)
        return min(max(budget // length, 1), self.target.most_robots)

    def _learn(self, method: Method, episodes: list[Episode], number: int, samples: int) -> tuple[Method, FitReport]:
        """Learn of the sensors first; from estimates that have changed, a method learns everything anew."""

        def progress(epoch: int, loss: float) -> None:
            self._tell("fit", samples, number, epoch=epoch, loss=loss)

        pieces: dict[Path, Callable[[Path], None]] = {}
        if self.estimation is not None:
            self.estimation.learn(episodes, samples)
            pieces[self.folder.estimator_path(number)] = self.estimation.save
            if self.estimation.corrects:
                episodes, method = self.estimation.estimated(episodes), self._method()
        if isinstance(method, Checkpointed):
            method.keep_in(self.folder.checkpoint(number))
        learned = method.learn(episodes, number, progress) if method.needs_target_data else FitReport(0, 0)
        self.folder.keep({**pieces, self.folder.model_path(number): method.state().write})
        return method, learned

    def _trace(self, method: Method) -> None:
        """Record a few episodes of each policy from the same starts, for the report."""
        plain = Unadapted(self.expert, self.task.source())
        world = self.task.trial.source(TRACED_EPISODES)
        traces: dict[str, Callable[[], Trace]] = {
            "expert": lambda: record(world, plain, 1, self._traced(), lambda: world.fields["qpos"]),
            "unadapted": lambda: self._as_it_is(lambda: self.target.record(plain, 1, self._traced())),
            "adapted": lambda: self.target.record(method.policy(), method.history, self._traced()),
        }
        for name, make in traces.items():
            path = self.folder.trace_path(name)
            if not path.exists():
                with self.counter.counting("traces"):
                    trace = make()
                self.folder.keep({path: trace.save})

    def _as_it_is(self, make: Callable[[], Trace]) -> Trace:
        with self._plain:
            return make()

    def _time_step(self, method: Method) -> None:
        """Measure a control step in the source simulator: it takes as long there, and costs no sample."""
        if not self.folder.step_path.exists():
            took = time_step(method.policy(), method.history, self.task.source(), stream(self.config.seed, "step"))
            self.folder.keep_json(self.folder.step_path, took.to_json())

    def _traced(self) -> np.random.Generator:
        return stream(self.config.seed, "trace")

    def _result(self, method: Method, baseline: Baseline, rounds: list[Round]) -> Result:
        scale, unadapted = baseline.scale, baseline.unadapted
        if not rounds:
            self._tell("evaluate", 0)
        adapted = _last_scored(rounds, baseline) if rounds else self._scored(method, unadapted)
        steps = self.counter.steps
        spent = {phase: sum(one.seconds[phase] for one in rounds) for phase in PHASES}
        return Result(
            task=self.config.task,
            gap=str(self.gap) if self.config.target.simulated else self.config.target.label,
            method=self.config.method,
            sees=METHODS[self.config.method].sees,
            history=method.history,
            seed=self.config.seed,
            samples=rounds[-1].samples if rounds else 0,
            zero=baseline.zero.score,
            expert=baseline.expert.score,
            unadapted=unadapted.score,
            adapted=adapted.score,
            std={name: getattr(baseline, name).std for name in ("zero", "expert", "unadapted")}
            | {"adapted": adapted.std},
            normalised_unadapted=scale(unadapted.score),
            normalised_adapted=scale(adapted.score),
            evaluation_episodes=self.config.evaluation_episodes,
            curve=(
                CurvePoint(0, scale(unadapted.score), unadapted.score),
                *(CurvePoint(one.samples, one.normalised, one.score) for one in rounds if one.evaluated),
            ),
            seconds=spent | {"evaluate": spent["evaluate"] + baseline.seconds},
            versions=versions(),
            chosen=str(rounds[-1].fit.get("chosen", "")) if rounds else "",
            predicted=rounds[-1].fit.get("predicted") if rounds else None,
            effort={
                name: one.effort
                for name, one in (("expert", baseline.expert), ("unadapted", unadapted), ("adapted", adapted))
                if one.effort is not None
            },
            predicted_unadapted=_predicted_unadapted(rounds[-1]) if rounds else None,
            predicted_short=rounds[-1].fit.get("falls_short") if rounds else None,
            target_steps=steps.to_json() if steps else None,
        )

    def _tell(self, phase: Phase, samples: int, number: int = 0, **more: Any) -> None:  # noqa: ANN401 - an event's
        self.watch(Event(phase, samples, self.config.samples, number, **more))


def _samples(episodes: list[Episode]) -> int:
    return sum(one.samples for episode in episodes for one in episode)


def _last_scored(rounds: Sequence[Round], baseline: Baseline) -> Scored:
    """The latest score there is."""
    return Scored(rounds[-1].score, rounds[-1].std, rounds[-1].effort) if rounds else baseline.unadapted


def _predicted_unadapted(last: Round) -> float | None:
    """What the policy as it is was predicted to score in that round."""
    predicted: dict[str, dict[str, float]] = last.fit.get("predicted_scores", {})
    return predicted[UNADAPTED]["score"] if UNADAPTED in predicted else None


def _plain(learned: FitReport) -> dict[str, Any]:
    """How a fit went, for JSON: there is no training loss before the first pass."""
    losses = [[None if np.isnan(value) else value for value in pair] for pair in learned.losses]
    return dataclasses.asdict(learned) | {"losses": losses}
