import inspect

import pytest

from isthmus.core import Problem
from isthmus.robots import TASKS, load_task
from isthmus.robots.registry import mjcf_of, task_with_model


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_can_be_loaded_by_its_name(name):
    task = load_task(name)
    assert task.name == name == TASKS[name].name
    assert set(inspect.signature(TASKS[name].make).parameters) == {*TASKS[name].options, "model"}


@pytest.mark.parametrize("name", ["reacher:arm-mass=3", "leg-squat:frequency=1.5", "fetch-swing"])
def test_a_task_can_be_made_of_a_compiled_model(name):
    model = mjcf_of(name).compile()
    task = task_with_model(name, model)
    assert task.robot_model.model is model
    assert task.robot_model.spec.observation_names == load_task(name).robot_model.spec.observation_names


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("import no_such_module\n", r"fails in line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("a = 1\nif a\n", r"fails in line 2: SyntaxError"),
        ("def make_task():\n    return 1 / 0\n", r"fails in line 2: ZeroDivisionError"),
        ("import sys\n\nsys.exit(0)\n", r"fails in line 3: SystemExit"),
        ("import json\ndef make_task():\n    return json.loads('{')\n", r"fails in line 3: JSONDecodeError"),
        ("def make_task(robot):\n    pass\n", r"fails: TypeError: make_task\(\) missing 1 required"),
        ("\0", r"fails.*: (SyntaxError|ValueError)"),
        ("make_task = 3\n", r"has no make_task\(\) that returns a Task"),
        ("def make_task():\n    return 3\n", r"has no make_task\(\) that returns a Task"),
    ],
)
def test_a_robot_file_that_fails_is_a_problem_that_names_the_line(tmp_path, content, complaint):
    (tmp_path / "robot.py").write_text(content)
    with pytest.raises(Problem, match=rf"robot\.py {complaint}"):
        load_task(str(tmp_path / "robot.py"))


@pytest.mark.parametrize(
    "text", ["reacher:arm-mass=3.5", "reacher:arm_mass=3.5", "reacher: arm-mass =3.5", "reacher:arm-mass=3.5,"]
)
def test_an_option_is_a_number(text):
    model = load_task(text).robot_model.model
    assert sum(model.body(name).mass[0] for name in ("body0", "body1", "fingertip")) == pytest.approx(3.5)


def test_a_task_without_its_options_is_the_default():
    assert (
        load_task("reacher:").robot_model.model.body_mass.sum()
        == load_task("reacher").robot_model.model.body_mass.sum()
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("reachr", r"unknown task 'reachr': choose from .*reacher.*; did you mean 'reacher'\?"),
        ("", r"unknown task '': choose from .*reacher"),
        ("Reacher", r"did you mean 'reacher'\?"),
        (
            "reacher:arm-mas=3",
            r"unknown option of task 'reacher': 'arm-mas': choose from arm-mass; did you mean 'arm-mass'\?",
        ),
        ("reacher:gravity=3", r"unknown option of task 'reacher': 'gravity': choose from arm-mass$"),
        ("reacher:arm-mass=heavy", r"option 'arm-mass=heavy' of task 'reacher' needs a number, as in arm-mass=1"),
        ("reacher:arm-mass", r"option 'arm-mass' of task 'reacher' needs a number"),
        ("reacher:arm-mass=", r"option 'arm-mass=' of task 'reacher' needs a number"),
        ("reacher:arm-mass=-3", r"arm-mass must be 0 .* or between 0\.001 and 1000 kg, got -3"),
        ("reacher:arm-mass=nan", r"arm-mass must be 0 .* got nan"),
        ("reacher:arm-mass=1e9", r"arm-mass must be 0 .* got 1e\+09"),
    ],
)
def test_what_cannot_be_loaded_is_a_problem_that_says_what_can(text, complaint):
    with pytest.raises(Problem, match=complaint):
        load_task(text)
