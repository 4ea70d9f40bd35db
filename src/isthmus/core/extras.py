"""Packages that not everybody needs, and the extra of Isthmus that installs each."""

from collections.abc import Iterable
from importlib.util import find_spec

from isthmus.core.errors import Problem

EXTRAS = {
    "torch": "learn",
    "scipy": "learn",
    "stable_baselines3": "train",
    "sb3_contrib": "train",
    "imageio_ffmpeg": "report",
    "jinja2": "report",
    "plotly": "report",
    "matplotlib": "study",
    "imageio": "gym",
    "onnxruntime": "onnx",
    "ray": "ray",
    "unicorn": "firmware",
    "lz4": "logs",
    "mcap": "logs",
    "pyarrow": "logs",
    "rosbags": "logs",
    "zstandard": "logs",
    "cyclonedds": "ros2",
}
"""By the name under which a package is imported."""


def missing_extra(module: str | None) -> Problem | None:
    """The problem with a module that is not installed; None where it is of no extra."""
    package = (module or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return Problem(f"this needs {package}, which is not installed: pip install 'isthmus[{extra}]'")


def require(modules: Iterable[str]) -> None:
    """Refuse to begin without modules that will be needed: before anything has moved, not after."""
    for module in modules:
        if find_spec(module) is None and (problem := missing_extra(module)) is not None:
            raise problem
