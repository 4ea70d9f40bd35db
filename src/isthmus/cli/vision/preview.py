"""Show randomised images."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.cli.output import print_json, stdout
from isthmus.cli.vision.arguments import SceneOptions, SceneOptionsArgument, changed_options
from isthmus.core import Problem
from isthmus.core.command import command_of
from isthmus.vision.randomise import Randomise

if TYPE_CHECKING:
    from isthmus.vision.pixels import Image

COLUMNS = 4
"""How many images stand side by side in the picture that `--out grid.png` writes."""


@dataclass(frozen=True)
class Preview:
    """Show what a localiser will be trained on: randomised images with the object marked.

    Example: `isthmus vision preview table --object cube`

    Example: `isthmus vision preview scene.xml --object mug --randomise.lights 1:2 --randomise.distractors 0:3`

    Example: `isthmus vision preview table --object cube --images 12 --out grid.png`
    """

    scene: SceneOptionsArgument = field(default_factory=SceneOptions)
    randomise: Randomise = field(default_factory=Randomise)
    images: int = 24
    """How many images to show."""
    seed: int = 0
    """Decides everything random: image k is the one that training with this seed would see."""
    out: Path = Path("runs/preview.html")
    """The page (.html), or one picture of them all (.png)."""
    json: bool = False
    """Print the labels as JSON only."""

    def run(self) -> None:
        """Render, mark, write the page."""
        from isthmus.core import check_range
        from isthmus.experiments.vision import write_preview
        from isthmus.io import write_whole
        from isthmus.vision.marks import grid, marked_sample, png
        from isthmus.vision.renderer import Renderer
        from isthmus.vision.samples import Frame, new_samples

        check_range("images", self.images, 1, 500)
        if self.out.suffix not in (".html", ".png"):
            raise Problem(f"--out {self.out}: a preview is a page (.html) or a picture (.png)")
        scene, frame = self.scene.read(), Frame()
        out, pictures, labels = new_samples(1, frame), list[tuple["Image", str]](), list[dict[str, object]]()
        with Renderer(scene, self.randomise, frame, seed=self.seed) as renderer:
            for index in range(self.images):
                drawn = renderer.sample(index, out[0])
                caption = f"image {index}: {len(drawn.distractors)} distractors"
                pictures.append((marked_sample(out[0], frame), caption))
                labels.append(
                    {
                        "image": index,
                        "pixel": drawn.pixel.tolist(),
                        "position": drawn.position.tolist(),
                        "yaw": drawn.yaw,
                        "distractors": drawn.distractors.tolist(),
                    }
                )
        lead = [
            f"Randomised renderings of {self.scene.target!r}: the whole picture at {frame.coarse[0]} x "
            f"{frame.coarse[1]} pixels, and below it the crops at full resolution. The first crop of an image has the "
            "object in it, the others are what the network must learn to refuse."
        ]
        options = changed_options(self, "images", "seed", "out")
        command = command_of(("vision", "preview", self.scene.scene), options)
        if self.out.suffix == ".png":
            write_whole(self.out, png(grid([picture for picture, _ in pictures], COLUMNS)))
        else:
            write_preview(self.out, [(png(picture), caption) for picture, caption in pictures], lead, command)
        if self.json:
            print_json(labels)
        else:
            kind = "picture" if self.out.suffix == ".png" else "page"
            stdout.print(f"{kind}: {self.out}", soft_wrap=True)
