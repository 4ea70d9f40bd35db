import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.cli import main
from isthmus.cli.arguments import PolicyOptions
from isthmus.cli.commands import COMMANDS, LEAVES, Group
from isthmus.cli.parse import parse


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "isthmus", *arguments], capture_output=True, text=True, check=False)


def printed(arguments, capsys):
    """What a command that only prints something prints."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code in (0, None)
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_every_command_has_help_with_examples_that_parse(command, capsys):
    text = printed([*command, "--help"], capsys)
    assert text.startswith(f"usage: isthmus {' '.join(command)} ")
    examples = re.findall(r"Example: `([^`]*)`", text)
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert words[: len(command) + 1] == ["isthmus", *command]
        assert isinstance(parse(words[1:]), LEAVES[command].options)


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_is_a_line_a_command_on_one_screen(asked, capsys):
    lines = printed([asked], capsys).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) < 85
    shown = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert shown.keys() == COMMANDS.keys()
    for name, group in COMMANDS.items():
        if isinstance(group, Group):
            words = re.split(r": |, ", shown[name])[1:]
            if words[-1] == "...":  # a group with many commands names the first of them
                assert len(words) > 3
                words = [*words[:-1], *list(group.commands)[len(words) - 1 :]]
            assert words == list(group.commands)


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if isinstance(one, Group)])
def test_a_group_has_help_with_a_line_a_command(name, capsys):
    lines = printed([name, "--help"], capsys).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(COMMANDS[name].commands)
    with pytest.raises(SystemExit) as stopped:
        main([name])
    assert stopped.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines() == lines


OPTIONS = {
    "policy": Path | None,
    "normaliser": Path | None,
    "layout": str | None,
    "workers": int,
    "json": bool,
}
"""Options that mean the same wherever they are."""


def options(kind):
    """The options of a command with their types, those that it shares with others among them."""
    for name, hint in get_type_hints(kind).items():
        yield from options(hint) if hint is PolicyOptions else [(name, hint)]


@pytest.mark.parametrize("command", LEAVES, ids=" ".join)
def test_options_with_the_same_name_have_the_same_type(command):
    given = dict(options(LEAVES[command].options))
    assert {name: given[name] for name in OPTIONS if name in given} == {
        name: kind for name, kind in OPTIONS.items() if name in given
    }
    assert given.get("out", Path) in (Path, Path | None)
    assert not {"normaliser", "layout"} & given.keys() or "policy" in given
    assert not {"lanes", "start_policy", "output", "folder", "jobs", "processes"} & given.keys()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_completion_script_with_every_command(shell, tmp_path, capsys):
    script = printed(["--tyro-print-completion", shell], capsys)
    assert all(word in script for command in LEAVES for word in command)
    printed(["--tyro-write-completion", shell, str(tmp_path / "script")], capsys)
    assert (tmp_path / "script").read_text().strip() == script.strip()


@pytest.mark.parametrize("command", ["tasks", "gaps", "methods"])
def test_lists_have_a_line_for_each_and_json(command, capsys):
    main(["list", command, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert all(row["name"] and row["summary"] for row in rows)
    main(["list", command])
    shown = capsys.readouterr().out
    assert all(row["name"] in shown for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tranfer", "reacher"], "unknown command 'tranfer': choose from actuator, analyse, .*did you mean 'transfer'"),
        (["fly"], "unknown command 'fly': choose from actuator, analyse"),
        (["train", "reacher"], "unknown command 'train': .*did you mean 'policy train'"),
        (["orcle", "hopper"], "unknown command 'orcle': .*did you mean 'analyse oracle'"),
        (["polcy", "train"], "unknown command 'polcy': .*did you mean 'policy'"),
        (["--samples", "3"], "unknown option '--samples': a command comes first"),
        (["policy", "evalute", "reacher"], "unknown command of policy 'evalute'.*did you mean 'evaluate'"),
        (["experiment", "seed", "reacher"], "unknown command of experiment 'seed'.*did you mean 'seeds'"),
        (["--tyro-print-completion", "foo"], "unknown shell 'foo': choose from bash, fish, zsh"),
        (["--tyro-print-completion"], "completion is asked for as `isthmus --tyro-print-completion SHELL`"),
        (["--tyro-write-completion", "bash"], "completion is asked for as .* SHELL FILE"),
        (["--tyro-write-completion", "bash", "no/such/folder/x"], "there is no folder no/such/folder: make it first"),
        (["transfer", "reachr"], "unknown task 'reachr': choose from .*reacher.*did you mean 'reacher'"),
        (["transfer", "reacher", "--gap", "tlit=90"], "unknown gap 'tlit'.*did you mean 'tilt'"),
        (["transfer", "reacher", "--gap", "tilt=900"], "from 0 to 90 degrees, as in tilt=90"),
        (["transfer", "reacher", "--gap", "tilt"], "from 0 to 90 degrees"),
        (["transfer", "reacher", "--method", "invers"], "unknown method 'invers'.*did you mean 'inverse'"),
        (["transfer", "reacher", "--samples", "0"], "samples must be at least 1"),
        (["transfer", "reacher", "--fit.epochs", "0"], "fit.epochs cannot be 0"),
        (["transfer", "reacher", "--collect.interrupt", "2"], "collect.interrupt cannot be 2"),
        (["transfer", "reacher:arm-mas=3"], "did you mean 'arm-mass'"),
        (["transfer", "reacher:arm-mass=heavy"], "needs a number"),
        (["transfer", "reacher", "--out", "/proc/nowhere/run"], "cannot use /proc/nowhere/run"),
        (["report", "no-such-run"], "no-such-run"),
        (["policy", "evaluate", "nobody"], "unknown task 'nobody'"),
        (
            ["policy", "evaluate", "reacher", "--policy", "no-such-file.npz"],
            "cannot read the policy file no-such-file.npz",
        ),
        (["policy", "evaluate", "reacher", "--episodes", "0"], "episodes must be at least 1"),
        (["policy", "train", "reacher", "--steps", "0"], "steps cannot be 0"),
        (["policy", "train", "reacher", "--out", "policy.zip"], r"ends in \.npz"),
        (["policy", "sensitivity", "reacher", "--dials", "gravty"], "unknown dial 'gravty'.*mean 'gravity'"),
        (["check", "hopper", "--policy", "none.zip"], "cannot read the policy file none.zip"),
        (["check", "reacher", "--layout", "v5"], "go with --policy"),
        (["transfer", "hopper", "--gap", "mass:trso=2"], "unknown body 'trso'.*did you mean 'torso'"),
        (["transfer", "ant", "--gap", "gravity=1.2"], "no expert ships with task 'ant'.*--policy FILE"),
        (["experiment", "seeds", "reacher", "--seeds", "0"], "at least one seed"),
        (["experiment", "random-gaps", "--tasks", "reachr"], "unknown task 'reachr'.*did you mean 'reacher'"),
        (["experiment", "random-gaps", "--gaps", "0"], "at least one gap"),
        (
            ["experiment", "ablation", "--tasks", "reachr"],
            "unknown task of the ablation 'reachr'.*mean 'reacher'",
        ),
        (["experiment", "ablation", "--seeds", "0"], "seeds must be at least 1, got 0"),
        (["transfer", "reacher", "--may-retrain", "--method", "pd"], "may-retrain is for --method auto"),
        (["experiment", "seeds", "reacher", "--may-retrain", "--method", "pd"], "may-retrain is for --method auto"),
        (["compare", "reachr"], "unknown task 'reachr'.*did you mean 'reacher'"),
        (["compare", "reacher", "--methods", "pd", "invers"], "unknown method 'invers': choose.*mean 'inverse'"),
        (
            ["experiment", "suite", "--methods", "auto,invers"],
            "unknown method of the suite 'invers'.*mean 'inverse'",
        ),
        (
            ["experiment", "suite", "--tasks", "hopper,reachr"],
            "unknown task of the suite 'reachr'.*mean 'reacher'",
        ),
        (["experiment", "random-gaps", "--tasks", "hopper,reachr"], "unknown task 'reachr'.*did you mean 'reacher'"),
        (["experiment", "ablation", "--tasks", "reacher,reachr"], "unknown task of the ablation 'reachr'"),
        (["policy", "sensitivity", "reacher", "--dials", "mass,gravty"], "unknown dial 'gravty'.*mean 'gravity'"),
        (["compare", "reacher", "--methods", "pd,invers"], "unknown method 'invers': choose.*did you mean 'inverse'"),
        (["compare", "reacher", "--gap", "tilt=900"], "from 0 to 90 degrees"),
        (["compare", "reacher", "--samples", "0"], "samples must be at least 1"),
        (["compare", "reacher", "--seeds", "0"], "seeds must be at least 1"),
        (["compare", "reacher", "--episodes", "few"], "'few' needs a whole number, as in 50 or 50,gaussian=8"),
        (["compare", "reacher", "--episodes", "10"], "evaluation-episodes must be at least 50"),
        (["compare", "ant"], "no expert ships with task 'ant'"),
        (["experiment", "suite", "--tasks", "reachr"], "unknown task of the suite 'reachr'.*mean 'reacher'"),
        (["experiment", "suite", "--workers", "0"], "workers must be at least 1"),
        (["analyse", "oracle", "reachr"], "unknown task 'reachr'.*did you mean 'reacher'"),
        (["analyse", "oracle", "reacher", "--gap", "tilt=900"], "from 0 to 90 degrees"),
        (
            ["analyse", "oracle", "reacher", "--metric", "evn"],
            "unknown metric 'evn': choose from .*mean 'even'",
        ),
        (["analyse", "oracle", "reacher", "--episodes", "0"], "episodes must be at least 1"),
        (["analyse", "oracle", "reacher", "--logs", "no-such-run"], "no-such-run is not the folder of a run"),
        (["analyse", "oracle", "reacher", "--logs", "runs/r0", "--gap", "tilt=9"], "give them, or a gap, not both"),
        (["analyse", "identify", "reacher", "--samples", "0"], "samples must be at least 1"),
        (["analyse", "identify", "reacher", "--logs", "no-such-run"], "no-such-run is not the folder of a run"),
        (["analyse", "identify", "reacher", "--logs", "runs/r0", "--gap", "mass=2"], "give them, or a gap, not both"),
        (["experiment", "paper", "figure-6"], "unknown figure 'figure-6': choose from figure-3, figure-4, figure-5"),
        (["robot", "down", "fetch"], "unknown command of robot 'down': choose from faults, up"),
        (["robot", "up", "baxter"], "unknown robot 'baxter': choose from fetch"),
        (["transfer", "reacher", "--minutes", "1"], "minutes and speed are those of a robot"),
        (["transfer", "fetch-swing", "--robot", "here"], "is no address of a robot"),
        (
            ["transfer", "reacher", "--target", "gm:Arm"],
            "unknown kind of target 'gm': choose from firmware, gap, gym, logs, ros",
        ),
        (["transfer", "reacher", "--target", "a.py", "--robot", "ros://b"], "are two targets: give one"),
        (["transfer", "reacher", "--target", "a.py", "--gap", "tilt=9"], "give it, or a gap, not both"),
        (
            ["experiment", "paper", "figure-4", "--tasks", "reacher"],
            "unknown robot of figure-4 'reacher': choose from hopper, hum",
        ),
        (["experiment", "paper", "figure-3", "--seeds", "0"], "seeds must be at least 1"),
        (["experiment", "paper", "figure-3", "--workers", "0"], "workers must be at least 1"),
        (["bench", "--repeats", "0"], "repeats must be at least 1"),
        (["transfer", "reacher", "--evaluation-episodes", "1000000000"], "evaluation-episodes must be at most 10000"),
        (["transfer", "reacher", "--history", "100000000"], "history must be at most 1000"),
        (["transfer", "reacher", "--samples", "9" * 31], "samples must be at most 1000000000, got a number of more"),
        (["transfer", "reacher", "--round-samples", "9" * 31], "round-samples must be at most 1000000000"),
        (["transfer", "reacher", "--seed", "9" * 31], "seed must be at most 9223372036854775807"),
        (["transfer", "reacher", "--fit.hidden", "1000000", "8"], "fit.hidden cannot be 1000000"),
        (["transfer", "reacher", "--fit.weight-decay", "inf"], "fit.weight-decay cannot be inf"),
        (["transfer", "reacher", "--collect.drift", "inf"], "collect.drift must be at most 1000000000, got inf"),
        (["transfer", "reacher", "--collect.placed", "1000000000"], "collect.placed cannot be 1000000000"),
        (["transfer", "fetch-swing", "--minutes", "nan"], "minutes must be at most 1000000000, got nan"),
        (["experiment", "seeds", "reacher", "--seeds", "1000000000"], "seeds must be at most 10000"),
        (["experiment", "seeds", "reacher", "--workers", "1000000000"], "workers must be at most 1000"),
        (["experiment", "seeds", "reacher", "--history", "100000000"], "history must be at most 1000"),
        (["compare", "reacher", "--oracle-episodes", "1000000000"], "oracle-episodes must be at most 10000"),
        (["compare", "reacher", "--episodes", "9" * 31], "evaluation-episodes must be at most 10000"),
        (["analyse", "oracle", "reacher", "--episodes", "1000000000"], "episodes must be at most 10000"),
        (["check", "reacher", "--episodes", "1000000000"], "episodes must be at most 10000"),
        (["check", "reacher", "--expect-return", "nan"], "expect-return must be at most 1000000000, got nan"),
        (["policy", "evaluate", "reacher", "--episodes", "1000000000"], "episodes must be at most 10000"),
        (["policy", "train", "reacher", "--worlds", "1000000000"], "worlds must be at most 100000"),
        (["experiment", "random-gaps", "--gaps", "1000000000"], "gaps must be at most 10000"),
        (["analyse", "identify", "reacher", "--samples", "9" * 31], "samples must be at most 1000000000"),
        (["robot", "up", "fetch", "--speed", "inf"], "speed must be at most 1000000000, got inf"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    [line] = output.err.strip().splitlines()
    assert line.startswith("isthmus: ")
    assert re.search(message, line)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["transfer"], ["transfer", "reacher", "--samples", "many"], []])
def test_a_command_line_that_cannot_be_read_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err


def test_a_process_ends_with_the_exit_code_and_without_a_traceback():
    finished = run("transfer", "reacher", "--samples", "many")
    assert finished.returncode == 2
    assert "Traceback" not in finished.stderr


def test_transfer_prints_a_closing_table_and_where_the_report_is(tmp_path, capsys):
    options = ["--gap", "tilt=90", "--samples", "60", "--round-samples", "60", "--fit.epochs", "2"]
    main(["transfer", "reacher", *options, "--no-video", "--out", str(tmp_path / "run")])
    printed = capsys.readouterr().out
    for row in ("expert in its simulator", "unadapted on the target", "adapted on the target"):
        assert row in printed
    assert f"report: {tmp_path / 'run' / 'report.html'}" in printed
    assert (tmp_path / "run" / "report.html").exists()


def test_a_command_gives_blas_one_thread(monkeypatch):
    seen = []
    monkeypatch.setattr(type(parse(["list", "gaps"])), "run", lambda _self: seen.extend(threadpool_info()))
    with threadpool_limits(2, user_api="blas"):
        main(["list", "gaps"])
    assert {pool["num_threads"] for pool in seen if pool["user_api"] == "blas"} == {1}


def test_an_actuator_that_is_never_off_has_no_share_of_its_spread(tmp_path, capsys):
    """A robot that is late and nothing else does exactly what it is told, once that is taken into account."""
    options = ["--samples", "60", "--round-samples", "60", "--fit.epochs", "2", "--no-report", "--out", str(tmp_path)]
    main(["transfer", "reacher", *options])
    [path] = (tmp_path / "rounds").iterdir()
    record = json.loads(path.read_text())
    record["fit"] |= {"error": [0.0, 0.1], "action_std": [0.0, 0.2]}
    path.write_text(json.dumps(record))
    (tmp_path / "manifest.json").unlink()
    capsys.readouterr()
    main(["transfer", "reacher", *options, "--resume"])
    told = "held-out action error: joint0 0.000, joint1 0.100 (50% of its std)"
    assert told in " ".join(capsys.readouterr().out.split())


def test_with_json_only_json_goes_to_stdout(tmp_path):
    options = ["--gap", "tilt=90", "--samples", "60", "--round-samples", "60", "--fit.epochs", "2", "--no-report"]
    finished = run("transfer", "reacher", *options, "--json", "--out", str(tmp_path / "run"))
    assert json.loads(finished.stdout) == json.loads((tmp_path / "run" / "result.json").read_text())


def test_an_expert_is_evaluated_on_gyms_own_reward(capsys):
    main(["policy", "evaluate", "reacher", "--episodes", "20", "--json"])
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["gym_return"]["mean"] < outcome["score"]["mean"] < 0
    assert outcome["full_length"] == 1.0


def test_a_policy_is_checked_and_the_verdict_is_the_exit_code(capsys):
    main(["check", "reacher", "--expect-return", "-5", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["as_expected"]
    assert found["gym_return"] > found["zero"]
    with pytest.raises(SystemExit) as stopped:
        main(["check", "reacher", "--expect-return", "0"])
    assert stopped.value.code == 1
    assert "none of the usual mistakes explains it" in capsys.readouterr().out


def test_an_interruption_is_said_and_keeps_what_is_complete(monkeypatch, capsys):
    def interrupt(_self):
        raise KeyboardInterrupt

    monkeypatch.setattr("isthmus.cli.list.Tasks.run", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main(["list", "tasks"])
    assert stopped.value.code == 130
    assert "interrupted" in capsys.readouterr().err


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert re.fullmatch(r"isthmus \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def test_square_brackets_are_text_and_no_style(capsys):
    main(["list", "tasks"])
    assert "isthmus[fetch]" in "".join(capsys.readouterr().out.split())


ROBOT = """
import dataclasses
from isthmus.robots import load_task

def make_task():
    return dataclasses.replace(load_task("reacher"), name="idp", gym_id="")
"""


@pytest.fixture
def robot_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idp.py").write_text(ROBOT, encoding="utf-8")
    return "idp.py"


def test_a_robot_file_without_a_policy_is_told_what_works_for_a_file(robot_file, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["check", robot_file])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "let make_task() give its Task a `policy`" in said
    assert "policy train idp" not in said


def test_a_users_robot_is_paid_its_own_reward(robot_file, capsys):
    from isthmus.experts import expert_path

    policy = str(expert_path("reacher"))
    main(["policy", "evaluate", robot_file, "--policy", policy, "--episodes", "2"])
    main(["check", robot_file, "--policy", policy, "--episodes", "2"])
    said = capsys.readouterr().out
    assert said.count("the task's reward") == 2
    assert "Gym" not in said


def test_checks_are_listed_and_a_policy_that_falls_at_once_fails_them(tmp_path, capsys):
    import dataclasses

    import numpy as np

    from isthmus.experts import load_expert
    from isthmus.robots import load_task

    expert = load_expert(load_task("hopper"))
    wrong = dataclasses.replace(expert.network, output_scale=np.full(3, 1e-6), output_mean=np.array([1.0, -1.0, 1.0]))
    dataclasses.replace(expert, network=wrong).save(tmp_path / "falls.npz")
    with pytest.raises(SystemExit) as stopped:
        main(["check", "hopper", "--policy", str(tmp_path / "falls.npz"), "--episodes", "2", "--json"])
    assert stopped.value.code == 1
    found = json.loads(capsys.readouterr().out)
    assert found["culprit"] is None
    failed = [check["name"] for check in found["checks"] if not check["passed"]]
    assert failed == ["episodes last", "the return is 25% of the expert's"]
    assert found["reference"] == pytest.approx(3474.9, abs=1)


def test_many_actuators_are_told_by_the_worst(capsys):
    from types import SimpleNamespace

    from isthmus.cli.run_result import print_fit

    names = tuple(f"motor{i}" for i in range(12))
    fit = {"error": [0.01 * i for i in range(12)], "action_std": [1.0] * 12}
    print_fit(SimpleNamespace(rounds=lambda: [SimpleNamespace(fit=fit)]), names)
    told = " ".join(capsys.readouterr().out.split())
    assert told == (
        "held-out action error, the largest 3 of 12: motor11 0.110 (11% of its std), "
        "motor10 0.100 (10% of its std), motor9 0.090 (9% of its std)"
    )
