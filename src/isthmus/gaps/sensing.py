"""Gaps between what is true and what is observed."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from isthmus.core import WorldSpec
from isthmus.gaps.kind import channel
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


_dial = partial(channel, "sensor")
SENSING = (
    _dial("sensor-delay", "observations are seen later", "control steps", 50, 1),
    _dial(
        "sensor-bias",
        "standard deviation of an offset of every observation, drawn once an episode",
        *(OWN_UNITS, 1.0, 0.01),
    ),
    _dial(
        "sensor-noise",
        "standard deviation of noise on every observation, drawn at every step",
        *(OWN_UNITS, 1.0, 0.01),
    ),
)
