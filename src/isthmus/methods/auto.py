"""Take what does best where it can be tried: in the simulator, as the target's samples have put it right.

Every candidate is rehearsed there, from the same starts and under the same disturbances, before it goes to the robot.
The source's policy as it is stays unless another one surely does better; one that only seems to is rehearsed for
longer. What is new has been learned from more, and is taken unless what was taken last surely does better. Where all of
them fall short, other weights are tried: an underactuated robot has to miss something. And where that falls short too,
and the policy may be changed, it is trained on in the corrected simulator, and rehearsed like the others.
"""

import tempfile
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import Episode, Problem
from isthmus.data import load_arrays, save_arrays
from isthmus.methods.contest import AS_BEFORE, AS_IT_IS, Contest
from isthmus.methods.explained import ExplainedMethod
from isthmus.methods.grounded import GroundedMethod
from isthmus.methods.identified import IdentifiedMethod
from isthmus.methods.method import Learned, Method, Source
from isthmus.methods.settings import MethodSettings
from isthmus.methods.unadapted import UnadaptedMethod
from isthmus.models.metric import ROOT_WEIGHT, Metric
from isthmus.policies import Decider

KIND = "auto"
RETRAINED = "grounded"


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
        self._identified = None if source.physics is None else IdentifiedMethod(source)
        if self._identified is not None:
            self._candidates["identified"] = self._identified
        self._unactuated = source.unactuated
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
        physics = self._identified.fitted if self._identified else None
        rehearsal = self._rehearsal(episodes, partial(self._explained.disturbance, episodes), physics)
        contest = Contest(rehearsal, self.history, self._unadapted)
        if not contest.is_needless or self._taken[0] != AS_IT_IS:
            contest.enter(self._candidates | ({} if self._taken[0] == AS_IT_IS else {AS_BEFORE: self._taken[1]}))
        if self._identified is not None and not self._identified.is_idle and contest.falls_short:
            learned |= dict.fromkeys(self._weighed(), learned["identified"])
            contest.enter(self._weighed())
        if self._retrained is not None and contest.falls_short:
            learned[RETRAINED] = self._retrained.learn(episodes, round_number, progress)
            self._practised = True
            contest.enter({RETRAINED: self._retrained})
        name = contest.taken
        if name != AS_BEFORE:
            self._taken = name, copy(contest.methods[name])
        about = learned.get(self._taken[0], learned["explained"])
        return replace(about, chosen=self._taken[0], foreseen=contest.foreseen)

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
        parts, known = self._parts(), self._parts() | self._weighed()
        wanted = {*parts, *(() if name == AS_IT_IS else (AS_BEFORE,))}
        if name not in (AS_IT_IS, *known) or wanted != set(files):
            raise Problem(f"{path} is not an {KIND} file of this robot, or it is damaged")
        for part, method in parts.items():
            _restore_from(files[part], method)
        self._taken = AS_IT_IS, self._unadapted
        if name != AS_IT_IS:
            self._taken = name, copy(known[name])
            _restore_from(files[AS_BEFORE], self._taken[1])

    def _weighed(self) -> dict[str, Method]:
        """What was identified, with other errors in mind where not all can be avoided."""
        if self._identified is None:
            return {}
        found: dict[str, Method] = {"identified, even weights": self._identified.weighing(Metric.evened)}
        root = self._unactuated
        if root is not None and root.any():
            found["identified, weights on the root"] = self._identified.weighing(
                lambda metric: metric.evened().stressing(root, ROOT_WEIGHT)
            )
        return found

    def _parts(self) -> dict[str, Method]:
        """All that has learned something."""
        practised = {RETRAINED: self._retrained} if self._retrained is not None and self._practised else {}
        return self._candidates | practised


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
