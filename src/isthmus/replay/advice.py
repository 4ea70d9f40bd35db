"""What a gap looks like and what to do about it, in words."""

from collections.abc import Sequence

import numpy as np

from isthmus.core.command import command_of
from isthmus.replay.explain import Explained
from isthmus.replay.fit import Fitted
from isthmus.replay.gap import SOURCE, GapReport

GROUPS = {
    "delay": "delay",
    "friction": "physics",
    "inertia": "physics",
    "gravity": "physics",
    "spring": "physics",
    "motor": "actuator",
    "offset": "actuator",
}
"""Whose business each family is."""
DIALS = {
    "delay": "delay",
    "friction": "joint-friction, damping",
    "motor": "torque-scale, torque-limit",
    "inertia": "mass, armature, com-x",
    "gravity": "gravity, tilt",
    "spring": "none of `isthmus list gaps`: a cable or a spring",
    "offset": "motor-noise with noise-correlation=1, or a sensor's zero",
}
"""The gaps of `isthmus list gaps` that are of a family."""
MEANINGS = {
    "delay": "commands take effect later than the simulator has it",
    "friction": "friction: the joints rub more, or less, than the simulator has it",
    "motor": "motor constants: the drives pull by another strength, speed or limit than the simulator has it",
    "inertia": "inertia: masses, centres of mass or armatures differ",
    "gravity": "gravity: the robot stands at an angle",
    "spring": "a spring, such as a cable that pulls on a joint",
    "offset": "offsets: a sensor's zero or a constant torque",
}
BODIES = ("go2", "qube")
"""Robots by name that are a model and no task."""
CLOSE = 0.98
"""Correlation from which on two parameters are not told apart."""
KNOWN = 0.5
"""Share of its prior uncertainty that must be gone for a parameter to count as determined."""
LARGE = 0.25
"""Share of the error that is worth a step of its own."""
SMALL = 0.05
"""A simulator whose error is this share of how far joints go needs nothing."""


def grouped(report: GapReport) -> dict[str, float]:
    """What physics, actuators, delay and a residual explain of the mean square error on held-out recordings."""
    out: dict[str, float] = dict.fromkeys(("physics", "actuator", "delay", "residual", "unexplained"), 0.0)
    for name, share in report.shares.items():
        family = name.removeprefix("+ ")
        out[name if name in out else GROUPS.get(family, "physics")] += share
    return out


def looks_like(explained: Sequence[Explained]) -> str:
    """The families that a gap is of, in a sentence."""
    if not explained:
        return "no family of parameters explains the gap"
    first = explained[0]
    text = f"the gap looks like {MEANINGS[first.family]}"
    if first.rivals:
        text += f" ({' or '.join(first.rivals)} would explain nearly as much)"
    if len(explained) > 1:
        text += f"; then {', '.join(one.family for one in explained[1:])}"
    return text


def not_told_apart(fitted: Fitted) -> list[str]:
    """Pairs of parameters of which the recording knows only a combination."""
    spread = np.sqrt(np.diag(fitted.covariance))
    correlation = fitted.covariance / np.outer(spread, spread)
    known = fitted.determined > 0.05
    found: list[tuple[float, str]] = []
    for one in range(len(fitted.free)):
        for other in range(one):
            size = abs(float(correlation[one, other]))
            if size > CLOSE and known[one] and known[other]:
                found.append((size, f"{fitted.free[other].name} and {fitted.free[one].name}"))
    return [text for _, text in sorted(found, reverse=True)]


def unknown(fitted: Fitted) -> list[str]:
    """Parameters that the recording says little about: they stay near what the model has."""
    return [one.name for one, known in zip(fitted.free, fitted.determined, strict=True) if known < KNOWN]


def next_steps(report: GapReport, logs: Sequence[str], robot: str, mapping: str | None) -> list[str]:
    """What to do, with the commands to type."""
    shares, common = grouped(report), {"robot": robot, "map": mapping}
    identify = command_of(("analyse", "identify"), {"logs": logs, **common})
    steps: list[str] = []
    source = report.row(SOURCE)
    if np.sqrt(source.validation) < SMALL:
        return [f"nothing: the simulator is off by {np.sqrt(source.validation):.1%} of how far joints go"]
    physics = shares["physics"] + shares["actuator"] + shares["delay"]
    if physics > SMALL:
        steps.append(f"put the identified parameters into the model ({physics:.0%} of the error): {identify}")
    if shares["actuator"] > LARGE:
        steps.append(
            f"fit an actuator model, since the drives explain {shares['actuator']:.0%}: "
            + command_of(("actuator", "fit", *logs), {"robot": robot})
        )
    if any(one.family == "delay" for one in report.explained):
        delay = report.fitted.values.get("delay of commands", 0.0)
        steps.append(f"let the source simulator have the delay of {1e3 * delay:.1f} ms, or adapt to it: --method auto")
    if not robot.endswith((".xml", ".mjcf", ".urdf")) and robot not in BODIES:
        steps.append(
            "adapt the policy from these logs: " + command_of(("transfer", robot), {"logs": logs, "map": mapping})
        )
    if shares["residual"] > SMALL:
        steps.append(f"keep a residual beside the physics: it explains {shares['residual']:.0%} more")
    if shares["unexplained"] > LARGE:
        steps.append(
            f"{shares['unexplained']:.0%} is not explained by any of these: look for contacts, backlash or a joint "
            "that the model does not have, and record slower, isolated motions of the worst joint"
        )
    return steps
