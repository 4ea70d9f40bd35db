"""An interval that random numbers are drawn from, written `1:4` on the command line."""

from dataclasses import dataclass
from typing import TypeVar

from isthmus.core import Float, Problem

Share = TypeVar("Share", float, Float)


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:  # catches NaN as well
            raise Problem(f"a range goes from its lower to its upper end, got {self}: write it as 1:4")
        if not (abs(self.low) < 1e9 and abs(self.high) < 1e9):
            raise Problem(f"a range has finite ends, got {self}")

    @classmethod
    def parse(cls, text: str) -> "Range":
        """The range that `1:4`, or `2` for a single value, stands for."""
        ends = text.split(":")
        try:
            low, high = (float(end) for end in (ends * 2 if len(ends) == 1 else ends))
        except ValueError:
            raise Problem(f"{text!r} is no range: write two numbers as 1:4, or one for a fixed value") from None
        return cls(low, high)

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}"

    @property
    def middle(self) -> float:
        """Half way between the ends."""
        return (self.low + self.high) / 2

    def at(self, share: Share) -> Share:
        """The number or numbers at these shares (0 to 1) of the way from `low` to `high`."""
        return self.low + (self.high - self.low) * share

    def whole(self, share: float) -> int:
        """The whole number at this share (0 to 1, 1 excluded) of those in the range, all equally likely."""
        low, high = int(self.low), int(self.high)
        return low + int(share * (high - low + 1))
