"""Means and scales of what goes into a network and comes out of it, taken without copying the data."""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.adapt.inverse_network.windows import Windows
from isthmus.core import Float, Float32, Int, Mlp
from isthmus.core.scale import SMALLEST_SCALE

CHUNK = 8192


@dataclass(frozen=True)
class Statistics:
    """Mean and scale of inputs and outputs."""

    input_mean: Float
    input_scale: Float
    output_mean: Float
    output_scale: Float

    @staticmethod
    def of(windows: Windows, targets: Int, labels: Float32) -> "Statistics":
        """The statistics of `windows`, whose examples have `labels` (rows, act) in the rows of their actions."""
        k = windows.history
        now = windows.starts + k - 1
        seen_mean, seen_scale = _moments(windows.observations, now)
        done_mean, done_scale = _moments(windows.actions, now)
        step_mean, step_scale = _moments(windows.observations, now, ahead=1)
        label_mean, label_scale = _moments(labels, now)
        return Statistics(
            np.concatenate((np.tile(seen_mean, k), np.tile(done_mean, k - 1), step_mean[targets])),
            np.concatenate((np.tile(seen_scale, k), np.tile(done_scale, k - 1), step_scale[targets])),
            label_mean,
            label_scale,
        )

    def adopt(self, network: Mlp) -> Mlp:
        """The same function as `network`, written for these statistics: a refit starts from what was learned."""
        first, last = network.weights[0].astype(np.float64), network.weights[-1].astype(np.float64)
        ratio = self.input_scale / network.input_scale
        shift = (self.input_mean - network.input_mean) / network.input_scale
        first_bias = network.biases[0] + shift @ first
        last_bias = (
            network.biases[-1] * network.output_scale + network.output_mean - self.output_mean
        ) / self.output_scale
        weights = [*network.weights]
        biases = [*network.biases]
        weights[0], biases[0] = (first * ratio[:, None]).astype(np.float32), first_bias.astype(np.float32)
        weights[-1] = (last * (network.output_scale / self.output_scale)).astype(np.float32)
        biases[-1] = last_bias.astype(np.float32)
        return replace(
            network,
            weights=tuple(weights),
            biases=tuple(biases),
            input_mean=self.input_mean,
            input_scale=self.input_scale,
            output_mean=self.output_mean,
            output_scale=self.output_scale,
        )


def _moments(values: Float32, rows: Int, ahead: int = 0) -> tuple[Float, Float]:
    """Mean and standard deviation of `values[rows]`, or of their change `ahead` rows on."""
    width = values.shape[1]
    total, square = np.zeros(width), np.zeros(width)
    shift = np.asarray(values[rows[0]], dtype=np.float64) if not ahead else np.zeros(width)
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        part = values[some].astype(np.float64)
        part = values[some + ahead] - part if ahead else part - shift
        total += part.sum(axis=0)
        square += np.square(part).sum(axis=0)
    mean = total / len(rows)
    scale = np.sqrt(np.maximum(square / len(rows) - mean**2, 0.0))
    mean += shift
    return mean, np.where(scale > SMALLEST_SCALE * (1 + np.abs(mean)), scale, 1.0)
