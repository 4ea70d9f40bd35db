"""Everything the video of a run shows, as files that can be drawn without the task they come from.

The video is drawn by a program of its own. A task may be a Python file of the user's: it is run where the user named
it, and the program that draws is given models and poses instead.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.io import load_arrays, save_arrays
from isthmus.report.cord import Cord, as_cord
from isthmus.report.run import ROLES, Run
from isthmus.report.timeline import plan

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
        cord = as_cord(meta["cord"]) if meta["cord"] else None
        camera = {str(name): tuple(value) for name, value in meta["camera"].items()}
        return Storyboard(source, target, arrays["poses"], float(meta["fps"]), camera, cord)
