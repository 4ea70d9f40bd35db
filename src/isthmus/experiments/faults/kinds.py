"""What is made to go wrong, and what is promised then."""

from dataclasses import dataclass
from typing import Literal

from isthmus.hardware.processes import Transport

Phase = Literal["swing", "move", "connect"]
"""What the arm is doing when it goes wrong; on connecting it has not begun to do anything."""
Promise = Literal["stop", "watchdog", "follow", "runs out", "refused", "goes on"]
BOUNDS: dict[Promise, float] = {"stop": 0.1, "watchdog": 0.35, "follow": 1.0, "runs out": 0.9}
"""Seconds.

- stop: from the request to when the arm has received the hold;
- watchdog: from the fault to the same; what an observation may be old (0.06) and late (0.25), and two looks;
- follow: the same, for a joint that does not follow; it shows only after its command has moved a step;
- runs out: until the arm is at rest where nobody is there to hold it: 0.1 for the goal that it has, the rest to brake.
"""


@dataclass(frozen=True)
class Fault:
    """One way to go wrong."""

    name: str
    way: str
    """How it is done: a key, a topic, a signal to the controller or to the robot, or from the beginning."""
    promise: Promise
    options: tuple[str, ...] = ()
    """Of the stand-in robot."""
    phases: tuple[Phase, ...] = ("swing",)
    code: int | None = None
    """The controller's exit code, where it ends."""
    transports: tuple[Transport, ...] = ("ros1", "ros2", "udp")
    """By which of these it can come."""


BOTH: tuple[Phase, ...] = ("swing", "move")
ON_SIGNAL = "--faults.on-signal"
OVERHEARD: tuple[Transport, ...] = ("ros1", "ros2")
"""Where a bystander sees a hold on its way to a robot that cannot tell of it any more."""


def _stops() -> list[Fault]:
    return [
        Fault("stop key", "key", "stop", phases=BOTH, code=2),
        Fault("stop topic", "topic", "stop", phases=BOTH, code=2, transports=OVERHEARD),
        Fault("Ctrl-C", "controller SIGINT", "stop", phases=BOTH, code=130),
        Fault("SIGTERM", "controller SIGTERM", "stop", phases=BOTH, code=143),
        Fault("SIGHUP", "controller SIGHUP", "stop", phases=BOTH, code=129),
        Fault("controller killed (kill -9)", "controller SIGKILL", "runs out", phases=BOTH),
        Fault("controller stalled (SIGSTOP)", "controller SIGSTOP", "runs out", phases=BOTH),
    ]


def _robots() -> list[Fault]:
    return [
        Fault("joint states end, arm moves on", "robot SIGUSR1", "watchdog", (ON_SIGNAL, "--faults.silent"), BOTH),
        Fault("robot frozen (SIGSTOP)", "robot SIGSTOP", "watchdog", phases=BOTH, transports=OVERHEARD),
        Fault("robot killed (kill -9)", "robot SIGKILL", "watchdog", phases=BOTH, transports=OVERHEARD),
        Fault("network gone", "robot SIGUSR1", "watchdog", (ON_SIGNAL, "--faults.cut"), BOTH, transports=OVERHEARD),
    ]


def _clocks() -> list[Fault]:
    return [
        Fault("clock 5 s ahead", "none", "refused", ("--faults.clock=5",), ("connect",), 2),
        Fault("clock 5 s behind", "none", "refused", ("--faults.clock=-5",), ("connect",), 2),
        Fault("clock 0.05 s ahead", "none", "goes on", ("--faults.clock=0.05",)),
        Fault("clock 0.05 s behind", "none", "goes on", ("--faults.clock=-0.05",)),
        Fault("clock jumps 2 s ahead", "robot SIGUSR1", "watchdog", (ON_SIGNAL, "--faults.clock=2")),
        Fault("clock jumps 2 s back", "robot SIGUSR1", "watchdog", (ON_SIGNAL, "--faults.clock=-2")),
    ]


def _readings() -> list[Fault]:
    descriptions = {
        "jump": "1 rad off",
        "outside": "outside its range",
        "huge": "1e300",
        "nan": "not a number",
        "velocity": "velocity 1e300",
        "swapped": "two joints swapped",
    }
    wrong = [
        Fault(f"reading: {name}", "robot SIGUSR1", "watchdog", (ON_SIGNAL, f"--faults.wrong={kind}"))
        for kind, name in descriptions.items()
    ]
    return [
        *wrong,
        Fault("reading: a sensor stuck", "robot SIGUSR1", "follow", (ON_SIGNAL, "--faults.wrong=stuck")),
        Fault("reading: old ones repeated", "robot SIGUSR1", "follow", (ON_SIGNAL, "--faults.wrong=repeated")),
        Fault(
            "reading: one in twenty 1 rad off",
            "robot SIGUSR1",
            "goes on",
            (ON_SIGNAL, "--faults.wrong=jump", "--faults.share=0.05"),
        ),
    ]


FAULTS: tuple[Fault, ...] = (*_stops(), *_robots(), *_clocks(), *_readings())
