"""The cells of figures 3 and 4: one robot across one gap, with or without history, from one seed."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isthmus.experiments.by_seed import BySeed
from isthmus.experiments.grid import Cell, Json, transfer
from isthmus.experiments.paper.settings import PAPER_BUDGETS, QUICK_EPISODES, QUICK_ROUNDS, Arm, Choice
from isthmus.gaps import KINDS, Gap
from isthmus.transfer import Config, folder_name


@dataclass(frozen=True)
class Case:
    """A transfer of a figure, to be run from several seeds."""

    arm: str
    """The name of the way across, as in `ARMS`."""
    config: Config

    @property
    def robot(self) -> str:
        """The robot."""
        return self.config.task

    @property
    def gap(self) -> str:
        """The gap."""
        return self.config.gap

    def file(self, seed: int) -> str:
        """The file of its cell from `seed`."""
        return folder_name(self.robot, self.gap, self.arm, f"seed-{seed:03d}")

    def cell(self, seed: int, *, traces: bool = False) -> Cell[Json]:
        """The transfer from `seed`; with `traces`, episodes are recorded for a report."""
        config, name = dataclasses.replace(self.config, seed=seed), f"{self.robot}, {self.gap}, {self.arm}, seed {seed}"
        run = partial(_run, config, traces)
        return Cell(name, self.file(seed), run, self.robot, config.to_json(), CaseResult)


@dataclass(frozen=True)
class CaseResult:
    """The fields of a result."""

    unadapted: float
    normalised: float
    samples: int
    curve: tuple[tuple[int, float], ...]
    versions: dict[str, str]


def _run(config: Config, traces: bool, folder: Path) -> Json:
    """The scores. No times are among them, so that an interrupted cell comes to the same file."""
    result = transfer(config, folder, traces=traces)
    return {
        "unadapted": result.normalised_unadapted,
        "normalised": result.normalised_adapted,
        "samples": result.samples,
        "curve": [[point.samples, point.normalised] for point in result.curve],
        "versions": result.versions,
    }


def make_case(robot: str, gap: str, arm: Arm, choice: Choice, *, stop_at_score: float | None, quick: bool) -> Case:
    """The case of `gap` by `choice`, or by the arm's own method."""
    if arm.method:
        samples, each = PAPER_BUDGETS[robot]
        choice = dataclasses.replace(choice, method=arm.method, samples=samples, round_samples=each)
    config = Config(
        task=robot,
        gap=gap,
        method=choice.method,
        samples=min(choice.samples, QUICK_ROUNDS * choice.round_samples) if quick else choice.samples,
        round_samples=choice.round_samples,
        evaluation_episodes=QUICK_EPISODES if quick else choice.evaluation_episodes,
        stop_at_score=stop_at_score,
        interim_episodes=stop_at_score is None,
        settings=dataclasses.replace(choice.settings, history=arm.history),
    )
    return Case(arm.name, config)


def gap_of(dials: Mapping[str, float]) -> str:
    """The text of a gap, without dials that are at their neutral value."""
    return str(Gap(tuple((name, value) for name, value in dials.items() if value != KINDS[name].neutral)))


@dataclass(frozen=True)
class Tally(BySeed):
    """The results of a case from all seeds."""

    case: Case

    def facts(self) -> Json:
        """The case and its seeds as plain data."""
        config = self.case.config
        return {
            "robot": config.task,
            "gap": config.gap,
            "arm": self.case.arm,
            "method": config.method,
            "history": config.settings.history,
            "budget": config.samples,
            "round_samples": config.round_samples,
            "evaluation_episodes": config.evaluation_episodes,
            "seeds": list(self.found),
            "missing": list(self.missing),
            "commit": self.commit,
        }


def tallies(cases: Sequence[Case], found: Mapping[str, Json], seeds: Mapping[str, int]) -> tuple[Tally, ...]:
    """A tally for each case, of the results by `Cell.file`.

    `seeds` says how many seeds each robot is to have. A robot that is not named has as many as the others.
    """
    most = max(seeds.values(), default=0)
    every: list[Tally] = []
    for case in cases:
        files = {seed: case.file(seed) for seed in range(seeds.get(case.robot, most))}
        there = {seed: found[file] for seed, file in files.items() if file in found}
        every.append(Tally(there, tuple(seed for seed in files if seed not in there), case))
    return tuple(every)
