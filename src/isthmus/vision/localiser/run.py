"""Localisers whose networks are run by torch: while they are trained, and right after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isthmus.core import Float
from isthmus.vision.localiser.confidence import Calibration
from isthmus.vision.localiser.locate import Localiser, ObjectFacts
from isthmus.vision.localiser.network import CoarseNetwork, CropNetwork
from isthmus.vision.localiser.settings import CHECKPOINT, TrainSettings
from isthmus.vision.localiser.weights import load_average
from isthmus.vision.samples import Frame
from isthmus.vision.stage.scene import Scene, read_scene


def facts_of(scene: Scene) -> ObjectFacts:
    """What a localiser knows of the object of a scene."""
    return ObjectFacts(scene.file.target, scene.height, scene.radius, scene.symmetry)


def new_networks(settings: TrainSettings) -> tuple[CoarseNetwork, CropNetwork]:
    """Both networks, before they are trained."""
    return (
        CoarseNetwork(settings.widths, backbone=settings.backbone),
        CropNetwork(settings.widths, backbone=settings.backbone),
    )


def localiser_of(settings: TrainSettings, averages: Mapping[str, Mapping[str, Tensor]]) -> Localiser:
    """A localiser whose networks have these weights; its confidence is not calibrated."""
    coarse, crop = new_networks(settings)
    coarse.load_state_dict(dict(averages["coarse"]))
    crop.load_state_dict(dict(averages["crop"]))
    return torch_localiser(coarse, crop, settings.frame, read_scene(settings.scene))


@dataclass(frozen=True)
class Effort:
    """What went into a checkpoint."""

    images: int
    minutes: float
    """By the clock."""
    core_minutes: float
    """Processor time of training and rendering together."""
    commit: str
    precision: str
    """Number format of training, at its end."""


def trained_networks(settings: TrainSettings, folder: Path) -> tuple[CoarseNetwork, CropNetwork, Effort]:
    """The averaged networks of a run's checkpoint, and what went into them."""
    coarse, crop = new_networks(settings)
    meta = load_average(folder / CHECKPOINT, {"coarse": coarse, "crop": crop})
    images, minutes, core_minutes = int(meta["batches"]) * settings.batch, meta["seconds"] / 60, meta["processor"] / 60
    return (
        coarse,
        crop,
        Effort(images, minutes, core_minutes, str(meta["commit"]), str(meta.get("precision", "float32"))),
    )


def torch_localiser(coarse: CoarseNetwork, crop: CropNetwork, frame: Frame, scene: Scene) -> Localiser:
    """A localiser that runs its networks in torch; its confidence is not calibrated."""
    coarse.eval()
    crop.eval()

    def look(pictures: NDArray[np.uint8]) -> Float:
        with torch.inference_mode():
            return coarse(torch.from_numpy(pictures)).numpy()

    def look_closer(crops: NDArray[np.uint8]) -> tuple[Float, Float, Float]:
        with torch.inference_mode():
            places, nothing, turn = crop(torch.from_numpy(crops))
        return places.numpy(), nothing.numpy(), turn.numpy()

    return Localiser(look, look_closer, frame, facts_of(scene), scene.table, Calibration())
