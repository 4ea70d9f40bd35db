"""Sources without actions: recorded observations, read from whatever holds them."""

from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.cli.output import stderr

if TYPE_CHECKING:
    from isthmus.adapt.common.reference import Reference
    from isthmus.transfer import PolicyFile, RunFolder

NOT_WRITTEN = "not written"
"""The digest of a file that is to be written when the run begins."""


def reference_file(path: Path, task: str, folder: "RunFolder") -> "PolicyFile":
    """The reference at `path` for a run of `task` in `folder`. It is checked, and nothing is written yet."""
    from isthmus.robots import load_task
    from isthmus.transfer import PolicyFile
    from isthmus.transfer.source.reference import is_reference, read_reference

    if is_reference(path):
        read_reference(path, load_task(task).robot_model.spec)
        return PolicyFile(str(path), reference=True)
    _recorded(path, task)
    return PolicyFile(str(_kept(folder)), reference=True, digest=NOT_WRITTEN)


def keep_reference(path: Path, task: str, folder: "RunFolder", *, resume: bool) -> "PolicyFile":
    """The same, ready to be followed.

    A log of another form is written beside the run folder as the robot's own observations at its control rate, so that
    the run can go on without it. Nothing is written for a run that is there already.
    """
    from isthmus.core import Problem
    from isthmus.robots import load_task
    from isthmus.transfer import PolicyFile
    from isthmus.transfer.source.reference import is_reference, read_reference, write_reference

    if is_reference(path) or (folder.config_path.exists() and not resume):
        return reference_file(path, task, folder)
    reference, notes = _recorded(path, task)
    for note in notes:
        stderr.print(f"note: {note}", soft_wrap=True)
    kept, spec = _kept(folder), load_task(task).robot_model.spec
    if not (folder.config_path.exists() and kept.exists()):
        write_reference(kept, reference, spec)
    elif not read_reference(kept, spec).is_same(reference):
        raise Problem(f"{folder.path} was begun with other observations than those in {path}: give a new --out")
    return PolicyFile(str(kept), reference=True)


def _kept(folder: "RunFolder") -> Path:
    return folder.path.with_name(f"{folder.path.name}.reference.npz")


def _recorded(path: Path, task: str) -> "tuple[Reference, tuple[str, ...]]":
    """The observations in a log, and what was assumed or changed."""
    from isthmus.adapt.common.reference import Reference
    from isthmus.core import Problem
    from isthmus.logs import read_log
    from isthmus.logs.observations import observations_of
    from isthmus.robots import load_task

    spec = load_task(task).robot_model.spec
    recorded = observations_of(read_log(path), spec.observation_names, spec.control_period)
    try:
        return Reference(recorded.tracks), recorded.notes
    except Problem as problem:
        raise Problem(f"{path} cannot be followed: {problem}") from problem
