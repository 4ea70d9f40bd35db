import pytest

from isthmus.cli.main import main
from isthmus.cli.old_names import current_arguments


@pytest.mark.parametrize(
    ("given", "current", "notices"),
    [
        (["ceiling", "hopper"], ["oracle", "hopper"], 1),
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
