"""What is shown while a firmware runs, on a terminal."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from isthmus.cli.output import stderr

if TYPE_CHECKING:
    from isthmus.firmware.loop import Loop


@contextmanager
def live(loop: "Loop", seconds: float) -> Generator[Callable[[], None]]:
    """A line that is kept up to date: time, load of processor and buses, watchdog, what the firmware says."""
    if not stderr.is_terminal:
        yield lambda: None
        return
    with Live(Text(""), console=stderr, refresh_per_second=8, transient=True) as display:
        yield lambda: display.update(Text(_line(loop, seconds)))


def _line(loop: "Loop", seconds: float) -> str:
    counters = loop.counters
    loads = " ".join(f"{name} {load:.0%}" for name, load in counters.bus_load.items())
    told = loop.telemetry
    state = "" if told is None else (f" | e-stop {told.estop}" if told.estop else " | running")
    per_ms = counters.instructions / max(1e3 * counters.seconds, 1)
    return (
        f"{counters.seconds:7.2f} of {seconds:g} s | cpu {1 - counters.idle_share:.1%}, {per_ms:.0f} instructions/ms | "
        f"commands every {1e3 * counters.longest_command_gap:.2f} ms or less | {loads} | "
        f"watchdog {counters.watchdog_resets}{state}"
    )
