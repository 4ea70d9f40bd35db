"""Arguments that the commands about localisers have in common."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

if TYPE_CHECKING:
    from isthmus.vision.stage.scene import Scene


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


SceneOptionsArgument = Annotated[SceneOptions, arg(name="")]
"""A field of a command: its options have no prefix."""
