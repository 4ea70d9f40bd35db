"""Standardised minibatches, gathered from the views of the windows: nothing is copied but the minibatch."""

import numpy as np
import torch
from torch import Tensor

from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.core import Float, Float32, Int


class Batches:
    """Inputs and labels of an inverse network, in the order `InverseNetwork` puts them together."""

    def __init__(self, windows: Windows, targets: Int, labels: Float32, statistics: Statistics) -> None:
        """Look at `windows`, whose examples have `labels` (rows, act) in the rows of their actions."""
        k, obs, act = windows.history, windows.observations.shape[1], windows.actions.shape[1]
        self._past, self._done, self._obs, self._now = k * obs, (k - 1) * act, obs, k - 1
        self._observations = torch.from_numpy(windows.observation_runs)
        self._actions = torch.from_numpy(windows.action_runs)
        self._labels = torch.from_numpy(labels)
        self._starts = torch.from_numpy(windows.starts)
        self._targets = torch.tensor(targets) if len(targets) < obs else None  # copied: a spec's targets are read-only
        self._mean, self._scale = _tensor(statistics.input_mean), _tensor(statistics.input_scale)
        self._label_mean, self._label_scale = _tensor(statistics.output_mean), _tensor(statistics.output_scale)

    def __call__(self, examples: Tensor) -> tuple[Tensor, Tensor]:
        """Standardised inputs (b, inputs) and labels (b, act) of the examples (b,)."""
        rows = self._starts[examples]
        seen = self._observations[rows]  # (b, (k+1) obs)
        past = seen[:, : self._past]
        change = seen[:, self._past :] - past[:, -self._obs :]
        if self._targets is not None:
            change = change[:, self._targets]
        inputs = torch.cat((past, self._actions[rows, : self._done], change), dim=1)
        inputs.sub_(self._mean).div_(self._scale)
        return inputs, (self._labels[rows + self._now] - self._label_mean).div_(self._label_scale)


def _tensor(values: Float) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))
