"""The `isthmus` command that makes something again: every such line is put together here."""

import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


def command_of(words: Sequence[object], options: Mapping[str, object]) -> str:
    """`isthmus` with the words of a command and its options, quoted for a shell.

    An option that is None, False or empty is left out, True is a flag, and a sequence is several words. Of a dataclass,
    such as the settings of a fit, the fields that differ from their defaults are given as `--name.field`.
    """
    given = [word for name, value in options.items() for word in _option(name, value)]
    return shlex.join(["isthmus", *map(str, words), *given])


def _option(name: str, value: object) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field, one in _changed(value):
            no = "no-" if one is False else ""
            yield from _option(f"{name}.{no}{field}", True if no else one)
    elif value is True:
        yield _flag(name)
    elif value is not None and value is not False:
        values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        several = [str(one) for one in values]
        if len(several) == 1 and several[0].startswith("-"):
            yield f"{_flag(name)}={several[0]}"
        elif several:
            yield from (_flag(name), *several)


def _changed(settings: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - any dataclass
    """The fields of a dataclass that differ from its defaults; False stands for a flag that is on by default."""
    usual = type(settings)()
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != getattr(usual, field.name):
            yield field.name, value


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
