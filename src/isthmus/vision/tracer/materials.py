"""Natural materials: wood, cloth, stone, laminate and paint, as pictures of their colour."""

import colorsys

import cv2
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float

SIZE = 256
KINDS = ("wood", "cloth", "stone", "laminate", "paint")
Albedo = NDArray[np.float32]
"""Linear colour (SIZE, SIZE, 3)."""


def make_albedo(kind: str, rng: np.random.Generator) -> Albedo:
    """A picture of a material of this kind."""
    makers = {"wood": _wood, "cloth": _cloth, "stone": _stone, "laminate": _laminate, "paint": _paint}
    return np.clip(makers[kind](rng), 0.01, 0.95).astype(np.float32)


def _clouds(rng: np.random.Generator, across: float, down: float, octaves: int = 5) -> Float:
    """Smooth noise of several octaves, from 0 to 1 (SIZE, SIZE)."""
    total = np.zeros((SIZE, SIZE))
    for octave in range(octaves):
        columns, rows = (int(min(SIZE, max(2, one * 2**octave))) for one in (across, down))
        cells = rng.standard_normal((rows, columns))
        total += 0.55**octave * cv2.resize(cells, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    total -= total.min()
    return total / total.max()


def _wood(rng: np.random.Generator) -> Float:
    grain = _clouds(rng, 2, 14)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (rng.uniform(3, 9) * _clouds(rng, 1, 3, 3) + grain))
    light = np.array([rng.uniform(0.45, 0.75), rng.uniform(0.3, 0.5), rng.uniform(0.14, 0.28)])
    dark = light * rng.uniform(0.45, 0.8)
    return light + (dark - light) * (0.6 * rings + 0.4 * grain)[..., None]


def _cloth(rng: np.random.Generator) -> Float:
    y, x = np.mgrid[:SIZE, :SIZE]
    weave = 0.85 + 0.15 * np.sin(0.9 * x) * np.sin(0.9 * y)
    return rng.uniform(0.1, 0.7, 3) * (weave * (0.8 + 0.2 * _clouds(rng, 4, 4)))[..., None]


def _stone(rng: np.random.Generator) -> Float:
    colour = rng.uniform(0.3, 0.8) * (1 - 0.1 * rng.random(3))
    image = colour * (0.5 + 0.5 * _clouds(rng, 6, 6, 6))[..., None]
    image[rng.random((SIZE, SIZE)) < 0.03] *= 0.5
    return image


def _laminate(rng: np.random.Generator) -> Float:
    return rng.uniform(0.55, 0.9) * (1 - 0.12 * rng.random(3)) * (0.95 + 0.05 * _clouds(rng, 8, 8))[..., None]


def _paint(rng: np.random.Generator) -> Float:
    colour = colorsys.hsv_to_rgb(rng.random(), rng.uniform(0, 0.9), rng.uniform(0.15, 0.9))
    return np.array(colour) * (0.93 + 0.07 * _clouds(rng, 3, 3))[..., None]
