"""Gaps between a command and its actuator."""

from collections.abc import Mapping
from functools import partial

from isthmus.core import WorldSpec
from isthmus.gaps.kind import channel
from isthmus.sim import Backlash, Chain, Channel, DeadBand, Delay, Noise

HALF_RANGES, STEPS = "half ranges of the actuator", "control steps"


def action_channel(dials: Mapping[str, float], spec: WorldSpec, n: int) -> Channel | None:
    """What commands go through before the actuator clips them, in a fixed order; None when they reach it as they are.

    The driver passes a command on late, the drive does not follow small changes, the gears have play, and what drives
    the joint in the end is noisy.
    """
    size, unit = spec.action_size, spec.half_range
    channels: list[Channel] = []
    delay, jitter = int(dials.get("delay", 0)), int(dials.get("delay-jitter", 0))
    if delay or jitter:
        channels.append(Delay(n, size, delay, jitter))
    if band := dials.get("dead-band", 0.0):
        channels.append(DeadBand(n, band * unit))
    if width := dials.get("backlash", 0.0):
        channels.append(Backlash(n, width * unit))
    if std := dials.get("motor-noise", 0.0):
        channels.append(Noise(n, std * unit, dials.get("noise-correlation", 0.0)))
    return Chain(channels) if channels else None


_dial = partial(channel, "action")
ACTUATION = (
    _dial("delay", "commands take effect later", STEPS, 50, 2),
    _dial(
        "delay-jitter",
        "each command takes up to this many steps more, at random; one that is overtaken has no effect",
        *(STEPS, 50, 1, "delay"),
    ),
    _dial(
        "dead-band",
        "sticky actuators: a command has effect when it differs by more than this from the one in effect",
        *(HALF_RANGES, 2.0, 0.05),
    ),
    _dial("backlash", "play of this width between the command and what the actuator gets", HALF_RANGES, 2.0, 0.1),
    _dial(
        "motor-noise",
        "standard deviation of noise added to the command, before the actuator clips the sum",
        *(HALF_RANGES, 2.0, 0.2),
    ),
    _dial(
        "noise-correlation",
        "of the motor noise from step to step: 0 is independent, 1 is constant for an episode",
        *("(a correlation)", 1.0, 0.9, "motor-noise"),
    ),
)
