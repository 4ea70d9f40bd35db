"""Which commit of the code computed something."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

UNKNOWN = "unknown"
"""The commit of an installed package, of which only the version is known."""
EARLIER = "3944ba4 or before"
"""The commit of results that record none: they were stored up to that one."""
PACKAGE = Path(__file__).resolve().parents[1]
PATIENCE = 5.0
"""Seconds that Git may take."""


@cache
def current_commit() -> str:
    """The commit of the running code, with `+changes` where its files differ from it; `unknown` outside a checkout."""
    head = _git("rev-parse", "--short=7", "HEAD")
    tracked = _git("ls-files", "--", "core/commit.py")  # a package may be installed inside somebody else's checkout
    if not head or not tracked:
        return UNKNOWN
    return f"{head}+changes" if _git("status", "--porcelain", "--untracked-files=no", "--", ".") else head


def commits_of(versions: Iterable[Mapping[str, str]]) -> list[str]:
    """The commits among what things were computed with, each once."""
    return sorted({one.get("commit", EARLIER) for one in versions})


def _git(*words: str) -> str | None:
    """What Git says of the package's files; None where it says nothing or cannot be asked."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ("git", "-C", str(PACKAGE), *words),  # noqa: S607 - wherever Git is
            capture_output=True,
            check=True,
            text=True,
            env=environment,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
