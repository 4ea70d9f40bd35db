"""Gaps between what is true and what is observed."""

from collections.abc import Mapping

import numpy as np

from isthmus.core import WorldSpec
from isthmus.gaps.kind import GapKind
from isthmus.sim import Chain, Channel, Delay, Noise

OWN_UNITS = "units of each observation"


def sensor_channel(dials: Mapping[str, float], spec: WorldSpec, n: int) -> Channel | None:
    """What observations go through, in a fixed order: late, then off, then noisy; None when nothing is in the way."""
    size = spec.observation_size
    channels: list[Channel] = []
    if delay := int(dials.get("sensor-delay", 0)):
        channels.append(Delay(n, size, delay))
    if bias := dials.get("sensor-bias", 0.0):
        channels.append(Noise(n, np.full(size, bias), correlation=1.0))
    if std := dials.get("sensor-noise", 0.0):
        channels.append(Noise(n, np.full(size, std)))
    return Chain(channels) if channels else None


SENSING = (
    GapKind(
        name="sensor-delay",
        summary="observations are seen later",
        touches="sensor",
        unit="control steps",
        low=0,
        high=50,
        neutral=0,
        example=1,
        whole=True,
    ),
    GapKind(
        name="sensor-bias",
        summary="standard deviation of an offset of every observation, drawn once an episode",
        touches="sensor",
        unit=OWN_UNITS,
        low=0.0,
        high=1.0,
        neutral=0.0,
        example=0.01,
    ),
    GapKind(
        name="sensor-noise",
        summary="standard deviation of noise on every observation, drawn at every step",
        touches="sensor",
        unit=OWN_UNITS,
        low=0.0,
        high=1.0,
        neutral=0.0,
        example=0.01,
    ),
)
