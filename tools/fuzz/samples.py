"""All readers of files that there are."""

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from reader import Reader

MODELS = ("inverse", "residual-action", "model-inverse", "preview", "pd", "auto", "fine-tune")
"""Methods that each write a model of their own kind."""
READERS = {
    "policy": ("policy .npz", "policy .zip", "policy .onnx", "normaliser .pkl", "training record .zip"),
    "run": (
        *("config.json", "baseline.json", "round .json", "result.json", "step.json", "steps.json", "robot.json"),
        *("cord.json", "manifest.json", "episode .npz", "trace .npz", *(f"{method} model .npz" for method in MODELS)),
        *("run folder, report", "run folder, logs", "run folder, resume"),
    ),
    "experiment": (
        *("figure 3 cell .json", "earlier figure 3 cell .json", "comparison cell .json", "oracle cell .json"),
        *("figure 5 cell .json", "figure 5 address.txt", "expert training .npz"),
    ),
    "machine": (
        *("board .toml", "firmware .elf", "firmware campaign .json", "firmware twin .npz", "actuator model .npz"),
    ),
    "bundle": tuple(
        f"bundle {kind}"
        for kind in (
            *(
                "manifest.json",
                "model .xml",
                "numbers .npz",
                "policy .npz",
                "adapter .npz",
                "source .npz",
                "check .npz",
            ),
            *("network .onnx", "fused .onnx"),
        )
    ),
    "log": tuple(
        f"log, {kind}"
        for kind in (
            *(
                "rosbag 1",
                "rosbag 2, SQLite",
                "rosbag 2, packed",
                "MCAP",
                "LeRobot",
                "CSV",
                "CSV with vectors",
                "npz",
                "JSON lines",
            ),
            "map .toml",
        )
    ),
}
"""Their names, by the module that makes samples for them, which takes a while."""
HOSTILE = ", hostile"
"""Ends the name of what came of a reader's hostile files."""


def readers(folder: Path, only: Sequence[str] | None, done: Collection[str] = ()) -> Iterator[Reader]:
    """All readers whose names have one of `only` in them and that are not done, with samples in `folder`."""
    for kind, names in READERS.items():
        left = [name for name in names if name + HOSTILE not in done]
        if wanted := [name for name in left if not only or any(part in name for part in only)]:
            yield from getattr(import_module(f"{kind}_samples"), f"{kind}_readers")(folder, wanted)
