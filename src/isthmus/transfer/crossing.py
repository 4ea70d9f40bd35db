"""Carry a policy across a gap, round by round: collect on the target, learn, evaluate.

Every piece is determined by the configuration and the pieces before it, and is on disk before the next one begins: a
run that was killed goes on where it was and comes to the same result.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.collection import Course, collect, observation_scale
from isthmus.core import Episode, Policy, stream
from isthmus.data import write_json
from isthmus.evaluate import Scale, evaluate, record
from isthmus.gaps import Gap
from isthmus.methods import Learned, Method, Source, make_method
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.events import Event, Phase
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.records import Baseline, Round, Scored
from isthmus.transfer.result import CurvePoint, Result, versions
from isthmus.transfer.source_policy import source_policy
from isthmus.worlds import MujocoWorld, Robot

SCALE_WORLDS = 16
TRACED_EPISODES = 8
Watcher = Callable[[Event], None]


def cross(config: Config, folder: RunFolder, *, resume: bool = False, watch: Watcher | None = None) -> Result:
    """Run `config` in `folder`, or go on with it; `watch` is told how it goes."""
    task = config.load_task()
    gap = config.load_gap().resolve(task.embodiment.model)
    gap.apply(task.embodiment.model)  # a gap that does not fit is refused before anything is written
    expert = source_policy(task, config.policy)
    with folder.claimed(config, resume=resume):
        if folder.result_path.exists():
            return Result.load(folder.result_path)
        return _Crossing(config, folder, task, gap, expert, watch or (lambda _event: None)).run()


@dataclass(frozen=True)
class _Crossing:
    config: Config
    folder: RunFolder
    task: Task
    gap: Gap
    expert: Policy
    watch: Watcher

    def run(self) -> Result:
        source = Source(self.expert, self.task.source(), self.task.embodiment.spec, self.config.seed)
        method = make_method(self.config.method, source, self.config.settings)
        baseline = self._baseline()
        rounds = self._rounds(method, baseline.scale) if method.samples_wanted else []
        self._trace(method)
        result = self._result(method, baseline, rounds)
        result.save(self.folder.result_path)
        self._tell("done", result.samples, len(rounds), normalised=result.normalised_adapted)
        return result

    def _baseline(self) -> Baseline:
        """Scores of the zero action and the expert in the source, and of the expert on the target."""
        path, n = self.folder.baseline_path, self.config.evaluation_episodes
        if path.exists():
            baseline = Baseline.load(path)
        else:
            self._tell("baseline", 0)
            began = time.perf_counter()
            zero = ZeroPolicy(self.task.embodiment.spec.action_size)
            baseline = Baseline(
                zero=self._score(self.task.source(n), zero),
                expert=self._score(self.task.source(n), self.expert),
                unadapted=self._score(self.task.target(self.gap, n), self.expert),
                seconds=time.perf_counter() - began,
            )
            write_json(path, dataclasses.asdict(baseline))
        self._tell("baseline", 0, normalised=baseline.scale(baseline.unadapted.score))
        return baseline

    def _score(self, world: MujocoWorld, policy: Policy, history: int = 1) -> Scored:
        """Every evaluation starts from the same states, which no other stream draws."""
        return Scored.of(evaluate(self.task, world, policy, history, stream(self.config.seed, "evaluate")))

    def _rounds(self, method: Method, scale: Scale) -> list[Round]:
        config, folder = self.config, self.folder
        spread = observation_scale(self.expert, self.task.source(SCALE_WORLDS), 1, stream(config.seed, "scale"))
        course = Course(self.expert, self.task.source(), 1, spread)
        robot, target = self.task.robot(self.gap), self.task.target(self.gap, config.evaluation_episodes)
        episodes: list[Episode] = []
        rounds: list[Round] = []
        samples = 0
        while samples < config.samples:
            number = len(rounds)
            waves, done = folder.waves(number), folder.round(number)
            began = time.perf_counter()
            if done is None:
                waves = self._collect(robot, method, course, number, samples, waves)
            fresh = [episode for wave in waves for episode in wave]
            episodes += fresh
            samples += _samples(fresh)
            if done is None:
                collected = time.perf_counter()
                learned = self._learn(method, episodes, number, samples)
                fitted = time.perf_counter()
                self._tell("evaluate", samples, number)
                scored = self._score(target, method.decider(), method.history)
                seconds = {
                    "collect": collected - began,
                    "fit": fitted - collected,
                    "evaluate": time.perf_counter() - fitted,
                }
                normalised = scale(scored.score)
                done = Round(
                    number, samples, len(fresh), scored.score, scored.std, normalised, _plain(learned), seconds
                )
                folder.save_round(number, done.to_json())
            else:
                method.restore(folder.model_path(number))
            rounds.append(done)
            self._tell("evaluate", samples, number, normalised=done.normalised)
        return rounds

    def _collect(
        self, robot: Robot, method: Method, course: Course, number: int, before: int, known: list[list[Episode]]
    ) -> list[list[Episode]]:
        """The waves of a round: those already on disk, and the ones still missing."""
        config, settings = self.config, self.config.settings.collect
        goal = min(config.samples, before + config.round_samples)
        waves, samples = list(known), before + sum(_samples(wave) for wave in known)
        while samples < goal:
            wave = collect(
                robot,
                method.decider(),
                course,
                settings,
                history=method.history,
                length=settings.length(number, robot.spec.horizon),
                budget=goal - samples,
                rng=stream(config.seed, "collect", number, len(waves)),
            )
            self.folder.save_wave(number, len(waves), wave)
            waves.append(wave)
            samples += _samples(wave)
            self._tell("collect", samples, number)
        return waves

    def _learn(self, method: Method, episodes: list[Episode], number: int, samples: int) -> Learned:
        def progress(epoch: int, loss: float) -> None:
            self._tell("fit", samples, number, epoch=epoch, loss=loss)

        learned = method.learn(episodes, number, progress)
        method.save(self.folder.model_path(number))
        return learned

    def _trace(self, method: Method) -> None:
        """Record a few episodes of each policy from the same starts, for the report."""
        plain = Unadapted(self.expert, self.task.source())
        for name, world, decider, history in (
            ("expert", self.task.source(TRACED_EPISODES), plain, 1),
            ("unadapted", self.task.target(self.gap, TRACED_EPISODES), plain, 1),
            ("adapted", self.task.target(self.gap, TRACED_EPISODES), method.decider(), method.history),
        ):
            trace = record(world, decider, history, stream(self.config.seed, "trace"))
            trace.save(self.folder.trace_path(name))

    def _result(self, method: Method, baseline: Baseline, rounds: list[Round]) -> Result:
        scale, unadapted = baseline.scale, baseline.unadapted
        adapted = Scored(rounds[-1].score, rounds[-1].std) if rounds else unadapted
        spent = {phase: sum(one.seconds[phase] for one in rounds) for phase in ("collect", "fit", "evaluate")}
        return Result(
            task=self.config.task,
            gap=str(self.gap),
            method=self.config.method,
            history=method.history,
            seed=self.config.seed,
            samples=rounds[-1].samples if rounds else 0,
            zero=baseline.zero.score,
            expert=baseline.expert.score,
            unadapted=unadapted.score,
            adapted=adapted.score,
            spread={
                "zero": baseline.zero.std,
                "expert": baseline.expert.std,
                "unadapted": unadapted.std,
                "adapted": adapted.std,
            },
            normalised_unadapted=scale(unadapted.score),
            normalised_adapted=scale(adapted.score),
            evaluation_episodes=self.config.evaluation_episodes,
            curve=(
                CurvePoint(0, scale(unadapted.score), unadapted.score),
                *(CurvePoint(one.samples, one.normalised, one.score) for one in rounds),
            ),
            seconds=spent | {"evaluate": spent["evaluate"] + baseline.seconds},
            versions=versions(),
        )

    def _tell(
        self,
        phase: Phase,
        samples: int,
        number: int = 0,
        *,
        epoch: int = 0,
        loss: float = float("nan"),
        normalised: float | None = None,
    ) -> None:
        self.watch(Event(phase, samples, self.config.samples, number, epoch, loss, normalised))


def _samples(episodes: list[Episode]) -> int:
    return sum(one.samples for episode in episodes for one in episode)


def _plain(learned: Learned) -> dict[str, Any]:
    """How a fit went, for JSON: there is no training loss before the first pass."""
    losses = [[None if np.isnan(value) else value for value in pair] for pair in learned.losses]
    return dataclasses.asdict(learned) | {"losses": losses}
