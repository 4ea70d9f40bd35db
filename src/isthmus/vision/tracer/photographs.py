"""A set of path-traced pictures with labels: three conditions, a half to choose by and a half to judge by.

Each picture is made from its own random numbers and is complete when its labels are there, so a set can be stopped,
gone on with and made larger at any time.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import numpy as np

from isthmus.core import Problem, unknown_name
from isthmus.io import from_json, read_json, read_regular, write_json, write_whole
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image
from isthmus.vision.randomise import Randomise
from isthmus.vision.renderer import Renderer
from isthmus.vision.samples import Frame
from isthmus.vision.stage.draw import CONDITIONS, Drawn, generator
from isthmus.vision.stage.scene import Scene
from isthmus.vision.tracer.tracer import Tracer

HALVES = {"validation": 1001, "test": 2002}
"""And the seeds of their scenes."""
CLEAR = 0.8
"""Share of the target that is seen where it is not occluded."""
HIDDEN = (0.25, 0.8)
"""Share of the target that is seen where it is."""
TRIES = 500
DESCRIPTION = "set.json"


@dataclass(frozen=True)
class Labels:
    """What a picture shows."""

    condition: str
    camera: Camera
    position: tuple[float, float, float]
    """Middle of the target."""
    yaw: float
    seen: float
    """Share of the target that nothing hides."""
    distractors: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Photograph:
    """A picture on disk."""

    path: Path
    labels: Labels

    def read(self) -> Image:
        """The picture."""
        return read_picture(self.path)


@dataclass(frozen=True)
class SetDescription:
    """What all pictures of a set have in common."""

    scene: str
    target: str
    half: str
    samples: int
    variant: str
    width: int
    height: int


def read_picture(path: Path) -> Image:
    """The picture in a PNG or JPEG file, as bytes of red, green and blue."""
    try:
        content = read_regular(path, limit=64 << 20, follow=True)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    try:
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED) if content else None
    except cv2.error:
        picture = None
    if picture is None:
        raise Problem(f"{path} is not a picture, or it is damaged: PNG and JPEG files are read")
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        kind = "grey" if picture.ndim == 2 else f"{picture.shape[2]} colours"
        raise Problem(f"{path} has {picture.dtype.itemsize * 8} bits, {kind}: pictures of 3 colours of 8 bits are read")
    return np.array(picture[..., ::-1], np.uint8)


def make_photographs(
    scene: Scene, half: str, count: int, folder: Path, samples: int, report: Callable[[str, int], None]
) -> None:
    """Make `count` pictures of each condition in `folder`, where those that are there already are kept."""
    if half not in HALVES:
        raise unknown_name("half", half, HALVES)
    tracer, frame = Tracer(samples), Frame()
    described = SetDescription(
        scene.file.path, scene.file.target, half, samples, tracer.variant, frame.full[0], frame.full[1]
    )
    _describe(folder / half, described)
    with Renderer(scene, Randomise(), frame) as renderer:
        for index in range(count):  # conditions side by side, so that a part of a set is of use
            for condition in CONDITIONS:
                path = folder / half / condition / f"{index:04}.jpg"
                if not path.with_suffix(".json").is_file():
                    rng = generator(HALVES[half], index, f"photograph {condition}")
                    drawn, seen = _draw(renderer, condition, rng)
                    _save(path, tracer.render(renderer.stage, drawn.camera, rng), _labels(condition, drawn, seen), rng)
                report(condition, index + 1)


def read_photographs(folder: Path, half: str, condition: str, count: int | None = None) -> list[Photograph]:
    """The pictures of one condition that are there, at most `count`."""
    if half not in HALVES:
        raise unknown_name("half", half, HALVES)
    place = folder / half / condition
    found: list[Photograph] = []
    for path in sorted(place.glob("*.json"))[:count]:
        labels = from_json(Labels, read_json(path), path, "the labels of a picture")
        found.append(Photograph(path.with_suffix(".jpg"), labels))
    if not found:
        raise Problem(f"{place} has no pictures: make them with `isthmus vision photograph`")
    return found


def check_photographs(folder: Path, half: str) -> None:
    """Refuse a folder that has no pictures of a half, before anything that takes long."""
    for condition in CONDITIONS:
        read_photographs(folder, half, condition, 1)


def _describe(folder: Path, described: SetDescription) -> None:
    path = folder / DESCRIPTION
    if path.is_file():
        before = from_json(SetDescription, read_json(path), path, "the description of a set of pictures")
        if before != described:
            raise Problem(f"{folder} has pictures of {before}: give another folder for {described}")
    write_json(path, asdict(described))


def _draw(renderer: Renderer, condition: str, rng: np.random.Generator) -> tuple[Drawn, float]:
    """A scene in which as much of the target is seen as the condition asks for."""
    low, high = HIDDEN if condition == "occluded" else (CLEAR, 1.0)
    for _ in range(TRIES):
        drawn = renderer.draw(rng, condition)
        if not (np.all(drawn.pixel > 0) and np.all(drawn.pixel < renderer.frame.full)):
            continue
        whole = renderer.target_pixels(drawn.camera, alone=True)
        seen = renderer.target_pixels(drawn.camera, alone=False) / max(whole, 1)
        if low <= seen <= high:
            return drawn, seen
    raise Problem(f"no scene was found in {TRIES} in which the object is seen as {condition!r} asks for")


def _labels(condition: str, drawn: Drawn, seen: float) -> Labels:
    x, y, z = (float(one) for one in drawn.position)
    others = tuple((float(a), float(b), float(c)) for a, b, c in drawn.distractors)
    return Labels(condition, drawn.camera, (x, y, z), drawn.yaw, seen, others)


def _save(path: Path, picture: Image, labels: Labels, rng: np.random.Generator) -> None:
    quality = int(rng.integers(80, 96))
    _, content = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    write_whole(path, content.tobytes())
    write_json(path.with_suffix(".json"), asdict(labels))


def each_photograph(folder: Path, half: str) -> Iterator[Photograph]:
    """All pictures of a half."""
    for condition in CONDITIONS:
        yield from read_photographs(folder, half, condition)
