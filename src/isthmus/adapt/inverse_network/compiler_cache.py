"""Keep torch from making a folder for its compiler's cache: nothing is compiled here."""

import os
import tempfile

FOLDER = "TORCHINDUCTOR_CACHE_DIR"


def make_no_compiler_cache() -> None:
    """Call this before the first optimiser is made: torch then loads its compiler, which makes its folder at once.

    It is given a folder that exists, for as long as the process lives. A folder that the user chose is left alone.
    """
    os.environ.setdefault(FOLDER, tempfile.gettempdir())
