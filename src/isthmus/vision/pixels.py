"""What a camera does to a picture: exposure, colour, blur and noise."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, stream
from isthmus.vision.randomise import Randomise

Image = NDArray[np.uint8]
"""(height, width, 3), red first."""
BANK = 1 << 20
"""Noise values in store: drawing new ones for every image would cost more than drawing the picture."""
STEPS = 8
"""Levels of noise in store, from none to the largest."""
LEVELS = np.arange(256) / 255
SMOOTHED = 0.35
"""Standard deviation in pixels of the blur that making a picture smaller is like: renderings have hard edges."""
LEFT = 0.5
"""Share of blur and noise that is left in a reduced picture: neighbours' noise is alike in a camera's pictures."""


@dataclass(frozen=True)
class Look:
    """One camera's settings, for all pictures of one image."""

    table: NDArray[np.uint8]  # (256, 1, 3)
    blur: float
    noise: int
    """Number of the noise level in store."""


class Lens:
    """Applies random camera settings to pictures."""

    def __init__(self, randomise: Randomise) -> None:
        """Prepare noise."""
        self._randomise = randomise
        unit: Float = stream(0, "vision", "noise").standard_normal(BANK)
        scales = randomise.noise.at(np.linspace(0, 1, STEPS)) * 255
        noise: list[Float] = [np.round(unit * scale) for scale in scales]
        # What is added and what is taken away, as bytes: much faster than to add signed numbers to bytes.
        self._noise = [(_bytes(one), _bytes(-one)) for one in noise]

    def draw(self, rng: np.random.Generator) -> Look:
        """Settings at random."""
        chance, ranges = rng.random(7), self._randomise
        gain = ranges.exposure.at(chance[0]) * ranges.tint.at(chance[1:4])
        curve = LEVELS ** float(ranges.gamma.at(chance[4]))
        table = np.clip(curve[:, None] * gain * 255, 0, 255).astype(np.uint8)
        return Look(table.reshape(256, 1, 3), float(ranges.blur.at(chance[5])), int(chance[6] * STEPS))

    def apply(self, look: Look, image: Image, rng: np.random.Generator, out: Image, *, reduced: bool = False) -> None:
        """Write the picture as a camera with this look would show it to `out`, which may be `image` itself.

        A `reduced` picture stands for one that was made smaller afterwards: that smooths edges, and leaves less of the
        noise and the blur.
        """
        seen = cv2.LUT(image, look.table)
        blur, noise = (
            (math.hypot(SMOOTHED, look.blur * LEFT), int(look.noise * LEFT)) if reduced else (look.blur, look.noise)
        )
        if blur > 0.3:  # less changes nothing
            seen = cv2.GaussianBlur(seen, (0, 0), blur)
        more, less = self._noise[noise]
        if image.size > BANK:
            more, less = np.resize(more, image.size + 1), np.resize(less, image.size + 1)
        first = int(rng.integers(len(more) - image.size))
        part = slice(first, first + image.size)
        cv2.subtract(cv2.add(seen, more[part].reshape(image.shape)), less[part].reshape(image.shape), dst=out)


def _bytes(noise: Float) -> NDArray[np.uint8]:
    """The part of the noise that is above zero, as bytes."""
    return np.clip(noise, 0, 255).astype(np.uint8)
