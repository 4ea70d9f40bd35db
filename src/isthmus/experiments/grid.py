"""One runner for all experiments: a grid of cells, each computed once, on any number of processes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from isthmus.core import Problem
from isthmus.experiments.pool import run_all
from isthmus.io import check_tree
from isthmus.transfer import Config, Result, RunFolder, run_transfer, shared_context

Json = dict[str, Any]
R = TypeVar("R")


@dataclass(frozen=True)
class Cell(Generic[R]):
    """One point of a grid. A cell is picklable, so that any process can compute it."""

    name: str
    """The name that people read."""
    file: str
    """The name of its file or folder, which no other cell of the grid has."""
    run: Callable[[Path], R]
    """Computes the result in a folder; work that was interrupted continues there."""
    task: str = ""
    """The task whose expert the result depends on."""
    settings: Json = field(default_factory=Json)
    """All settings that decide the result."""
    fields: type[object] = Json
    """A dataclass with the fields of the result, against which a stored one is checked; by default any will do."""


class Store(Protocol[R]):
    """Where the results of cells are kept; picklable too."""

    def place(self, cell: Cell[R]) -> Path:
        """The folder in which the cell works."""
        ...

    def load(self, cell: Cell[R]) -> R | None:
        """The stored result; None if there is none."""
        ...

    def save(self, cell: Cell[R], result: R) -> None:
        """Keep a result."""
        ...


@dataclass(frozen=True)
class Progress(Generic[R]):
    """The state of a grid."""

    found: Mapping[str, R]
    """Results so far, by `Cell.file`."""
    total: int
    latest: Cell[R] | None = None
    """The cell that has just been computed; None at the start."""


Watch = Callable[[Progress[R]], None]
"""Is called at the start and after every cell."""


def run_grid(
    cells: Sequence[Cell[R]],
    store: Store[R],
    watch: Watch[R],
    *,
    workers: int = 1,
    ray: str | None = None,
    wanted: Collection[str] | None = None,
) -> dict[str, R]:
    """Compute the cells that are not stored yet; returns all results by `Cell.file`.

    Cells run on `workers` processes, or on the Ray cluster at address `ray`. If `wanted` is given, only cells with
    these files are computed; others are loaded if they are stored. A grid that was stopped or killed continues when it
    is run again.
    """
    stored = {cell.file: store.load(cell) for cell in cells}
    found = {file: result for file, result in stored.items() if result is not None}
    left = [cell for cell in cells if cell.file not in found and (wanted is None or cell.file in wanted)]
    total = len(found) + len(left)
    watch(Progress(dict(found), total))

    def deliver(cell: Cell[R], result: R) -> None:
        store.save(cell, result)
        found[cell.file] = result
        watch(Progress(dict(found), total, cell))

    run_all(left, partial(_run, store), deliver, workers=workers, ray=ray)
    return found


def _run(store: Store[R], cell: Cell[R]) -> R:
    return cell.run(store.place(cell))


def check_counts(**counts: int) -> None:
    """Refuse numbers of seeds or workers below 1."""
    for name, value in counts.items():
        if value < 1:
            raise Problem(f"{name} must be at least 1, got {value}")


def transfer(config: Config, folder: Path, *, traces: bool = False) -> Result:
    """Run, or continue, the transfer of `config` in `folder`; a run that is complete is only read."""
    context = shared_context(config.task, config.policy, config.seed)
    return run_transfer(config, RunFolder(folder), resume=True, traces=traces, context=context)


@dataclass(frozen=True)
class RunFolders:
    """Keeps the results of cells that are transfers: the run folder itself is the stored result."""

    path: Path

    def __post_init__(self) -> None:
        """Refuse a folder that leads elsewhere by symbolic links."""
        check_tree(self.path)

    def place(self, cell: Cell[Result]) -> Path:
        """The run folder."""
        return self.path / cell.file

    def load(self, cell: Cell[Result]) -> Result | None:
        """Nothing: `transfer` reads a complete run."""

    def save(self, cell: Cell[Result], result: Result) -> None:
        """Do nothing: the run has written its own result."""
