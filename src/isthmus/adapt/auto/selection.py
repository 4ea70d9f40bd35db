"""Candidates rehearsed against each other: who is to be taken, and is that sure?"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.method import Method, PredictedScore, Rehearsal
from isthmus.core import Float
from isthmus.core.loss import noticeable_loss
from isthmus.core.statistics import PairedGain, standard_error

UNADAPTED, PREVIOUS = "unadapted", "as before"
SURELY = 2.0
"""Standard errors of the difference by which one does better than another."""
WORTH, MUCH = 0.05, 0.25
"""The gain from which it is worth to be sure, as a share of the source's score and as a share of what was lost: the
lesser of the two counts."""
WON_BACK = 0.1
"""Share of what the policy as it is has lost that must be won back for anything to be changed: where all of them fail,
who fails a little later in rehearsal may well do so earlier on the target."""
FIRST, PARTS = 2, 8
"""Parts of a rehearsal in which a candidate may still turn out to do better, and parts at most."""
SHORT = 0.9
"""Share of what the policy as it is has lost; whoever recovers less of it falls short."""


@dataclass(frozen=True)
class _AtHome:
    """Scores in the source simulator."""

    source: float
    """Of the source's policy."""
    std: float
    """Its standard deviation over episodes."""
    zero: float
    """Of doing nothing."""


class CandidateSelection:
    """Rehearsals of one round, all from the same starts and under the same disturbances."""

    def __init__(
        self,
        rehearsal: Rehearsal,
        history: int,
        unadapted: Method,
        *,
        fall_back: bool = True,
        is_proven: bool = False,
    ) -> None:
        """Begin with the policy as it is, which may be taken or not; candidates look at `history` observations.

        What was taken before `is_proven` where the target's own records speak for it.
        """
        self._rehearsal, self._history, self._fall_back, self._is_proven = rehearsal, history, fall_back, is_proven
        self.methods: dict[str, Method] = {}
        self.scores: dict[str, Float] = {}
        self._parts = 1
        self.add({UNADAPTED: unadapted})

    def add(self, candidates: Mapping[str, Method]) -> None:
        """Rehearse more candidates, and those for longer that seem to do better than the policy as it is."""
        self.methods |= candidates
        for name in candidates:
            self.scores[name] = np.concatenate([self._rehearsed(name, part) for part in range(self._parts)])
        while self._parts < PARTS and (names := unsettled(self.scores, self._worth, early=self._parts < FIRST)):
            for name in names:
                self.scores[name] = np.concatenate((self.scores[name], self._rehearsed(name, self._parts)))
            self._parts += 1

    @property
    def selected(self) -> str:
        """The name of who is to be taken."""
        if not self._fall_back:
            return max((name for name in self.scores if name != UNADAPTED), key=lambda name: self.scores[name].mean())
        return chosen(self.scores, WON_BACK * max(self._lost, 0.0), is_proven=self._is_proven)

    @property
    def is_needless(self) -> bool:
        """Whether the policy as it is loses nothing that anybody would notice."""
        home = self._at_home(UNADAPTED)
        return self._fall_back and self._lost <= noticeable_loss(home.source, home.std, home.zero)

    @property
    def falls_short(self) -> bool:
        """Whether everybody leaves more than a tenth of what the policy as it is has lost, and more than is noticed."""
        home = self._at_home(UNADAPTED)
        enough = max((1 - SHORT) * self._lost, noticeable_loss(home.source, home.std, home.zero))
        return all(self._left(name) > enough for name in self.scores)

    def best(self, names: Collection[str]) -> str | None:
        """Who of them did best; None where none was rehearsed."""
        tried = [name for name in names if name in self.scores]
        return max(tried, key=lambda name: -self._left(name)) if tried else None

    @property
    def predicted_scores(self) -> dict[str, PredictedScore]:
        """How every candidate did."""
        return {name: self._predicted_score(name) for name in self.scores}

    @property
    def _lost(self) -> float:
        """What the policy as it is loses of the score that it has in its simulator, from the same starts."""
        return self._left(UNADAPTED)

    @property
    def _worth(self) -> float:
        """The gain from which it is worth to be sure."""
        home = self._at_home(UNADAPTED)
        noticed = noticeable_loss(home.source, home.std, home.zero)
        return min(WORTH * (home.source - home.zero), max(MUCH * self._lost, noticed))

    def _left(self, name: str) -> float:
        """How far a candidate stays behind the source's policy in its simulator, from the same starts."""
        return self._at_home(name).source - float(self.scores[name].mean())

    def _predicted_score(self, name: str) -> PredictedScore:
        scores, home = self.scores[name], self._at_home(name)
        share = (scores - home.zero) / (home.source - home.zero)
        return PredictedScore(float(share.mean()), float(standard_error(share, ddof=0)), len(share))

    def _at_home(self, name: str) -> "_AtHome":
        """Scores in the source simulator from the starts that `name` had."""
        starts = len(self.scores[name])
        parts = range(-(-starts // len(self._rehearsal.source(0))))
        source, zero = (
            np.concatenate([at_home(part) for part in parts])[:starts]
            for at_home in (self._rehearsal.source, self._rehearsal.zero)
        )
        return _AtHome(float(source.mean()), float(source.std()), float(zero.mean()))

    def _rehearsed(self, name: str, part: int) -> Float:
        return self._rehearsal.scores(self.methods[name].policy(), self._history, part)


def chosen(scores: Mapping[str, Float], least: float = 0.0, *, is_proven: bool = False) -> str:
    """The name of the candidate to take, by scores (n,) from the same starts; for less than `least` nobody is.

    Where nobody is, what was taken before stays: it has run on the target, and is not given up for a policy that does
    not surely do better. Where the target has proven it, what is new must surely do better too; else what is new has
    been learned from more, and is taken unless what was taken before surely does better.
    """
    best = UNADAPTED
    for name in scores:
        if name not in (UNADAPTED, PREVIOUS) and _gain(scores[name], scores[best]).exceeds(by=SURELY):
            best = name
    if best != UNADAPTED and _gain(scores[best], scores[UNADAPTED]).mean < least:
        best = UNADAPTED
    if PREVIOUS not in scores:
        return best
    if is_proven or best == UNADAPTED:
        return best if _gain(scores[best], scores[PREVIOUS]).exceeds(by=SURELY) else PREVIOUS
    return PREVIOUS if _gain(scores[PREVIOUS], scores[best]).exceeds(by=SURELY) else best


def unsettled(scores: Mapping[str, Float], worth: float, *, early: bool = False) -> list[str]:
    """Who seems to do better than the policy as it is by more than `worth`, and not surely; and that one.

    While it is `early`, that is also who may still turn out to.
    """
    plain = scores[UNADAPTED]
    level = [name for name, one in scores.items() if len(one) == len(plain)]  # who was settled before stays so
    gains = {name: _gain(scores[name], plain) for name in level}
    unsure = [
        name
        for name, gain in gains.items()
        if not gain.exceeds(by=SURELY) and gain.mean + SURELY * gain.standard_error * early > worth
    ]
    return [UNADAPTED, *unsure] if unsure else []


def _gain(ours: Float, theirs: Float) -> PairedGain:
    return PairedGain.of(ours, theirs, ddof=0)
