"""Draw the video of a run; a program of its own.

MuJoCo chooses what it draws with when it is imported, and a graphics driver may take the whole process down: so this
is run as `python -m isthmus.report.film STORYBOARD VIDEO` with MUJOCO_GL set, and the report goes on without it if it
fails. Its exit code says what failed.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from isthmus.report.scene import NothingToDrawWith, Picture, Scene
from isthmus.report.storyboard import Storyboard
from isthmus.report.video import CANNOT_DRAW, CANNOT_ENCODE, FAILED

PANEL = 384
"""Pixels a side of each picture."""
LARGEST = 1_200_000
"""Bytes of a video, at most about."""
SEAM = 2
"""Half the width of the line between pictures."""


def frames(board: Storyboard) -> Iterator[Picture]:
    """The panels side by side; the first frame costs the opening of the drawing contexts."""
    sides = [(board.source, None), *((board.target, board.cord) for _ in board.poses[1:])]
    with ExitStack() as stack:
        scenes = [
            stack.enter_context(closing(Scene(model, board.camera, PANEL, source=board.source, cord=cord)))
            for model, cord in sides
        ]
        frame = np.zeros((PANEL, PANEL * len(scenes), 3), np.uint8)
        drawn = None
        for poses in board.poses.swapaxes(0, 1):  # (panels, nq) of each frame
            if drawn is None or (poses != drawn).any():
                for column, (scene, qpos) in enumerate(zip(scenes, poses, strict=True)):
                    frame[:, column * PANEL : (column + 1) * PANEL] = scene.picture(qpos)
                for seam in range(PANEL, frame.shape[1], PANEL):
                    frame[:, seam - SEAM : seam + SEAM] = 128
                drawn = poses
            yield frame


def encode(pictures: Iterable[Picture], board: Storyboard, path: Path) -> None:
    """Write pictures of PANEL by some PANEL pixels as H.264 that every browser plays."""
    panels, count = board.poses.shape[:2]
    rate = f"{round(8 * LARGEST * board.fps / count)}"  # bits a second
    writer = imageio_ffmpeg.write_frames(
        path,
        (PANEL * panels, PANEL),
        fps=board.fps,
        codec="libx264",
        quality=None,
        output_params=["-crf", "26", "-maxrate", rate, "-bufsize", rate, "-movflags", "+faststart"],
    )
    writer.send(None)
    for picture in pictures:
        writer.send(np.ascontiguousarray(picture))
    writer.close()


def main(arguments: list[str]) -> int:
    """Draw the storyboard in a folder into VIDEO; returns the exit code."""
    folder, video = map(Path, arguments)
    try:
        board = Storyboard.load(folder)
        pictures = frames(board)
        first = next(pictures).copy()
    except NothingToDrawWith as error:
        return _failed(CANNOT_DRAW, str(error))
    except Exception as error:  # the parent says what it was in the video's place
        return _failed(FAILED, f"{type(error).__name__}: {error}")
    try:
        encode(chain((first,), pictures), board, video)
    except (OSError, RuntimeError) as error:
        return _failed(CANNOT_ENCODE, f"{type(error).__name__}: {error}")
    return 0


def _failed(code: int, reason: str) -> int:
    sys.stderr.write(f"\n{' '.join(reason.split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
