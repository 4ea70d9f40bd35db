"""How fast the joints of the stand-ins become in clean swings: `python tools/joint_speeds.py --out FILE`.

Every swing is commanded through the guard, with and without its pull, in simulated time. Prints a markdown table for
docs/safety.md and writes the peaks of every swing as JSON.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core.commit import current_commit
from isthmus.hardware import Guard, Limits, SafetySettings
from isthmus.robots.fetch.arm import HOME, REACH, SPEED_LIMITS
from isthmus.robots.fetch.standin.machine import Machine
from isthmus.robots.fetch.standin.parameters import load_parameters
from isthmus.robots.fetch.swings import PERIOD, STEPS, TEST, TRAINING, swing

ROBOTS, SEEDS = ("first", "second"), range(3)
WINDOWS = (1, 20)
"""Milliseconds over which a speed is measured: a tick, and what a stand-in's own encoders take."""


def peaks(robot: str, number: int, pull: float, seed: int) -> list[float]:
    """The largest speed of a joint in a swing as a share of its limit, over each of the windows."""
    machine = Machine(load_parameters(robot), seed)
    guard = Guard(Limits.of_positions(-REACH, REACH, SPEED_LIMITS, PERIOD, SafetySettings(pull=pull)))
    last, seen = HOME, [machine.positions]
    times = PERIOD * np.arange(1, STEPS + 1, dtype=np.float64)
    for wanted in swing(number)(times):
        last = guard.admit(wanted, last, machine.measured().positions)
        machine.command([(PERIOD, last)])
        for _ in range(round(1e3 * PERIOD)):
            machine.tick()
            seen.append(machine.positions)
    moved = np.array(seen)
    return [float((np.abs(moved[ms:] - moved[:-ms]) / (1e-3 * ms) / SPEED_LIMITS).max()) for ms in WINDOWS]


def main() -> None:
    """Measure all swings of both robots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/results/joint-speeds.json"))
    out: Path = parser.parse_args().out
    usual = SafetySettings()
    rows: list[dict[str, Any]] = []
    print("| robot | pull | seed | largest over 1 ms | over 20 ms | swings above the limit, 1 ms / 20 ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for robot in ROBOTS:
        for name, pull in (("none", usual.lead), (f"{usual.pull:g}", usual.pull)):
            for seed in SEEDS:
                found = np.array([peaks(robot, number, pull, seed) for number in (*TRAINING, *TEST)])
                fast, slow = found.max(axis=0)
                above = " / ".join(str(int(n)) for n in (found > 1).sum(axis=0))
                print(f"| {robot} | {name} | {seed} | {fast:.2f} | {slow:.2f} | {above} of {len(found)} |", flush=True)
                rows.append({"robot": robot, "pull": pull, "seed": seed, "peaks": found.round(4).tolist()})
    swings = [*TRAINING, *TEST]
    facts = {"commit": current_commit(), "windows_ms": WINDOWS, "swings": swings, "step": usual.step}
    out.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
