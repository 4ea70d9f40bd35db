"""The video of a run, or a sentence that says why there is none."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from isthmus.core import Problem
from isthmus.core.command import command_of
from isthmus.io import PARTIAL
from isthmus.report.cord import load_cord
from isthmus.report.run import Run
from isthmus.report.scene import gravity_angle
from isthmus.report.storyboard import Storyboard, plan
from isthmus.transfer import RunFolder

PROGRAM = "isthmus.report.film"
CANNOT_DRAW, CANNOT_ENCODE, FAILED = 3, 4, 5
"""Exit codes of the program: there was nothing to draw with, or no encoder, or something else failed.

Any other code means that it did not get as far: MuJoCo cannot be imported with that value of MUJOCO_GL, or the graphics
driver took the process down.
"""
TIMEOUT = 900.0
OFF = ("disable", "disabled", "off", "false", "0")
"""Values of MUJOCO_GL that turn drawing off."""


@dataclass(frozen=True)
class Video:
    """What stands in the video's place."""

    mp4: bytes = b""
    """Empty when there is none."""
    text: str = ""
    """What it shows, or why there is none and what would help."""

    @property
    def url(self) -> str:
        """The video itself, as an address."""
        return f"data:video/mp4;base64,{base64.b64encode(self.mp4).decode()}" if self.mp4 else ""


def film(folder: RunFolder, run: Run) -> Video:
    """Draw the run with the first thing that can draw here; never fails."""
    try:
        mp4, reason = draw(lambda: Storyboard.of(run, load_cord(folder.path)), folder.path)
    except NothingToDrawWithHere as error:
        return Video(text=_advice(folder.path, run.config.task, str(error)))
    return Video(mp4, _caption(run)) if mp4 else _none(reason)


class NothingToDrawWithHere(Exception):  # noqa: N818 - a condition of the machine
    """Nothing that is installed draws off-screen; says what was tried."""


def draw(make: Callable[[], Storyboard], folder: Path) -> tuple[bytes, str]:
    """The storyboard as a video, drawn in `folder` with the first thing that can; or nothing, and why."""
    ways = backends(os.environ, sys.platform)
    if not ways:
        return b"", f"MUJOCO_GL={os.environ['MUJOCO_GL']} turns drawing off"
    reasons: list[str] = []
    with _studio(folder) as studio:
        try:
            make().save(studio)
        except Problem as problem:
            return b"", str(problem)
        for backend in ways:
            path = studio / "video.mp4"
            code, reason = _draw(path, backend)
            if code == 0 and path.is_file() and path.stat().st_size:
                return path.read_bytes(), ""
            if code == CANNOT_ENCODE:
                return b"", f"encoding it failed ({reason})"
            if code in (None, FAILED):
                return b"", f"drawing it failed ({reason})"
            reasons.append(f"{backend or 'default'}: {reason}")
    raise NothingToDrawWithHere("; ".join(reasons))


@contextmanager
def _studio(run: Path) -> Generator[Path]:
    """A folder to draw in: in the run's, where the next report removes what a kill left behind."""
    studio = run.resolve() / f".video{PARTIAL}"
    shutil.rmtree(studio, ignore_errors=True)
    try:
        studio.mkdir()
    except OSError as error:
        raise Problem(f"cannot write to {run}: {error.strerror}") from error
    try:
        yield studio
    finally:
        shutil.rmtree(studio, ignore_errors=True)


def _none(reason: str) -> Video:
    return Video(text=f"There is no video: {reason}.")


def backends(environment: Mapping[str, str], platform: str) -> list[str]:
    """Values of MUJOCO_GL worth trying, best first: the user's own, if there is one, and no other."""
    chosen = environment.get("MUJOCO_GL", "").strip()
    if chosen:
        return [] if chosen.lower() in OFF else [chosen]
    if platform != "linux":
        return [""]
    on_screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return ["egl", "osmesa", *(["glfw"] if on_screen else [])]


def _draw(path: Path, backend: str) -> tuple[int | None, str]:
    """Draw the storyboard beside `path`: exit code (None when it did not come to one) and last words of the program."""
    try:
        done = subprocess.run(
            # -P: a file of the current folder is never imported.
            [sys.executable, "-P", "-m", PROGRAM, str(path.parent), str(path)],
            env={**os.environ, "MUJOCO_GL": backend},
            cwd=path.parent,  # where MuJoCo puts its log
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"not done after {TIMEOUT:g} s"
    except OSError as error:
        return None, str(error)
    words = done.stderr.decode(errors="replace").strip().splitlines()
    reason = words[-1][:200] if words else f"exit code {done.returncode}"
    return done.returncode, reason


def _advice(run: Path, task: str, reasons: str) -> str:
    chosen = os.environ.get("MUJOCO_GL", "").strip()
    first = "unset MUJOCO_GL, or " if chosen else ""
    again = command_of(("report", run), {"task": task if task.endswith(".py") else None})
    return (
        f"There is no video: nothing to draw off-screen with was found ({reasons}). To get one, {first}install EGL "
        f"(on Debian and Ubuntu the packages libegl1 and libgl1) or OSMesa (libosmesa6), and run: {again}"
    )


def _caption(run: Run) -> str:
    source = run.task.robot_model.model
    angle = gravity_angle(source, run.gap.apply(source))
    arrow = f" The arrow is the pull of gravity, turned by {angle:.3g}° on the target." if angle >= 1 else ""
    return plan(run.traces.values(), run.spec.control_period).caption + arrow
