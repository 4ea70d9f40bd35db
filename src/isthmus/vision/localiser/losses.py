"""What the networks are trained to say: places as distributions over cells, absence, and yaw."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from isthmus.vision.localiser.network_layout import COARSE_STRIDE, PADDING, STRIDE
from isthmus.vision.samples import Frame, Samples
from isthmus.vision.windows import in_crop

SPREAD = 0.8
"""Standard deviation, in cells, of the distribution that stands for a place: it tells where within a cell it is."""
YAW_WEIGHT = 0.3


@dataclass(frozen=True)
class Losses:
    """Of one batch."""

    total: Tensor
    coarse: float
    crop: float
    yaw: float


def compute_losses(coarse: nn.Module, crop: nn.Module, samples: Samples, frame: Frame, symmetry: int) -> Losses:
    """Losses of both networks (`CoarseNetwork`, `CropNetwork`) on a batch of renderings."""
    pictures = torch.from_numpy(np.ascontiguousarray(samples["coarse"]))
    pixel = torch.from_numpy(np.ascontiguousarray(samples["pixel"]))
    heat = coarse(pictures)
    at = (pixel / frame.scale + PADDING) / COARSE_STRIDE  # (n, 2) in cells
    of_coarse = cross_entropy(heat, at, torch.ones(len(at)))
    shape = samples["crops"].shape  # (n, crops, edge, edge, 3)
    crops = torch.from_numpy(np.ascontiguousarray(samples["crops"])).reshape(-1, *shape[2:])
    seen_at = in_crop(samples["pixel"][:, None], samples["windows"], frame.crop)  # (n, crops, 2)
    within = torch.from_numpy(np.ascontiguousarray(seen_at, np.float32)).reshape(-1, 2) / STRIDE
    cells = frame.crop // STRIDE
    there = ((within > 0) & (within < cells)).all(dim=1)
    places, nothing, turn = crop(crops)
    of_crop = _with_absence(places, nothing, within, there)
    of_yaw = torch.zeros(())
    if symmetry > 0 and bool(there.any()):
        angle = torch.from_numpy(np.ascontiguousarray(samples["turn"])).repeat_interleave(shape[1])
        of_yaw = yaw_loss(turn[there], within[there], symmetry * angle[there])
    total = of_coarse + of_crop + YAW_WEIGHT * of_yaw
    return Losses(total, float(of_coarse.detach()), float(of_crop.detach()), float(of_yaw.detach()))


def targets(at: Tensor, rows: int, columns: int) -> Tensor:
    """Distributions (n, rows, columns) over cells that stand for places (n, 2), given as x, y in cells."""
    x = torch.arange(columns) + 0.5
    y = torch.arange(rows) + 0.5
    along = torch.exp(-((x - at[:, :1]) ** 2) / (2 * SPREAD**2))  # (n, columns)
    down = torch.exp(-((y - at[:, 1:]) ** 2) / (2 * SPREAD**2))  # (n, rows)
    weights = down[:, :, None] * along[:, None, :]
    return weights / weights.sum(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def cross_entropy(heat: Tensor, at: Tensor, weight: Tensor) -> Tensor:
    """Between logits (n, rows, columns) and places (n, 2) in cells."""
    wanted = targets(at, heat.shape[1], heat.shape[2]).flatten(1)
    each = -(wanted * functional.log_softmax(heat.float().flatten(1), dim=1)).sum(dim=1)
    return (each * weight).sum() / weight.sum().clamp(min=1)


def _with_absence(places: Tensor, nothing: Tensor, within: Tensor, there: Tensor) -> Tensor:
    """Cross-entropy over all cells and one answer more: that the object is not in the crop."""
    logits = functional.log_softmax(torch.cat([places.float().flatten(1), nothing.float()[:, None]], dim=1), dim=1)
    wanted = targets(within, places.shape[1], places.shape[2]).flatten(1)
    of_places = -(wanted * logits[:, :-1]).sum(dim=1)
    return torch.where(there, of_places, -logits[:, -1]).mean()


def yaw_loss(turn: Tensor, within: Tensor, angle: Tensor) -> Tensor:
    """Squared error of cosine and sine (n, 2, rows, columns) at the cells of places (n, 2) in cells."""
    rows, columns = turn.shape[2:]
    column = within[:, 0].long().clamp(0, columns - 1)
    row = within[:, 1].long().clamp(0, rows - 1)
    said = turn.float()[torch.arange(len(turn)), :, row, column]
    return ((said - torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)) ** 2).sum(dim=1).mean()
