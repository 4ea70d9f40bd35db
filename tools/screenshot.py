"""Take a small picture of a page for the documentation, in a headless Chromium.

Example: `python tools/screenshot.py runs/first/report.html docs/tutorials/first-report.png --bottom 900`
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tyro
from PIL import Image

COLOURS = 256
"""A palette keeps a picture of a page below 100 kB."""


@dataclass(frozen=True)
class Screenshot:
    """Take a picture of a page between two heights."""

    page: tyro.conf.Positional[Path]
    """An HTML or SVG file."""
    out: tyro.conf.Positional[Path]
    """The picture (.png)."""
    top: int = 0
    """Where the picture begins, in pixels of the page."""
    bottom: int = 900
    """Where it ends."""
    width: int = 1000
    """Width of the page."""
    scale: float = 0.8
    """Pixels of the picture to a pixel of the page."""

    def run(self) -> None:
        """Draw, cut, scale and save."""
        with tempfile.TemporaryDirectory() as folder:
            drawn = Path(folder) / "page.png"
            options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000")
            size = f"--window-size={self.width},{self.bottom}"
            command = ["chromium", *options, size, f"--screenshot={drawn}", self.page.resolve().as_uri()]
            subprocess.run(command, check=True, capture_output=True)
            with Image.open(drawn) as page:
                cut = page.convert("RGB").crop((0, self.top, self.width, self.bottom))
        small = cut.resize((round(cut.width * self.scale), round(cut.height * self.scale)), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, dither=Image.Dither.NONE).save(self.out, optimize=True)


if __name__ == "__main__":
    tyro.cli(Screenshot).run()
