"""What a figure is made of: cases, each repeated from every seed; a case at one seed is a cell."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.experiments.paper.settings import ARMS, QUICK_EPISODES, QUICK_ROUNDS, Choice
from isthmus.gaps import KINDS, Gap
from isthmus.transfer import Config, folder_name


@dataclass(frozen=True)
class Case:
    """One robot across one gap by one arm of the study."""

    robot: str
    gap: str
    arm: str
    config: Config
    """The crossing, from seed 0."""

    def cell(self, seed: int) -> "Cell":
        """This case from one seed."""
        return Cell(self, seed)


@dataclass(frozen=True)
class Cell:
    """The smallest piece of a figure that can be complete."""

    case: Case
    seed: int

    @property
    def name(self) -> str:
        """Names its files."""
        return folder_name(self.case.robot, self.case.gap, self.case.arm, f"seed-{self.seed:03d}")

    @property
    def config(self) -> Config:
        """The crossing."""
        return dataclasses.replace(self.case.config, seed=self.seed)

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.case.robot}, {self.case.gap}, {self.case.arm}, seed {self.seed}"


def make_case(robot: str, gap: str, arm: str, choice: Choice, *, stop_at_score: float | None, quick: bool) -> Case:
    """The case of crossing `gap` by `choice`."""
    config = Config(
        task=robot,
        gap=gap,
        method=choice.method,
        samples=min(choice.samples, QUICK_ROUNDS * choice.round_samples) if quick else choice.samples,
        round_samples=choice.round_samples,
        evaluation_episodes=QUICK_EPISODES if quick else choice.evaluation_episodes,
        stop_at_score=stop_at_score,
        interim_episodes=stop_at_score is None,
        settings=dataclasses.replace(choice.settings, history=ARMS[arm]),
    )
    return Case(robot, gap, arm, config)


def gap_of(dials: Mapping[str, float]) -> str:
    """The text of a gap; dials that are where there is no gap are left out of it."""
    return str(Gap(tuple((name, value) for name, value in dials.items() if value != KINDS[name].neutral)))
