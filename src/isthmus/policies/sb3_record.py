"""What a Stable-Baselines3 zip records of the training, beside the weights."""

import json
import zipfile
from pathlib import Path

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
        with zipfile.ZipFile(path) as archive, archive.open(SETTINGS) as file:
            settings: object = json.loads(file.read(LARGEST))
    except (OSError, KeyError, ValueError, RecursionError, RuntimeError, NotImplementedError, EOFError):
        return False
    except zipfile.BadZipFile:
        return False
    return isinstance(settings, dict) and settings.get(ORIGINAL) is not None  # pyright: ignore[reportUnknownMemberType]
