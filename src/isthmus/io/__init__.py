"""Recorded data: files that are whole or not there, episodes, and the windows a model learns from."""

from isthmus.io.checked import from_json
from isthmus.io.episodes import load_episode, save_episode
from isthmus.io.files import (
    PARTIAL,
    load_arrays,
    make_folder,
    pack_arrays,
    read_json,
    remove_partial,
    save_arrays,
    unpack_arrays,
    write_json,
    write_whole,
)
from isthmus.io.regular import check_tree, open_lock, open_regular, read_regular

__all__ = [
    "PARTIAL",
    "check_tree",
    "from_json",
    "load_arrays",
    "load_episode",
    "make_folder",
    "open_lock",
    "open_regular",
    "pack_arrays",
    "read_json",
    "read_regular",
    "remove_partial",
    "save_arrays",
    "save_episode",
    "unpack_arrays",
    "write_json",
    "write_whole",
]
