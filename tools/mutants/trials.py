"""Run the tests of a module on its mutants: tests are collected once, and each mutant gets a child process.

The child is forked after the tests were imported, and puts the mutant's functions and constants into the module there.
No file is changed. What a module computes of its constants while it is imported by others keeps its value.
"""

import ast
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

SURVIVED, KILLED, TIMED_OUT = "survived", "killed", "timed out"
BASELINE_LIMIT = 600.0
"""Seconds that the tests of a module may take when nothing is changed."""
TIMES, PLUS = 3.0, 20.0
"""A mutant may take so many times as long, and so many seconds more."""


@dataclass(frozen=True)
class Verdict:
    """What the tests made of a mutant."""

    outcome: str
    seconds: float


class Trials:
    """A plugin of pytest that runs the collected tests once for every mutant of a module."""

    def __init__(self, module: str, trees: Iterable[ast.Module], done: Callable[[Verdict], None]) -> None:
        """Try `trees` in the place of `module`; `done` is told of each in turn."""
        self._module, self._trees, self._done = module, trees, done
        self.passed_as_it_is = False

    def run(self, tests: Iterable[str]) -> None:
        """Collect the tests and try every mutant."""
        pytest.main(["-n", "0", "-p", "no:cacheprovider", "-p", "no:terminal", *tests], plugins=[self])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        as_it_is = _tried(session, BASELINE_LIMIT, None)
        self.passed_as_it_is = as_it_is.outcome == SURVIVED
        if self.passed_as_it_is:
            for tree in self._trees:
                limit = TIMES * as_it_is.seconds + PLUS
                self._done(_tried(session, limit, lambda tree=tree: _put(self._module, tree)))
        return True


def _tried(session: pytest.Session, limit: float, prepare: Callable[[], None] | None) -> Verdict:
    """Run all tests in a child, for `limit` seconds at most."""
    begin = time.monotonic()
    child = os.fork()
    if not child:
        try:
            os._exit(_in_child(session, limit, prepare))
        finally:
            os._exit(1)  # a mutant that cannot be put in place is one that is noticed
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - begin
    if os.WIFSIGNALED(status):
        return Verdict(TIMED_OUT if os.WTERMSIG(status) == signal.SIGALRM else KILLED, seconds)
    return Verdict(KILLED if os.WEXITSTATUS(status) else SURVIVED, seconds)


def _in_child(session: pytest.Session, limit: float, prepare: Callable[[], None] | None) -> int:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(max(1, round(limit)))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    if prepare is not None:
        prepare()
    for number, item in enumerate(session.items):
        following = session.items[number + 1] if number + 1 < len(session.items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
    return 0


def _put(module: str, tree: ast.Module) -> None:
    """Give a module that is imported already the functions and constants of a mutant."""
    there = sys.modules[module]
    namespace: dict[str, Any] = {"__name__": module, "__file__": there.__file__}
    exec(compile(tree, str(there.__file__), "exec"), namespace)
    for name, value in namespace.items():
        if isinstance(value, (int, float, tuple, list, dict)):
            setattr(there, name, value)
    for name, function in _functions(there.__dict__, module):
        mutated = dict(_functions(namespace, module))[name]
        function.__code__, function.__defaults__ = mutated.__code__, mutated.__defaults__
        function.__kwdefaults__ = mutated.__kwdefaults__


def _functions(namespace: dict[str, Any], module: str) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions and methods of a module, by their qualified names."""
    for value in list(namespace.values()):
        if getattr(value, "__module__", None) != module:
            continue
        for one in vars(value).values() if isinstance(value, type) else [value]:
            function = _plain(one)
            if function is not None and function.__module__ == module:
                yield function.__qualname__, function


def _plain(value: Any) -> types.FunctionType | None:  # noqa: ANN401 - whatever a class has
    """The function behind a method, a property or a cache."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    value = getattr(value, "__wrapped__", value)  # pyright: ignore[reportUnknownArgumentType]
    value = getattr(value, "__func__", value)  # pyright: ignore[reportUnknownArgumentType]
    return value if isinstance(value, types.FunctionType) else None
