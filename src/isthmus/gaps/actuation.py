"""Gaps between a command and its actuator."""

from collections.abc import Mapping

from isthmus.core import WorldSpec
from isthmus.gaps.kind import GapKind
from isthmus.sim import Backlash, Chain, Channel, DeadBand, Delay, Noise

HALF_RANGES = "half ranges of the actuator"


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


ACTUATION = (
    GapKind(
        name="delay",
        summary="commands take effect later",
        touches="action",
        unit="control steps",
        low=0,
        high=50,
        neutral=0,
        example=2,
        whole=True,
    ),
    GapKind(
        name="delay-jitter",
        summary="each command takes up to this many steps more, at random; one that is overtaken has no effect",
        touches="action",
        unit="control steps",
        low=0,
        high=50,
        neutral=0,
        example=1,
        whole=True,
        beside="delay",
    ),
    GapKind(
        name="dead-band",
        summary="sticky actuators: a command has effect when it differs by more than this from the one in effect",
        touches="action",
        unit=HALF_RANGES,
        low=0.0,
        high=2.0,
        neutral=0.0,
        example=0.05,
    ),
    GapKind(
        name="backlash",
        summary="play of this width between the command and what the actuator gets",
        touches="action",
        unit=HALF_RANGES,
        low=0.0,
        high=2.0,
        neutral=0.0,
        example=0.1,
    ),
    GapKind(
        name="motor-noise",
        summary="standard deviation of noise added to the command, before the actuator clips the sum",
        touches="action",
        unit=HALF_RANGES,
        low=0.0,
        high=2.0,
        neutral=0.0,
        example=0.2,
    ),
    GapKind(
        name="noise-correlation",
        summary="of the motor noise from step to step: 0 is independent, 1 is constant for an episode",
        touches="action",
        unit="(a correlation)",
        low=0.0,
        high=1.0,
        neutral=0.0,
        example=0.9,
        beside="motor-noise",
    ),
)
