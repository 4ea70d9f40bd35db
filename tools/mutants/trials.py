"""Run the tests of a module in a child process that sees a mutant in its place. No file is changed."""

import ast
import os
import signal
import sys
import time
import types
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path

import pytest

SURVIVED, KILLED, TIMED_OUT = "survived", "killed", "timed out"


@dataclass(frozen=True)
class Verdict:
    """What the tests made of a mutant."""

    outcome: str
    seconds: float


class _Loader(SourceFileLoader):
    """Loads one module as the mutant has it."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> types.CodeType | None:
        """The mutant's code."""
        return compile(self._tree, self.get_filename(fullname), "exec")


class _Finder(MetaPathFinder):
    """Finds the mutated module before anybody else does."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self._name, self._tree = name, tree

    def find_spec(self, fullname: str, path: object, target: types.ModuleType | None = None) -> ModuleSpec | None:
        """The module's place, with another loader."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == self._name else None  # pyright: ignore[reportArgumentType]
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin, self._tree)
        return spec


def run(tests: tuple[str, ...], limit: float, module: str = "", tree: ast.Module | None = None) -> Verdict:
    """Run `tests`, for `limit` seconds at most, where `module` is the one of `tree` if there is one.

    A child is forked, so that it need not import other packages again.
    """
    begin = time.monotonic()
    child = os.fork()
    if not child:
        try:
            _in_child(tests, limit, module, tree)
        finally:
            os._exit(3)  # whatever happened: a child never goes on as its parent
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - begin
    if os.WIFSIGNALED(status):
        return Verdict(TIMED_OUT if os.WTERMSIG(status) == signal.SIGALRM else KILLED, seconds)
    return Verdict(KILLED if os.WEXITSTATUS(status) else SURVIVED, seconds)


def _in_child(tests: tuple[str, ...], limit: float, module: str, tree: ast.Module | None) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(max(1, round(limit)))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for name in [name for name in sys.modules if name.partition(".")[0] == "isthmus"]:
        del sys.modules[name]
    if tree is not None:
        sys.meta_path.insert(0, _Finder(module, tree))
    os._exit(int(pytest.main(["-x", "-n", "0", "-q", "-p", "no:cacheprovider", *tests])))


def preload(root: Path) -> None:
    """Import what children would otherwise import each by itself."""
    os.chdir(root)
    import isthmus.adapt.registry  # noqa: PLC0415
    import isthmus.experts  # noqa: PLC0415
    import isthmus.report.video  # noqa: F401, PLC0415
