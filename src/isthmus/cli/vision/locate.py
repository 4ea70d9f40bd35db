"""Locate the object in pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, print_table, stdout
from isthmus.cli.vision.arguments import LOCALISER
from isthmus.core import Problem

if TYPE_CHECKING:
    from isthmus.vision.localiser.locate import Located
    from isthmus.vision.pixels import Image

SUFFIXES = (".png", ".jpg", ".jpeg")
LIVE = "camera"


@dataclass(frozen=True)
class Locate:
    """Say where the object is in pictures, and how sure that is.

    Example: `isthmus vision locate runs/cube picture.png --calibration camera.json`

    Example: `isthmus vision locate runs/cube photographs/ --calibration camera.json --out marked`

    Example: `isthmus vision locate runs/cube camera --calibration camera.json`
    """

    localiser: Annotated[Positional[Path], arg(metavar="LOCALISER", help=LOCALISER)]
    pictures: Annotated[
        Positional[tuple[str, ...]],
        arg(metavar="PICTURE", help="PNG or JPEG files, folders of them, or `camera` (which one: --device)."),
    ]
    calibration: Path | None = None
    """The camera's file (`isthmus vision calibrate`); that of the scene it was trained in when not given."""
    device: str = "0"
    """Which camera: its number on this computer, its device file, the address of its stream (rtsp://, http://), or a
    film."""
    frames: int = 1
    """How many pictures of the camera to look at."""
    out: Path | None = None
    """Folder for the pictures with the place marked."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Read, locate, print."""
        from isthmus.core import check_range
        from isthmus.io import write_whole
        from isthmus.vision.camera import Camera
        from isthmus.vision.conform import conform
        from isthmus.vision.localiser.onnx import load_localiser
        from isthmus.vision.marks import SAID, mark_cross, mark_yaw, png

        check_range("frames", self.frames, 1, 100_000)
        if not self.pictures:
            raise Problem("name at least one picture: isthmus vision locate LOCALISER PICTURE")
        localiser, facts = load_localiser(self.localiser)
        camera = Camera.load(self.calibration) if self.calibration else facts.camera
        found: list[tuple[str, Located]] = []
        for name, picture in self._pictures():
            seen, its_camera = conform(picture, camera, facts.camera, name)
            located = localiser.locate(seen, its_camera)
            found.append((name, located))
            if self.out is not None:
                marked = mark_cross(seen, located.pixel, SAID, 16)
                if located.yaw is not None:
                    marked = mark_yaw(marked, its_camera, located.position, located.yaw, 2 * facts.target.radius)
                write_whole(self.out / f"{Path(name).stem}.png", png(marked))
        if self.json:
            print_json([_as_json(name, one) for name, one in found])
            return
        print_table(
            f"{facts.target.name}, by a localiser trained on {facts.images:,} renderings",
            ("picture", "x m ", "y m ", "z m ", "yaw deg ", "+/- cm ", "confidence ", ""),
            [_row(name, one) for name, one in found],
        )
        if self.out is not None:
            stdout.print(f"marked pictures: {self.out}", soft_wrap=True)

    def _pictures(self) -> "Iterator[tuple[str, Image]]":
        from isthmus.vision.tracer.photographs import read_picture

        for name in self.pictures:
            path = Path(name)
            if name == LIVE and not path.exists():
                yield from _live(self.device, self.frames)
            elif path.is_dir():
                inside = sorted(one for one in path.iterdir() if one.suffix.lower() in SUFFIXES)
                if not inside:
                    raise Problem(f"{path} has no pictures: PNG and JPEG files are read")
                for one in inside:
                    yield str(one), read_picture(one)
            else:
                yield name, read_picture(path)


def _live(device: str, frames: int) -> "Iterator[tuple[str, Image]]":
    import cv2
    import numpy as np

    number = int(device) if device.isascii() and device.isdigit() else None
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # it is said below what was wrong
    capture = cv2.VideoCapture(device) if number is None else cv2.VideoCapture(number)
    try:
        if not capture.isOpened():
            raise Problem(
                f"there is no camera {device} that can be opened: give --device its number, its device file or the "
                "address of its stream"
            )
        for frame in range(frames):
            read, picture = capture.read()
            if not read:
                raise Problem(f"the camera {device} gave {frame} of {frames} pictures")
            yield f"frame {frame}", np.array(picture[..., ::-1], np.uint8)
    finally:
        capture.release()


def _as_json(name: str, one: "Located") -> dict[str, Any]:
    import math

    finite = all(math.isfinite(value) for value in one.position)
    return {
        "picture": name,
        "sure": one.sure,
        "confidence": one.confidence,
        "position": [float(value) for value in one.position] if finite else None,
        "yaw": one.yaw,
        "std": one.std,
        "pixel": [float(value) for value in one.pixel],
    }


def _row(name: str, one: "Located") -> tuple[str, ...]:
    import math

    yaw = "" if one.yaw is None else f"{math.degrees(one.yaw):.0f}"
    place = (f"{value:.3f}" for value in one.position)
    return (
        Path(name).name,
        *place,
        yaw,
        f"{100 * one.std:.1f}",
        f"{one.confidence:.2f}",
        "" if one.sure else "not sure",
    )
