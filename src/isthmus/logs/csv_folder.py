"""A folder of CSV files that were recorded together: a file each for commands, motors, sensors."""

from dataclasses import replace
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import read_regular
from isthmus.logs.csv_log import read_csv
from isthmus.logs.series import Log, Series, make_log

MOST_FILES = 100
JOINT_LIST = "joint_list.txt"
"""Names of the joints, one a line: they label vectors of as many components."""


def read_csv_folder(folder: Path) -> Log:
    """The series of all CSV files, named `file.column`. Files share a clock, so that none is shifted."""
    files = sorted(folder.glob("*.csv"))
    if len(files) > MOST_FILES:
        raise Problem(f"{folder} has {len(files)} CSV files, at most {MOST_FILES} are read together")
    joints = _joints(folder / JOINT_LIST)
    series: list[Series] = []
    notes: list[str] = []
    for file in files:
        try:
            log = read_csv(file, from_zero=False)
        except Problem as problem:  # as a file of events, which has no numbers
            notes.append(f"{file.name} was left out: {problem}")
            continue
        notes += [f"{file.name}: {note}" for note in log.notes]
        for one in log.series.values():
            labels = joints if len(joints) == len(one.labels) else one.labels
            series.append(replace(one, name=f"{file.stem}.{one.name}", labels=labels))
    return make_log(folder, "CSV", series, notes)


def _joints(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    lines = read_regular(path, limit=1 << 20).decode("utf-8", "replace").splitlines()
    return tuple(line.strip() for line in lines if line.strip())
