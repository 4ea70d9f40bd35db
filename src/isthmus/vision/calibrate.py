"""Find a camera's place, direction and focal length from points whose places are known: corners of a table or board.

Pixels are taken to be square and the lens not to distort, as in `Camera`. With four corners of a table the focal length
is found along with the pose: whichever makes the corners fall where they were seen.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import cv2
import mujoco
import numpy as np
from scipy.optimize import minimize_scalar as untyped_minimize  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Float, Problem
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image

WIDEST, NARROWEST = 0.3, 8.0
"""Focal lengths that are tried, as shares of the picture's width: 118 to 7 degrees."""
TRIED = 60
"""How many of them."""
PARALLEL = 1e-3
"""Sine of the angle below which two edges have no corner."""
GOOD = 0.01
"""Error of a good calibration, as a share of the picture's width."""


minimize_scalar = cast("Callable[..., Mapping[str, float]]", untyped_minimize)


@dataclass(frozen=True)
class Calibrated:
    """A camera, and how far from where they were seen it puts the points."""

    camera: Camera
    error: float
    """Root-mean-square, in pixels."""


def calibrate_points(points: Float, pixels: Float, size: tuple[int, int], focal: float | None = None) -> Calibrated:
    """The camera that sees points (n, 3) of the world at pixels (n, 2) of a picture of `size` (width, height)."""
    points, pixels = np.asarray(points, float), np.asarray(pixels, float)
    if len(points) != len(pixels) or len(points) < 4:
        raise Problem(f"a camera needs at least 4 points and as many pixels, got {len(points)} and {len(pixels)}")
    if not (np.isfinite(points).all() and np.isfinite(pixels).all()):
        raise Problem("a camera's points and pixels must be numbers")
    if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-6) < 2:
        raise Problem("the points of a calibration lie on a line: use corners of a table or of a board")

    def error(log_focal: float) -> float:
        return _solve(points, pixels, size, float(np.exp(log_focal)))[1]

    if focal is None:
        step = np.log(NARROWEST / WIDEST) / TRIED
        tried = [float(np.log(WIDEST * size[0]) + one * step) for one in range(TRIED + 1)]
        best = min(tried, key=error)
        bounds = best - step, best + step
        found = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 1e-9})
        focal = math.exp(found["x"])
    camera, left = _solve(points, pixels, size, focal)
    if camera is None or left > GOOD * size[0]:
        raise Problem(
            f"no camera sees these points at these pixels (the best is {left:.1f} pixels off): check that the corners "
            "are in the same order in both"
        )
    return Calibrated(camera, left)


def corners_of_edges(edges: Float) -> Float:
    """Pixels (n, 2) of a table's corners, which may lie out of the picture, from two pixels on each of its edges.

    `edges` (n, 4) are x, y, x, y; edge k runs from corner k to corner k + 1, and the last one back to the first.
    """
    ends = np.concatenate([np.asarray(edges, float).reshape(-1, 2, 2), np.ones((len(edges), 2, 1))], axis=2)
    lines = np.cross(ends[:, 0], ends[:, 1])  # (n, 3), homogeneous
    lines = lines / np.maximum(np.linalg.norm(lines[:, :2], axis=1, keepdims=True), 1e-12)
    meet = np.cross(np.roll(lines, 1, axis=0), lines)  # (n, 3); the last number is the sine of the angle between them
    if np.any(np.abs(meet[:, 2]) < PARALLEL):
        raise Problem("two edges of the table that follow each other do not meet: give each by two pixels far apart")
    return meet[:, :2] / meet[:, 2:]


def calibrate_checkerboard(
    picture: Image, inner: tuple[int, int], square: float, origin: Float, yaw: float, focal: float | None = None
) -> Calibrated:
    """The camera that took a picture of a board that lies flat.

    The inner corner that is nearest to the picture's upper left is at `origin` (3,). From there, the board's rows run
    along `yaw` in the world. `square` is the edge of a square in metres.
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    found, corners = cv2.findChessboardCorners(grey, inner)
    if not found:
        raise Problem(f"no checkerboard with {inner[0]} x {inner[1]} inner corners was found in the picture")
    window = (5, 5), (-1, -1)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 30, 1e-3)
    pixels: Float = (
        np.asarray(cv2.cornerSubPix(grey, corners, *window, stop), float).reshape(-1, 2) + 0.5
    )  # OpenCV's first pixel is at 0
    rows = pixels.reshape(inner[1], inner[0], 2)
    turned = [rows[::a, ::b] for a in (1, -1) for b in (1, -1)]  # it is found from any of its corners
    pixels = min(turned, key=lambda one: float(one[0, 0].sum())).reshape(-1, 2)
    along, across = np.array([np.cos(yaw), np.sin(yaw), 0]), np.array([-np.sin(yaw), np.cos(yaw), 0])
    steps = np.array([(column, row) for row in range(inner[1]) for column in range(inner[0])])
    size = picture.shape[1], picture.shape[0]
    seen: list[Calibrated] = []
    for order in (1, -1):  # the board looks the same from its other end
        points = np.asarray(origin) + square * (steps[:, :1] * along + steps[:, 1:] * order * across)
        try:
            seen.append(calibrate_points(points, pixels, size, focal))
        except Problem:
            continue
    if not seen:
        raise Problem("the checkerboard was found, but no camera above it sees it like this: check --origin and --yaw")
    return min(seen, key=lambda one: one.error)


def _solve(points: Float, pixels: Float, size: tuple[int, int], focal: float) -> tuple[Camera | None, float]:
    """The pose for a focal length; infinite error where the camera would be below the points."""
    intrinsic = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
    flat = np.ptp(points[:, 2]) < 1e-9
    method = cv2.SOLVEPNP_IPPE if flat else cv2.SOLVEPNP_SQPNP
    shift = points.mean(axis=0)
    try:
        count, turns, moves, _ = cv2.solvePnPGeneric(points - shift, pixels, intrinsic, np.zeros(0), flags=method)
    except cv2.error:
        return None, np.inf
    best: tuple[Camera | None, float] = (None, np.inf)
    for turn, move in zip(turns[:count], moves[:count], strict=True):
        to_camera: Float = np.asarray(cv2.Rodrigues(turn)[0], float)  # OpenCV's camera looks along +z, with y down
        at = shift - (to_camera.T @ np.asarray(move, float)).ravel()
        backward_up: Float = to_camera.T * np.array([1.0, -1.0, -1.0])
        if at[2] <= points[:, 2].min():
            continue
        camera = Camera((float(at[0]), float(at[1]), float(at[2])), _quaternion(backward_up), focal, *size)
        off: Float = camera.project(points) - pixels
        error = math.sqrt(float((off * off).sum()) / len(off))
        if error < best[1]:
            best = camera, error
    return best


def _quaternion(rotation: Float) -> tuple[float, float, float, float]:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    w, x, y, z = found
    return float(w), float(x), float(y), float(z)
