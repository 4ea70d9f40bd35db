"""What connects Isthmus with one kind of robot: a driver. To support a new robot, write one small class.

A driver carries messages and nothing else. What keeps a robot safe (limits, plausibility, watchdog, stop, clocks) is
in the layers above it, and is the same for every driver:

    Driver    connect, observe, command, hold, close       one for each kind of robot: `ros1`, `ros2`, `udp`
    Link      believes readings or drops them, and lets no command pass a hold                        `link.py`
    Control   sends commands on time and within limits, with a watchdog                            `control.py`
    World     a robot that a policy can be run on                                                    `world.py`

`hardware/udp` is the shortest complete driver, and docs/drivers.md explains it line by line. `tests/hardware/drivers`
has the contract that every driver keeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from isthmus.core import Float
from isthmus.hardware.clock import Clock
from isthmus.hardware.stop import Stop

Commands = Literal["position", "effort"]
"""What a command asks of a joint: to be somewhere, in rad or m, or to push, in N m or N."""


@dataclass(frozen=True)
class JointReading:
    """Positions and velocities by joint name, at one time."""

    stamp: float
    """When it was measured, in seconds by the robot's own clock."""
    names: tuple[str, ...]
    """Of all joints in this reading, in any order; joints that nobody asked for may be among them."""
    positions: Float
    """One for each name (n,)."""
    velocities: Float
    """One for each name (n,); not a number where the robot measures none."""


class Driver(Protocol):
    """One robot's messages. It judges nothing: what it is given was admitted, what it reads is checked elsewhere.

    `observe` is called in a thread of its own, and `command` in another. `hold` may be called in any thread, also while
    another call has not returned, and must get through.
    """

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that are commanded, in the order of a command's values."""
        ...

    @property
    def commands(self) -> Commands:
        """What a command asks of them."""
        ...

    @property
    def ready(self) -> bool:
        """Whether somebody at the other end takes commands now."""
        ...

    def connect(self, stop: Stop) -> Clock:
        """Begin to listen; returns the clock by which the robot lives, which is the wall's unless it is simulated.

        Raises `Problem` where no robot can be there. A robot that is merely silent yet is none of its business.
        A robot that has a stop of its own to pass on (a button, a topic) asks for the `stop`. This may be called again,
        without a `close` before it, for a robot that was restarted; the clock is the same one then.
        """
        ...

    def observe(self, patience: float) -> Sequence[JointReading]:
        """What came since the last call, oldest first; waits up to `patience` seconds for the first of it."""
        ...

    def command(self, values: Float, seconds: float, now: float) -> None:
        """Send one value for each joint (act,): positions to reach in so many seconds, or efforts for that long.

        `now` is the time by the robot's clock. A robot must come to rest by itself when no other command follows for
        some time after `seconds`: this process may have been killed. This returns without waiting for an answer.
        """
        ...

    def hold(self) -> None:
        """Have the robot stop and stay where it is. Sent more than once; no measured position may be needed for it."""
        ...

    def close(self) -> None:
        """Hang up; no hold is sent here. Calling it twice does no harm."""
        ...


def columns(names: Sequence[str], wanted: Sequence[str]) -> list[int] | None:
    """Where each of the `wanted` joints is among `names`; None unless all are there."""
    at = {name: column for column, name in enumerate(names)}
    return [at[joint] for joint in wanted] if all(joint in at for joint in wanted) else None
