"""What is tried: a reader of files, and sound ones to begin with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mutate import Mutation


@dataclass(frozen=True)
class Reader:
    """One reader: sound files to begin with, how to damage them, and what is called."""

    name: str
    samples: list[Path]
    mutate: Mutation
    read: Callable[[Path], object]
    must_refuse: bool = True
    """Whether every hostile file is one for it, which has to be refused."""
