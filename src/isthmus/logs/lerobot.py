"""LeRobot data sets on disk, of the layouts 2 and 3: parquet files, and a description in `meta/info.json`."""

from pathlib import Path
from typing import Any, cast

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import read_json
from isthmus.io.regular import open_regular
from isthmus.logs.series import MOST_VALUES, Log, Series, make_log, numbered

MOST_FILES = 10_000
LARGEST = 2 << 30
GAP_SECONDS = 1.0
"""Between one episode and the next: their own clocks all begin at 0."""
BOOKKEEPING = ("index", "frame_index", "episode_index", "task_index", "timestamp")


def read_lerobot(folder: Path) -> Log:
    """The features of all episodes, one after the other; `episode_index` tells them apart. Nothing is downloaded."""
    info = read_json(folder / "meta" / "info.json")
    version = str(info.get("codebase_version", ""))[:20]
    if not version.startswith(("v2", "v3")):
        raise Problem(f"{folder} is a LeRobot data set of layout {version!r}: v2 and v3 are read")
    files = sorted((folder / "data").rglob("*.parquet"))
    if not files or len(files) > MOST_FILES:
        raise Problem(f"{folder} has {len(files)} parquet files in data, expected 1 to {MOST_FILES}")
    notes: list[str] = []
    columns = _joined([table for file in files if (table := _table(file, notes)) is not None], folder, notes)
    if "timestamp" not in columns or "episode_index" not in columns:
        raise Problem(f"{folder} has no columns timestamp and episode_index: it is not a LeRobot data set")
    time = _one_clock(columns["timestamp"][:, 0], columns["episode_index"][:, 0])
    series = [
        Series(name, time, values, _labels(info, name, values.shape[1]))
        for name, values in columns.items()
        if name not in BOOKKEEPING or name == "episode_index"
    ]
    rate = info.get("fps")
    meta: dict[str, str | float] = {"fps": float(rate)} if isinstance(rate, int | float) else {}
    return make_log(folder, f"LeRobot {version}", series, notes, meta)


def _table(file: Path, notes: list[str]) -> dict[str, Float] | None:
    """The numeric columns of a parquet file, (T, k) each; None, and a note, where it is damaged."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Problem("LeRobot data sets need the package pyarrow: pip install 'isthmus[logs]'") from error
    try:
        with open_regular(file, limit=LARGEST, follow=True) as opened:
            found: Any = pq.ParquetFile(opened)
            if found.metadata.num_rows * found.metadata.num_columns > MOST_VALUES:
                notes.append(f"{file.name} was left out, it has {found.metadata.num_rows:,} rows: split the data set")
                return None
            if not found.metadata.num_rows:
                return None  # an episode without a frame
            table: Any = found.read(use_threads=False)
        return {
            name: values
            for name, column in zip(table.column_names, table.columns, strict=True)
            if (values := _values(column)) is not None
        }
    except Exception as error:  # a damaged file fails in many ways, some of them in types of pyarrow alone
        notes.append(f"{file.name} was left out, it is damaged: {str(error).splitlines()[0][:120]}")
        return None


def _values(found: object) -> Float | None:
    """A column of numbers or of equally long lists of numbers as (T, k); None for anything else."""
    column: Any = found  # pyarrow is not typed
    kind = str(column.type)
    if kind.startswith(("list", "fixed_size_list", "large_list")):
        lengths = {len(one) if one is not None else -1 for one in column.to_pylist()}
        if len(lengths) != 1 or min(lengths) < 1:
            return None
        flat: Any = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return flat.astype(float).reshape(-1, lengths.pop()) if flat.dtype.kind in "biuf" else None
    if kind.startswith(("int", "uint", "float", "double", "bool", "halffloat")):
        return np.asarray(column.to_numpy(), float).reshape(-1, 1)
    return None


def _joined(tables: list[dict[str, Float]], folder: Path, notes: list[str]) -> dict[str, Float]:
    if not tables:
        raise Problem(f"{folder} has no parquet file that can be read ({notes[0] if notes else 'all are empty'})")
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    return {
        name: np.concatenate([table[name] for table in tables])
        for name in shared
        if len({table[name].shape[1] for table in tables}) == 1
    }


def _one_clock(time: Float, episodes: Float) -> Float:
    """Times on one clock (T,), an episode after the other."""
    begins = np.flatnonzero(np.diff(episodes, prepend=np.nan) != 0)
    joined, offset = np.empty_like(time), 0.0
    for first, end in zip(begins, [*begins[1:], len(time)], strict=True):
        joined[first:end] = time[first:end] - time[first] + offset
        offset = joined[end - 1] + GAP_SECONDS
    return joined


def _labels(info: dict[str, Any], name: str, count: int) -> tuple[str, ...]:
    """The names of a feature's components, where the description has as many."""
    features: Any = info.get("features")
    feature: Any = cast("dict[str, Any]", features).get(name) if isinstance(features, dict) else None
    names: Any = cast("dict[str, Any]", feature).get("names") if isinstance(feature, dict) else None
    if isinstance(names, dict):  # {"motors": [...]}
        names = next(iter(cast("dict[str, Any]", names).values()), None)
    if isinstance(names, list) and len(cast("list[Any]", names)) == count:
        return tuple(str(one)[:200] for one in cast("list[Any]", names))
    return numbered(count)
