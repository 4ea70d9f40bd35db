"""What tests of vision share."""

import numpy as np
import pytest

pytest.importorskip("cv2", reason="vision needs OpenCV: pip install 'isthmus[vision]'")

from isthmus.core import Problem
from isthmus.vision.camera import Camera
from isthmus.vision.renderer import open_context
from isthmus.vision.stage.scene import SceneFile, read_scene

CUBE = SceneFile("table", "cube")


@pytest.fixture(scope="session")
def cube():
    """The shipped scene with its cube."""
    return read_scene(CUBE)


@pytest.fixture(scope="session")
def graphics():
    """Skips where nothing can be rendered."""
    try:
        open_context(16, 16).free()
    except Problem as problem:
        pytest.skip(str(problem))


@pytest.fixture
def camera():
    """A camera at no special place, tilted about all axes."""
    quaternion = np.array([0.62, 0.35, -0.28, -0.61])
    w, x, y, z = (float(one) for one in quaternion / np.linalg.norm(quaternion))
    return Camera((-1.7, 0.07, 1.6), (w, x, y, z), 537.0, 640, 480)
