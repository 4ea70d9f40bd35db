"""Robot logs, in every format that is read."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import mutate
import numpy as np
from reader import Reader

from isthmus.logs import LogMap, read_log, read_map, write_map
from isthmus.logs.inspect import complaints, inspect_series
from isthmus.logs.log_map import ActuatorSource, JointSources, Source

WRITERS = Path(__file__).parents[2] / "tests" / "logs" / "writers.py"
"""What writes sound logs, for the tests too."""


def log_readers(folder: Path, wanted: list[str]) -> list[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    write: dict[str, Any] = {kind: (file, writer) for kind, (file, writer) in _writers().items()}
    made = {kind: writer(logs / file) for kind, (file, writer) in write.items() if not (logs / file).exists()}
    samples = {
        "rosbag 1": [made["rosbag 1"]],
        "rosbag 2, SQLite": [
            one for kind in ("rosbag 2, SQLite", "rosbag 2, packed messages") for one in made[kind].glob("*.db3")
        ],
        "rosbag 2, packed": list(made["rosbag 2, SQLite, packed files"].glob("*.zstd")),
        "MCAP": [*made["rosbag 2, MCAP"].glob("*.mcap"), made["MCAP with JSON"]],
        "LeRobot": list(made["LeRobot 3"].rglob("*.parquet")),
        "CSV": [made["CSV"], _table(logs / "table.csv")],
        "CSV with vectors": [made["CSV with vectors"], _dates(logs / "dates.csv")],
        "npz": [made["npz"], *_archives(logs)],
        "JSON lines": [made["JSON lines"], _columns(logs / "columns.json"), _cut(logs / "cut.json")],
        "map .toml": [_map(logs / "robot.logmap.toml")],
    }
    info = made["LeRobot 3"] / "meta" / "info.json"

    def read_lerobot(path: Path) -> object:
        data = folder / "lerobot"
        shutil.rmtree(data, ignore_errors=True)
        for place, source in ((data / "meta" / "info.json", info), (data / "data" / "file.parquet", path)):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place) if source.is_file() else place.symlink_to(source)
        return _inspect(data)

    def read_packed(path: Path) -> object:
        bag = folder / "packed"
        shutil.rmtree(bag, ignore_errors=True)
        bag.mkdir()
        shutil.copyfile(path, bag / "log.db3.zstd") if path.is_file() else (bag / "log.db3.zstd").symlink_to(path)
        return _inspect(bag)

    return [
        Reader(
            f"log, {kind}",
            files,
            mutate.zipped if kind == "npz" else mutate.plain,
            {"LeRobot": read_lerobot, "rosbag 2, packed": read_packed, "map .toml": read_map}.get(kind, _inspect),
            must_refuse=False,  # what is hostile to others may be a log, as JSON or an archive of arrays
        )
        for kind, files in samples.items()
        if f"log, {kind}" in wanted
    ]


def _table(path: Path) -> Path:
    """Comments, decimal commas, row numbers without a name, and a clock that begins anew."""
    rows = [f"{n};{0.01 * (n % 30):.2f};{n % 7}".replace(".", ",") for n in range(60)]
    path.write_text("\n".join(["# robot: arm", "% 2026", ";time;hip [deg]", *rows]))
    return path


def _dates(path: Path) -> Path:
    """Dates, a row of units, vectors in brackets of other languages, words for what is missing."""
    rows = [f"12:00:{n % 60:02d}.5,{n},[{n} {n + 1}],N/A" for n in range(40)]
    path.write_text("\n".join(["time,q,v,w", "s,deg,N m,V", *rows, "time,q,v,w", *rows]))
    return path


def _cut(path: Path) -> Path:
    """Objects with lists of objects, and dates, whose end is missing."""
    rows = [{"time": f"2024-05-01T12:00:{n:02d}Z", "motors": [{"q": n}, {"q": 1.0}]} for n in range(40)]
    path.write_text(json.dumps({"robot": "arm", "rows": rows})[:-40])
    return path


def _archives(folder: Path) -> list[Path]:
    """Arrays with two clocks, one of them transposed, and arrays with episodes."""
    clocks, episodes = folder / "clocks.npz", folder / "episodes.npz"
    time, fast = 0.01 * np.arange(40), 0.002 * np.arange(200)
    np.savez(clocks, time=time, q=np.ones((2, 40)), cmd_time=fast, cmd=np.sin(fast))
    np.savez(episodes, dt=0.01, q=np.ones((3, 40, 2)), reward=np.zeros((3, 40)))
    return [clocks, episodes]


def _columns(path: Path) -> Path:
    """A list for each column, in objects within objects."""
    data = {"time": [0.01 * n for n in range(40)], "q": [[0.1 * n, 1.0] for n in range(40)]}
    path.write_text(json.dumps({"robot": "arm", "data": data, "gains": [1.0, 2.0]}))
    return path


def _map(path: Path) -> Path:
    joints = tuple(JointSources(f"joint {n}", Source("q", n, -1, 0.5, 0.1), Source("v", n)) for n in range(3))
    actuators = tuple(ActuatorSource(f"motor {n}", f"joint {n}", Source("u", n), kp=20.0) for n in range(3))
    write_map(path, LogMap(joints, actuators, rate=100.0, enabled=Source("on", 0)), ("a comment",))
    return path


def _inspect(path: Path) -> object:
    return [complaints(inspect_series(one)) for one in read_log(path).series.values()]


def _writers() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("log_writers", WRITERS)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{WRITERS} is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRITERS
