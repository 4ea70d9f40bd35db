"""Robots as the commands about logs take them."""

from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.core import Problem

if TYPE_CHECKING:
    import mujoco

FILES = (".xml", ".mjcf", ".urdf")


def model_for(robot: str) -> "mujoco.MjModel":
    """The MuJoCo model of a robot: an MJCF or URDF file, go2, or what `isthmus list tasks` shows, as in my_robot.py."""
    import mujoco

    if robot.endswith(FILES):
        path = Path(robot)
        if not path.is_file():
            raise Problem(f"there is no robot at {path}: give an MJCF or URDF file, a robot file or a task")
        try:
            return mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            raise Problem(f"MuJoCo cannot read the robot {path}: {error}") from error
    if robot == "go2":
        from isthmus.actuators.plant import load_plant, usual_joints

        return load_plant("go2", usual_joints("go2", 12), {}).model
    from isthmus.robots import load_task

    return load_task(robot).robot_model.model
