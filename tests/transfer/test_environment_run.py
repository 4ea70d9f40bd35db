"""A run on somebody's environment: what it takes is known before, counted, and kept when something goes wrong."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from isthmus.adapt import METHODS, MethodSettings, make_method
from isthmus.adapt.settings import FitSettings
from isthmus.cli import main
from isthmus.core import Problem
from isthmus.report import write_report
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.config import repeat_command
from isthmus.transfer.estimate import estimate
from isthmus.transfer.source.context import SourceContext

ROBOT = '''
"""A Reacher in simulation that counts, and does wrong where fault.json says so."""
import ctypes, json, pathlib, time
import gymnasium
import numpy as np
from isthmus.gaps import Gap
from isthmus.robots import load_task

HERE = pathlib.Path(__file__).parent
TASK = load_task("reacher")
SPEC = TASK.robot_model.spec


def note(what):
    with (HERE / "calls").open("a") as file:
        file.write(what + "\\n")


class Arm(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (SPEC.observation_size,))
    action_space = gymnasium.spaces.Box(SPEC.action_low, SPEC.action_high, dtype=np.float64)

    def __init__(self):
        self.world, self.age = TASK.target(Gap.parse("tilt=30")), 0
        fault = HERE / "fault.json"
        self.fault, self.at = json.loads(fault.read_text()) if fault.exists() else ("", 0)
        self.steps = 0
        note("make")

    def reset(self, *, seed=None, options=None):
        note("reset")
        self.age = 0
        if self.fault == "reset raises" and self.steps >= self.at:
            raise OSError("not at home")
        return self.world.reset(np.random.default_rng(seed))[0], {}

    def step(self, action):
        note("step")
        self.age, self.steps = self.age + 1, self.steps + 1
        before = TASK.measure(self.world.fields).copy()
        step = self.world.step(np.asarray(action)[None])
        reward = float(TASK.step_reward(before, step.applied, TASK.measure(self.world.fields))[0])
        seen = step.observations[0]
        if self.steps == self.at:
            if self.fault == "raises":
                raise OSError("bus off")
            if self.fault == "nan":
                seen = seen * np.nan
            if self.fault == "absurd":
                seen = seen + 1e300
            if self.fault == "shape":
                seen = seen[1:]
            if self.fault == "reward":
                reward = float("nan")
            if self.fault == "blocks":
                time.sleep(600)
            if self.fault == "deaf":
                note("waiting")
                stuck = ctypes.create_string_buffer(256)  # compiled code that waits for itself, and hears no signal
                for _ in range(2):
                    ctypes.CDLL(None).pthread_mutex_lock(stuck)
            if self.fault == "waits":
                note("waiting")
                time.sleep(3)
        return seen, reward, False, self.age >= SPEC.horizon, {}

    def hold(self):
        note("hold")
        if self.fault == "hold raises":
            raise OSError("no brake")

    def close(self):
        note("close")
        if self.fault == "close raises":
            raise OSError("no socket")


def make_env():
    return Arm()
'''
FAST = ["--method", "inverse", "--fit.epochs", "2", "--no-video", "--no-report"]
CALM = ["--safety.overrun", "100", "--safety.patience", "0.3"]
"""The machine that tests run on may be busy."""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.py"
    path.write_text(ROBOT)
    return path


@pytest.fixture(scope="module")
def side():
    return SourceContext.of("reacher", None, 0)


def config(arm, **changes):
    usual = {
        "method": "inverse",
        "samples": 120,
        "round_samples": 60,
        "evaluation_episodes": 2,
        "evaluate_rounds": False,
        "settings": MethodSettings(fit=FitSettings(epochs=2)),
    }
    from isthmus.hardware import SafetySettings

    return Config(
        "reacher", environment=str(arm), safety=SafetySettings(overrun=100.0, patience=0.3), **(usual | changes)
    )


def calls(arm):
    return (arm.parent / "calls").read_text().split()


def figures(result):
    """Everything but how long it took, and how often it was begun."""
    return {name: value for name, value in result.to_json().items() if name not in ("seconds", "target_steps")}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"evaluate_rounds": True, "samples": 150},
        {"method": "unadapted"},
        {"samples": 130, "round_samples": 130},
    ],
    ids=str,
)
def test_a_run_takes_what_was_estimated(arm, tmp_path, side, changes):
    from isthmus.adapt.settings import CollectSettings

    settings = MethodSettings(fit=FitSettings(epochs=2), collect=CollectSettings(drift=1e9))
    asked = config(arm, **({"settings": settings} | changes))
    folder = RunFolder(tmp_path / "run")
    foreseen = estimate(asked, side.task.robot_model.spec)
    result = run_transfer(asked, folder, context=side)
    steps, resets = (calls(arm).count(what) for what in ("step", "reset"))
    assert steps <= foreseen.steps.total <= 1.3 * steps
    assert resets <= foreseen.steps.resets <= 1.3 * resets
    assert foreseen.seconds == pytest.approx(foreseen.steps.total * side.task.robot_model.spec.control_period)
    counted = result.target_steps
    assert counted["collection"] + counted["evaluation"] + counted["traces"] == steps
    assert counted["resets"] == resets
    assert counted["collection"] == result.samples
    assert result.further_steps == steps - result.samples
    assert not estimate(asked, side.task.robot_model.spec, folder).anything


def test_whether_a_method_collects_is_known_before_it_is_made(side):
    settings = MethodSettings()
    for name in ("inverse", "preview", "pd", "auto", "unadapted", "output-error", "model-inverse", "residual-action"):
        assert make_method(name, side.source, settings).needs_target_data == METHODS[name].collects


def test_rounds_before_the_last_are_not_scored_on_a_robot(arm, tmp_path, side):
    folder = RunFolder(tmp_path / "run")
    result = run_transfer(config(arm), folder, context=side)
    assert [point.samples for point in result.curve] == [0, 120]
    assert [one.evaluated for one in folder.rounds()] == [False, True]
    page = write_report(folder, video=False).read_text()
    assert "further steps to score and show it" in page
    assert "<td>–</td>" in page
    assert re.search(r"moved for \d+ steps with \d+ resets: 120 to learn from, 200 to score policies, 100 for", page)
    assert f"--target {arm}" in repeat_command(config(arm))


def test_a_simulated_target_counts_nothing(tmp_path, side):
    simulated = Config("reacher", "tilt=30", "unadapted", evaluation_episodes=50)
    result = run_transfer(simulated, RunFolder(tmp_path / "run"), context=side)
    assert result.target_steps is None
    assert not (tmp_path / "run" / "steps.json").exists()


@pytest.fixture(scope="module")
def whole(tmp_path_factory, side):
    arm = tmp_path_factory.mktemp("whole") / "arm.py"
    arm.write_text(ROBOT)
    return run_transfer(config(arm), RunFolder(arm.parent / "run"), context=side)


FAULTS = {
    "raises": r"step\(\) of .*arm.py raised OSError: bus off \(arm.py, line \d+\)",
    "reset raises": r"reset\(\) of .*arm.py raised OSError: not at home \(arm.py, line \d+\)",
    "nan": "is not finite",
    "absurd": "cannot be true",
    "shape": r"observes \(10,\) numbers",
    "reward": "reward of .*arm.py is nan",
}


@pytest.mark.parametrize("at", [30, 190, 260], ids=["unadapted", "collecting", "evaluating"])
@pytest.mark.parametrize("fault", ["raises", "nan"])
def test_after_a_fault_the_run_goes_on_to_the_same_result(arm, tmp_path, side, whole, fault, at):
    folder = RunFolder(tmp_path / "run")
    (tmp_path / "fault.json").write_text(json.dumps([fault, at]))
    with pytest.raises(Problem, match=f"{FAULTS[fault]}.*--resume goes on"):
        run_transfer(config(arm), folder, context=side)
    first = calls(arm)
    assert first.count("hold") >= 1
    assert first[-2:] == ["hold", "close"]
    assert first.count("close") == 1
    (tmp_path / "fault.json").unlink()
    left = estimate(config(arm), side.task.robot_model.spec, folder).steps
    assert left.total < 420 or at == 30
    result = run_transfer(config(arm), folder, resume=True, context=side)
    assert figures(result) == figures(whole) | {"gap": str(arm)}
    every = calls(arm)
    assert every[len(first) :].count("step") <= left.total
    counted = result.target_steps
    assert counted["collection"] + counted["evaluation"] + counted["traces"] == every.count("step")
    assert counted["resets"] == every.count("reset")


def test_a_run_of_something_else_touches_no_robot(arm, tmp_path, side):
    folder = RunFolder(tmp_path / "run")
    run_transfer(config(arm, method="unadapted"), folder, context=side)
    (arm.parent / "calls").unlink()
    with pytest.raises(Problem, match="belongs to another run"):
        run_transfer(config(arm), folder, resume=True, context=side)
    run_transfer(config(arm, method="unadapted"), folder, resume=True, context=side)
    assert not (arm.parent / "calls").exists()


def test_a_close_that_fails_is_told_and_the_result_is_there(arm, tmp_path, side):
    (tmp_path / "fault.json").write_text(json.dumps(["close raises", 0]))
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(Problem, match=r"its close\(\) raised OSError: no socket; the run is complete"):
        run_transfer(config(arm, method="unadapted"), folder, context=side)
    assert calls(arm).count("close") == 1
    assert run_transfer(config(arm, method="unadapted"), folder, resume=True, context=side).samples == 0


def transfer(arm, *more):
    return ["transfer", "reacher", "--target", str(arm), "--samples", "60", "--out", str(arm.parent / "run"), *more]


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_fault_is_one_sentence_and_exit_code_2(arm, tmp_path, capsys, fault):
    (tmp_path / "fault.json").write_text(json.dumps([fault, 30]))
    with pytest.raises(SystemExit) as stopped:
        main([*transfer(arm, "--yes"), *FAST, *CALM])
    assert stopped.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    estimated, *_, sentence = output.err.strip().splitlines()
    assert "steps" in estimated
    assert "Traceback" not in output.err
    assert re.match(f"isthmus: .*{FAULTS[fault]}.*--resume goes on", sentence)
    assert calls(arm)[-2:] == ["hold", "close"]


def test_a_hold_that_fails_is_told(arm, tmp_path, capsys):
    (tmp_path / "fault.json").write_text(json.dumps(["hold raises", 0]))
    with pytest.raises(SystemExit):
        main([*transfer(arm, "--yes"), *FAST, *CALM, "--method", "unadapted"])
    assert re.search(r"its hold\(\) raised OSError: no brake", capsys.readouterr().err)
    assert calls(arm).count("close") == 1


def started(arm, *more):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-m", "isthmus", *transfer(arm, "--yes", *FAST, *CALM, *more)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("fault", ["blocks", "deaf"])
def test_an_environment_that_blocks_for_ever_does_not_hang_isthmus(arm, tmp_path, fault):
    (tmp_path / "fault.json").write_text(json.dumps([fault, 30]))
    process = started(arm, "--safety.overrun", "0.5")
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 2
    [sentence] = [line for line in errors.splitlines() if line.startswith("isthmus: ")]
    assert re.match(r"isthmus: (stopped \()?step\(\) has not returned after .* s.*--resume goes on$", sentence)
    assert "Traceback" not in errors
    assert "hold" in calls(arm)
    assert calls(arm).count("close") == 1


@pytest.mark.parametrize(
    ("number", "code", "fault"),
    [
        (signal.SIGINT, 130, "waits"),
        (signal.SIGTERM, 143, "waits"),
        (signal.SIGHUP, 129, "waits"),
        (signal.SIGTERM, 143, "deaf"),
    ],
)
def test_a_signal_holds_and_closes(arm, tmp_path, number, code, fault):
    (tmp_path / "fault.json").write_text(json.dumps([fault, 30]))
    process = started(arm)
    try:
        end = time.monotonic() + 100
        while not (arm.parent / "calls").exists() or "waiting" not in calls(arm):
            assert time.monotonic() < end
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(number)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code
    [sentence] = [line for line in errors.splitlines() if line.startswith("isthmus: ")]
    assert re.match(r"isthmus: stopped \(.*--resume goes on$", sentence)
    assert "Traceback" not in errors
    after = calls(arm)[calls(arm).index("waiting") + 1 :]
    assert "step" not in after
    assert after[0] == "hold"
    assert after[-1] == "close"
    assert after.count("close") == 1


def test_the_stop_key_holds_and_leaves_the_terminal_as_it_was(arm, tmp_path):
    (tmp_path / "fault.json").write_text(json.dumps(["waits", 30]))
    ours, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-m", "isthmus", *transfer(arm, *FAST, *CALM)]
    process = subprocess.Popen(
        command, stdin=terminal, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        os.write(ours, b"y\n")
        end = time.monotonic() + 100
        while not (arm.parent / "calls").exists() or "waiting" not in calls(arm):
            assert time.monotonic() < end
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        os.write(ours, b" ")
        _, errors = process.communicate(timeout=60)
        assert termios.tcgetattr(terminal) == before
    finally:
        process.kill()
        os.close(ours)
        os.close(terminal)
    assert process.returncode == 2
    assert "Go on? [y/N]" in errors
    [sentence] = [line for line in errors.splitlines() if line.startswith("isthmus: ")]
    assert re.match(r"isthmus: stopped \(stop key\).*--resume goes on$", sentence)
    after = calls(arm)[calls(arm).index("waiting") + 1 :]
    assert (after[0], after[-1], after.count("close")) == ("hold", "close", 1)


def test_nothing_moves_before_somebody_agreed(arm, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*transfer(arm), *FAST])
    assert stopped.value.code == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert re.search(r"up to 660 steps: 60 to learn from, 500 to score policies and 100 for the report", errors[0])
    assert re.search(r"about 0\.\d minutes, .* with \d+ resets", errors[0])
    assert (
        errors[1] == f"isthmus: nobody is there to agree that {arm} is moved: give --yes, or look first with --dry-run"
    )
    assert sorted(path.name for path in arm.parent.iterdir()) == ["arm.py"]


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_the_question_is_answered_on_the_terminal(monkeypatch, answer, agreed):
    import io

    from isthmus.cli import consent

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    foreseen = estimate(
        Config("reacher", environment="Reacher-v5"), SourceContext.of("reacher", None, 0).task.robot_model.spec
    )
    if agreed:
        consent.ask(foreseen, "Reacher-v5", yes=False)
        return
    with pytest.raises(Problem, match="nothing was moved"):
        consent.ask(foreseen, "Reacher-v5", yes=False)


@pytest.mark.parametrize("target", [["--target", "arm.py"], ["--robot", "ros://127.0.0.1:1"]])
def test_a_dry_run_connects_to_nothing(tmp_path, monkeypatch, capsys, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.py").write_text("raise SystemExit('this must not be run')")
    main(["transfer", "reacher", *target, "--dry-run", "--json"])
    output = capsys.readouterr()
    told = json.loads(output.out)
    assert told["config"]["samples"] == 2000
    assert told["estimate"]["total"] > 2000
    assert told["estimate"]["resets"] > 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.py"]


def test_few_episodes_judge_a_policy_on_a_robot_and_a_hundred_in_simulation(tmp_path, capsys):
    def episodes(*arguments):
        main(["transfer", "reacher", *arguments, "--dry-run", "--json", "--out", str(tmp_path / "run")])
        told = json.loads(capsys.readouterr().out)["config"]
        return told["evaluation_episodes"], told["evaluate_rounds"]

    assert episodes() == (100, True)
    assert episodes("--target", "Reacher-v5") == (5, False)
    assert episodes("--target", "Reacher-v5", "--evaluation-episodes", "7", "--evaluate-rounds") == (7, True)
    assert episodes("--robot", "ros://127.0.0.1:1", "--minutes", "10") == (3, False)


def test_a_run_of_an_earlier_version_goes_on_as_it_began(arm, tmp_path, capsys):
    """Then a hundred episodes were usual, and every round was scored."""
    run = tmp_path / "run"
    main([*transfer(arm, "--dry-run", "--json"), *FAST])
    begun = json.loads(capsys.readouterr().out)["config"] | {"evaluation_episodes": 3}
    del begun["evaluate_rounds"], begun["safety"]
    run.mkdir()
    (run / "config.json").write_text(json.dumps(begun))
    main([*transfer(arm, "--resume", "--yes"), *FAST])
    result = json.loads((run / "result.json").read_text())
    assert result["evaluation_episodes"] == 3
