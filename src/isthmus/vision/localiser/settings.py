"""What a training run is: plain data that is stored in its folder and compared when it goes on."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from isthmus.core import Problem, check_range, unknown_name
from isthmus.io import from_json, read_json, write_json
from isthmus.vision.localiser.shipped import localiser_folder
from isthmus.vision.randomise import Randomise
from isthmus.vision.samples import Frame
from isthmus.vision.stage.scene import SceneFile

CONFIG, CHECKPOINT, HISTORY, FACTS, RESULTS = (
    "config.json", "checkpoint.npz", "history.json", "localiser.json", "results.json",
)  # fmt: skip
COARSE, CROP = "coarse.onnx", "crop.onnx"
PRECISIONS = ("auto", "float32", "bfloat16")
NOT_COMPARED = ("minutes", "images", "precision")
"""What may differ when a run goes on."""


@dataclass(frozen=True)
class TrainSettings:
    """Everything that decides what is learned."""

    scene: SceneFile
    randomise: Randomise = field(default_factory=Randomise)
    frame: Frame = field(default_factory=Frame)
    minutes: float = 60.0
    """How long to train, by the clock."""
    images: int = 0
    """Stop after so many images instead, if it is not 0: then the result does not depend on the machine's speed."""
    batch: int = 16
    rate: float = 1.5e-3
    """Largest learning rate."""
    widths: tuple[int, int, int, int] = (16, 32, 64, 96)
    """Channels at strides 2, 4, 8 and 16."""
    samples: int = 0
    """Samples a pixel in renderings; 0 for one."""
    seed: int = 0
    backbone: bool = False
    """Train only what is behind a frozen network that was trained on photographs."""
    precision: str = "float32"
    """Number format of training: float32, bfloat16, or auto for the faster of both on the machine that trains."""
    start: str | None = None
    """Folder or name of a localiser, of any scene and object, whose weights are begun with; else from scratch."""

    def __post_init__(self) -> None:
        check_range("minutes", self.minutes, 0.01, 100_000)
        check_range("images", self.images, 0, 10**9)
        check_range("batch", self.batch, 2, 4096)
        check_range("rate", self.rate, 1e-7, 1)
        check_range("samples", self.samples, 0, 16)
        if self.precision not in PRECISIONS:
            raise unknown_name("precision", self.precision, PRECISIONS)
        for width in self.widths:
            check_range("widths", width, 4, 1024)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def begin(folder: Path, settings: TrainSettings) -> None:
    """Store the settings in a new folder; one that is there already must have the same, except `NOT_COMPARED`."""
    path = folder / CONFIG
    if path.is_file():
        before = from_json(TrainSettings, read_json(path), path, "the settings of a training run")
        if _compared(before) != _compared(settings):
            raise Problem(
                f"{folder} is another run's: give another folder with --out, or the options it was begun with"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise Problem(f"{folder} is not empty, and no training run's: give another folder with --out")
    write_json(path, settings.to_json())


def _compared(settings: TrainSettings) -> dict[str, Any]:
    return {name: value for name, value in settings.to_json().items() if name not in NOT_COMPARED}


def read_settings(folder: Path) -> TrainSettings:
    """The settings that a run was begun with."""
    path = localiser_folder(folder) / CONFIG
    if not path.is_file():
        raise Problem(f"{folder} is no training run of a localiser: train one with `isthmus vision train`")
    return from_json(TrainSettings, read_json(path), path, "the settings of a training run")
