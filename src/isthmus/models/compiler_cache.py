"""Keep torch from making a folder for its compiler's cache: nothing is compiled here."""

import os
import tempfile

FOLDER = "TORCHINDUCTOR_CACHE_DIR"


def make_no_compiler_cache() -> None:
    """Call this before the first optimiser is made: torch then loads its compiler, which makes its folder at once.

    While it loads, it is told of a folder that exists. A folder that the user chose is left alone.
    """
    if FOLDER in os.environ:
        return
    os.environ[FOLDER] = tempfile.gettempdir()
    try:
        pass  # pyright: ignore[reportUnusedImport]
    finally:
        del os.environ[FOLDER]
