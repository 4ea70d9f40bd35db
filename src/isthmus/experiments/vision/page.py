"""The pages about a localiser: what it is trained on, and how well it does."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.experiments.page import Page
from isthmus.io import write_whole

if TYPE_CHECKING:
    from isthmus.vision.localiser.evaluate import Outcome, Trial

COLUMNS = (
    "",
    "n ",
    "median cm ",
    "mean ",
    "90 % ",
    "right ",
    "median of right ",
    "sure ",
    "right if sure ",
    "yaw deg ",
)
BRIEF = ("", "n ", "median cm ", "mean cm ", "right ", "sure ", "yaw deg ")
CONDITIONS = ("alone", "distractors", "occluded")


def write_preview(path: Path, pictures: Sequence[tuple[bytes, str]], lead: Sequence[str], command: str) -> None:
    """A page of randomised images (PNG files with captions)."""
    shown = [{"source": _inline(content, "png"), "caption": caption} for content, caption in pictures]
    content = {
        "title": "What the network will see",
        "lead": lead,
        "sections": [],
        "pictures": shown,
        "command": command,
    }
    write_whole(path, Page("vision.html", content).render().encode())


def write_report(
    path: Path,
    results: Mapping[str, Any],
    figures: Mapping[str, Mapping[str, Any]],
    worst: "Sequence[tuple[str, Trial, Outcome]]",
    command: str,
) -> None:
    """The report of a localiser: `figures` of each set of pictures, and its worst cases with the name of their set."""
    lead = [
        f"A localiser of {results['object']!r}, trained on {results['images']:,} randomised renderings and on no "
        f"other picture, in {results['training']['core_minutes']:.0f} minutes of one core. It takes "
        f"{results['milliseconds']:.1f} ms of one core for a picture.",
    ]
    sections = [_table(name, one) for name, one in figures.items()]
    sections += [_confidence(name, one) for name, one in figures.items()]
    content = {
        "title": f"Localiser of {results['object']}",
        "lead": lead,
        "sections": [*sections, _history(results["history"])],
        "pictures": [_worst(*one) for one in worst],
        "command": command,
    }
    write_whole(path, Page("vision.html", content).render(_plot(results, figures)).encode())


def rows_of(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A row of figures for each condition."""
    return [
        (
            name, str(one["n"]), f"{one['median_cm']:.2f}", f"{one['mean_cm']:.2f}", f"{one['p90_cm']:.2f}",
            f"{one['right']:.3f}", _number(one["median_cm_right"]), f"{one['sure']:.3f}",
            _number(one["right_when_sure"]), _number(one["median_yaw_deg"], 1),
        )
        for name, one in figures.items() if name in CONDITIONS
    ]  # fmt: skip


def brief_rows(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The same with fewer figures, for a terminal: the columns `BRIEF`."""
    return [(row[0], row[1], row[2], row[3], row[5], row[7], row[9]) for row in rows_of(figures)]


def _table(name: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    text = [
        "The right object is chosen if no distractor is nearer to the answer and the answer is within "
        f"{2 * figures['radius_cm']:.0f} cm, the object's diameter. The median of these is the precision alone. "
        "It is sure if the probability of having the right object is at least one half."
    ]
    return {"title": f"On {name}", "text": text, "columns": COLUMNS, "rows": rows_of(figures)}


def _confidence(name: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    confidence = figures["confidence"]
    rows = [(f"{said:.3f}", f"{was:.3f}", str(count)) for said, was, count in confidence["bins"]]
    text = [f"Expected calibration error {confidence['calibration_error']:.3f}."]
    return {
        "title": f"Confidence on {name}", "text": text, "columns": ("confidence ", "right ", "pictures "), "rows": rows,
    }  # fmt: skip


def _history(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rows = [
        (f"{one['images']:,}", *(f"{one[c]['median_cm']:.2f} / {one[c]['right']:.2f}" for c in CONDITIONS))
        for one in points
    ]
    text = ["Median error in cm and share of right objects on few renderings, measured while training."]
    return {"title": "Error against images seen", "text": text, "columns": ("images ", *(f"{c} " for c in CONDITIONS)),
            "rows": rows}  # fmt: skip


def _worst(name: str, trial: "Trial", outcome: "Outcome") -> dict[str, str]:
    from isthmus.vision.marks import SAID, TRUE, jpeg, mark_cross  # noqa: PLC0415 - OpenCV is an extra

    picture = mark_cross(trial.picture, trial.camera.project(trial.position)[0], TRUE, 22)
    picture = mark_cross(picture, outcome.located.pixel, SAID, 16)
    caption = (
        f"{name}, {trial.condition}: {100 * outcome.error:.1f} cm off, confidence {outcome.located.confidence:.2f}"
    )
    return {"source": _inline(jpeg(picture[::2, ::2]), "jpeg"), "caption": caption}


def _plot(results: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Error against images, and reliability, as a drawing; None without matplotlib."""
    try:
        from isthmus.experiments.vision.drawing import draw_report  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return _inline(draw_report(results["history"], figures), "svg+xml")


def _inline(content: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"
