"""Take what does best where it can be tried: in the simulator, as the target's samples have put it right.

Every candidate is rehearsed there, from the same starts and under the same disturbances, before it goes to the robot.
The source's policy as it is stays unless another one surely does better; one that only seems to is rehearsed for
longer. What is new has been learned from more, and is taken unless what was taken last surely does better. Where all of
them fall short, and the policy may be changed, it is trained on in the corrected simulator, and rehearsed like the
others.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import Episode, Float, Problem
from isthmus.data import load_arrays, save_arrays
from isthmus.methods.explained import ExplainedMethod
from isthmus.methods.grounded import GroundedMethod
from isthmus.methods.identified import IdentifiedMethod
from isthmus.methods.method import Learned, Method, Source
from isthmus.methods.settings import MethodSettings
from isthmus.methods.unadapted import UnadaptedMethod
from isthmus.policies import Decider

KIND = "auto"
RETRAINED = "grounded"
AS_IT_IS, AS_BEFORE = "unadapted", "as before"
SURELY = 2.0
"""Standard errors of the difference by which one does better than another."""
WORTH, PARTS = 0.05, 4
"""The gain from which it is worth to be sure, as a share of the source's score, and parts of a rehearsal at most."""
SHORT = 0.9
"""Share of the source's score in its own simulator below which a rehearsal falls short."""


class AutoMethod:
    """Candidates, and rehearsals that choose among them."""

    samples_wanted = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start with the source's policy as it is."""
        if source.rehearsal is None:
            raise Problem("auto tries its candidates in simulation, and needs a simulator whose score is known")
        self._rehearsal = source.rehearsal
        self._explained = ExplainedMethod(source, replace(settings, history=max(settings.history, 2)))
        self._candidates: dict[str, Method] = {"explained": self._explained}
        if source.physics is not None:
            self._candidates["identified"] = IdentifiedMethod(source)
        self._retrained = GroundedMethod(source) if settings.may_retrain else None
        self._practised = False
        self._unadapted = UnadaptedMethod(source)
        self._taken: tuple[str, Method] = AS_IT_IS, self._unadapted

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._explained.history

    def decider(self) -> Decider:
        """What was taken."""
        return self._taken[1].decider()

    def learn(self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]) -> Learned:
        """Let every candidate learn, and take the one that does best in rehearsal."""
        learned = {name: method.learn(episodes, round_number, progress) for name, method in self._candidates.items()}
        rehearsal = self._rehearsal(episodes, partial(self._explained.disturbance, episodes))
        tried: dict[str, Method] = {AS_IT_IS: self._unadapted, **self._candidates}
        if self._taken[0] != AS_IT_IS:
            tried[AS_BEFORE] = self._taken[1]
        scores = {name: rehearsal.scores(method.decider(), self.history, 0) for name, method in tried.items()}
        for part in range(1, PARTS):
            for name in unsettled(scores, WORTH * (rehearsal.source - rehearsal.zero)):
                more = rehearsal.scores(tried[name].decider(), self.history, part)
                scores[name] = np.concatenate((scores[name], more))
        scores.setdefault(AS_BEFORE, scores[AS_IT_IS])
        name = chosen(scores)
        if self._retrained is not None and rehearsal.share(float(scores[name].mean())) < SHORT:
            learned[RETRAINED] = self._retrained.learn(episodes, round_number, progress)
            tried[RETRAINED] = self._retrained
            scores[RETRAINED] = rehearsal.scores(self._retrained.decider(), self.history, 0)
            self._practised = True
            name = chosen(scores)
        if name != AS_BEFORE:
            self._taken = name, copy(tried[name])
        foreseen = {one: float(values.mean()) for one, values in scores.items()}
        about = learned.get(self._taken[0], learned["explained"])
        whole = {"taken": foreseen[name], "source": rehearsal.source, "zero": rehearsal.zero}
        return replace(about, chosen=self._taken[0], foreseen=foreseen | whole)

    def save(self, path: Path) -> None:
        """Write what was taken, and what the candidates go on from: a file of each, in one."""
        name, taken = self._taken
        parts = self._parts() | ({} if name == AS_IT_IS else {AS_BEFORE: taken})
        save_arrays(
            path,
            {part: _file_of(method) for part, method in parts.items()},
            {"kind": KIND, "taken": name, "practised": self._practised},
        )

    def restore(self, path: Path) -> None:
        """Read what was taken."""
        files, meta = load_arrays(path, KIND)
        name, self._practised = str(meta.get("taken")), meta.get("practised") is True
        parts = self._parts()
        wanted = {*parts, *(() if name == AS_IT_IS else (AS_BEFORE,))}
        if name not in (AS_IT_IS, *parts) or wanted != set(files):
            raise Problem(f"{path} is not an {KIND} file of this robot, or it is damaged")
        for part, method in parts.items():
            _restore_from(files[part], method)
        self._taken = AS_IT_IS, self._unadapted
        if name != AS_IT_IS:
            self._taken = name, copy(parts[name])
            _restore_from(files[AS_BEFORE], self._taken[1])

    def _parts(self) -> dict[str, Method]:
        """All that has learned something."""
        practised = {RETRAINED: self._retrained} if self._retrained is not None and self._practised else {}
        return self._candidates | practised


def chosen(scores: Mapping[str, Float]) -> str:
    """The name of the candidate to take, by scores (n,) from the same starts."""
    best = AS_IT_IS
    for name in scores:
        if name not in (AS_IT_IS, AS_BEFORE) and _surely_better(scores[name], scores[best]):
            best = name
    return AS_BEFORE if _surely_better(scores[AS_BEFORE], scores[best]) else best


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


def _file_of(method: Method) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part"
        method.save(path)
        return np.frombuffer(path.read_bytes(), np.uint8)


def _restore_from(file: np.ndarray, method: Method) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part"
        path.write_bytes(file.tobytes())
        method.restore(path)
