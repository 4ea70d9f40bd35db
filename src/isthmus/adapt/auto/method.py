"""Take what does best where it can be tried: in the simulator, as the target's samples have put it right.

Every candidate is rehearsed there, from the same starts and under the same disturbances, before it goes to the robot.
The source's policy as it is stays unless another one surely does better; one that only seems to is rehearsed for
longer. What is new has been learned from more, and is taken unless what was taken last surely does better. Where all of
them fall short, other weights are tried: an underactuated robot has to miss something. And where that falls short too,
and the policy may be changed, it is trained on in the corrected simulator, and rehearsed like the others.

Where commands take effect late, all learn as from a robot that is on time, and decide for when it will be.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.adapt.action_residual.method import ExplainedMethod
from isthmus.adapt.auto.delay_compensation import InTimeMethod
from isthmus.adapt.auto.selection import AS_BEFORE, AS_IT_IS, Contest
from isthmus.adapt.baselines.unadapted import UnadaptedMethod
from isthmus.adapt.finetune.method import GroundedMethod
from isthmus.adapt.method import Learned, Method, Source
from isthmus.adapt.model_inverse.method import IdentifiedMethod
from isthmus.adapt.settings.method import MethodSettings
from isthmus.core import Episode, Problem, Simulator
from isthmus.core.metric import ROOT_WEIGHT, Metric
from isthmus.io import PARTIAL, load_arrays, save_arrays, write_whole
from isthmus.policies import Decider
from isthmus.sysid.delay import LATEST, lateness, on_time

KIND = "auto"
RETRAINED = "grounded"
IN_TIME = "in time"


class AutoMethod:
    """Candidates, and rehearsals that choose among them."""

    samples_wanted = True

    def __init__(self, source: Source, settings: MethodSettings) -> None:
        """Start with the source's policy as it is."""
        if source.rehearsal is None:
            raise Problem("auto tries its candidates in simulation, and needs a simulator whose score is known")
        self._source, self._settings, self._rehearsal = source, settings, source.rehearsal
        corrects = source.physics is not None and settings.parts.correction
        self._identified = IdentifiedMethod(source) if corrects else None
        self._retrained = GroundedMethod(source) if settings.may_retrain else None
        self._practised = False
        self._unadapted = UnadaptedMethod(source)
        self._begin(late=0)

    def _begin(self, late: int) -> None:
        """Start with the source's policy as it is, on a robot whose commands are so late."""
        self._late = late
        # What lasts is followed from step to step, and where a robot will be is not where it was said to be before.
        history = 1 if late else max(self._settings.history, 2)
        self._explained = ExplainedMethod(self._source, replace(self._settings, history=history))
        self._taken: tuple[str, Method] = AS_IT_IS, self._unadapted

    @property
    def history(self) -> int:
        """How many observations it looks at."""
        return self._late + 1 if self._late else self._explained.history

    def decider(self) -> Decider:
        """What was taken."""
        return self._taken[1].decider()

    def learn(self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]) -> Learned:
        """Let every candidate learn, and take the one that does best in rehearsal."""
        late = lateness(episodes, self._source.unlimited)
        if late != self._late:
            self._begin(late)
        episodes = [on_time(episode, late) for episode in episodes]
        learned = {name: method.learn(episodes, round_number, progress) for name, method in self._learners.items()}
        physics = self._identified.fitted if self._identified else None
        upset_in, parts = partial(self._explained.upset, episodes), self._settings.parts
        rehearsal = self._rehearsal(episodes, upset_in, physics, late, correct=parts.correction)
        contest = Contest(rehearsal, self.history, self._unadapted, fall_back=parts.fall_back)
        if not contest.is_needless or self._taken[0] != AS_IT_IS:
            contest.enter(self._candidates | ({} if self._taken[0] == AS_IT_IS else {AS_BEFORE: self._taken[1]}))
        if self._identified is not None and not self._identified.is_idle and contest.falls_short:
            learned |= dict.fromkeys(self._weighed, learned["identified"])
            contest.enter(self._weighed)
        if self._retrained is not None and contest.falls_short:
            learned[RETRAINED] = self._retrained.learn_in(rehearsal, round_number, progress)
            self._practised = True
            contest.enter({RETRAINED: self._in_time(self._retrained)})
        name = contest.taken
        if name != AS_BEFORE:
            self._taken = name, copy(contest.methods[name])
        about = learned.get(self._taken[0], learned["explained"])
        foreseen = contest.foreseen
        return replace(about, chosen=self._taken[0], foreseen=foreseen, predicted=foreseen[name].score)

    def save(self, path: Path) -> None:
        """Write what was taken, and what the candidates go on from: a file of each, in one."""
        name, taken = self._taken
        parts = self._parts | ({} if name in (AS_IT_IS, IN_TIME) else {AS_BEFORE: taken})
        save_arrays(
            path,
            {part: _file_of(method, path) for part, method in parts.items()},
            {"kind": KIND, "taken": name, "practised": self._practised, "late": self._late},
        )

    def restore(self, path: Path) -> None:
        """Read what was taken."""
        files, meta = load_arrays(path, KIND)
        name, late = str(meta.get("taken")), meta.get("late", 0)
        if not isinstance(late, int) or not 0 <= late <= LATEST:
            raise Problem(f"{path} is damaged: it says that commands are {late} steps late")
        self._practised = meta.get("practised") is True
        self._begin(late)
        known = self._candidates | self._weighed
        if self._retrained is not None and self._practised:
            known[RETRAINED] = self._in_time(self._retrained)
        wanted = {*self._parts, *(() if name in (AS_IT_IS, IN_TIME) else (AS_BEFORE,))}
        if name not in (AS_IT_IS, *known) or wanted != set(files):
            raise Problem(f"{path} is not an {KIND} file of this robot, or it is damaged")
        for part, method in self._parts.items():
            _restore_from(files[part], method, path)
        if name != AS_IT_IS:
            self._taken = name, copy(known[name])
            if name != IN_TIME:
                _restore_from(files[AS_BEFORE], self._taken[1], path)

    @property
    def _learners(self) -> dict[str, Method]:
        """Who learns in every round."""
        learners: dict[str, Method] = {"explained": self._explained}
        return learners if self._identified is None else learners | {"identified": self._identified}

    @property
    def _parts(self) -> dict[str, Method]:
        """All that has learned something."""
        practised = {RETRAINED: self._retrained} if self._retrained is not None and self._practised else {}
        return self._learners | practised

    @property
    def _candidates(self) -> dict[str, Method]:
        """Who may be taken, each of them in time."""
        as_it_is = {IN_TIME: self._in_time(self._unadapted)} if self._late else {}
        return as_it_is | {name: self._in_time(method) for name, method in self._learners.items()}

    @property
    def _weighed(self) -> dict[str, Method]:
        """What was identified, with other errors in mind where not all can be avoided."""
        if self._identified is None:
            return {}
        found = {"identified, even weights": self._identified.weighing(Metric.evened)}
        root = self._source.unactuated
        if root is not None and root.any():
            found["identified, weights on the root"] = self._identified.weighing(
                lambda metric: metric.evened().stressing(root, ROOT_WEIGHT)
            )
        return {name: self._in_time(method) for name, method in found.items()}

    def _in_time(self, method: Method) -> Method:
        """The method as it is on a robot that is on time."""
        return InTimeMethod(method, self._simulator, self._late) if self._late else method

    def _simulator(self) -> Simulator:
        """Where to look ahead: with the physics that was identified, if any."""
        return self._source.simulator if self._identified is None else self._identified.simulator


@contextmanager
def _part_beside(path: Path) -> Generator[Path]:
    """A name for one method's file, beside that of all: a run that goes on removes what a kill left there."""
    part = path.with_name(f".{path.name}-part{PARTIAL}")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _file_of(method: Method, path: Path) -> np.ndarray:
    with _part_beside(path) as part:
        method.save(part)
        return np.frombuffer(part.read_bytes(), np.uint8)


def _restore_from(file: np.ndarray, method: Method, path: Path) -> None:
    with _part_beside(path) as part:
        write_whole(part, file.tobytes())
        method.restore(part)
