"""Gradient boosting of regression trees on histograms: the baseline that knows nothing of physics.

It gets what the simulator gets, positions, velocities and the last commands, and learns by how much velocities change
until the next sample. It is our own small one: trees of a fixed depth on features in 64 bins, shrunken and summed up.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int
from isthmus.replay.recording import Recording
from isthmus.replay.windows import Windows

TREES, DEPTH, BINS, SHRINK, LEAST = 80, 4, 64, 0.15, 20
"""Trees for each number, their depth, bins of a feature, share of a tree that counts, and rows in a leaf."""
ROWS = 20_000
"""Rows that are learned from, at most."""
LAGS = 3
"""Commands that are looked at: the present one and those before it."""
FAR = 1e3


@dataclass(frozen=True)
class Boosted:
    """Trees for each of n outputs."""

    feature: Int
    """(n, TREES, 2^DEPTH - 1): what each node looks at."""
    threshold: Float
    """(n, TREES, 2^DEPTH - 1)."""
    leaf: Float
    """(n, TREES, 2^DEPTH)."""
    mean: Float  # (n,)

    def __call__(self, features: Float) -> Float:
        """(N, n) for features (N, f)."""
        out = np.tile(self.mean, (len(features), 1))
        n, trees, _ = self.feature.shape
        which, tree = np.arange(n, dtype=np.int64)[:, None], np.arange(trees, dtype=np.int64)[None]
        for row, one in enumerate(features):
            node = np.zeros((n, trees), np.int64)
            for _ in range(DEPTH):
                node = 2 * node + 1 + (one[self.feature[which, tree, node]] > self.threshold[which, tree, node])
            out[row] += self.leaf[which, tree, node - (2**DEPTH - 1)].sum(axis=1)
        return out


def boost(features: Float, wanted: Float) -> Boosted:
    """Fit wanted (N, n) by features (N, f)."""
    edges = np.quantile(features, np.linspace(0, 1, BINS + 1)[1:-1], axis=0).T  # (f, BINS - 1)
    binned = np.empty(features.shape, np.int64)
    for number in range(features.shape[1]):
        binned[:, number] = np.searchsorted(edges[number], features[:, number])
    n, inner = wanted.shape[1], 2**DEPTH - 1
    feature = np.zeros((n, TREES, inner), np.int64)
    threshold, leaf = np.full((n, TREES, inner), np.inf), np.zeros((n, TREES, 2**DEPTH))
    mean = wanted.mean(axis=0)
    for output in range(n):
        left = wanted[:, output] - mean[output]
        for tree in range(TREES):
            node = _grow(binned, edges, left, feature[output, tree], threshold[output, tree])
            count = np.bincount(node, minlength=2**DEPTH)
            total = np.bincount(node, left, minlength=2**DEPTH)
            leaf[output, tree] = SHRINK * total / np.maximum(count, 1)
            left = left - leaf[output, tree][node]
    return Boosted(feature, threshold, leaf, mean)


def _grow(binned: Int, edges: Float, left: Float, feature: Int, threshold: Float) -> Int:
    """Write a tree into `feature` and `threshold` (nodes,); returns the leaf of every row (N,)."""
    rows, width = binned.shape
    node = np.zeros(rows, np.int64)
    for level in range(DEPTH):
        here, begin = 2**level, 2**level - 1
        places: Int = node[:, None] * width + np.arange(width, dtype=np.int64)
        flat: Int = (places * BINS + binned).reshape(-1)
        size = here * width * BINS
        count = np.bincount(flat, minlength=size).reshape(here, width, BINS).cumsum(axis=2)
        total = np.bincount(flat, np.repeat(left, width), minlength=size).reshape(here, width, BINS).cumsum(axis=2)
        below, above = count[..., :-1], count[..., -1:] - count[..., :-1]
        sums = total[..., :-1], total[..., -1:] - total[..., :-1]
        gain = np.square(sums[0]) / np.maximum(below, 1) + np.square(sums[1]) / np.maximum(above, 1)
        gain = np.where((below >= LEAST) & (above >= LEAST), gain, -np.inf).reshape(here, -1)
        best = gain.argmax(axis=1)
        splits = np.isfinite(gain[np.arange(here), best])
        which, cut = best // (BINS - 1), best % (BINS - 1)
        feature[begin : begin + here] = np.where(splits, which, 0)
        threshold[begin : begin + here] = np.where(splits, edges[which, cut], np.inf)
        right = (binned[np.arange(rows), which[node]] > cut[node]) & splits[node]
        node = 2 * node + right
    return node


@dataclass(frozen=True)
class BoostedReplay:
    """Replays by what was learned."""

    trees: Boosted
    dt: float
    limit: Float
    """(n,): velocities stay within what was recorded, by half as much again."""

    def __call__(self, recording: Recording, where: Windows) -> Float:
        """Positions (W, length, n)."""
        out = np.empty((len(where), where.length, len(recording.joints)))
        out[:, 0], velocity = recording.position[where.first], recording.velocity[where.first]
        age = recording.age()[where.first]
        for sample in range(where.length - 1):
            commands = _commands(recording, where.first + sample, age + sample)
            change = self.trees(np.hstack((out[:, sample], velocity, commands)))
            after = np.clip(velocity + change, -self.limit, self.limit)
            out[:, sample + 1] = np.clip(out[:, sample] + self.dt * (velocity + after) / 2, -FAR, FAR)
            velocity = after
        return out


def fit_boosting(recording: Recording) -> BoostedReplay:
    """Learn from a recording."""
    age = recording.age()
    last = np.append(age[1:] == 0, True)
    rows = np.flatnonzero(~last)
    rows = rows[:: max(1, len(rows) // ROWS)]
    features = np.hstack((recording.position[rows], recording.velocity[rows], _commands(recording, rows, age[rows])))
    trees = boost(features, recording.velocity[rows + 1] - recording.velocity[rows])
    return BoostedReplay(trees, recording.dt, 1.5 * np.abs(recording.velocity).max(axis=0))


def _commands(recording: Recording, rows: Int, age: Int) -> Float:
    """The last commands at rows (N,), the newest first (N, LAGS m)."""
    return np.hstack([recording.command[rows - np.minimum(lag, age)] for lag in range(LAGS)])
