"""Messages of topics, as they come, to series: one for each field of a topic."""

from collections import Counter, defaultdict

import numpy as np

from isthmus.core import Problem
from isthmus.logs.ros_messages import Damaged, Message, decode
from isthmus.logs.ros_types import Types
from isthmus.logs.series import MOST_VALUES, Series, numbered

MOST_TOPICS = 2000
BOOKKEEPING = ("header.seq", "layout.data_offset")
"""Fields of messages that measure nothing."""
Key = tuple[str, tuple[str, ...], int]
"""A topic's field, the names of its components, and how many there are."""


class Topics:
    """Collects messages of all topics of a log."""

    def __init__(self) -> None:
        """Begin with none."""
        self._rows: dict[Key, list[tuple[float, float, list[float]]]] = defaultdict(list)
        self._orders: dict[tuple[str, frozenset[str], int], tuple[str, ...]] = {}
        self._refused: Counter[str] = Counter()
        self._counted = 0

    def add(self, topic: str, received: float, content: bytes, name: str, types: Types, *, cdr: bool) -> None:
        """Take a message of type `name`, received at that second. One that cannot be decoded is counted."""
        try:
            message = decode(content, name, types, cdr=cdr)
        except Damaged as error:
            self._refused[f"{topic}: {error}"] += 1
            return
        self.take(topic, received, message)

    def take(self, topic: str, received: float, message: Message) -> None:
        """Take a message that was decoded."""
        if len(self._rows) > MOST_TOPICS:
            raise Problem(f"the log has more than {MOST_TOPICS} kinds of fields: leave out some topics")
        stamp = message.stamp or received  # an unset stamp is 0
        for path, numbers in message.numbers.items():
            if path in BOOKKEEPING:
                continue
            labels = message.names if len(message.names) == len(numbers) else ()
            order = self._orders.setdefault((f"{topic}.{path}", frozenset(labels), len(labels)), labels)
            if order != labels and len(order) == len({*order}):  # joints may come in another order every time
                numbers, labels = [numbers[labels.index(name)] for name in order], order  # noqa: PLW2901
            self._rows[f"{topic}.{path}", labels, len(numbers)].append((stamp, received, numbers))
            self._counted += len(numbers)
        if self._counted > MOST_VALUES:
            raise Problem(f"the log holds more than {MOST_VALUES:,} numbers: split it, or leave out large topics")

    def series(self) -> list[Series]:
        """One series for each field. Where a topic has several publishers, each has its own."""
        found: list[Series] = []
        used: Counter[str] = Counter()
        for (name, labels, length), rows in sorted(self._rows.items(), key=lambda item: -len(item[1])):
            used[name] += 1
            unique = name if used[name] == 1 else f"{name} ({used[name]})"
            time, received, values = (np.array(part, float) for part in zip(*rows, strict=True))
            order = np.argsort(time, kind="stable")
            found.append(
                Series(unique, time[order], values[order], labels or numbered(length), received=received[order])
            )
        return sorted(found, key=lambda one: one.name)

    def notes(self) -> list[str]:
        """A sentence for each kind of message that was left out."""
        return [f"{count} messages were left out, {reason}" for reason, count in self._refused.most_common(20)]
