"""Score a localiser on photographs with known places; what it is not sure of counts as half the picture's width."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Float, Problem
from isthmus.core.commit import current_commit
from isthmus.io import read_regular
from isthmus.vision.camera import Camera
from isthmus.vision.conform import conform
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.tracer.photographs import read_picture

COLUMNS = ("picture", "x", "y", "z")
LARGEST = 4 << 20


def read_labels(path: Path) -> dict[Path, Float]:
    """Places (3,) by picture, from a CSV file with columns picture, x, y, z; pictures lie beside the file."""
    try:
        text = read_regular(path, limit=LARGEST, follow=True).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read the labels {path} ({error})") from error
    rows = csv.DictReader(io.StringIO(text))
    if rows.fieldnames is None or not set(COLUMNS) <= set(rows.fieldnames):
        raise Problem(f"{path} must be a CSV file with the columns {', '.join(COLUMNS)}")
    found: dict[Path, Float] = {}
    for number, row in enumerate(rows, 2):
        try:
            place = np.array([float(row[name]) for name in COLUMNS[1:]])
        except (TypeError, ValueError):
            raise Problem(f"line {number} of {path} has no numbers for x, y and z") from None
        if not np.isfinite(place).all():
            raise Problem(f"line {number} of {path} has a place that is not finite")
        found[path.parent / str(row["picture"])] = place
    if not found:
        raise Problem(f"{path} has no pictures")
    return found


def score_labelled(folder: Path, labels: Mapping[Path, Float], camera: Camera) -> dict[str, Any]:
    """Errors in cm over all pictures, with abstentions counted as errors of half the picture's width."""
    localiser, facts = load_localiser(folder)
    rows: list[dict[str, Any]] = []
    for path, place in labels.items():
        picture, its_camera = conform(read_picture(path), camera, facts.camera, str(path))
        located = localiser.locate(picture, its_camera)
        half = half_width(its_camera, localiser.facts.height)
        error = float(np.linalg.norm((located.position - place)[:2])) if located.sure else half
        rows.append(
            {
                "picture": path.name,
                "error_cm": 100 * min(error, half),
                "sure": located.sure,
                "confidence": located.confidence,
                "std_cm": 100 * located.std,
            }
        )
    errors = np.array([row["error_cm"] for row in rows])
    return {
        "n": len(rows),
        "mean_cm": float(errors.mean()),
        "median_cm": float(np.median(errors)),
        "abstained": sum(not row["sure"] for row in rows),
        "pictures": rows,
        "images": facts.images,
        "commit": current_commit(),
    }


def half_width(camera: Camera, height: float) -> float:
    """Half the width, in metres, of what the middle row of the picture shows at a height."""
    ends = camera.to_plane(np.array([[0, camera.height / 2], [camera.width, camera.height / 2]]), height)
    return float(np.linalg.norm(ends[1] - ends[0]) / 2)
