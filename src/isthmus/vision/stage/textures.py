"""A bank of textures: flat, gradient, checker and noise, as Tobin et al. have them."""

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float

GREY = 0.25
"""Share of textures without colour."""


def make_textures(count: int, size: int, kinds: tuple[str, ...], rng: np.random.Generator) -> list[NDArray[np.uint8]]:
    """`count` square images (size, size, 3) of bytes, of the given kinds in turn."""
    makers = {"flat": _flat, "gradient": _gradient, "checker": _checker, "noise": _noise}
    made: list[NDArray[np.uint8]] = []
    for number in range(count):
        colours = rng.random((3, 3))
        if rng.random() < GREY:
            colours = np.repeat(colours.mean(axis=1, keepdims=True), 3, axis=1)
        image = makers[kinds[number % len(kinds)]](size, colours, rng)
        made.append((np.clip(image, 0, 1) * 255).astype(np.uint8))
    return made


def _flat(size: int, colours: Float, rng: np.random.Generator) -> Float:  # noqa: ARG001 - one signature for all
    return np.broadcast_to(colours[0], (size, size, 3))


def _gradient(size: int, colours: Float, rng: np.random.Generator) -> Float:
    angle = rng.uniform(0, 2 * np.pi)
    u, v = np.meshgrid(*[np.linspace(-0.5, 0.5, size)] * 2)
    ramp = u * np.cos(angle) + v * np.sin(angle)
    share = ((ramp - ramp.min()) / (np.ptp(ramp) + 1e-9))[..., None]
    return colours[0] * (1 - share) + colours[1] * share


def _checker(size: int, colours: Float, rng: np.random.Generator) -> Float:
    across = int(rng.integers(1, 9))
    down = 0 if rng.random() < 0.3 else int(rng.integers(1, 9)) if rng.random() < 0.5 else across
    u, v = np.meshgrid(*[np.linspace(0, 1, size, endpoint=False)] * 2)
    odd = ((np.floor(2 * across * u) + np.floor(2 * down * v)) % 2)[..., None]
    return colours[0] * (1 - odd) + colours[1] * odd


def _noise(size: int, colours: Float, rng: np.random.Generator) -> Float:
    """Noise of several octaves; some of it is stretched, as wood and cloth are."""
    image = np.broadcast_to(colours[0], (size, size, 3)).copy()
    for octave in range(4):
        rows = 2 ** (octave + 1 + int(rng.integers(2)))
        columns = max(1, rows // int(rng.integers(1, 5)))
        cells = rng.standard_normal((rows, columns, 1)) * (colours[1] - colours[2]) * rng.random()
        down = (np.arange(size) * rows) // size
        across = (np.arange(size) * columns) // size
        image += 0.7**octave * cells[down][:, across]
    return image
