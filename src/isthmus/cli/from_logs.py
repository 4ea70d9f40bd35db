"""Logs for a transfer: read as episodes, and what is said about a run that knows nothing else of its robot."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from isthmus.cli.output import stderr, stdout
from isthmus.core import Episode

if TYPE_CHECKING:
    from isthmus.core import Policy
    from isthmus.tasks import Task
    from isthmus.transfer import PolicyFile, RunFolder

Recorded = Sequence[Episode]


def episodes_from(logs: Sequence[Path], task: str, mapping: Path | None, policy: "PolicyFile | None") -> Recorded:
    """The logs as episodes of the task."""
    from isthmus.cli.analyse.recorded import robot_logs
    from isthmus.replay.episodes import episodes_of
    from isthmus.replay.from_logs import recordings
    from isthmus.robots import load_task
    from isthmus.transfer import source_policy

    loaded = load_task(task)
    read, doubts = robot_logs(logs, mapping, task, loaded.robot_model.model)
    recording, notes = recordings(read)
    for note in (*doubts, *notes):
        stderr.print(f"note: {note}", soft_wrap=True)
    source = source_policy(loaded, policy)
    return episodes_of(recording, loaded.robot_model, None if hasattr(source, "act") else cast("Policy", source))


def samples_in(recorded: Recorded) -> int:
    """Control steps that were recorded."""
    return sum(one.samples for episode in recorded for one in episode)


def print_estimated(folder: "RunFolder", task: "Task", recorded: Recorded) -> None:
    """How far the scores of a run from logs alone can be trusted."""
    from isthmus.evaluate import Trace
    from isthmus.io import read_json
    from isthmus.transfer.coverage import coverage

    fitted = read_json(folder.forward_path)
    stdout.print(
        "no robot was moved: the scores are estimates in the simulator as the logs put it right, whose step is off by "
        f"{fitted['model_error']:.2g} standard deviations on held-out recordings, and was by "
        f"{fitted['simulator_error']:.2g}",
        soft_wrap=True,
    )
    trace = Trace.load(folder.trace_path("adapted"))
    rows = np.isfinite(trace.observations[:, :-1]).all(axis=-1)
    found = coverage(task.robot_model.spec, recorded, trace.observations[:, :-1][rows], trace.commands[rows])
    for warning in found.warnings() or ["the logs cover what the adapted policy does there"]:
        stdout.print(f"coverage: {warning}", soft_wrap=True)
