import dataclasses

import pytest

from isthmus.cli.commands import COMMANDS as CURRENT
from isthmus.cli.commands import LEAVES, Group
from isthmus.cli.main import main
from isthmus.cli.old_names import COMMANDS, OPTIONS_OF, current_arguments


@pytest.mark.parametrize(
    ("given", "current", "notices"),
    [
        (["ceiling", "hopper"], ["analyse", "oracle", "hopper"], 1),
        (["tasks", "--json"], ["list", "tasks", "--json"], 1),
        (["expert", "train", "reacher"], ["policy", "train", "reacher"], 1),
        (["study", "reacher", "--method", "grounded"], ["experiment", "seeds", "reacher", "--method", "fine-tune"], 2),
        (["compare-suite", "--only", "hopper"], ["experiment", "fixed-gaps", "--tasks", "hopper"], 2),
        (["reproduce", "figure-4", "--only=hopper"], ["experiment", "paper", "figure-4", "--tasks=hopper"], 2),
        (
            ["robot", "faults", "--lanes", "2", "--only", "stop"],
            ["robot", "faults", "--workers", "2", "--only", "stop"],
            1,
        ),
        (["check", "--task", "hopper", "--json"], ["check", "hopper", "--json"], 1),
        (["check", "--json", "--task=hopper"], ["check", "--json", "hopper"], 1),
        (["report", "runs/r0", "--task", "arm.py"], ["report", "runs/r0", "--task", "arm.py"], 0),
        (["list", "tasks"], ["list", "tasks"], 0),
        (["--help"], ["--help"], 0),
        (["--tyro-print-completion", "bash"], ["--tyro-print-completion", "bash"], 0),
        (["transfer", "reacher", "--method", "explained"], ["transfer", "reacher", "--method", "residual-action"], 1),
        (["transfer", "reacher", "--method=grounded"], ["transfer", "reacher", "--method=fine-tune"], 1),
        (
            ["compare", "reacher", "--methods", "pd,identified,auto", "--no-ceiling"],
            ["compare", "reacher", "--methods", "pd,model-inverse,auto", "--no-oracle"],
            2,
        ),
        (
            ["compare", "reacher", "--episodes", "50,explained=16", "--ceiling-episodes", "8"],
            ["compare", "reacher", "--episodes", "50,residual-action=16", "--oracle-episodes", "8"],
            2,
        ),
        (["transfer", "reacher", "--out", "explained"], ["transfer", "reacher", "--out", "explained"], 0),
        (["transfer", "ceiling"], ["transfer", "ceiling"], 0),
        ([], [], 0),
    ],
)
def test_old_names_are_taken_and_said_to_be_old(given, current, notices):
    found, said = current_arguments(given)
    assert found == current
    assert len(said) == notices


def test_a_notice_is_a_line_on_stderr(capsys):
    with pytest.raises(SystemExit):
        main(["transfer", "no-such-task", "--method", "explained", "--gap", "none"])
    said = capsys.readouterr().err
    assert "explained is now called residual-action" in said
    assert "unknown task 'no-such-task'" in said


@pytest.mark.parametrize("old", COMMANDS)
def test_every_old_command_leads_to_one_that_is_there(old):
    words = tuple(COMMANDS[old].split())
    assert words in LEAVES or (len(words) == 1 and isinstance(CURRENT[words[0]], Group))
    assert old not in CURRENT


@pytest.mark.parametrize("command", OPTIONS_OF, ids=" ".join)
def test_every_old_option_leads_to_one_that_is_there(command):
    there = {field.name for field in dataclasses.fields(LEAVES[command].options)}
    for old, new in OPTIONS_OF[command].items():
        assert new[2:].replace("-", "_") in there
        assert old[2:].replace("-", "_") not in there
