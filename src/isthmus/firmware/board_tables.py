"""Read the tables of a board file: every value is checked where it is taken, and what nobody took is refused."""

import math
from collections.abc import Iterable, Iterator
from typing import cast

from isthmus.core import Problem, unknown_name


class Table:
    """A table of a board file; `where` says which one, for error messages."""

    def __init__(self, where: str, values: dict[str, object]) -> None:
        """Take values from `values`, each once."""
        self.where = where
        self._values = dict(values)
        self._known: set[str] = set()

    def names(self) -> list[str]:
        """What is there."""
        return list(self._values)

    def has(self, key: str) -> bool:
        """Whether there is such a value."""
        return key in self._values

    def table(self, key: str) -> "Table":
        """The table of that name, empty when there is none."""
        found = self._take(key, {})
        if not isinstance(found, dict):
            raise Problem(f"{self.where}: {key} must be a table, as in [{key}]")
        return Table(f"{self.where}: [{key}]", cast("dict[str, object]", found))

    def tables(self, key: str) -> Iterator[tuple[str, "Table"]]:
        """The tables below that of a name, as in [peripheral.can1]."""
        outer = self.table(key)
        for name in outer.names():
            if len(name) > 31 or not all(c.isalnum() or c in "_-" for c in name):
                raise Problem(f"{self.where}: [{key}.{name[:40]}] needs a name of at most 31 letters, digits, - and _")
            inner = outer.table(name)
            inner.where = f"{self.where}: [{key}.{name}]"
            yield name, inner

    def text(self, key: str, default: str | None = None) -> str:
        """A text."""
        value = self._take(key, default)
        if not isinstance(value, str) or len(value) > 500:
            raise Problem(f"{self.where}: {key} must be a text, got {_shown(value)}")
        return value

    def optional_text(self, key: str) -> str | None:
        """A text, or None when it is not there."""
        return self.text(key) if self.has(key) else None

    def choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str:
        """One of some texts."""
        return self.checked(key, self.text(key, default), choices)

    def checked(self, key: str, value: str, choices: Iterable[str]) -> str:
        """A text that must be one of some."""
        valid = list(choices)
        if value not in valid:
            raise Problem(f"{self.where}: {unknown_name(key, value, valid)}")
        return value

    def number(self, key: str, default: float | None = None, *, least: float = -1e12, most: float = 1e12) -> float:
        """A finite number within bounds."""
        return self._number(key, self._take(key, default), least, most)

    def integer(self, key: str, default: int | None = None, *, least: int, most: int) -> int:
        """A whole number within bounds."""
        value = self._number(key, self._take(key, default), least, most)
        if value != int(value):
            raise Problem(f"{self.where}: {key} must be a whole number, got {value}")
        return int(value)

    def integers(self, key: str, *, most: int) -> tuple[int, ...]:
        """No, one or several whole numbers from 0 on."""
        value: object = self._take(key, [])
        shown = _shown(value)
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        if len(values) > 8:
            raise Problem(f"{self.where}: {key} has {len(values)} numbers, at most 8 can be used")
        numbers = [self._number(key, one, 0, most) for one in values]
        if any(number != int(number) for number in numbers):
            raise Problem(f"{self.where}: {key} must be whole numbers, got {shown}")
        return tuple(map(int, numbers))

    def interval(self, key: str, default: tuple[float, float], *, least: float, most: float) -> tuple[float, float]:
        """Two numbers, the second not below the first."""
        value: object = self._take(key, list(default))
        shown = _shown(value)
        pair: list[object] = cast("list[object]", value) if isinstance(value, list) else []
        if len(pair) != 2:
            raise Problem(f"{self.where}: {key} must be two numbers, as in [0.4, 2.0], got {shown}")
        low, high = (self._number(key, one, least, most) for one in pair)
        if low > high:
            raise Problem(f"{self.where}: {key} goes from {low} to {high}: the first must not be above the second")
        return low, high

    def region(self, key: str) -> tuple[int, int]:
        """Address and size of memory, both multiples of 4 KiB."""
        value: object = self._take(key)
        shown = _shown(value)
        pair: list[object] = cast("list[object]", value) if isinstance(value, list) else []
        if len(pair) != 2 or not all(isinstance(one, int) for one in pair):
            raise Problem(f"{self.where}: {key} must be [address, size], as in [0x20000000, 0x20000], got {shown}")
        at, size = cast("tuple[int, int]", tuple(pair))
        if at % 4096 or size % 4096 or not 0 < size <= 64 * 2**20 or at < 0 or at + size > 0xE0000000:
            raise Problem(
                f"{self.where}: {key} = [0x{at:x}, 0x{size:x}] must be multiples of 0x1000, "
                "of at most 64 MiB, and end below 0xE0000000"
            )
        if at < 0x60000000 and at + size > 0x40000000:
            raise Problem(
                f"{self.where}: {key} = [0x{at:x}, 0x{size:x}] lies where peripherals are (0x40000000 to 0x60000000)"
            )
        return at, size

    def numbers(self, *, booleans: bool = False) -> dict[str, float | bool]:
        """All that is left, which must be numbers."""
        found: dict[str, float | bool] = {}
        for key in self.names():
            value = self._take(key)
            found[key] = value if booleans and isinstance(value, bool) else self._number(key, value, -1e12, 1e12)
        return found

    def texts(self) -> dict[str, str]:
        """All that is left, which must be texts."""
        return {key: self.text(key) for key in self.names()}

    def finish(self) -> None:
        """Refuse what was not asked for."""
        if self._values:
            raise Problem(f"{self.where}: {unknown_name('setting', next(iter(self._values)), self._known)}")

    def _take(self, key: str, default: object = None) -> object:
        self._known.add(key)
        if key not in self._values and default is None:
            raise Problem(f"{self.where} has no {key}")
        return self._values.pop(key, default)

    def _number(self, key: str, value: object, least: float, most: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(_bounded(value)):
            raise Problem(f"{self.where}: {key} must be a number, got {_shown(value)}")
        if not least <= value <= most:
            raise Problem(f"{self.where}: {key} is {_shown(value)}, and must be from {least:g} to {most:g}")
        return value


def _bounded(value: float) -> float:
    """The number; NaN where it is infinite, or an integer beyond all others."""
    return value if -1e300 < value < 1e300 else math.nan


def _shown(value: object) -> str:
    try:
        return f"{value!r}"[:80]
    except ValueError:
        return "a number of thousands of digits"
