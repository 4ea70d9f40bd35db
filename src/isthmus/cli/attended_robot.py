"""A robot that somebody attends: every way to stop it is open before it moves, and is announced."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from isthmus.cli.output import stderr
from isthmus.cli.signals import NO_KEYBOARD, Interrupted, exit_code, has_keyboard, stop_key, stop_signals
from isthmus.hardware import Stop
from isthmus.hardware.stop import KEPT

if TYPE_CHECKING:
    from isthmus.hardware.address import RobotAddress


@contextmanager
def attended_robot(address: "RobotAddress", speed: float, stop: Stop) -> Generator[None]:
    """Let a robot move for a while; a signal ends that with the arm held, and the process with that signal's code."""
    from isthmus.hardware.ros1.messages import STOP
    from isthmus.hardware.speed import at_speed
    from isthmus.hardware.udp import UdpAddress

    others = "Ctrl-C or SIGTERM"
    if not isinstance(address, UdpAddress):
        others = f"Ctrl-C, SIGTERM, or a message on {STOP} (std_msgs/Empty)"
    tell(f"stop the arm with space, q or Escape, {others}" if has_keyboard() else f"{NO_KEYBOARD}; use {others}")
    try:
        with stop_signals(stop), at_speed(address, speed, stop), stop_key(stop):
            yield
    except Interrupted:
        tell(f"isthmus: stopped ({stop.why}): the arm holds where it is; {KEPT}")
        raise SystemExit(exit_code(stop)) from None


def tell(what: str) -> None:
    """Tell the person who attends the robot."""
    stderr.print(what, markup=False, soft_wrap=True)
