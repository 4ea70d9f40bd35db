"""Candidates rehearsed against each other: who is to be taken, and is that sure?"""

from collections.abc import Mapping

import numpy as np

from isthmus.core import Float
from isthmus.methods.method import Method, Rehearsal

AS_IT_IS, AS_BEFORE = "unadapted", "as before"
SURELY = 2.0
"""Standard errors of the difference by which one does better than another."""
WORTH, PARTS = 0.05, 4
"""The gain from which it is worth to be sure, as a share of the source's score, and parts of a rehearsal at most."""
SHORT = 0.9
"""Share of the source's score in its own simulator below which a rehearsal falls short."""


class Contest:
    """Rehearsals of one round, all from the same starts and under the same disturbances."""

    def __init__(self, rehearsal: Rehearsal, history: int, unadapted: Method) -> None:
        """Begin with the policy as it is; candidates look at `history` observations."""
        self._rehearsal, self._history = rehearsal, history
        self.methods: dict[str, Method] = {}
        self.scores: dict[str, Float] = {}
        self._parts = 1
        self.enter({AS_IT_IS: unadapted})

    def enter(self, candidates: Mapping[str, Method]) -> None:
        """Rehearse more candidates, and those for longer that seem to do better than the policy as it is."""
        self.methods |= candidates
        for name in candidates:
            self.scores[name] = np.concatenate([self._rehearsed(name, part) for part in range(self._parts)])
        worth = WORTH * (self._rehearsal.source - self._rehearsal.zero)
        while self._parts < PARTS and (names := unsettled(self.scores, worth)):
            for name in names:
                self.scores[name] = np.concatenate((self.scores[name], self._rehearsed(name, self._parts)))
            self._parts += 1

    @property
    def taken(self) -> str:
        """The name of who is to be taken."""
        return chosen(self.scores)

    @property
    def falls_short(self) -> bool:
        """Whether even that one is far from what the source's policy has in its simulator."""
        return self._rehearsal.share(float(self.scores[self.taken].mean())) < SHORT

    @property
    def foreseen(self) -> dict[str, float]:
        """The mean score of every candidate, of who is taken, and what they are to be compared with."""
        means = {name: float(values.mean()) for name, values in self.scores.items()}
        means.setdefault(AS_BEFORE, means[AS_IT_IS])
        return means | {"taken": means[self.taken], "source": self._rehearsal.source, "zero": self._rehearsal.zero}

    def _rehearsed(self, name: str, part: int) -> Float:
        return self._rehearsal.scores(self.methods[name].decider(), self._history, part)


def chosen(scores: Mapping[str, Float]) -> str:
    """The name of the candidate to take, by scores (n,) from the same starts."""
    best = AS_IT_IS
    for name in scores:
        if name not in (AS_IT_IS, AS_BEFORE) and _surely_better(scores[name], scores[best]):
            best = name
    return AS_BEFORE if AS_BEFORE in scores and _surely_better(scores[AS_BEFORE], scores[best]) else best


def unsettled(scores: Mapping[str, Float], worth: float) -> list[str]:
    """Who still seems to do better than the policy as it is by more than `worth`, and not surely; and that one."""
    plain = scores[AS_IT_IS]
    level = [name for name, one in scores.items() if len(one) == len(plain)]  # who was settled before stays so
    seem = [name for name in level if (scores[name] - plain).mean() > worth]
    unsure = [name for name in seem if not _surely_better(scores[name], plain)]
    return [AS_IT_IS, *unsure] if unsure else []


def _surely_better(some: Float, others: Float) -> bool:
    shared = min(len(some), len(others))  # the starts that both have had
    gain = some[:shared] - others[:shared]
    return bool(gain.mean() > SURELY * gain.std() / np.sqrt(shared))
