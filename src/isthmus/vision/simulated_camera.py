"""A camera for tasks in simulation: it renders a scene with the object where the simulation has it."""

import numpy as np

from isthmus.core import Float
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image
from isthmus.vision.randomise import Randomise
from isthmus.vision.renderer import Renderer
from isthmus.vision.samples import Frame, new_samples
from isthmus.vision.stage.scene import Scene


class SimulatedCamera:
    """Takes pictures for a `CameraEstimator`; a real robot has a real camera in its place.

    Each robot has a room of its own: textures, lights, distractors and a camera that stay as they are.
    """

    def __init__(
        self,
        scene: Scene,
        columns: tuple[int, int],
        randomise: Randomise | None = None,
        condition: str = "distractors",
        seed: int = 0,
    ) -> None:
        """Show the object at the x and y that `columns` of what is sensed have."""
        self._columns, self._condition = list(columns), condition
        frame = Frame()
        whole = Frame(coarse=frame.full, crops=0)
        self._renderer = Renderer(scene, randomise or Randomise(), whole, seed=seed)
        self._sample = new_samples(1, whole)

    def __call__(self, row: int, sensed: Float) -> tuple[Image, Camera]:
        """A picture of the room of robot `row`, of which so much (sensors,) is true."""
        x, y = (float(one) for one in sensed[self._columns])
        drawn = self._renderer.sample(row, self._sample[0], self._condition, place=(x, y))
        return np.array(self._sample[0]["coarse"]), drawn.camera

    def close(self) -> None:
        """Free the graphics context."""
        self._renderer.close()
