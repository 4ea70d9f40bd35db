"""A robot file that declares its real robot crosses to a stand-in by every driver, by the commands of the pages."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.hardware.processes import free_address, other_stand_in
from isthmus.robots import load_task
from isthmus.transfer import Result

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = r"```console\n(.*?)\n```"
YOUR_ROBOT = (DOCS / "your-robot.md").read_text(encoding="utf-8")
ROS2 = (DOCS / "ros2.md").read_text(encoding="utf-8")
LAMP = re.findall(r"```python\n(.*?)```", YOUR_ROBOT, re.DOTALL)[0]
PAGES = {
    "udp": (*re.findall(BLOCK, YOUR_ROBOT, re.DOTALL)[-2:], "udp://127.0.0.1:9870"),
    "ros2": (*np.array(re.findall(BLOCK, ROS2, re.DOTALL))[[0, 2]].tolist(), "ros2://42@lo/lamp_controller"),
}
QUICK = "--samples 120 --round-samples 120 --method residual-action --evaluation-episodes 1 --yes --no-report"
"""In place of what a page has, so that a test takes seconds."""


@pytest.fixture(params=["udp", "ros2"])
def transport(request):
    if request.param == "ros2":
        pytest.importorskip("cyclonedds")
    return request.param


@pytest.fixture
def lamp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = LAMP.replace("horizon=100", "horizon=40")
    assert short != LAMP
    (tmp_path / "lamp.py").write_text(short, encoding="utf-8")
    return tmp_path


def lines(log, kind):
    found = []
    for text in log.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return [line for line in found if line["kind"] == kind]


def within_limits(log):
    """What the robot itself says: it was never outside its ranges, and no command was."""
    wiring = load_task("lamp.py").wired()
    positions = np.array([line["positions"] for line in lines(log, "state")])
    commands = np.array([line["values"] for line in lines(log, "command")])
    assert (positions > wiring.position_low).all()
    assert (positions < wiring.position_high).all()
    assert (commands >= wiring.low - 1e-9).all()
    assert (commands <= wiring.high + 1e-9).all()
    return len(commands)


def test_the_lamp_is_crossed_to_by_the_commands_of_the_page(lamp, transport):
    up, cross, shown = PAGES[transport]
    address, log = free_address(transport), lamp / "log.jsonl"
    given = shlex.split(up)
    assert given[:5] == ["isthmus", "robot", "up", "lamp.py", "--address"]
    assert given[5] == shown
    with other_stand_in(address, "lamp.py", gap=given[given.index("--gap") + 1], options=("--log", str(log))):
        command = cross.replace("declared" if transport == "udp" else shown, str(address))
        assert str(address) in command
        command = re.sub(r"--samples \d+|--evaluation-episodes \d+", "", command)
        main([*shlex.split(command)[1:], *QUICK.split(), "--out", "run"])
        assert within_limits(log) > 100
        assert lines(log, "hold")
    result = Result.load(lamp / "run" / "result.json")
    assert result.normalised_adapted > result.normalised_unadapted


CONTROLLER = """
import sys
import time
import numpy as np
from isthmus.hardware.address import open_driver, parse_address
from isthmus.hardware.link import Link
link = Link(open_driver(parse_address(sys.argv[1]), ("shoulder", "elbow"), "effort"))
while not link.connected or link.heard() is None:
    time.sleep(0.01)
link.release()
print("connected", flush=True)
while True:
    link.send(np.array([6.0, -2.0]), 0.02)
    time.sleep(0.02)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_robot_holds_by_itself_when_its_controller_is_killed_or_stalls(lamp, transport, number):
    if transport == "ros2" and number == signal.SIGSTOP:
        pytest.skip("as over UDP: the robot's timeout is the same")
    address, log = free_address(transport), lamp / "log.jsonl"
    with other_stand_in(address, "lamp.py", options=("--log", str(log))):
        controller = subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, str(address)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            assert controller.stdout is not None
            assert b"connected" in controller.stdout.readline()
            end = time.monotonic() + 60
            while len(lines(log, "command")) < 5 and time.monotonic() < end:
                time.sleep(0.02)
            controller.send_signal(number)
            at = time.time()
            while not lines(log, "state")[-1]["held"] and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
        finally:
            controller.kill()
            controller.wait()
            controller.stdout.close()
        states = lines(log, "state")
    assert states[-1]["held"], "nobody told it to: it noticed by itself"
    assert np.abs(states[-1]["velocities"]).max() < 1e-3
    assert not [line for line in lines(log, "hold") if line["at"] > at]
    moved = np.ptp([line["positions"] for line in states], axis=0).max()
    assert moved > 1e-3
    assert (np.abs([line["positions"] for line in states]) < 2.0).all()
