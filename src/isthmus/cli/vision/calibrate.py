"""Calibrate a camera."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, stdout
from isthmus.core import Float, Problem


@dataclass(frozen=True)
class Calibrate:
    """Find where a camera is and what it sees, from the corners of the table or from a checkerboard that lies on it.

    Corners are given as pixels (`--pixels 78,190 538,195 ...`) and as places in the world (`--points x,y,z ...`), in
    the same order. Where corners of the table are out of the picture, give two pixels on each of its edges instead
    (`--edges x,y,x,y ...`): the first edge runs from the first point to the second, the last one back to the first.

    Example: `isthmus vision calibrate picture.jpg --points -0.5,0.61,0.89 -0.5,-0.61,0.89 -1.1,0.3,0.89 -1.1,-0.3,0.89
    --pixels 78,190 538,195 152,372 473,372 --out camera.json`

    Example: `isthmus vision calibrate picture.jpg --points -0.5,0.61,0.89 -0.5,-0.61,0.89 -1.26,-0.61,0.89
    -1.26,0.61,0.89 --edges 100,189,525,194 545,205,624,329 620,449,20,449 1,317,76,196 --out camera.json`

    Example: `isthmus vision calibrate board.png --board 9x6 --square 0.025 --origin -0.9,0.1,0.89 --out camera.json`
    """

    picture: Annotated[Positional[Path], arg(metavar="PICTURE", help="A picture of the camera, PNG or JPEG.")]
    points: tuple[str, ...] = ()
    """Places of points in the world, in metres: x,y,z each."""
    pixels: tuple[str, ...] = ()
    """Where these points are in the picture: x,y each, from the upper left corner."""
    edges: tuple[str, ...] = ()
    """Two pixels on each edge of the table, x,y,x,y, in place of --pixels; edges are as long as you like, and meet in
    the points."""
    board: str | None = None
    """Inner corners of a checkerboard, columns x rows, as in 9x6."""
    square: float = 0.025
    """Edge of a square of the board, in metres."""
    origin: str = "0,0,0"
    """Place of the board's first inner corner in the world."""
    yaw: float = 0.0
    """Direction of the board's rows in the world, in degrees."""
    focal: float | None = None
    """Focal length in pixels, if it is known; found along with the rest when not given."""
    out: Path = Path("camera.json")
    """The camera's file."""
    json: bool = False
    """Print the camera as JSON only."""

    def run(self) -> None:
        """Find the camera and write its file."""
        from dataclasses import asdict

        from isthmus.vision.calibrate import calibrate_checkerboard, calibrate_points
        from isthmus.vision.tracer.photographs import read_picture

        picture = read_picture(self.picture)
        size = picture.shape[1], picture.shape[0]
        if self.board is not None:
            columns, rows = _board(self.board)
            place = np.array(_numbers(self.origin, 3, "--origin"))
            found = calibrate_checkerboard(
                picture, (columns, rows), self.square, place, np.deg2rad(self.yaw), self.focal
            )
        else:
            if not self.points:
                raise Problem(
                    "give --points with --pixels of four or more corners, or with --edges of the table, "
                    "or --board for a checkerboard"
                )
            points = np.array([_numbers(one, 3, "--points") for one in self.points])
            found = calibrate_points(points, self._seen(), size, self.focal)
        found.camera.save(self.out)
        if self.json:
            print_json({"camera": asdict(found.camera), "error": found.error})
            return
        x, y, z = found.camera.position
        stdout.print(
            f"camera at {x:.3f}, {y:.3f}, {z:.3f} m, {found.camera.fovy:.1f} degrees high; "
            f"points are {found.error:.2f} pixels off\ncamera: {self.out}",
            soft_wrap=True,
        )

    def _seen(self) -> Float:
        """Pixels of the points (n, 2)."""
        from isthmus.vision.calibrate import corners_of_edges

        if not self.edges:
            return np.array([_numbers(one, 2, "--pixels") for one in self.pixels])
        if self.pixels:
            raise Problem("give --pixels of the points or --edges that meet in them, not both")
        if len(self.edges) != len(self.points):
            raise Problem(
                f"--edges takes as many edges as there are points, got {len(self.edges)} for {len(self.points)}"
            )
        return corners_of_edges(np.array([_numbers(one, 4, "--edges") for one in self.edges]))


def _numbers(text: str, count: int, option: str) -> list[float]:
    try:
        numbers = [float(one) for one in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise Problem(f"{option} takes {count} numbers with commas between them, got {text!r}")
    return numbers


def _board(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdigit() and rows.isdigit() and 2 < int(columns) < 100 and 2 < int(rows) < 100):
        raise Problem(f"--board takes inner corners as 9x6, from 3 to 99 each, got {text!r}")
    return int(columns), int(rows)
