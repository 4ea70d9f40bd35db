"""Practice that is long enough: train in a corrected simulator for as long as is given, and as long as it helps.

After every spell of training the policy is rehearsed, in episodes that it is not trained on, and the best one is kept.
Practice ends early when it earns as much there as the source's policy does in its own simulator, or when several
spells in a row brought nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from isthmus.adapt.common.checkpoint import Checkpoint
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.storage import state_of, training_of
from isthmus.core.random import stream_seed
from isthmus.policies.finetuner import Finetuner, Trained

KIND = "practice"
PATIENCE = 8
"""Spells in a row without a better policy, after which it ends."""
KEPT, NOW = "kept", "now"


@dataclass(frozen=True)
class Limits:
    """How long to practise at most; 0 is no limit, and one of them has to be one."""

    minutes: float
    steps: int

    def reached(self, so_far: "Practised") -> bool:
        """Whether it has been long enough."""
        in_time = not self.minutes or so_far.seconds < 60 * self.minutes
        return not (in_time and (not self.steps or so_far.steps < self.steps))


@dataclass(frozen=True)
class Practised:
    """Practice so far."""

    kept: Trained
    """The best of the policies."""
    now: Trained
    """What training goes on from."""
    worth: float
    """What the best one earns in rehearsal."""
    spells: int = 0
    best_spell: int = 0
    steps: int = 0
    seconds: float = 0.0

    def state(self) -> MethodState:
        """As plain data."""
        parts = {KEPT: state_of(self.kept).packed(), NOW: state_of(self.now).packed()}
        numbers = {name: getattr(self, name) for name in ("worth", "spells", "best_spell", "steps", "seconds")}
        return MethodState(KIND, parts, numbers)

    @staticmethod
    def of(state: MethodState, kind: str) -> "Practised":
        """What `state` was given; trainings are of `kind`."""
        try:
            kept, now = (training_of(state.part(name, kind))[0] for name in (KEPT, NOW))
            about = state.about
            counts = {name: int(about[name]) for name in ("spells", "best_spell", "steps")}
            return Practised(kept, now, float(about["worth"]), **counts, seconds=float(about["seconds"]))
        except (KeyError, ValueError, TypeError) as error:
            raise state.damaged(error) from error


def practise(
    finetuner: Finetuner,
    limits: Limits,
    enough: float,
    begin: Callable[[], Practised],
    checkpoint: Checkpoint,
    kind: str,
    seed: int,
    round_number: int,
    progress: Callable[[int, float], None],
) -> Practised:
    """Train spell by spell from `begin`, or from what the checkpoint has, until it is long or good `enough`.

    A limit in steps makes the same policy every time; a limit in minutes does not, and the steps it came to are kept.
    """
    saved = checkpoint.load(KIND)
    so_far = begin() if saved is None else Practised.of(saved, kind)
    judged = stream_seed(seed, "worth", round_number)

    while not (limits.reached(so_far) or so_far.worth >= enough or so_far.spells - so_far.best_spell >= PATIENCE):
        began = time.monotonic()
        now = finetuner.train(so_far.now, stream_seed(seed, "practise", round_number, so_far.spells), _unheard)
        worth = finetuner.worth(now.network, judged)
        so_far = replace(
            so_far,
            now=now,
            spells=so_far.spells + 1,
            steps=so_far.steps + finetuner.spell_steps,
            seconds=so_far.seconds + time.monotonic() - began,
        )
        if worth > so_far.worth:
            so_far = replace(so_far, kept=now, worth=worth, best_spell=so_far.spells)
        checkpoint.save(so_far.state())
        progress(so_far.spells, -worth)
    return so_far


def _unheard(update: int, loss: float) -> None:
    """Nobody hears of what happens within a spell."""
