"""Stops and faults over ROS 1 and ROS 2 with a stand-in in real time: what its own log says of them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from isthmus.core import History, Lost, stream
from isthmus.hardware import Stop
from isthmus.hardware.speed import at_speed


def lines(log, kind):
    return [line for line in map(json.loads, log.read_text().splitlines()) if line["kind"] == kind]


@pytest.mark.parametrize("transport", ["ros1", "ros2"], indirect=True)
def test_a_stop_during_a_move_holds_the_arm_and_no_goal_follows(place, robot, world_at, tmp_path):
    log = tmp_path / "log.jsonl"
    with robot("--log", str(log), speed=1.0):
        world = world_at(place)
        world._begin = lambda _rng: np.concatenate((np.full(7, 0.9), np.zeros(9)))
        asked = []

        def ask():
            asked.append(time.time())
            world._link.stop.ask("a key")

        timer = threading.Timer(2.0, ask)
        timer.start()
        with pytest.raises(Lost, match="emergency stop"):
            world.reset(stream(0, "reset"))
        timer.join()
        time.sleep(0.2)
        goals, holds = lines(log, "goal"), lines(log, "hold")
    assert goals
    assert max(goal["points"][-1][0] for goal in goals) <= 0.4
    held = [hold["at"] for hold in holds if hold["at"] >= asked[0]]
    assert len(held) >= 2  # one that gets lost does not matter
    assert held[0] - asked[0] < 5.0  # the move takes longer; how soon, a busy machine decides
    assert not [goal for goal in goals if goal["at"] > held[0]]


def test_a_robot_that_stalls_for_more_than_a_second_is_as_good_as_before(place, robot, world_at, fetch):
    with robot(speed=1.0) as process:
        world = world_at(place)
        world.reset(stream(0, "reset"))
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        process.send_signal(signal.SIGCONT)
        seen = world.reset(stream(0, "reset"))
        for _ in range(3):
            seen = world.step(fetch.policy(History.of(seen))).observations
        assert world._link.clock.now() - world._link.heard().stamp < 1.0
    assert np.isfinite(seen).all()


def test_a_robot_that_was_killed_at_speed_is_reported_as_that(place, robot):
    with robot(speed=1.0) as process, pytest.raises(Lost, match="gone"):
        be_lost_at_speed(place, process)


def be_lost_at_speed(place, process):
    with at_speed(place, 20.0, Stop()):
        process.kill()
        process.wait()
        raise Lost("the robot is gone; go on with --resume")


def test_sigterm_ends_a_transfer_with_the_arm_held_and_says_how_to_go_on(place, robot, tmp_path):
    log = tmp_path / "log.jsonl"
    command = [
        "transfer",
        "fetch-swing",
        "--robot",
        str(place),
        "--minutes",
        "1",
        "--yes",
        "--out",
        str(tmp_path / "run"),
    ]
    with robot("--log", str(log), speed=1.0):
        transfer = subprocess.Popen(
            [sys.executable, "-m", "isthmus", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"COLUMNS": "500"},
        )
        end = time.monotonic() + 120
        while len(lines(log, "goal")) < 10 and time.monotonic() < end:
            time.sleep(0.1)
        asked = time.time()
        transfer.terminate()
        _, said = transfer.communicate(timeout=60)
        time.sleep(0.1)
        goals, holds = lines(log, "goal"), lines(log, "hold")
    assert transfer.returncode == 143, said
    assert b"there is no keyboard" in said
    assert b"the robot's clock agrees" in said
    assert b"stopped (SIGTERM)" in said
    assert b"--resume" in said
    assert holds
    assert holds[0]["at"] - asked < 5.0
    assert goals[-1]["at"] < holds[0]["at"]
