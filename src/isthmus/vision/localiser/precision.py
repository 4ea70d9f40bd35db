"""The number format that networks are trained in: float32, or bfloat16 where the processor multiplies that faster.

Weights, their averages and the optimiser stay in float32. Some machines say that they multiply bfloat16 and then stop
with an illegal instruction, or are slower at it: a process of its own tries a few steps.
"""

import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext

import torch

from isthmus.vision.localiser.network import CoarseNetwork

WORTH = 1.2
"""How many times faster bfloat16 must be to be taken."""
REPEATS = 3
IMAGES, HEIGHT_WIDTH = 8, (90, 120)
"""Pictures of the trial: half as high and wide as those of training."""
LIMIT = 120.0
"""Seconds that the trial may take."""


def resolved(precision: str) -> str:
    """The format that is meant: with `auto`, bfloat16 where a trial finds it to be faster."""
    if precision != "auto":
        return precision
    command = [sys.executable, "-m", "isthmus.vision.localiser.precision"]
    try:
        tried = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "float32"
    return "bfloat16" if tried.returncode == 0 else "float32"


def autocast(precision: str) -> AbstractContextManager[object]:
    """Within it, convolutions are computed in this format."""
    return torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else nullcontext()


def speed_up() -> float:
    """How many times faster a training step of the first stage is in bfloat16.

    It has to be the network itself: single convolutions gain more or less than all of them together.
    """
    torch.set_num_threads(1)
    network = CoarseNetwork()
    network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    pictures = torch.zeros(IMAGES, *HEIGHT_WIDTH, 3, dtype=torch.uint8)
    took: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for _ in range(1 + REPEATS):  # the first is for the library to choose its kernels
        for precision, seconds in took.items():
            began = time.process_time()
            with autocast(precision):
                said = network(pictures)
            said.float().sum().backward()
            seconds.append(time.process_time() - began)
    return min(took["float32"][1:]) / max(min(took["bfloat16"][1:]), 1e-9)


if __name__ == "__main__":
    sys.exit(0 if speed_up() >= WORTH else 1)
