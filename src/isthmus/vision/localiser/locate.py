"""From a picture to the object's place on the table: candidates, crops, a ray, and how sure to be. No torch."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float
from isthmus.vision.camera import Camera, heading
from isthmus.vision.localiser.confidence import Calibration
from isthmus.vision.localiser.network_layout import COARSE_REACH, COARSE_STRIDE, PADDING, STRIDE
from isthmus.vision.localiser.peaks import Peak, find_peaks, softmax
from isthmus.vision.pixels import Image
from isthmus.vision.samples import Frame, fold
from isthmus.vision.stage.scene import Table
from isthmus.vision.windows import cut, to_crop, windows_at

CANDIDATES = 8
"""Places of the first stage that the second looks at."""
SURE = 0.5
"""Least probability of having the right object below which the answer is "not sure"."""

Coarse = Callable[[NDArray[np.uint8]], Float]
"""From pictures (n, h, w, 3) to logits (n, rows, columns)."""
Crop = Callable[[NDArray[np.uint8]], tuple[Float, Float, Float]]
"""From crops (n, edge, edge, 3) to logits of places (n, c, c), of absence (n,), and yaw (n, 2, c, c)."""


@dataclass(frozen=True)
class ObjectFacts:
    """What the localiser knows of the object it was trained on."""

    name: str
    height: float
    """Of the object's middle in the world."""
    radius: float
    symmetry: int
    """How many yaws look the same; 0 for a round object."""


@dataclass(frozen=True)
class Located:
    """Where the object is."""

    position: Float
    """Its middle in the world (3,); NaN if the ray does not meet the table."""
    yaw: float | None
    """In the world, the smallest of those that look the same; None for a round object."""
    std: float
    """Expected error of the position, in metres."""
    confidence: float
    """Probability of having the right object."""
    pixel: Float
    """In the picture that was given (2,)."""
    features: Float
    """What the confidence is computed from (3,)."""

    @property
    def sure(self) -> bool:
        """Whether to rely on it."""
        return self.confidence >= SURE and bool(np.isfinite(self.position).all())


@dataclass(frozen=True)
class _Grid:
    """Where the cells of a heatmap are in the picture."""

    origin: Float
    """Pixel of the first cell's corner (2,)."""
    step: float
    """Pixels of a cell."""

    def pixels(self, cells: Float) -> Float:
        """Pixels (..., 2) of places in cells (..., 2)."""
        return self.origin + cells * self.step


@dataclass(frozen=True)
class Candidate:
    """A place where the object may be."""

    pixel: Float
    coarse_mass: float
    """Probability that the first stage gives it."""
    crop_mass: float
    """Probability that the second stage gives it."""
    spread: float
    """Standard deviation in pixels."""
    turn: Float
    """Cosine and sine of symmetry times the yaw from the direction of view (2,)."""
    near: float
    """Pixels within which another candidate is the same place."""


@dataclass(frozen=True)
class Localiser:
    """Two networks, however they are run, and what turns their answers into a place."""

    coarse: Coarse
    crop: Crop
    frame: Frame
    facts: ObjectFacts
    table: Table
    """Where the object can be: what else looks like it, behind the table or beside it, is not taken for it."""
    calibration: Calibration

    def locate(self, picture: Image, camera: Camera) -> Located:
        """Locate the object in a picture of the camera, at full resolution."""
        return self.choose(self.candidates(picture, camera), camera)

    def candidates(self, picture: Image, camera: Camera) -> list[Candidate]:
        """Where the object may be, as both stages see it."""
        small = np.asarray(cv2.resize(picture, self.frame.coarse, interpolation=cv2.INTER_AREA), np.uint8)
        whole = _Grid(np.full(2, -PADDING * self.frame.scale), COARSE_STRIDE * self.frame.scale)
        [heat] = self._on_table(np.asarray(self.coarse(small[None]), float), camera, [whole])
        peaks = find_peaks(softmax(heat), CANDIDATES, COARSE_REACH)
        middles = whole.pixels(np.array([peak.at for peak in peaks]))
        windows = windows_at(camera, middles, self.facts.height, self.facts.radius, self.frame.crop)
        grids = [_Grid(window[:2], STRIDE * window[2] / self.frame.crop) for window in windows]
        crops = np.stack([to_crop(cut(picture, window), self.frame.crop) for window in windows])
        places, nothing, turns = self.crop(crops)
        masked = self._on_table(np.asarray(places, float), camera, grids)
        return [
            self._candidate(peak, grid, place, float(none), turn)
            for peak, grid, place, none, turn in zip(peaks, grids, masked, nothing, turns, strict=True)
        ]

    def _on_table(self, logits: Float, camera: Camera, grids: list[_Grid]) -> Float:
        """Logits (n, rows, columns) where the object's middle can be on the table; all where none of a heatmap is."""
        n, rows, columns = logits.shape
        corners = np.indices((rows + 1, columns + 1)).reshape(2, -1).T[:, ::-1].astype(float)
        pixels = np.concatenate([grid.pixels(corners) for grid in grids])
        near = self._off_table(pixels, camera).reshape(n, rows + 1, columns + 1)
        nearest: Float = np.minimum.reduce([near[:, :-1, :-1], near[:, 1:, :-1], near[:, :-1, 1:], near[:, 1:, 1:]])
        seen = nearest < self.facts.radius  # an object whose middle is at the edge, and a calibration that is off
        keep = seen | ~seen.any(axis=(1, 2), keepdims=True)
        return np.where(keep, logits, -np.inf)

    def _off_table(self, pixels: Float, camera: Camera) -> Float:
        """How far beyond the table's edges pixels (n, 2) are, at the object's height; negative on it."""
        points = camera.to_plane(pixels, self.facts.height)[:, :2]
        off = np.maximum(np.array(self.table.low) - points, points - np.array(self.table.high)).max(axis=1)
        return np.nan_to_num(off, nan=np.inf)

    def _candidate(self, peak: Peak, grid: _Grid, place: Float, none: float, turn: Float) -> Candidate:
        cells = place.shape[0]
        shares = softmax(np.append(place.ravel(), none))
        [best] = find_peaks(shares[:-1].reshape(cells, cells), 1) or [peak]
        said = np.asarray(turn, float)[:, best.cell[0], best.cell[1]]
        return Candidate(
            grid.pixels(best.at), peak.mass, best.mass, best.spread * grid.step, said, grid.step * cells / 4
        )

    def choose(self, candidates: list[Candidate], camera: Camera) -> Located:
        """The best of at least one candidate."""
        ranked = sorted(((self._score(one), one) for one in candidates), key=lambda pair: -pair[0])
        score, best = ranked[0]
        others = [other for other, one in ranked[1:] if np.linalg.norm(one.pixel - best.pixel) > best.near]
        margin = score - others[0] if others else 10.0
        features = np.array([_log_odds(best.crop_mass), _log_odds(best.coarse_mass), min(margin, 10.0)])
        position = camera.to_plane(best.pixel, self.facts.height)[0]
        return Located(
            position, self._yaw(best, position, camera), self._std(best, camera),
            self.calibration.probability(features), best.pixel, features,
        )  # fmt: skip

    def _score(self, one: Candidate) -> float:
        """How well both stages like a candidate: log odds of the second, and the first as what is known before it."""
        return _log_odds(one.crop_mass) + self.calibration.coarse_weight * float(np.log(max(one.coarse_mass, 1e-9)))

    def _yaw(self, best: Candidate, position: Float, camera: Camera) -> float | None:
        if self.facts.symmetry == 0 or not np.isfinite(position).all():
            return None
        turn = float(np.arctan2(best.turn[1], best.turn[0])) / self.facts.symmetry
        return fold(turn + heading(camera, position), self.facts.symmetry)

    def _std(self, best: Candidate, camera: Camera) -> float:
        """Standard deviation on the table, from that in the picture."""
        around = best.pixel + best.spread * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        points = camera.to_plane(around, self.facts.height)
        lengths = np.linalg.norm(points[0::2] - points[1::2], axis=1) / 2
        if not np.isfinite(lengths).all():
            return float(self.facts.radius * 10)
        return float(self.calibration.std_scale * np.linalg.norm(lengths))


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return float(np.log(share / (1 - share)))
