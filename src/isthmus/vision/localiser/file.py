"""What stands beside the networks of a localiser: all that is needed to use them."""

from dataclasses import asdict, dataclass
from pathlib import Path

from isthmus.io import write_json
from isthmus.vision.camera import Camera
from isthmus.vision.localiser.confidence import Calibration
from isthmus.vision.localiser.locate import ObjectFacts
from isthmus.vision.localiser.settings import FACTS
from isthmus.vision.samples import Frame
from isthmus.vision.stage.scene import Table

KIND = "localiser"


@dataclass(frozen=True)
class LocaliserFile:
    """How a localiser is used."""

    target: ObjectFacts
    frame: Frame
    calibration: Calibration
    camera: Camera
    """The scene's own: cameras must be like it."""
    table: Table
    images: int
    """That it was trained on."""
    commit: str

    def save(self, folder: Path) -> None:
        """Write it as JSON."""
        write_json(folder / FACTS, {"kind": KIND, **asdict(self)})
