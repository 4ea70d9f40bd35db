"""What a run is: everything that decides its result."""

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from isthmus.adapt import METHODS, MethodSettings
from isthmus.adapt.common.method_names import current_method
from isthmus.core import Problem, check_range, unknown_name
from isthmus.core.command import command_of
from isthmus.estimate.estimation import check_estimator
from isthmus.gaps import Gap
from isthmus.hardware import SafetySettings
from isthmus.io import from_json, read_json
from isthmus.transfer.old_names import CONFIG, current_names
from isthmus.transfer.source.policy import PolicyFile
from isthmus.transfer.targets.spec import TargetSpec

EPISODES = 5
"""At least: an offset drawn anew in each episode is distinguished from a constant one by comparing episodes."""
FEWEST_EPISODES, FEWEST_SIMULATED = 50, 16
"""Episodes behind a score, where nothing speaks for fewer, and behind that of a method that simulates in every step."""
FORMAT = 1
"""Raised when run folders of an earlier form can no longer be read."""
WORKING_FOLDER = "working_folder"
"""Beside the configuration in a run's file: where relative names of files started from."""
MOST_SAMPLES, MOST_EPISODES, LONGEST_HISTORY = 10**9, 10_000, 1_000
"""More than anybody needs, and less than exhausts a machine before the run has begun."""
ROUND_SAMPLES, ROUNDS = 250, 10
"""A round has at least so many samples, and a run at most so many rounds, unless a command says otherwise."""
SIMULATED_EPISODES, REAL_EPISODES = 100, 5
"""Episodes behind a score in simulation, and on an environment that may be a real robot."""


def usual_round_samples(samples: int) -> int:
    """Samples between two refits, where a command does not say how many."""
    return max(ROUND_SAMPLES, samples // ROUNDS)


def usual_episodes(target: TargetSpec) -> int:
    """Episodes behind a score, where a command does not say how many."""
    return SIMULATED_EPISODES if target.simulated or target.is_estimated else REAL_EPISODES


@dataclass(frozen=True)
class Config:
    """One run."""

    task: str
    gap: str = "none"
    method: str = "auto"
    samples: int = 2000
    """Steps that may be taken on the target."""
    seed: int = 0
    round_samples: int = ROUND_SAMPLES
    """Samples between two refits; some methods take more."""
    round_ends: tuple[int, ...] = ()
    """Samples at which rounds end instead, in ascending order; where they are few, the budget ends the last."""
    evaluation_episodes: int = SIMULATED_EPISODES
    """Episodes behind every score; training never sees them."""
    stop_at_score: float | None = None
    """Normalised score at which the run ends, once two evaluations in a row came to it."""
    interim_episodes: bool = False
    """Rounds before the last are judged over few episodes: what counts is where the run ends."""
    evaluate_rounds: bool = True
    """Whether the policy is scored after every round, or only after the last: on a robot every score costs steps."""
    environment: str | None = None
    """A target in place of the task's own robot behind a gap, as text that `TargetSpec.parse` reads."""
    settings: MethodSettings = field(default_factory=MethodSettings)
    policy: PolicyFile | None = None
    """Another policy than the task's expert."""
    safety: SafetySettings = field(default_factory=SafetySettings)
    """Limits of a robot over ROS, or of an environment."""
    logs: tuple[str, ...] = ()
    """Files with what the robot was recorded doing, which are learned from before anything is collected."""
    log_map: str | None = None
    """The file that says which of their columns is which joint."""
    estimator: str = "none"
    """What turns the target's sensors into observations."""
    sensors: tuple[str, ...] = ()
    """What the target senses; all of the observation, or what the task says, when there is nothing here."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense; names are checked when they are looked up."""
        object.__setattr__(self, "method", current_method(self.method))
        target = TargetSpec.of(self.gap, self.environment)
        object.__setattr__(self, "gap", target.gap)
        object.__setattr__(self, "environment", target.environment)
        if self.method not in METHODS:
            raise unknown_name("method", self.method, METHODS)
        check_estimator(self.estimator)
        if self.settings.collect.placed and (self.estimator != "none" or self.sensors):
            raise Problem("collect.placed is for sensors that show everything: leave out --estimator and --sensors")
        check_range("samples", self.samples, 1, MOST_SAMPLES)
        check_range("round-samples", self.round_samples, 1, MOST_SAMPLES)
        check_range("history", self.settings.history, 1, LONGEST_HISTORY)
        check_range("seed", self.seed, 0, 2**63 - 1)
        check_range("evaluation-episodes", self.evaluation_episodes, self._fewest_episodes, MOST_EPISODES)
        if self.stop_at_score is not None:
            check_range("stop-at-score", self.stop_at_score, -1e6, 1e6)
        if any(later <= stop for stop, later in pairwise((0, *self.round_ends))):
            raise Problem(
                f"round-ends are numbers of samples in ascending order, got {', '.join(map(str, self.round_ends))}"
            )
        if self.settings.may_retrain and self.method != "auto":
            raise Problem("may-retrain is for --method auto, which then trains the policy on where it has to")
        if self.settings.follow != "auto" and not (self.method == "inverse" and self.follows_reference):
            raise Problem("follow is for --method inverse with a reference: give one, as in --source reference.npz")
        if not self.target.simulated and self.settings.collect.placed:
            raise Problem("collect.placed is for simulations: a robot or an environment cannot be put into a state")

    @property
    def follows_reference(self) -> bool:
        """Whether the source is a recording without actions."""
        return self.policy is not None and self.policy.reference

    @property
    def _fewest_episodes(self) -> int:
        """A robot's episodes are dear, and those of slow methods take long; all others are judged over enough."""
        kind = METHODS[self.method]
        if not self.target.simulated or kind.slow:
            return 1
        return FEWEST_SIMULATED if kind.simulates else FEWEST_EPISODES

    @cached_property
    def target(self) -> TargetSpec:
        """The target; `gap` and `environment` are how it is written."""
        return TargetSpec.of(self.gap, self.environment)

    @property
    def samples_a_round(self) -> int:
        """Samples between two refits: more than asked for where the method takes long to learn."""
        return max(self.round_samples, METHODS[self.method].least_round)

    def is_scored(self, samples: int) -> bool:
        """Whether the policy is scored after the round that ends with so many samples."""
        return self.evaluate_rounds or self.stop_at_score is not None or samples >= self.samples

    def round_end(self, before: int) -> int:
        """Samples at which the round ends that begins after so many, if the budget is not spent before."""
        if not self.round_ends:
            return before + self.samples_a_round
        least = before + METHODS[self.method].least_round
        return next((stop for stop in self.round_ends if stop >= least), self.samples)

    def episode_length(self, round_number: int, end: int, horizon: int) -> int:
        """Steps that an episode may have of a round that ends after so many samples."""
        if METHODS[self.method].sees_reward:
            return horizon
        several = end // EPISODES  # a longer one is of a later part of the trajectory
        return min(self.settings.collect.length(round_number, horizon), max(several, 1))

    def load_gap(self) -> Gap:
        """The gap."""
        return Gap.parse(self.gap)

    def to_json(self) -> dict[str, Any]:
        """This configuration as plain data."""
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @staticmethod
    def load(path: Path) -> "Config":
        """The configuration in a file; files that it names are not touched."""
        data = current_names(read_json(path), CONFIG)
        if data.pop("format", None) != FORMAT:
            raise Problem(f"{path} was written by another version of Isthmus: use that one, or start a new run")
        data.pop(WORKING_FOLDER, None)
        policy = data.get("policy")
        if isinstance(policy, dict) and not policy.get("digest"):  # pyright: ignore[reportUnknownMemberType]
            raise Problem(f"{path} is not a run's configuration (policy has no digest)")
        return from_json(Config, data, path, "a run's configuration")


def repeat_command(config: Config, out: str = "NEW") -> str:
    """The command line of `config`: what it is, and every setting that is not as usual."""
    target, settings = config.target, config.settings
    # A robot's rounds and trials are otherwise planned by the time there is.
    planned = target.is_robot
    usual_round = config.round_samples == usual_round_samples(config.samples)
    options: dict[str, object] = {
        **target.options,
        "logs": config.logs,
        "map": config.log_map,
        "samples": config.samples,
        "seed": config.seed,
        "method": config.method,
        "estimator": None if config.estimator == "none" else config.estimator,
        "sensors": config.sensors,
        "history": settings.history if settings.history != 1 else None,
        "follow": settings.follow if settings.follow != "auto" else None,
        "may_retrain": settings.may_retrain,
        "practice": settings.practice or None,
        "practice_steps": settings.practice_steps or None,
        **(config.policy.options if config.policy else {}),
        "round_samples": None if usual_round and not planned else config.round_samples,
        "round_ends": config.round_ends,
        "evaluation_episodes": None
        if config.evaluation_episodes == usual_episodes(target) and not planned
        else config.evaluation_episodes,
        "evaluate_rounds": config.evaluate_rounds and not target.simulated,
        "interim_episodes": config.interim_episodes,
        "stop_at_score": config.stop_at_score,
        "collect": settings.collect,
        "fit": settings.fit,
        "components": settings.components,
        "safety": config.safety,
        "out": out,
    }
    return command_of(("transfer", config.task), options)
