"""What a run will ask of a real target, before anything moves."""

from dataclasses import dataclass

from isthmus.adapt import METHODS
from isthmus.core import WorldSpec
from isthmus.transfer.config import Config
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.robot_time import MOVE
from isthmus.transfer.target_steps import Taken, TargetSteps

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
    moves = MOVE * steps.resets if config.target.kind == "ros" else 0.0
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
