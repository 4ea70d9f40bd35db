"""What a policy loses on the target beside what it has in its simulator, and what of that anybody would notice."""

SHARE = 0.01
"""Of the expert's score: a smaller loss is not noticed."""
STD_SHARE = 0.05
"""Of the standard deviation of the expert's own scores over episodes: a smaller loss drowns in it."""
ROUNDING = 1e-9
"""Share of a loss from which an expert's score is zero: one that follows a recording exactly has next to no error."""


def noticeable_loss(expert: float, std: float, zero: float) -> float:
    """The least loss of score that counts, for an expert with this mean score and standard deviation over episodes.

    It is measured against the expert's own score, and against what doing nothing (`zero`) is below that only where this
    is less: where doing nothing is catastrophic, every loss is small beside it. A cost near zero makes any change a
    large share of it, and so does the expert's own variation from episode to episode count.
    """
    return max(SHARE * min(abs(expert), expert - zero), STD_SHARE * std)


def relative_loss(expert: float, score: float) -> float | None:
    """The loss as a share of the size of the expert's score: 0.36 for an error that is 36 % larger than the expert's.

    Negative for a score above the expert's, and None where the expert's score is zero, or no more than rounding.
    """
    loss = expert - score
    return loss / abs(expert) if abs(expert) > ROUNDING * abs(loss) else None


def recovered(expert: float, unadapted: float, adapted: float) -> float | None:
    """The share of the loss that adaptation makes up for: 1 for all of it; None where there is no loss."""
    return (adapted - unadapted) / (expert - unadapted) if expert > unadapted else None
