"""Be served first by the processor, where the system lets us: a control loop sleeps most of the time."""

import os
import sys
from contextlib import suppress

FIRST = -15
"""Niceness; only root may go below what it has."""

SWITCH = 0.0002
"""Seconds after which one thread lets another have the interpreter: the default of 5 ms is a late command."""


def serve_first() -> None:
    """Raise the priority of this thread and those it starts from now on; without the right to, nothing happens."""
    sys.setswitchinterval(SWITCH)
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, 0) > FIRST:
            os.setpriority(os.PRIO_PROCESS, 0, FIRST)


def serve_at_once(thread: int, *, wanted: bool, before: int = 0) -> None:
    """Have a thread run before all others whenever it is ready, or end that; without the right to, nothing happens.

    Only for a loop that sleeps: the others wait for as long as it computes. One may go `before` others of its kind.
    """
    if hasattr(os, "sched_setscheduler"):
        policy, priority = (os.SCHED_FIFO, 1 + before) if wanted else (os.SCHED_OTHER, 0)
        with suppress(OSError):
            os.sched_setscheduler(thread, policy, os.sched_param(priority))
