"""Two small networks from scratch: one looks at the whole picture, the other at crops at full resolution."""

from torch import Tensor, nn
from torch.nn import functional

from isthmus.vision.localiser.backbone import WIDTHS, load_backbone
from isthmus.vision.localiser.network_layout import PADDING


class ConvBlock(nn.Sequential):
    """Convolution, batch normalisation and ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


class Residual(nn.Module):
    """Two convolutions around which the input is carried."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ConvBlock(channels, channels)
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        """From (n, channels, h, w) to the same."""
        return functional.relu(x + self.second(self.first(x)))


class Trunk(nn.Module):
    """A U-shaped network: features at stride 8 that know of everything at stride 16.

    Most of the time of a step goes where the picture is large: there is one convolution at stride 4 on the way down.
    """

    def __init__(self, widths: tuple[int, int, int, int]) -> None:
        super().__init__()
        a, b, c, d = widths
        self.stem = ConvBlock(3, a, 5, 2)
        self.down4 = ConvBlock(a, b, 3, 2)
        self.down8 = nn.Sequential(ConvBlock(b, c, 3, 2), Residual(c))
        self.down16 = nn.Sequential(ConvBlock(c, d, 3, 2), Residual(d), Residual(d))
        self.lateral8, self.merge8 = nn.Conv2d(d, c, 1), Residual(c)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features at strides 4 (n, b, h/4, w/4), 8 (n, c, h/8, w/8) and 16 (n, d, h/16, w/16)."""
        at4 = self.down4(self.stem(x))
        at8 = self.down8(at4)
        at16 = self.down16(at8)
        return at4, self.merge8(at8 + _doubled(self.lateral8(at16), at8)), at16


class FrozenTrunk(nn.Module):
    """The same features from a backbone that was trained on photographs: only what is behind it is trained."""

    def __init__(self, widths: tuple[int, int, int, int]) -> None:
        super().__init__()
        _, b, c, d = widths
        self.backbone = load_backbone()
        self.at4, self.at8 = ConvBlock(WIDTHS[0], b, 1), ConvBlock(WIDTHS[1], c, 1)
        self.at16 = nn.Sequential(ConvBlock(WIDTHS[2], d, 1), Residual(d))
        self.lateral8, self.merge8 = nn.Conv2d(d, c, 1), Residual(c)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `Trunk` has them."""
        first, second, third = self.backbone(x / 2)
        at8, at16 = self.at8(second), self.at16(third)
        return self.at4(first), self.merge8(at8 + _doubled(self.lateral8(at16), at8)), at16


def make_trunk(widths: tuple[int, int, int, int], *, backbone: bool) -> nn.Module:
    """A trunk to be trained from scratch, or one behind a frozen backbone."""
    return FrozenTrunk(widths) if backbone else Trunk(widths)


class CoarseNetwork(nn.Module):
    """Where in the whole picture the object may be."""

    def __init__(self, widths: tuple[int, int, int, int] = (16, 32, 64, 96), *, backbone: bool = False) -> None:
        super().__init__()
        self.trunk = make_trunk(widths, backbone=backbone)
        self.heat = nn.Conv2d(widths[2], 1, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (n, cells down, cells across) of pictures (n, h, w, 3) of bytes, padded by `PADDING` on each side."""
        x = functional.pad(_normalised(pictures), (PADDING,) * 4)
        return self.heat(self.trunk(x)[1])[:, 0]


class CropNetwork(nn.Module):
    """Whether the object is in a crop, where in it, and at which yaw."""

    def __init__(self, widths: tuple[int, int, int, int] = (16, 32, 64, 96), *, backbone: bool = False) -> None:
        super().__init__()
        self.trunk = make_trunk(widths, backbone=backbone)
        self.lateral4, self.merge4 = nn.Conv2d(widths[2], widths[1], 1), Residual(widths[1])
        self.heat = nn.Conv2d(widths[1], 1, 1)
        self.turn = nn.Conv2d(widths[1], 2, 1)
        self.nothing = nn.Sequential(nn.Linear(widths[3], 64), nn.ReLU(inplace=True), nn.Linear(64, 1))

    def forward(self, crops: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of crops (n, edge, edge, 3) of bytes: logits of places and of absence, and the yaw at each place.

        Returns logits (n, cells, cells), the logit that the object is not there (n,), and the cosine and sine of
        symmetry times the yaw from the direction of view (n, 2, cells, cells).
        """
        at4, at8, deep = self.trunk(_normalised(crops))
        features = self.merge4(at4 + _doubled(self.lateral4(at8), at4))
        return self.heat(features)[:, 0], self.nothing(deep.mean(dim=(2, 3)))[:, 0], self.turn(features)


def _normalised(pictures: Tensor) -> Tensor:
    """Bytes (n, h, w, 3) as numbers about zero (n, 3, h, w)."""
    return pictures.permute(0, 3, 1, 2).float() * (4 / 255) - 2


def _doubled(x: Tensor, like: Tensor) -> Tensor:
    return functional.interpolate(x, size=like.shape[2:], mode="nearest")


def count_parameters(network: nn.Module) -> int:
    """How many numbers a network has learned."""
    return sum(one.numel() for one in network.parameters())
