"""What was collected, round by round."""

from dataclasses import dataclass

from isthmus.report.run import Round, Run


@dataclass(frozen=True)
class Collected:
    """One row of the table."""

    number: int
    episodes: int
    samples: int
    planned: int
    """Steps an episode of this round was to have."""
    mean: float
    """Steps an episode had."""
    cut: int
    """Episodes that ended early, because the robot drifted off or the task was over."""
    normalised: float | None
    """Score after the round, if there is one."""


def collected(run: Run) -> list[Collected]:
    """A row for every round."""
    rows, before = list[Collected](), 0
    for one in run.rounds:
        rows.append(_row(run, one, before))
        before += rows[-1].samples
    return rows


def _row(run: Run, one: Round, before: int) -> Collected:
    planned = run.config.episode_length(one.number, run.config.round_end(before), run.spec.horizon)
    lengths = [len(episode[0]) for episode in one.episodes]
    # In its last wave a round may run out of samples: an early end there means nothing.
    earlier = [len(episode[0]) for wave in one.waves[:-1] for episode in wave]
    return Collected(
        number=one.number + 1,
        episodes=len(lengths),
        samples=sum(part.samples for episode in one.episodes for part in episode),
        planned=planned,
        mean=sum(lengths) / max(len(lengths), 1),
        cut=sum(length < planned for length in earlier),
        normalised=one.normalised if one.evaluated else None,
    )
