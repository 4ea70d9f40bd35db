"""Write the report of a run."""

from collections.abc import Sequence
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
from isthmus.report.collected import collected
from isthmus.report.next_steps import next_steps
from isthmus.report.page import render
from isthmus.report.run import Run
from isthmus.report.story import duration, figures, number, sentence
from isthmus.report.video import Video, film
from isthmus.transfer import RunFolder
from isthmus.transfer.command import repeat_command

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
        "number": number,
    }
