"""Compile C sources that come with the package, and load what they make.

`make env` compiles everything once. A plain `pip install` compiles a library when it is first used, because pip builds
a package apart from the wheels (MuJoCo, Unicorn) whose headers some sources need. A library is kept under a digest of
its sources, its flags and the compiler's version, so that a change of any of them makes a new one.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from isthmus.core import Problem

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-Wall", "-Werror=implicit-function-declaration", "-fvisibility=hidden")
SECONDS = 300
"""A compiler that takes longer is taken for stuck."""


@dataclass(frozen=True)
class Library:
    """A shared library: its C sources, the folders of the headers it includes, and the libraries it is linked with."""

    name: str
    sources: tuple[Path, ...]
    headers: tuple[Path, ...] = ()
    """Folders to search for headers. Those in them, and those beside the sources, are part of the digest."""
    links: tuple[Path, ...] = ()
    """Shared libraries, found again at the same place when the library is loaded."""
    flags: tuple[str, ...] = ()
    """Flags besides `FLAGS`, as `-march=native`."""


@cache
def load(library: Library) -> ctypes.CDLL:
    """The library, compiled now if it was not before."""
    return ctypes.CDLL(str(build(library)))


def build(library: Library) -> Path:
    """Compile the library unless that was done before; returns where it is."""
    compiler = _compiler(library.name)
    place = cache_folder() / f"{library.name}-{_digest(library, compiler)}.so"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _compile(library, compiler, place)
    return place


def cache_folder() -> Path:
    """Where compiled libraries are kept: `ISTHMUS_CACHE`, or a folder of the user's cache."""
    named = os.environ.get("ISTHMUS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isthmus"


def _compiler(name: str) -> str:
    for candidate in (os.environ.get("CC"), "cc", "gcc", "clang"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    raise Problem(f"{name} is written in C and no C compiler was found: install one (on Debian: apt install gcc)")


def _digest(library: Library, compiler: str) -> str:
    digest = hashlib.sha256()
    folders = {source.parent for source in library.sources} | set(library.headers)
    beside = {header for folder in folders for header in folder.glob("*.h")}
    for path in [*library.sources, *sorted(beside)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(repr((library.flags, library.headers, library.links, FLAGS, platform.machine())).encode())
    digest.update(_version(compiler))
    return digest.hexdigest()[:16]


@cache
def _version(compiler: str) -> bytes:
    return subprocess.run([compiler, "--version"], capture_output=True, check=False, timeout=SECONDS).stdout


def _compile(library: Library, compiler: str, place: Path) -> None:
    """Compile beside `place` and move the result there, so that another process never loads half of it."""
    handle, partial = tempfile.mkstemp(dir=place.parent, suffix=".partial")
    os.close(handle)
    try:
        done = _run([compiler, *_arguments(library), "-o", partial])
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:])
            raise Problem(f"{compiler} could not compile {library.name}: {said}")
        Path(partial).replace(place)
    finally:
        Path(partial).unlink(missing_ok=True)


def _arguments(library: Library) -> Iterable[str]:
    yield from FLAGS
    yield from library.flags
    yield from (f"-I{folder}" for folder in library.headers)
    yield from map(str, library.sources)
    for path in library.links:
        yield from (str(path), f"-Wl,-rpath,{path.parent}")
    yield "-lm"


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
