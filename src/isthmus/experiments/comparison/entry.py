"""Who takes part in a comparison: a row is a method with a length of history."""

from dataclasses import dataclass

from isthmus.adapt import METHODS, MethodKind
from isthmus.core import unknown_name
from isthmus.experiments.comparison.settings import HISTORIES

UNADAPTED = "unadapted"
ALL = "all"


@dataclass(frozen=True)
class Entry:
    """One method, looking back so many observations."""

    method: str
    history: int = 1

    @property
    def label(self) -> str:
        """Names its row."""
        return self.method if self.history == 1 else f"{self.method}, history {self.history}"

    @property
    def kind(self) -> MethodKind:
        """What the registry has of it."""
        return METHODS[self.method]


def choose_entries(names: str = ALL) -> tuple[Entry, ...]:
    """The rows of the methods that are named, with commas between them; the expert as it is always takes part."""
    chosen = list(METHODS) if names.strip() == ALL else [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in METHODS:
            raise unknown_name("method", name, [*METHODS, ALL])
    return tuple(
        Entry(name, history) for name in dict.fromkeys((UNADAPTED, *chosen)) for history in HISTORIES.get(name, (1,))
    )
