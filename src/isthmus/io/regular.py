"""Open files that strangers may have made: regular files only, of bounded size, without following links or blocking."""

import errno
import os
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from isthmus.core import Problem

LARGEST = 4 << 30
"""Bytes of a file, where the caller sets no tighter bound."""
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
SAFE = os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC


def open_regular(path: Path, *, limit: int = LARGEST, follow: bool = False) -> BufferedReader:
    """Open the regular file at `path` for reading.

    A pipe, a device or a file of more than `limit` bytes is a Problem, and so is a symbolic link unless `follow` is
    set, which is for paths that the user named. Opening never blocks. Other failures are raised as OSError.
    """
    _require_regular(path, path.stat() if follow else path.lstat())
    handle = os.open(path, os.O_RDONLY | SAFE | (0 if follow else os.O_NOFOLLOW))
    try:
        # Again, of what was opened: the name may have changed hands since.
        _require_regular(path, os.fstat(handle), limit)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, *, limit: int = LARGEST, follow: bool = False) -> bytes:
    """The content of the regular file at `path`, under the rules of `open_regular`."""
    with open_regular(path, limit=limit, follow=follow) as file:
        # No more than it has is asked for: room for all of it is made at once.
        content = file.read(min(limit, os.fstat(file.fileno()).st_size) + 1)
    if len(content) > limit:  # it has grown since it was opened
        raise Problem(f"{path} is too large: at most {limit:,} bytes are read")
    return content


def open_lock(path: Path) -> BufferedReader:
    """Open the file at `path`, made if it is not there, to hold a lock on; its content is left alone."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | SAFE, 0o644)
    try:
        _require_regular(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_tree(folder: Path) -> None:
    """Refuse a folder that holds anything but regular files and folders: a link below it could lead out of it.

    The folder itself may be a link, as the user named it. A folder that is not there holds nothing.
    """
    if not folder.is_dir():
        return
    pending = [folder]
    while pending:
        with suppress(FileNotFoundError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process has just moved it into place
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode):
                        pending.append(Path(entry.path))
                    else:
                        _require_regular(Path(entry.path), found)


def _require_regular(path: Path, found: os.stat_result, limit: int | None = None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "no regular file")
        raise Problem(f"{path} is {kind}: only regular files are read and written here; remove it")
    if limit is not None and found.st_size > limit:
        raise Problem(f"{path} is too large: it has {found.st_size:,} bytes, at most {limit:,} are read")
