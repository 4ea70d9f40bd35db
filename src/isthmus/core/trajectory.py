"""A recorded run of one robot: data that cannot be wrong once it exists."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from isthmus.core.arrays import Float, frozen


@dataclass(frozen=True)
class Trajectory:
    """T steps of one robot: T+1 observations, T commands, and what the adapter wanted at each.

    The first `context` steps are there only as history for the ones after them; they are neither learned from nor
    counted as samples.
    """

    observations: Float  # (T+1, obs)
    commands: Float
    """What was asked of the actuators, before any limit (T, act)."""
    applied: Float
    """What the actuators accepted (T, act)."""
    source: Float
    """What the simulation policy would have done (T, act of the source)."""
    wanted: Float
    """What the simulator expected to see next (T, obs)."""
    context: int = 0

    def __post_init__(self) -> None:
        """Copy, check and freeze every array."""
        steps, obs, act = len(self.commands), self.observations.shape[-1], self.commands.shape[-1]
        shapes: dict[str, tuple[int | None, ...]] = {
            "observations": (steps + 1, obs),
            "commands": (steps, act),
            "applied": (steps, act),
            "source": (steps, None),
            "wanted": (steps, obs),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen(getattr(self, name), what=name, shape=shape))
        if not 0 <= self.context < max(steps, 1):
            raise ValueError(f"context is {self.context}, but there are only {steps} steps")

    def __len__(self) -> int:
        """The number of steps, context included."""
        return len(self.commands)

    @property
    def samples(self) -> int:
        """Steps that were taken on the target to make this."""
        return len(self) - self.context


@dataclass(frozen=True)
class RewardedTrajectory(Trajectory):
    """A run whose reward was seen: for methods that are marked as seeing it, and for no others."""

    rewards: Float = field(kw_only=True)
    """What each step was paid (T,)."""
    ended: bool = field(kw_only=True)
    """Whether the last step ended the episode, rather than somebody who had seen enough."""

    def __post_init__(self) -> None:
        """Check and freeze the rewards too."""
        Trajectory.__post_init__(self)
        object.__setattr__(self, "rewards", frozen(self.rewards, what="rewards", shape=(len(self),)))


def rewarded(run: Trajectory, rewards: Float, ended: bool) -> RewardedTrajectory:
    """A run with what it was paid."""
    return RewardedTrajectory(**{one.name: getattr(run, one.name) for one in fields(run)}, rewards=rewards, ended=ended)


Episode = Sequence[Trajectory]
"""A run from a reset to its end, perhaps with single steps that were tried from states along it."""
