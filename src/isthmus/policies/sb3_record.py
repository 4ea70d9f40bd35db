"""What a Stable-Baselines3 zip records of the training, beside the weights."""

import json
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.io.bounded import unpack

SETTINGS = "data"
LARGEST = 64 << 20
"""Bytes of the settings that are unpacked at most."""
ORIGINAL = "_last_original_obs"
"""Set while training under VecNormalize only: the observation before it was normalised."""


def trained_normalised(path: Path) -> bool:
    """Whether the zip records that it was trained under VecNormalize; False for any other file.

    The record is JSON. The pickled values in it are not read.
    """
    try:
        with open_regular(path, follow=True) as file:
            settings: object = json.loads(unpack(file, {SETTINGS}, largest=LARGEST)[SETTINGS])
    except (OSError, Problem, KeyError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(settings, dict) and settings.get(ORIGINAL) is not None  # pyright: ignore[reportUnknownMemberType]
