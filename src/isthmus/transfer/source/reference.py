"""A reference in a file: recorded observations of a robot, without actions, one control period apart."""

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from isthmus.adapt.common.reference import Reference
from isthmus.adapt.reference.policy import ReferencePolicy, reference_policy
from isthmus.core import Problem, WorldSpec
from isthmus.io import load_arrays, write_whole
from isthmus.io.files import pack_arrays
from isthmus.tasks import Task
from isthmus.transfer.source.source import WORLDS

KIND = "reference"
SAME_PERIOD = 1e-6
"""Relative difference of two control periods that are the same."""


def write_reference(path: Path, reference: Reference, spec: WorldSpec) -> None:
    """Write the recorded observations as one npz file, with their names and the control period."""
    write_whole(path, pack_reference(reference, spec))


def write_table(path: Path, reference: Reference, spec: WorldSpec) -> None:
    """Write recorded observations as a table: time, episode and a column for each number of an observation."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("time", "episode", *spec.observation_names))
    for number, track in enumerate(reference.tracks):
        for step, seen in enumerate(track.tolist()):
            rows.writerow((round(step * spec.control_period, 9), number, *seen))
    write_whole(path, text.getvalue().encode())


FORMATS: Mapping[str, Callable[[Path, Reference, WorldSpec], None]] = {".npz": write_reference, ".csv": write_table}
"""The functions that write recorded observations to a file, by the ending of its name."""


def pack_reference(reference: Reference, spec: WorldSpec) -> bytes:
    """The content of that file."""
    lengths = np.array([len(track) for track in reference.tracks])
    about = {"kind": KIND, "names": list(spec.observation_names), "period": spec.control_period}
    return pack_arrays({"observations": reference.observations, "lengths": lengths}, about)


def is_reference(path: Path) -> bool:
    """Whether the file is one that `write_reference` has written."""
    if path.suffix != ".npz" or not path.is_file():
        return False
    try:
        load_arrays(path, KIND, follow=True)
    except Problem:
        return False
    return True


def read_reference(path: Path, spec: WorldSpec) -> Reference:
    """The reference in a file, refused unless it is of the robot that `spec` describes."""
    return reference_of(*load_arrays(path, KIND, follow=True), path, spec)


def reference_of(arrays: dict[str, np.ndarray], about: dict[str, Any], path: Path, spec: WorldSpec) -> Reference:
    """The same for the content of the file at `path`."""
    names, period = about.get("names"), about.get("period")
    if not isinstance(names, list) or not isinstance(period, float) or not period > 0:
        raise Problem(f"{path} is not a reference file, or it is damaged (it has no names or no period)")
    check_names(path, cast("list[object]", names), spec)
    if abs(period / spec.control_period - 1) > SAME_PERIOD:
        raise Problem(
            f"{path} has an observation every {period:g} s, and the robot is controlled every "
            f"{spec.control_period:g} s: record it again, or give a log with a time column, which is resampled"
        )
    try:
        observations = np.asarray(arrays["observations"], np.float64)
        lengths = np.asarray(arrays["lengths"], np.int64)
    except (KeyError, ValueError, TypeError) as error:
        raise Problem(f"{path} is not a reference file, or it is damaged ({error})") from error
    whole = lengths.ndim == 1 and bool((lengths > 0).all()) and lengths.sum() == len(observations)
    if observations.ndim != 2 or observations.shape[1] != spec.observation_size or not whole:
        raise Problem(
            f"{path} is not a reference file, or it is damaged (observations have the shape {observations.shape})"
        )
    try:
        return Reference(tuple(np.split(observations, np.cumsum(lengths)[:-1])))
    except Problem as problem:
        raise Problem(f"{path} cannot be followed: {problem}") from problem


def check_names(path: Path, names: list[object], spec: WorldSpec) -> None:
    """Refuse columns of another robot, or in another order."""
    wanted = list(spec.observation_names)
    if names == wanted:
        return
    if len(names) != len(wanted):
        raise Problem(f"{path} has {len(names)} columns, and an observation of the robot has {len(wanted)}")
    first = next(i for i, (ours, theirs) in enumerate(zip(wanted, names, strict=True)) if ours != theirs)
    order = "in another order" if sorted(map(str, names)) == sorted(wanted) else "of another robot"
    raise Problem(
        f"{path} has columns {order}: column {first} is {str(names[first])[:40]!r}, expected {wanted[first]!r}"
    )


def load_reference_policy(path: Path, task: Task) -> ReferencePolicy:
    """The policy that follows the reference in a file, by the task's simulator."""
    spec = task.robot_model.spec
    return reference_policy(read_reference(path, spec), task.unclamped(WORLDS), spec)
