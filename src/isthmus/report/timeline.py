"""Which recorded moments a video shows, and how fast."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isthmus.core import Int
from isthmus.evaluate import Trace

SPEEDS = {1.0: "at real speed", 0.5: "at half speed", 0.25: "at a quarter of real speed", 0.1: "ten times slower"}
SHORTEST = 3.0
"""Seconds an episode should at least take to watch."""
FASTEST = 30.0
"""Pictures a second at most."""
MOST = 240
"""Pictures in a video at most, without the pauses."""
PAUSE = 0.6
"""Seconds the end of an episode stands still."""


@dataclass(frozen=True)
class Timeline:
    """The frames of a video, in order."""

    episodes: Int
    """Which traced episode each frame shows (frames,)."""
    steps: Int
    """Which step of it (frames,)."""
    speed: float
    """1 is real time."""
    fps: float
    seconds: float
    """Robot time shown of each episode."""
    cut: bool
    """Whether the episodes go on after that."""

    @property
    def caption(self) -> str:
        """What is shown, for people."""
        two = len(np.unique(self.episodes)) > 1
        length = f"{self.seconds:.3g}\N{NO-BREAK SPACE}s"
        if self.cut:
            what = f"The first {length} of an episode"
        else:
            what = f"Two episodes of {length}, one after the other" if two else f"An episode of {length}"
        return f"{what}, from the same start in each picture, {SPEEDS[self.speed]}."


def plan(traces: Iterable[Trace], control_period: float) -> Timeline:
    """Two episodes if they fit, else one; slowed down when short, thinned out when long."""
    traces = list(traces)
    available = min(len(trace.lengths) for trace in traces)
    count = min(2, available)
    longest = max(int(trace.lengths[:count].max()) for trace in traces)
    speed = next((one for one in SPEEDS if longest * control_period / one >= SHORTEST), min(SPEEDS))
    stride = max(1, math.ceil(speed / control_period / FASTEST))
    fps = speed / control_period / stride
    steps = np.arange(0, longest + 1, stride)
    count = count if count * len(steps) <= MOST else 1
    cut = len(steps) > MOST
    steps = steps[:MOST]
    held = np.concatenate((steps, np.full(round(PAUSE * fps), steps[-1])))
    last = int(steps[-1]) if cut else longest
    return Timeline(
        episodes=np.repeat(np.arange(count), len(held)),
        steps=np.tile(held, count),
        speed=speed,
        fps=fps,
        seconds=last * control_period,
        cut=cut,
    )
