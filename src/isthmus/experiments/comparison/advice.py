"""Which method to take, and why, by the rows alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isthmus.experiments.comparison.row import Row


@dataclass(frozen=True)
class Advice:
    """What to do."""

    take: str | None
    """The row to take; None while there is nothing to go by."""
    text: str


def advise(rows: Sequence[Row], oracle_scores: Mapping[str, float]) -> Advice:
    """Take the best method that may be used; among those within the noise of it, the one that asks for least.

    What sees the target's reward, and what is too slow for the control period, may not be used.
    """
    scored = [row for row in rows if row.scores]
    idle = next((row for row in scored if row.is_unadapted), None)
    if idle is None:
        return Advice(None, "The expert as it is has no score yet, so nothing can be said.")
    fair = [row for row in scored if is_fair(row)]
    level = level_with_the_best(fair, idle)
    best = level[0] if level else idle
    parts = [_best_text(level, idle) if level else _idle_text(idle, fair)]
    parts += _barred_text([row for row in scored if not row.is_unadapted and not is_fair(row) and row.beats(best)])
    parts += _oracle_text(best, oracle_scores)
    if waiting := [row.label for row in rows if row.missing and not row.problem]:
        parts.append(f"This is not the last word: runs of {_list(waiting)} are missing.")
    return Advice(best.label, " ".join(parts))


def is_fair(row: Row) -> bool:
    """Whether it adapts, by what may be seen, and in time."""
    return not row.is_unadapted and not row.entry.kind.sees_reward and row.keeps_up


def level_with_the_best(fair: Sequence[Row], idle: Row) -> list[Row]:
    """Those that beat doing nothing and are within the noise of the best of them, what asks for least first."""
    better = [row for row in fair if row.beats(idle)]
    if not better:
        return []
    top = max(better, key=lambda row: row.mean)
    level = [row for row in better if not top.beats(row)]
    return sorted(level, key=lambda row: (row.samples_needed, row.entry.history, row.median("fit_seconds") or 0.0))


def _idle_text(idle: Row, fair: Sequence[Row]) -> str:
    top = max(fair, key=lambda row: row.mean, default=None)
    text = f"the best of them, {top.label}, comes to {score_text(top)}" if top else "there is none that may be used"
    does = f"it comes to {score_text(idle)}, and no method does better beyond the noise"
    return f"Take the expert as it is: {does} ({text})."


def _best_text(level: Sequence[Row], idle: Row) -> str:
    best, *others = level
    cost = f"after {best.samples:,} samples" if best.samples else "without a sample"
    cost += f" ({best.samples_needed:,} would have done)" if best.samples_needed < best.samples else ""
    text = f"Take {best.label}: it comes to {score_text(best)} {cost}, and the expert as it is to {score_text(idle)}."
    if others:
        names = _list([f"{row.label} ({row.mean:.3f})" for row in sorted(others, key=lambda row: -row.mean)])
        text += f" Within the noise of the best, and asking for no less: {names}."
    return text


def _barred_text(barred: Sequence[Row]) -> list[str]:
    """What would be better, and may not be used."""
    return [
        f"{row.label} comes to {score_text(row)}, but "
        + (
            "sees the target's reward."
            if row.entry.kind.sees_reward
            else "its control step takes longer than there is time."
        )
        for row in barred
    ]


def _oracle_text(best: Row, oracle_scores: Mapping[str, float]) -> list[str]:
    if not oracle_scores:
        return []
    metric = max(oracle_scores, key=lambda name: oracle_scores[name])
    above = oracle_scores[metric] - best.mean
    text = f"{above:.3f} above that" if above >= 0.0005 else "that is reached"
    best_known = f"{oracle_scores[metric]:.3f} ({metric} metric)"
    return [f"The best that adapting single steps could do, by an oracle, is {best_known}: {text}."]


def score_text(row: Row) -> str:
    """A score and its standard deviation over seeds."""
    return f"{row.mean:.3f}" if row.std is None else f"{row.mean:.3f} ± {row.std:.3f}"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
