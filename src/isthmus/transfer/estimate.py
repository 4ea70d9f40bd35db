"""What a run will ask of a real target, before anything moves."""

from dataclasses import dataclass

from isthmus.adapt import METHODS
from isthmus.core import Problem, WorldSpec
from isthmus.transfer.config import Config
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.target_steps import Taken, TargetSteps

MOVE = 1.3
"""Seconds of a move to the start, about."""
FEWEST = 0.5
"""Minutes that a run takes at least."""


@dataclass(frozen=True)
class RobotTime:
    """How the time is spent."""

    samples: int
    """Steps to learn from."""
    rounds: int
    trials: int
    """Episodes behind every score."""


def within(minutes: float, spec: WorldSpec, trials: int | None = None, *, every_round: bool = True) -> RobotTime:
    """A plan for `minutes`: scores before and after, or after every round, and two runs to be shown; then collecting.

    A score takes so many `trials`, or as many as suit the time.
    """
    if not FEWEST <= minutes <= 1e4:
        raise Problem(f"minutes must be between {FEWEST:g} and 10000, got {minutes:g}")
    episode = spec.horizon * spec.control_period + MOVE
    episodes = int(minutes * 60 / episode)
    rounds, usual = (4, 3) if episodes >= 40 else (1, 1)
    trials = trials or usual
    left = max(episodes - trials * (1 + (rounds if every_round else 1)) - 2, 1)
    return RobotTime(left * spec.horizon, rounds, trials)


TRACES = ("unadapted", "adapted")
"""Episodes on the target that the report shows, one of each policy."""


@dataclass(frozen=True)
class Estimate:
    """Steps at most, and the resets that go with episodes of full length."""

    steps: TargetSteps
    seconds: float
    """Of motion, at the task's control period."""
    moves: float
    """Of moves to the start, where it is known how long they take."""

    @property
    def anything(self) -> bool:
        """Whether the target is moved at all."""
        return self.steps.total > 0

    @property
    def minutes(self) -> float:
        """Of robot time."""
        return (self.seconds + self.moves) / 60


def estimate(config: Config, spec: WorldSpec, folder: RunFolder | None = None) -> Estimate:
    """What `config` asks of a real target; with a `folder`, what is left of the run in there.

    Steps are an upper bound if nothing goes wrong: episodes may end early. Then there are more resets.
    """
    steps, horizon = TargetSteps(), spec.horizon
    if folder is None or not folder.result_path.exists():
        trials = Taken(config.evaluation_episodes * horizon, config.evaluation_episodes)
        kind = METHODS[config.method]
        if folder is None or not folder.baseline_path.exists():
            steps = steps.plus("evaluation", trials)
        if kind.collects:
            steps = _rounds(steps, config, trials, horizon, folder)
        elif config.method != "unadapted":
            steps = steps.plus("evaluation", trials)
        for name in TRACES:
            if folder is None or not folder.trace_path(name).exists():
                steps = steps.plus("traces", Taken(horizon, 1))
    moves = MOVE * steps.resets if config.target.is_robot else 0.0
    return Estimate(steps, steps.total * spec.control_period, moves)


def _rounds(steps: TargetSteps, config: Config, trials: Taken, horizon: int, folder: RunFolder | None) -> TargetSteps:
    """The rounds that are left, with the waves of the first of them that are there."""
    done = folder.rounds() if folder else []
    number, samples = len(done), done[-1].samples if done else 0
    waves = folder.waves(number) if folder else []
    while samples < config.samples:
        end = config.round_end(samples)
        goal, length = min(config.samples, end), config.episode_length(number, end, horizon)
        collected = sum(one.samples for wave in waves for episode in wave for one in episode)
        left, waves = max(goal - samples - collected, 0), []
        steps = steps.plus("collection", Taken(left, -(-left // length)))
        samples, number = goal, number + 1
        if config.is_scored(samples):
            steps = steps.plus("evaluation", trials)
    return steps
