"""Everything the video of a run shows, as files that can be drawn without the task they come from.

The video is drawn by a program of its own. A task may be a Python file of the user's: it is run where the user named
it, and the program that draws is given models and poses instead.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, Int
from isthmus.evaluate import Trace
from isthmus.io import from_json, load_arrays, save_arrays
from isthmus.report.cord import Cord, Tied
from isthmus.report.run import ROLES, Run

SPEEDS = {1.0: "at real speed", 0.5: "at half speed", 0.25: "at a quarter of real speed", 0.1: "ten times slower"}
SHORTEST = 3.0
"""Seconds an episode should at least take to watch."""
FASTEST = 30.0
"""Pictures a second at most."""
MOST = 240
"""Pictures in a video at most, without the pauses."""
PAUSE = 0.6
"""Seconds the end of an episode stands still."""


@dataclass(frozen=True)
class Timeline:
    """The frames of a video, in order."""

    episodes: Int
    """Which traced episode each frame shows (frames,)."""
    steps: Int
    """Which step of it (frames,)."""
    speed: float
    """1 is real time."""
    fps: float
    seconds: float
    """Robot time shown of each episode."""
    cut: bool
    """Whether the episodes go on after that."""

    @property
    def caption(self) -> str:
        """What is shown, for people."""
        two = len(np.unique(self.episodes)) > 1
        length = f"{self.seconds:.3g}\N{NO-BREAK SPACE}s"
        if self.cut:
            what = f"The first {length} of an episode"
        else:
            what = f"Two episodes of {length}, one after the other" if two else f"An episode of {length}"
        return f"{what}, from the same start in each picture, {SPEEDS[self.speed]}."


def plan(traces: Iterable[Trace], control_period: float) -> Timeline:
    """Two episodes if they fit, else one; slowed down when short, thinned out when long."""
    traces = list(traces)
    available = min(len(trace.lengths) for trace in traces)
    count = min(2, available)
    longest = max(int(trace.lengths[:count].max()) for trace in traces)
    speed = next((one for one in SPEEDS if longest * control_period / one >= SHORTEST), min(SPEEDS))
    stride = max(1, math.ceil(speed / control_period / FASTEST))
    fps = speed / control_period / stride
    steps = np.arange(0, longest + 1, stride)
    count = count if count * len(steps) <= MOST else 1
    cut = len(steps) > MOST
    steps = steps[:MOST]
    held = np.concatenate((steps, np.full(round(PAUSE * fps), steps[-1])))
    last = int(steps[-1]) if cut else longest
    return Timeline(
        episodes=np.repeat(np.arange(count), len(held)),
        steps=np.tile(held, count),
        speed=speed,
        fps=fps,
        seconds=last * control_period,
        cut=cut,
    )


KIND = "storyboard"
SOURCE, TARGET, POSES = "source.mjb", "target.mjb", "poses.npz"
"""Names of the files."""


@dataclass(frozen=True)
class Storyboard:
    """Two models, a camera, and a pose of every panel's robot in every frame."""

    source: mujoco.MjModel
    """The simulator's model, in the first panel."""
    target: mujoco.MjModel
    """The target's model, in the others."""
    poses: Float
    """Positions of the robot (panels, frames, nq)."""
    fps: float
    camera: Mapping[str, tuple[float, ...]]
    """lookat, distance, azimuth and elevation, as in `Task.camera`."""
    cord: Cord | None = None
    """Hangs on the target, not on the simulator."""

    @staticmethod
    def of(run: Run, cord: Cord | None) -> "Storyboard":
        """The expert, the unadapted and the adapted policy of a run, side by side."""
        timeline = plan(run.traces.values(), run.spec.control_period)
        panels = [run.traces[role].qpos for role in ROLES]  # each (episodes, T+1, nq)
        poses = [qpos[timeline.episodes, np.minimum(timeline.steps, qpos.shape[1] - 1)] for qpos in panels]
        source = run.task.robot_model.model
        camera = {name: tuple(float(one) for one in value) for name, value in run.task.camera.items()}
        return Storyboard(source, run.gap.apply(source), np.stack(poses), timeline.fps, camera, cord)

    def save(self, folder: Path) -> None:
        """Write the files."""
        mujoco.mj_saveModel(self.source, str(folder / SOURCE))
        mujoco.mj_saveModel(self.target, str(folder / TARGET))
        ties = [asdict(tie) for tie in self.cord] if self.cord else None
        meta = {"kind": KIND, "fps": self.fps, "camera": dict(self.camera), "cord": ties}
        save_arrays(folder / POSES, {"poses": self.poses}, meta)

    @staticmethod
    def load(folder: Path) -> "Storyboard":
        """Read what `save` wrote."""
        arrays, meta = load_arrays(folder / POSES, KIND)
        source, target = (mujoco.MjModel.from_binary_path(str(folder / name)) for name in (SOURCE, TARGET))
        cord = from_json(Tied, {"ties": meta["cord"]}, folder / POSES, "a storyboard").ties if meta["cord"] else None
        camera = {str(name): tuple(value) for name, value in meta["camera"].items()}
        return Storyboard(source, target, arrays["poses"], float(meta["fps"]), camera, cord)
