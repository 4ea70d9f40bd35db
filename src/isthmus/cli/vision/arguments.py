"""Arguments that the commands about localisers have in common."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from isthmus.vision.ranges import Range

if TYPE_CHECKING:
    from isthmus.vision.stage.scene import Scene


LOCALISER = "Folder of a trained localiser, or the name of one that ships, such as `table-cube`."


@dataclass(frozen=True)
class SceneOptions:
    """Which scene and object."""

    scene: Annotated[
        Positional[str], arg(metavar="SCENE", help="An MJCF file, or `table`, the scene that ships with Isthmus.")
    ] = "table"
    target: Annotated[str, arg(name="object", help="Name of the body that is looked for.")] = "cube"
    table: str | None = None
    """Name of the geom that the object lies on; found by its name when not given."""
    camera: str | None = None
    """Name of the scene's camera; its first one when not given."""

    def read(self) -> "Scene":
        """The scene, which is found to make sense."""
        from isthmus.vision.stage.scene import SceneFile, read_scene

        return read_scene(SceneFile(self.scene, self.target, self.table, self.camera))


def changed_options(command: Any, *names: str) -> dict[str, object]:  # noqa: ANN401 - any command's dataclass
    """What a command about a scene is repeated with: the scene, and other options that have not their default."""
    scene: SceneOptions = command.scene
    found = {"object": scene.target, "table": scene.table, "camera": scene.camera, **_changed(command, names)}
    randomise = command.randomise
    of_randomise = _changed(randomise, [field.name for field in fields(randomise)])
    return found | {f"randomise.{name}": _text(value) for name, value in of_randomise.items()}


def _changed(settings: Any, names: Iterable[str]) -> dict[str, object]:  # noqa: ANN401
    usual = type(settings)()
    return {name: getattr(settings, name) for name in names if getattr(settings, name) != getattr(usual, name)}


def _text(value: object) -> object:
    return str(value) if isinstance(value, Range) else value


SceneOptionsArgument = Annotated[SceneOptions, arg(name="")]
"""A field of a command: its options have no prefix."""
