"""The page of a fit: errors of every model, a held-out replay, and what the data covers."""

from pathlib import Path
from typing import Any

import numpy as np

from isthmus.actuators.fit.study import Study
from isthmus.actuators.plant import Plant
from isthmus.actuators.predict import predicted
from isthmus.actuators.reading import Reading
from isthmus.actuators.replay import replay, thinned, windows
from isthmus.core import Float
from isthmus.experiments.actuator.results import figures, markdown, measure_of, table, verdict
from isthmus.experiments.page import Page, publish

SHOWN = 3
"""Joints whose course is drawn: the best, the middle and the worst."""
NAME = "results"
"""Of the files: the model beside them is actuator.npz, with an actuator.json of its own."""


def write_results(
    folder: Path, study: Study, reading: Reading, plant: Plant | None, command: str, inputs: Float | None = None
) -> dict[str, Any]:
    """Write results.json, .md, .svg and .html; returns the figures. `inputs` (n, J, 2) are a policy's."""
    from isthmus.experiments.actuator.drawing import draw  # noqa: PLC0415 - matplotlib is an extra

    data = figures(study, reading, command)
    if inputs is not None:
        data["coverage"] = coverage(study, inputs)
    drawing = draw(reading, courses(study, plant), study, inputs)
    publish(folder, NAME, data, markdown(study), drawing, page(study, reading, plant, data))
    return data


def coverage(study: Study, inputs: Float) -> dict[str, Any]:
    """Share of a policy's errors and velocities (n, J, 2) that lie within the data, over all and for each joint."""
    seen = study.best.actuator.contract.seen  # (J, 2, 2)
    within = ((inputs >= seen[..., 0]) & (inputs <= seen[..., 1])).all(axis=-1)
    return {"share": float(within.mean()), "joints": within.mean(axis=0).tolist()}


def courses(study: Study, plant: Plant | None) -> dict[str, Any]:
    """One held-out block as it was recorded, and as the first and the chosen model have it."""
    what, _, _ = measure_of(study)
    errors = getattr(study.best, what).mean(axis=0)
    order = np.argsort(errors)
    joints = list(
        dict.fromkeys(int(order[place]) for place in np.linspace(0, len(order) - 1, min(SHOWN, len(order))).astype(int))
    )
    block = study.parts.test[len(study.parts.test) // 2]
    models = {row.name: row.actuator for row in (study.rows[0], study.best)}
    if plant is not None:
        where = thinned(windows(block, study.seconds), 1)
        shown = {name: replay(model, plant, block, where)[0] for name, model in models.items()}
        real, unit = where.of(block.position)[0], "rad"
    else:
        rows = slice(0, min(len(block), round(1.0 / block.dt)))
        shown = {name: predicted(model, block)[rows] for name, model in models.items()}
        real, unit = np.asarray(block.torque)[rows], "N m"
    return {"joints": joints, "real": real, "models": shown, "unit": unit, "dt": block.dt, "names": block.joints}


def page(study: Study, reading: Reading, plant: Plant | None, data: dict[str, Any]) -> Page:
    """The page; text is escaped when it is rendered."""
    what, unit, factor = measure_of(study)
    columns, rows = table(study)
    resolution = ", ".join(f"{1e3 * one:.2g}" for one in reading.resolution if np.isfinite(one))
    sections = [
        {
            "title": "Models on held-out motion",
            "columns": columns,
            "rows": rows,
            "text": [
                f"Split: {study.parts.how}. The first model is the baseline; * is the one chosen by the validation "
                "motion, which is neither training nor test.",
                f"Smallest change of a position that the log resolves, joint by joint, in mrad: {resolution}.",
            ],
        },
        {
            "title": "The chosen model by joint and block",
            "columns": ["block", *(f"{joint} " for joint in reading.log.joints)],
            "rows": [
                [study.parts.test[number].names[0], *(f"{factor * one:.3g}" for one in values)]
                for number, values in enumerate(getattr(study.best, what))
            ],
            "text": [f"{study.best.name}, {unit} rms."],
        },
        {
            "title": "Lags",
            "columns": ["lags in ms", "validation torque N m "],
            "text": [
                "Chosen by a small network on the validation motion. Targets take effect after "
                f"{1e3 * study.delay:.1f} ms."
            ],
            "rows": [
                [", ".join(f"{1e3 * lag * reading.log.dt:g}" for lag in lags), f"{error:.4g}"]
                for lags, error in study.lags
            ],
        },
    ]
    if "coverage" in data:
        sections.append(
            {
                "title": "Coverage of the policy's inputs",
                "columns": ["joint", "within the data "],
                "text": [f"{data['coverage']['share']:.1%} of the policy's errors and velocities lie within the data."],
                "rows": [
                    [joint, f"{share:.1%}"]
                    for joint, share in zip(reading.log.joints, data["coverage"]["joints"], strict=True)
                ],
            }
        )
    notes = [f"{one}." for one in reading.notes] + ([f"{plant.note}."] if plant is not None and plant.note else [])
    lead = [f"{verdict(study)}.", *notes, "In a simulation the model warns when it is asked outside this data."]
    return Page(
        "page.html", {"title": "Actuator models", "lead": lead, "sections": sections, "command": data["command"]}
    )
