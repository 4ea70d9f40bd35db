"""Observation specs on the command line: what is wrong is said in one sentence, with exit code 2."""

import pytest

from isthmus.cli import main
from isthmus.experts import expert_path

POLICY = str(expert_path("hopper"))
FILES = {
    "unknown term": ('terms = ["joint_poss"]', "joint_poss"),
    "unknown joint": ('terms = ["joint_pos"]\njoints = ["elbow", "leg_joint", "foot_joint"]', "elbow"),
    "stack longer than the history": ('terms = ["joint_pos"]\nstack = {frames = 1000}\n', "takes 11 numbers"),
    "another size": ('terms = ["joint_pos"]', "takes 11 numbers"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_wrong_spec_ends_a_command_with_code_2(tmp_path, capsys, case):
    content, said = FILES[case]
    (tmp_path / "spec.toml").write_text(content)
    with pytest.raises(SystemExit) as stopped:
        main(["check", "hopper", "--policy", POLICY, "--observation-spec", str(tmp_path / "spec.toml")])
    assert stopped.value.code == 2
    error = " ".join(capsys.readouterr().err.split())
    assert said in error
    assert "Traceback" not in error


def test_a_spec_without_its_policy_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["check", "hopper", "--observation-spec", "mjlab"])
    assert stopped.value.code == 2
    assert "go with --policy" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("spec", "said"), [("isaaclab", "isaac-lab"), ("none.toml", "no observation spec at none.toml")]
)
def test_a_spec_that_is_not_there_is_not_called_a_policy(capsys, spec, said):
    with pytest.raises(SystemExit) as stopped:
        main(["check", "hopper", "--policy", POLICY, "--observation-spec", spec])
    assert stopped.value.code == 2
    error = " ".join(capsys.readouterr().err.split())
    assert said in error
    assert "policy file" not in error
