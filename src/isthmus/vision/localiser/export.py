"""The networks as ONNX files: pictures as bytes in, heatmaps out, for any runtime."""

import io
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from isthmus.io import write_whole
from isthmus.vision.localiser.network import CoarseNetwork, CropNetwork
from isthmus.vision.localiser.settings import COARSE, CROP
from isthmus.vision.samples import Frame

OPSET = 17


def export_networks(coarse: CoarseNetwork, crop: CropNetwork, frame: Frame, folder: Path) -> None:
    """Write coarse.onnx and crop.onnx: inputs are bytes (n, height, width, 3), red first.

    All weights are in them by the names they have in training, so that training can begin with them.
    """
    width, height = frame.coarse
    _export(coarse, (height, width), folder / COARSE, ["heat"])
    _export(crop, (frame.crop, frame.crop), folder / CROP, ["heat", "nothing", "turn"])


def _export(network: nn.Module, size: tuple[int, int], path: Path, outputs: list[str]) -> None:
    example = torch.zeros(1, *size, 3, dtype=torch.uint8)
    buffer: Any = io.BytesIO()  # which it writes to, though its types do not say so
    network.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter without further dependencies is called the old one
        torch.onnx.export(
            network, (example,), buffer, input_names=["pictures"], output_names=outputs, opset_version=OPSET,
            dynamic_axes={name: {0: "n"} for name in ("pictures", *outputs)}, dynamo=False,
            training=torch.onnx.TrainingMode.PRESERVE,  # keeps normalisations apart; ONNX Runtime merges them itself
        )  # fmt: skip
    write_whole(path, buffer.getvalue())
