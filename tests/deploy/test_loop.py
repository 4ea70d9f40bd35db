"""The control loop on the bundle's own simulator, in wall time that goes fast."""

import itertools
import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import Lost, Problem
from isthmus.deploy import connect, load_policy
from isthmus.deploy.connect import observed_robot, simulated_robot
from isthmus.deploy.latency import Latency
from isthmus.deploy.loop import LoopSettings, run_loop
from isthmus.deploy.telemetry import Telemetry
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.clock import WallClock
from isthmus.hardware.driver import JointReading
from isthmus.hardware.stop import KEPT
from isthmus.logs import read_log

from .conftest import export_bundle, finished

FAST = 20.0


@pytest.fixture
def policy(reacher_bundle):
    return load_policy(reacher_bundle[0], check=False)


@pytest.fixture
def robot(policy):
    made = simulated_robot(policy.task, "tilt=60", SafetySettings(), Stop(), FAST)
    yield made
    made.close()


def recorded(folder):
    """What telemetry has of each name."""
    return {name: one.values[:, 0] for name, one in read_log(folder / "telemetry.mcap").series.items()}


def test_the_loop_gives_the_commands_of_the_adapted_policy(policy, robot, tmp_path):
    with Telemetry(tmp_path / "telemetry.mcap", policy.spec) as telemetry:
        report = run_loop(robot, policy, LoopSettings(steps=20), telemetry=telemetry)
    assert (report.latency.steps, report.episodes, report.ended) == (20, 1, "")
    assert 0 < report.latency.compute_p50 <= report.latency.compute_p99 <= report.latency.compute_worst
    series = recorded(tmp_path)
    seen = np.stack([series[f"/observation.{name}"] for name in policy.spec.observation_names], axis=1)
    sent = np.stack([series[f"/command.{name}"] for name in policy.spec.action_names], axis=1)
    assert len(seen) == 20
    policy.reset()
    np.testing.assert_allclose([policy.act(row) for row in seen], sent, rtol=0, atol=1e-9)


def test_a_blend_goes_from_the_policy_as_it_was_to_the_adapted_one(policy, robot, tmp_path):
    with Telemetry(tmp_path / "telemetry.mcap", policy.spec) as telemetry:
        report = run_loop(robot, policy, LoopSettings(steps=20, blend=0.2), telemetry=telemetry)
    series = recorded(tmp_path)
    np.testing.assert_allclose(series["/loop.weight"], np.minimum(0.1 * np.arange(20), 1), atol=1e-12)
    np.testing.assert_allclose(series["/command.joint0"][0], series["/unadapted.joint0"][0])
    half = 5
    middle = (series["/adapted.joint0"][half] + series["/unadapted.joint0"][half]) / 2
    np.testing.assert_allclose(series["/command.joint0"][half], middle)
    np.testing.assert_allclose(series["/command.joint0"][10:], series["/adapted.joint0"][10:])
    assert len(series["/unadapted.joint0"]) == 10
    assert "while blending" in report.compared_with
    assert report.difference_rms["joint0"] > 0


def test_a_shadow_leaves_the_robot_to_the_policy_as_it_was(policy, robot, tmp_path):
    with Telemetry(tmp_path / "telemetry.mcap", policy.spec) as telemetry:
        report = run_loop(robot, policy, LoopSettings(steps=10, shadow=True), telemetry=telemetry)
    series = recorded(tmp_path)
    np.testing.assert_array_equal(series["/command.joint1"], series["/unadapted.joint1"])
    expected = np.sqrt(np.square(series["/adapted.joint1"] - series["/unadapted.joint1"]).mean())
    np.testing.assert_allclose(report.difference_rms["joint1"], expected)


def test_a_stop_ends_the_loop_and_says_why(policy):
    stop = Stop()
    robot = simulated_robot(policy.task, "none", SafetySettings(), stop, FAST)
    report = run_loop(
        robot, policy, LoopSettings(50), look=lambda done, _of: stop.ask("stop key") if done == 5 else None
    )
    robot.close()
    assert report.ended == "stopped (stop key): the robot holds where it is"
    assert report.latency.steps == 6  # it was computed, and not given any more


def test_a_robot_that_is_lost_is_not_said_to_be_gone_on_with(policy):
    class Silent:
        lateness = ()

        def reset(self, rng, which=None):
            raise Lost(f"the robot has not been heard of for 2 s; {KEPT}")

    report = run_loop(Silent(), policy, LoopSettings(5))
    assert report.ended == "the robot has not been heard of for 2 s"


def test_a_policy_that_hangs_is_noticed_by_the_watchdog(policy):
    robot = simulated_robot(policy.task, "none", SafetySettings(overrun=0.02), Stop(), FAST)
    clock = WallClock()

    def hang(history):
        clock.wait_until(clock.now() + 0.2, 1.0)
        return np.zeros((1, 2))

    policy.policy = hang
    report = run_loop(robot, policy, LoopSettings(5))
    robot.close()
    assert "late" in report.ended
    assert report.latency.missed <= 1


def test_commands_of_positions_are_held_to_the_joints_speeds(tmp_path):
    export_bundle(finished("fetch-swing", "unadapted"), tmp_path / "bundle")
    policy = load_policy(tmp_path / "bundle", check=False)
    robot = simulated_robot(policy.task, "none", SafetySettings(), Stop(), 100.0)
    policy.policy = lambda _history: np.full((1, 7), 1.0)
    sent = []
    run_loop(robot, policy, LoopSettings(4), look=lambda *_: sent.append(robot._sent.copy()))
    robot.close()
    most = 0.8 * policy.task.speed_limits * policy.spec.control_period
    assert (np.abs(np.diff(sent, axis=0)) <= most + 1e-12).all()
    assert robot.guard.clipped.step > 0


def test_a_robot_that_is_only_looked_at_is_sent_nothing(tmp_path):
    export_bundle(finished("fetch-swing", "unadapted"), tmp_path / "bundle")
    policy = load_policy(tmp_path / "bundle", check=False)
    driver = Recorded(policy.spec.action_names)
    spec = replace(policy.spec, control_period=0.005)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "open_driver", lambda *_: driver)
        body = replace(policy.task.robot_model, spec=spec)
        robot = observed_robot(replace(policy.task, robot_model=body), None, SafetySettings(), Stop())
    report = run_loop(robot, policy, LoopSettings(5, shadow=True), observed=True)
    robot.close()
    assert driver.said == ["connect", "close"]
    assert report.latency.steps == 5
    assert "the controller in charge" in report.compared_with
    assert set(report.difference_rms) == set(policy.spec.action_names)


class Recorded:
    """A driver of an arm that stays where it is."""

    commands = "position"
    ready = True

    def __init__(self, joints):
        self.joints, self.said = joints, []

    def connect(self, stop):
        self.said.append("connect")
        return WallClock()

    def observe(self, patience):
        others = ("torso_lift_joint", *reversed(self.joints))
        return [JointReading(0.0, others, np.linspace(0, 1, len(others)), np.full(len(others), np.nan))]

    def command(self, values, seconds, now):
        self.said.append("command")

    def hold(self):
        self.said.append("hold")

    def close(self):
        self.said.append("close")


def test_latency_counts_what_is_late():
    found = Latency.of([0.001, 0.002, 0.003], [-0.004, 0.0019, 0.0021])
    assert (found.steps, found.missed) == (3, 1)
    np.testing.assert_allclose([found.compute_p50, found.compute_worst, found.late_worst], [2, 3, 2.1])
    assert "1 missed deadline" in str(found)


def test_the_command_runs_a_bundle_and_writes_what_happened(reacher_bundle, tmp_path, capsys):
    words = ["deploy", "run", str(reacher_bundle[0]), "--robot", "sim", "--steps", "10", "--speed", "20"]
    main([*words, "--shadow", "--json", "--out", str(tmp_path / "out")])
    printed = json.loads(capsys.readouterr().out)
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert printed["latency"] == written["latency"]
    assert printed["latency"]["steps"] == 10
    assert (tmp_path / "out" / "telemetry.mcap").stat().st_size > 1000
    with pytest.raises(SystemExit):
        main([*words, "--out", str(tmp_path / "out")])
    assert "is there already" in capsys.readouterr().err


def test_a_loop_that_a_signal_ends_says_how_it_went(reacher_bundle, tmp_path, monkeypatch, capsys):
    def message(_self, topic, *_rest):
        if topic == "/loop" and next(count) == 5:
            signal.raise_signal(signal.SIGTERM)

    count = itertools.count(1)
    monkeypatch.setattr(Telemetry, "message", message)
    words = ["deploy", "run", str(reacher_bundle[0]), "--robot", "sim", "--speed", "20", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 128 + signal.SIGTERM
    assert json.loads((tmp_path / "out" / "report.json").read_text())["latency"]["steps"] == 5
    assert "stopped (SIGTERM)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--robot", "rsh://x"], "says nothing of a real robot"),
        (["--robot", "sim", "--blend", "-1"], "blend must be at least 0"),
        (["--robot", "sim", "--runtime", "fused"], "has no fused.onnx"),
        (["--robot", "ros://127.0.0.1:1", "--yes"], "says nothing of a real robot"),
        (["--robot", "sim", "--task", "x.py"], "has its robot in it"),
    ],
)
def test_bad_input_is_said_in_one_sentence(options, why, reacher_bundle, capsys):
    with pytest.raises(SystemExit) as left:
        main(["deploy", "run", str(reacher_bundle[0]), *options])
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert why in " ".join(said.split())


def test_blending_needs_the_policy_as_it_was(policy, robot):
    policy.source = None
    with pytest.raises(Problem, match="need the policy as it was"):
        run_loop(robot, policy, LoopSettings(3, blend=1.0))
