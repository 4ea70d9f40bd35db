"""Recorded data: files that are whole or not there, episodes, and the windows a model learns from."""

from isthmus.data.checked import from_json
from isthmus.data.episodes import load_episode, save_episode
from isthmus.data.files import PARTIAL, load_arrays, read_json, remove_partial, save_arrays, write_json, write_whole
from isthmus.data.regular import check_tree, open_lock, open_regular, read_regular
from isthmus.data.windows import Windows

__all__ = [
    "PARTIAL",
    "Windows",
    "check_tree",
    "from_json",
    "load_arrays",
    "load_episode",
    "open_lock",
    "open_regular",
    "read_json",
    "read_regular",
    "remove_partial",
    "save_arrays",
    "save_episode",
    "write_json",
    "write_whole",
]
