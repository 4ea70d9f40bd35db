"""A machine that follows the instructions of a pickle and makes nothing but plain data of them.

Python's own unpickler runs what a file names, and nine bytes make it take 4 GB. This one knows the instructions that
data is made of, and each takes no more memory than the file has bytes for it.
"""

import io
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isthmus.io.bounded import Unreadable, brief

MOST_STEPS = 200_000
"""Instructions that are followed at most."""
LARGEST_KEY = 1 << 31
ENTRY = 100
"""Bytes that an entry of a dictionary takes, about."""
LARGEST_MADE = 64 << 20
"""Bytes that instructions may make of what is in the file, all together."""
Find = Callable[[str, str], Callable[..., Any] | None]
"""What makes data of the arguments of a class or function, by module and name; None where it is refused."""


class Shell:
    """An object whose state comes after it in the file."""

    def build(self, state: object) -> None:
        """Take the state."""
        raise NotImplementedError

    def made(self) -> object:
        """What stands for the object, when it is put into another."""
        return self


@dataclass(frozen=True)
class Named:
    """A class or function that a pickle names, with what makes data of its arguments."""

    name: str
    make: Callable[..., Any]


def follow(content: bytes | io.BytesIO, find: Find, persistent: Callable[[object], object] | None) -> Any:  # noqa: ANN401
    """The object in a pickle as plain data; Unreadable, with what was found, if it is anything else.

    A stream is left after the end of the pickle. `persistent` finds what is kept outside of it.
    """
    machine = _Machine(find, persistent)
    try:
        for code, argument, _ in pickletools.genops(content):
            machine.step(code.name, argument)
        return settled(machine.pop())
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise Unreadable(f"it is damaged ({brief(error)})") from error


def settled(value: object) -> Any:  # noqa: ANN401
    """An object in place of its shell."""
    return value.made() if isinstance(value, Shell) else value


def key_of(key: object) -> object:
    """A key of a dictionary. The hash of nested tuples takes forever where each holds the one before twice."""
    if not isinstance(key, str | bytes | int | float | None) or (isinstance(key, int) and abs(key) > LARGEST_KEY):
        raise Unreadable("it has a table whose keys are not plain")
    return key


def parts_of(state: object) -> tuple[Any, ...]:
    """The dictionary of a state, or that and another of slots."""
    return state if isinstance(state, tuple) and len(state) == 2 else (state,)  # pyright: ignore


def _length(value: object) -> int:
    """Bytes that a copy of a value would take, about."""
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    return ENTRY * len(value) if isinstance(value, dict | list) else 0  # pyright: ignore[reportUnknownArgumentType]


_MARK = object()


class _Machine:
    """The stack machine that a pickle is a program for."""

    def __init__(self, find: Find, persistent: Callable[[object], object] | None) -> None:
        self._find_maker, self._persistent = find, persistent
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._made = self._steps = 0

    def pop(self) -> Any:  # noqa: ANN401
        if not self._stack or self._stack[-1] is _MARK:
            raise Unreadable("it is damaged (nothing is there to take)")
        return self._stack.pop()

    def step(self, name: str, argument: Any) -> None:  # noqa: ANN401
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Unreadable(f"it has more than {MOST_STEPS} instructions")
        if name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self._stack.append(_EMPTY[name]())
        elif name in _LITERALS:
            self._stack.append(argument)
        elif name in _MACHINE:
            _MACHINE[name](self, argument)
        elif name not in _NOTHING:
            raise Unreadable(f"it has the instruction {name}, which data has no use for")

    def _to_mark(self) -> list[Any]:
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at] is _MARK:
                taken = self._stack[at + 1 :]
                del self._stack[at:]
                return [settled(value) for value in taken]
        raise Unreadable("it is damaged (no mark)")

    def _top(self, kind: type) -> Any:  # noqa: ANN401
        top: object = self._stack[-1] if self._stack else None
        if not isinstance(top, kind):
            raise Unreadable("it is damaged (nothing to add to)")
        return top

    def put(self, index: int) -> None:
        value = self.pop()
        self._stack.append(value)
        self._memo[int(key_of(index))] = value  # pyright: ignore[reportArgumentType]

    def memoise(self, _argument: object) -> None:
        self.put(len(self._memo))

    def get(self, index: int) -> None:
        if index not in self._memo:
            raise Unreadable("it is damaged (nothing was kept under that number)")
        self._stack.append(self._memo[index])

    def mark(self, _argument: object) -> None:
        self._stack.append(_MARK)

    def pop_one(self, _argument: object) -> None:
        if not self._stack:
            raise Unreadable("it is damaged (nothing is there to drop)")
        self._stack.pop()

    def pop_mark(self, _argument: object) -> None:
        self._to_mark()

    def tuple_of(self, count: int | None) -> None:
        values = self._to_mark() if count is None else [settled(self.pop()) for _ in range(count)][::-1]
        self._stack.append(tuple(values))

    def list_of(self, _argument: object) -> None:
        self._stack.append(self._to_mark())

    def dict_of(self, _argument: object) -> None:
        values = self._to_mark()
        self._stack.append({})
        self._fill(values)

    def append(self, _argument: object) -> None:
        value = settled(self.pop())
        self._top(list).append(value)

    def appends(self, _argument: object) -> None:
        values = self._to_mark()
        if not (self._stack and isinstance(self._stack[-1], Shell)):  # a deque, of which nobody needs what is in it
            self._top(list).extend(values)

    def set_item(self, _argument: object) -> None:
        value, key = settled(self.pop()), self.pop()
        self._fill([key, value])

    def set_items(self, _argument: object) -> None:
        self._fill(self._to_mark())

    def _fill(self, values: list[Any]) -> None:
        table = self._top(dict)
        for key, value in zip(values[::2], values[1::2], strict=True):
            table[key_of(key)] = value

    def add_items(self, _argument: object) -> None:
        self._top(set).update(key_of(value) for value in self._to_mark())

    def global_of(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._stack.append(self._find(module, name))

    def stack_global(self, _argument: object) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise Unreadable("it has a class without a name")
        self._stack.append(self._find(module, name))

    def _find(self, module: str, name: str) -> Named:
        known = self._find_maker(module, name)
        if known is None:
            raise Unreadable(f"it names {module[:60]}.{name[:60]}, which is not run")
        return Named(f"{module}.{name}", known)

    def reduce(self, _argument: object) -> None:
        arguments, callee = self.pop(), self.pop()
        self._stack.append(self._make(callee, arguments))

    def new_object_with_names(self, _argument: object) -> None:
        self.pop()
        self.reduce(_argument)

    def instance(self, argument: str) -> None:
        arguments = tuple(self._to_mark())
        self.global_of(argument)
        self._stack.append(self._make(self.pop(), arguments))

    def object_of(self, _argument: object) -> None:
        callee, *arguments = self._to_mark() or [None]
        self._stack.append(self._make(callee, tuple(arguments)))

    def _make(self, callee: object, arguments: object) -> object:
        if not isinstance(callee, Named) or not isinstance(arguments, tuple):
            raise Unreadable("it calls what is no class")
        # The same arguments can be used again and again: what is made of them is paid for each time.
        self._spend(ENTRY * len(arguments))  # pyright: ignore[reportUnknownArgumentType]
        self._spend(sum(_length(one) for one in arguments))  # pyright: ignore
        try:
            return callee.make(*arguments)  # pyright: ignore[reportUnknownArgumentType]
        except TypeError as error:
            raise Unreadable(f"it has arguments that do not fit {callee.name[:80]}") from error

    def _spend(self, size: int) -> None:
        self._made += size
        if self._made > LARGEST_MADE:
            raise Unreadable(f"it would take more than {LARGEST_MADE >> 20} MB")

    def build(self, _argument: object) -> None:
        state = self.pop()
        made = self.pop()
        self._spend(sum(_length(part) for part in parts_of(state)))
        if isinstance(made, Shell):
            made.build(state)
        elif not isinstance(made, dict):  # an OrderedDict may have attributes, which nobody needs
            raise Unreadable("it has a state for what has none")
        self._stack.append(made)  # pyright: ignore[reportUnknownArgumentType]

    def persistent(self, argument: object) -> None:
        if self._persistent is None:
            raise Unreadable("it refers to other files")
        self._stack.append(self._persistent(self.pop() if argument is None else argument))


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_LITERALS = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_NOTHING = frozenset({"PROTO", "FRAME", "STOP"})
_MACHINE: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _Machine.reduce),
    **dict.fromkeys(("PERSID", "BINPERSID"), _Machine.persistent),
    "MEMOIZE": _Machine.memoise,
    "MARK": _Machine.mark,
    "POP": _Machine.pop_one,
    "POP_MARK": _Machine.pop_mark,
    "TUPLE": _Machine.tuple_of,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "LIST": _Machine.list_of,
    "DICT": _Machine.dict_of,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "ADDITEMS": _Machine.add_items,
    "GLOBAL": _Machine.global_of,
    "STACK_GLOBAL": _Machine.stack_global,
    "NEWOBJ_EX": _Machine.new_object_with_names,
    "INST": _Machine.instance,
    "OBJ": _Machine.object_of,
    "BUILD": _Machine.build,
}
