"""What happened, in words and three figures."""

from dataclasses import dataclass

from isthmus.report.run import Role
from isthmus.transfer import Result
from isthmus.transfer.result import FALLS_SHORT

SMALL = 0.02
"""Differences below this share of the scale are called none."""
NOTHING = 0.05
"""A gain below this share of what was lost is called none, too."""
TITLES: dict[Role, str] = {
    "expert": "Expert in the source",
    "unadapted": "Unadapted on the target",
    "adapted": "Adapted on the target",
}
SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Figure:
    """One big number, with the small ones below it."""

    role: Role
    title: str
    normalised: str
    score: str
    std: str
    meter: float
    """Where it lies on the normalised scale, within [0, 1]."""
    loss: str
    """What is lost of the expert's score, in words; empty for the expert, and where that score is zero."""


def figures(result: Result) -> tuple[Figure, ...]:
    """Expert in the source, unadapted and adapted on the target."""
    return (
        _figure(result, "expert", result.expert, 1.0),
        _figure(result, "unadapted", result.unadapted, result.normalised_unadapted),
        _figure(result, "adapted", result.adapted, result.normalised_adapted),
    )


def _figure(result: Result, role: Role, score: float, normalised: float) -> Figure:
    title = TITLES[role] if role != "adapted" or result.samples else "Not adapted, on the target"
    meter = min(max(normalised, 0.0), 1.0)
    loss = _loss_text(result.relative_loss.get(role))
    return Figure(role, title, number(normalised), _score(score), _score(result.std[role]), meter, loss)


def _loss_text(loss: float | None) -> str:
    if loss is None:
        return ""
    size = f"{100 * abs(loss):.1f}{SPACE}%"
    return f"{size} {'worse' if loss > 0 else 'better'} than the expert" if abs(loss) >= 0.0005 else "as the expert"


def sentence(result: Result, control_period: float) -> str:
    """What came of the run, said so that it is also true when it did not go well."""
    before, after = result.normalised_unadapted, result.normalised_adapted
    loss, gain = 1 - before, after - before
    if not result.samples:
        return _without_samples(result)
    samples = f"{result.samples:,} sample{'' if result.samples == 1 else 's'}"
    effort = f"{samples}, {duration(result.samples * control_period)} of robot time"
    if result.target_steps:
        effort += f", and {result.further_steps:,} further steps to score and show it"
    if not result.is_felt:
        return _without_loss(before, after, effort)
    course = f"the normalised score went from {number(before)} to {number(after)}"
    if loss <= SMALL:  # of a scale on which doing nothing is far away: two decimals of it would hide the loss
        course = f"the score went from {_score(result.unadapted)} to {_score(result.adapted)}"
        course += f", and the expert has {_score(result.expert)}"
    return f"{_change(after, gain, loss)} with {effort}: {course}.{_predicted_text(result)}"


def _predicted_text(result: Result) -> str:
    if not result.chosen or result.predicted is None:
        return ""
    took = f" Of its candidates it took “{result.chosen}”, and predicted {number(result.predicted)} in rehearsal."
    return f"{took} {FALLS_SHORT[0].upper()}{FALLS_SHORT[1:]}." if result.falls_short else took


def _change(after: float, gain: float, loss: float) -> str:
    small = min(SMALL, NOTHING * loss)
    if gain < -small:
        return "Adaptation made it worse"
    if gain <= small:
        return "Adaptation changed next to nothing"
    if after > 1 + small:
        return "Closed the whole gap and went beyond the expert’s own score"
    return "Closed the whole gap" if gain >= 0.995 * loss else f"Closed {_share(gain / loss)} of the gap"


def _without_loss(before: float, after: float, effort: str) -> str:
    start = f"There was no loss to make up: the policy scores {number(before)} on the target as it is"
    if after - before < -SMALL:
        return f"{start}; adaptation made it worse, {number(after)} after {effort}."
    return f"{start}, and {number(after)} after {effort}."


def _without_samples(result: Result) -> str:
    before, loss = result.normalised_unadapted, 1 - result.normalised_unadapted
    nothing = "nothing was adapted and no target sample was taken"
    if not result.is_felt:
        return f"The policy loses nothing on the target, where it scores {number(before)}; {nothing}."
    if loss <= SMALL:
        scores = f"from {_score(result.expert)} to {_score(result.unadapted)}"
        return f"On the target the policy’s score falls {scores}; {nothing}."
    share = f"{_share(loss)} of its score" if loss < 1 else "all of its score"
    return f"On the target the policy loses {share}, from {number(1)} to {number(before)}; {nothing}."


def _share(value: float) -> str:
    return f"{100 * value:.0f}{SPACE}%" if value >= 0.005 else f"less than 1{SPACE}%"


def number(value: float) -> str:
    """A score with two decimals and a true minus sign."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}")


def _score(value: float) -> str:
    """A score in its own units: the larger it is, the fewer decimals."""
    size = abs(value)
    text = f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}"
    return text.replace("-", "\N{MINUS SIGN}")


def duration(seconds: float) -> str:
    """A time as people say it: 0.5 s, 40 s, 1 min 40 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.2g}{SPACE}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{SPACE}s"
    big, small, names = (*divmod(whole, 60), ("min", "s")) if whole < 3600 else (*divmod(whole // 60, 60), ("h", "min"))
    return f"{big}{SPACE}{names[0]}" + (f" {small}{SPACE}{names[1]}" if small else "")
