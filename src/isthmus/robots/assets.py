"""Where the MuJoCo models of Gymnasium's environments are."""

from importlib.util import find_spec
from pathlib import Path

import mujoco

from isthmus.core import Problem


def gymnasium_spec(file: str) -> mujoco.MjSpec:
    """One of the MJCF files in the Gymnasium package, ready to be edited; the package itself is not imported."""
    package = find_spec("gymnasium")
    if package is None or package.origin is None:
        raise Problem("Gymnasium, whose MuJoCo models are used, is not installed: pip install gymnasium")
    return mujoco.MjSpec.from_file(str(Path(package.origin).parent / "envs" / "mujoco" / "assets" / file))
