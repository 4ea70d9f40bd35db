"""matplotlib, without the folders that it makes in the user's home.

Everything that draws takes matplotlib from here. It keeps a list of fonts in the user's cache folder, and makes a
folder for its settings. Where these are not there yet, they are made in a temporary folder and removed at once: the
list is in memory by then.
"""

import io
import os
import tempfile
from importlib import import_module
from pathlib import Path


def _load_fonts() -> None:
    """Import what reads or makes the list of fonts."""
    home = Path.home()
    known = all((home / place / "matplotlib").is_dir() for place in (".cache", ".config"))
    if known or "MPLCONFIGDIR" in os.environ:
        import_module("matplotlib.font_manager")
        return
    with tempfile.TemporaryDirectory(prefix="isthmus-fonts-", ignore_cleanup_errors=True) as folder:
        os.environ["MPLCONFIGDIR"] = folder
        try:
            import_module("matplotlib.font_manager")
        finally:
            del os.environ["MPLCONFIGDIR"]


_load_fonts()

import matplotlib as mpl  # noqa: E402 - its settings are read when it is first imported
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.colors import Normalize  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402
from matplotlib.ticker import LogLocator  # noqa: E402

from isthmus.io import write_whole  # noqa: E402

ADAPTED, UNADAPTED, EXPERT = "#0072b2", "#d55e00", "#555555"
"""Colours of what is drawn in every experiment."""

__all__ = [
    "ADAPTED",
    "EXPERT",
    "UNADAPTED",
    "Axes",
    "Figure",
    "Line2D",
    "LogLocator",
    "Normalize",
    "Rectangle",
    "mpl",
    "save_drawing",
]


def save_drawing(drawing: Figure, path: Path) -> None:
    """Write a drawing; the same drawing is the same file, byte for byte."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "isthmus"}):
        metadata = {"Date": None} if path.suffix == ".svg" else None
        drawing.savefig(buffer, format=path.suffix[1:], dpi=160, metadata=metadata)
    write_whole(path, buffer.getvalue())
