"""The training examples of an inverse model, as views of the recorded trajectories.

All trajectories lie one after another in one array. Since rows are contiguous, the k+1 observations of an example
(history and what was reached) are one contiguous run of numbers, and so are its k actions (history and the one to
predict): an example is an offset, and only a minibatch is ever copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Episode, Float32, Int, WorldSpec


@dataclass(frozen=True)
class Windows:
    """Examples (o_{t-k+1}, a_{t-k+1}, ..., o_t, o_{t+1}) -> a_t of many trajectories."""

    history: int
    """k: how many observations a history holds."""
    observations: Float32
    """What was sensed of every trajectory, each led by k-1 copies of its first (rows, sensed)."""
    actions: Float32
    """Applied actions, row by row with `observations`; zero where there is none (rows, act).

    Applied, not commanded: past the limit many commands have the same effect and cannot be distinguished.
    """
    corrections: Float32
    """Applied actions minus the source's within the actuators' limits, row by row with `actions` (rows, act).

    Limits count on both sides: what a source commands beyond them has no effect, so it is nothing to be learned.
    """
    starts: Int
    """First row of each example (m,)."""
    episodes: Int
    """Episode each example is from (m,)."""

    @staticmethod
    def of(episodes: Sequence[Episode], history: int, spec: WorldSpec) -> "Windows":
        """The examples in `episodes`, with histories of `history` observations."""
        if history < 1:
            raise ValueError(f"history must be at least 1, got {history}")
        numbered = [(number, one) for number, episode in enumerate(episodes) for one in episode]
        if not sum(one.samples for _, one in numbered):
            raise ValueError("there are no trajectories to learn from")
        lead = history - 1
        rows = sum(len(one) + 1 + lead for _, one in numbered)
        sensed = spec.robot_dimensions
        observations = np.empty((rows, len(sensed)), np.float32)
        actions = np.zeros((rows, spec.action_size), np.float32)
        corrections = np.zeros((rows, spec.action_size), np.float32)
        starts = np.empty(sum(one.samples for _, one in numbered), np.int64)
        origin = np.empty_like(starts)
        row = example = 0
        for number, one in numbered:
            begin, end = row + lead, row + lead + len(one)
            seen = one.observations if len(sensed) == spec.observation_size else one.observations[:, sensed]
            observations[row:begin] = seen[0]
            observations[begin : end + 1] = seen
            actions[begin:end] = one.applied
            corrections[begin:end] = one.applied - spec.clip(one.source)
            starts[example : example + one.samples] = np.arange(row + one.context, row + len(one))
            origin[example : example + one.samples] = number
            row, example = end + 1, example + one.samples
        return Windows(history, observations, actions, corrections, starts, origin)

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.starts)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(
            array.nbytes for array in (self.observations, self.actions, self.corrections, self.starts, self.episodes)
        )

    @property
    def observation_runs(self) -> Float32:
        """View: row r is the k+1 observations from r on, flattened (rows - k, (k+1) * obs)."""
        return _runs(self.observations, self.history + 1)

    @property
    def action_runs(self) -> Float32:
        """View: row r is the k actions from r on, the last one to be predicted (rows - k + 1, k * act)."""
        return _runs(self.actions, self.history)

    def split(self, validation: float) -> tuple[Int, Int]:
        """Examples to train on and to validate on, split by episode: neighbours in time never part.

        Episodes are held out at even distances, the second one first, so that an episode stays on its side when more
        are added: a refit that starts from earlier weights has never been trained on what it is validated on.
        """
        share = np.floor(1 + (self.episodes - 1) * validation + 1e-9)
        is_held_out = share > np.floor(1 + (self.episodes - 2) * validation + 1e-9)
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def _runs(rows: Float32, length: int) -> Float32:
    count, width = rows.shape
    stride, item = rows.strides
    shape = (max(count - length + 1, 0), length * width)
    return np.lib.stride_tricks.as_strided(rows, shape, (stride, item))
