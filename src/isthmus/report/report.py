"""Write the report of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.io import write_whole
from isthmus.report.charts import (
    Chart,
    correction_charts,
    correction_reading,
    coverage_chart,
    curve_chart,
    error_chart,
    loss_chart,
    rehearsal_chart,
    tracking_chart,
)
from isthmus.report.next_steps import next_steps
from isthmus.report.page import render
from isthmus.report.run import Round, Run
from isthmus.report.story import duration, figures, number, sentence
from isthmus.report.video import Video, film
from isthmus.transfer import RunFolder
from isthmus.transfer.config import repeat_command


@dataclass(frozen=True)
class Collected:
    """One row of the table."""

    number: int
    episodes: int
    samples: int
    planned: int
    """Steps an episode of this round was to have."""
    mean: float
    """Steps an episode had."""
    cut: int
    """Episodes that ended early, because the robot drifted off or the task was over."""
    normalised: float | None
    """Score after the round, if there is one."""


def collected(run: Run) -> list[Collected]:
    """A row for every round."""
    rows, before = list[Collected](), 0
    for one in run.rounds:
        rows.append(_row(run, one, before))
        before += rows[-1].samples
    return rows


def _row(run: Run, one: Round, before: int) -> Collected:
    planned = run.config.episode_length(one.number, run.config.round_end(before), run.spec.horizon)
    lengths = [len(episode[0]) for episode in one.episodes]
    # In its last wave a round may run out of samples: an early end there means nothing.
    earlier = [len(episode[0]) for wave in one.waves[:-1] for episode in wave]
    return Collected(
        number=one.number + 1,
        episodes=len(lengths),
        samples=sum(part.samples for episode in one.episodes for part in episode),
        planned=planned,
        mean=sum(lengths) / max(len(lengths), 1),
        cut=sum(length < planned for length in earlier),
        normalised=one.normalised if one.evaluated else None,
    )


EFFORT_TITLES = {
    "expert": "expert, in its simulator",
    "unadapted": "unadapted, on the target",
    "adapted": "adapted, on the target",
}
TIMINGS = {"collect": "collecting", "fit": "fitting", "evaluate": "evaluating"}


def write_report(folder: RunFolder, *, video: bool = True, task: str | None = None, trust: bool = False) -> Path:
    """Build the page of a finished run from what is in its folder, and nothing else; returns where it is.

    Without `video`, or where nothing can be drawn, the page says so in the video's place. A run of a robot file needs
    that file named as `task`, or `trust` in what the folder names: it is code, and is run.
    """
    run = Run.load(folder, task=task, trust=trust)
    charts = film(folder, run) if video else Video(text="This report was written without a video.")
    write_whole(folder.report_path, render(content(run, charts, folder.robot_parts())).encode())
    return folder.report_path


def content(run: Run, video: Video, robot: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Everything the template shows; `robot` has what happened with one over ROS, in each part of the run."""
    result = run.result
    charts: dict[str, Chart | None] = {
        "curve": curve_chart(run),
        "rehearsals": rehearsal_chart(run),
        "tracking": tracking_chart(run),
        "coverage": coverage_chart(run),
        "error": error_chart(run),
        "loss": loss_chart(run),
    }
    corrections = correction_charts(run) if run.rounds else []
    drawn = [chart for chart in (*charts.values(), *corrections) if chart]
    return {
        "result": result,
        "follows": run.config.policy.path if run.config.policy and run.config.follows_reference else "",
        "figures": figures(result),
        "sentence": sentence(result, run.spec.control_period),
        "video": video,
        "charts": charts,
        "corrections": corrections,
        "corrections_reading": correction_reading(run) if corrections else "",
        "next_steps": next_steps(run),
        "figure_data": {chart.name: chart.figure for chart in drawn},
        "traced": len(run.traces["adapted"].lengths),
        "rounds": collected(run),
        "robot_time": duration(result.samples * run.spec.control_period),
        "timings": {TIMINGS.get(name, name): duration(seconds) for name, seconds in result.seconds.items()},
        "step_time": run.step_time,
        "control_period": duration(run.spec.control_period),
        "total_time": duration(sum(result.seconds.values())),
        "command": repeat_command(run.config).split(" "),
        "robot": robot,
        "effort_titles": EFFORT_TITLES,
        "number": number,
    }
