"""Draw the video of a run; a program of its own.

MuJoCo chooses what it draws with when it is imported, and a graphics driver may take the whole process down: so this
is run as `python -m isthmus.report.film RUN VIDEO` with MUJOCO_GL set, and the report goes on without it if it fails.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from isthmus.report.cord import Cord, load_cord
from isthmus.report.run import ROLES, Run
from isthmus.report.scene import Picture, Scene
from isthmus.report.timeline import Timeline, plan
from isthmus.report.video import CANNOT_DRAW, CANNOT_ENCODE
from isthmus.transfer import RunFolder

PANEL = 384
"""Pixels a side of each picture."""
LARGEST = 1_200_000
"""Bytes of a video, at most about."""
SEAM = 2
"""Half the width of the line between pictures."""


def frames(run: Run, timeline: Timeline, cord: Cord | None = None) -> Iterator[Picture]:
    """Expert, unadapted and adapted policy side by side; the first one costs the opening of the drawing contexts.

    `cord` hangs on the target, not on the simulator.
    """
    source = run.task.embodiment.model
    target = run.gap.apply(source)
    with ExitStack() as stack:
        sides = [(source, None) if role == "expert" else (target, cord) for role in ROLES]
        scenes = [stack.enter_context(Scene(run.task, model, PANEL, hangs)) for model, hangs in sides]
        shown: tuple[int, int] | None = None
        frame = np.zeros((PANEL, PANEL * len(ROLES), 3), np.uint8)
        for episode, step in zip(timeline.episodes.tolist(), timeline.steps.tolist(), strict=True):
            if (episode, step) != shown:
                for column, (role, scene) in enumerate(zip(ROLES, scenes, strict=True)):
                    qpos = run.traces[role].qpos[episode]  # (T+1, nq)
                    frame[:, column * PANEL : (column + 1) * PANEL] = scene.picture(qpos[min(step, len(qpos) - 1)])
                for seam in range(PANEL, frame.shape[1], PANEL):
                    frame[:, seam - SEAM : seam + SEAM] = 128
                shown = (episode, step)
            yield frame


def encode(pictures: Iterable[Picture], timeline: Timeline, path: Path) -> None:
    """Write pictures of PANEL by three PANEL pixels as H.264 that every browser plays."""
    rate = f"{round(8 * LARGEST * timeline.fps / len(timeline.steps))}"  # bits a second
    writer = imageio_ffmpeg.write_frames(
        path,
        (PANEL * len(ROLES), PANEL),
        fps=timeline.fps,
        codec="libx264",
        quality=None,
        output_params=["-crf", "26", "-maxrate", rate, "-bufsize", rate, "-movflags", "+faststart"],
    )
    writer.send(None)
    for picture in pictures:
        writer.send(np.ascontiguousarray(picture))
    writer.close()


def main(arguments: list[str]) -> int:
    """Draw RUN into VIDEO."""
    run_path, video_path = arguments
    run = Run.load(RunFolder(Path(run_path)))  # its task may be a file in the current folder
    os.chdir(Path(video_path).parent)  # where MuJoCo puts its log
    timeline = plan(run.traces.values(), run.spec.control_period)
    pictures = frames(run, timeline, load_cord(Path(run_path)))
    try:
        first = next(pictures).copy()
    except Exception as error:  # each way of drawing fails in its own manner
        return _failed(CANNOT_DRAW, error)
    try:
        encode(chain((first,), pictures), timeline, Path(video_path))
    except (OSError, RuntimeError) as error:
        return _failed(CANNOT_ENCODE, error)
    return 0


def _failed(code: int, error: Exception) -> int:
    words = " ".join(str(error).split())
    sys.stderr.write(f"\n{type(error).__name__}: {words}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
