"""Figure 3 with two small cases of Reacher; as a script it is made in the folder that is named, to be killed."""

import dataclasses
import sys
from pathlib import Path

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.experiments.paper import FIGURES, Figure, reproduce


def tiny() -> Figure:
    figure = FIGURES["figure-3"]()
    settings = MethodSettings(history=2, fit=FitSettings(epochs=2))
    small = {"samples": 60, "round_samples": 30, "evaluation_episodes": 50, "settings": settings}
    cases = tuple(
        dataclasses.replace(case, config=dataclasses.replace(case.config, **small))
        for case in figure.cases
        if (case.robot, case.gap) in {("reacher", "none"), ("reacher", "tilt=90"), ("hopper", "none")}
    )
    return dataclasses.replace(figure, cases=cases)


if __name__ == "__main__":
    reproduce(tiny(), Path(sys.argv[1]), seeds=2, only=["reacher"], workers=2)
