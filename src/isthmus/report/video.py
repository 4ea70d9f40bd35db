"""The video of a run, or a sentence that says why there is none."""

import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from isthmus.report.run import Run
from isthmus.report.scene import gravity_angle
from isthmus.report.timeline import plan
from isthmus.transfer import RunFolder

PROGRAM = "isthmus.report.film"
CANNOT_DRAW, CANNOT_ENCODE = 3, 4
"""Exit codes of the program: there was nothing to draw with, or no encoder."""
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
    ways = backends(os.environ, sys.platform)
    if not ways:
        return Video(text=f"There is no video: MUJOCO_GL={os.environ['MUJOCO_GL']} turns drawing off.")
    reasons: list[str] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        for backend in ways:
            path = Path(temporary) / "video.mp4"
            code, reason = _draw(folder.path.resolve(), path, backend)
            if code == 0 and path.is_file() and path.stat().st_size:
                return Video(path.read_bytes(), _caption(run))
            reasons.append(f"{backend or 'default'}: {reason}")
            if code == CANNOT_ENCODE:
                return Video(text=f"There is no video: encoding it failed ({reason}).")
    return Video(text=_advice(folder.path, "; ".join(reasons)))


def backends(environment: Mapping[str, str], platform: str) -> list[str]:
    """Values of MUJOCO_GL worth trying, best first: the user's own, if there is one, and no other."""
    chosen = environment.get("MUJOCO_GL", "").strip()
    if chosen:
        return [] if chosen.lower() in OFF else [chosen]
    if platform != "linux":
        return [""]
    on_screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return ["egl", "osmesa", *(["glfw"] if on_screen else [])]


def _draw(run: Path, path: Path, backend: str) -> tuple[int | None, str]:
    """Exit code (None when it did not come to one) and last words of the program."""
    try:
        done = subprocess.run(
            # -P: a file of the current folder is never imported.
            [sys.executable, "-P", "-m", PROGRAM, str(run), str(path)],
            env={**os.environ, "MUJOCO_GL": backend},
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


def _advice(run: Path, reasons: str) -> str:
    chosen = os.environ.get("MUJOCO_GL", "").strip()
    first = "unset MUJOCO_GL, or " if chosen else ""
    return (
        f"There is no video: nothing to draw off-screen with was found ({reasons}). To get one, {first}install EGL "
        f"(on Debian and Ubuntu the packages libegl1 and libgl1) or OSMesa (libosmesa6), and run: isthmus report {run}"
    )


def _caption(run: Run) -> str:
    source = run.task.embodiment.model
    angle = gravity_angle(source, run.gap.apply(source))
    arrow = f" The arrow is the pull of gravity, turned by {angle:.3g}° on the target." if angle >= 1 else ""
    return plan(run.traces.values(), run.spec.control_period).caption + arrow
