"""What holds for every kind of gap on every robot."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.gaps import KINDS, MIXTURE, Gap
from isthmus.robots import TASKS, load_task
from isthmus.sim.anatomy import robot_bodies

GAPPED = sorted(set(TASKS) - {"fetch-swing"})
"""The Fetch touches nothing, makes up for gravity and is made of meshes: several gaps are none for it."""


def fitting_body(kind, model):
    """A body that the dial can be for, as it is written: `:leg`, or nothing."""
    if kind.body == "no":
        return ""
    bodies = robot_bodies(model)
    return next((f":{body}" for body in bodies if kind.misfit(model, body) is None), f":{bodies[-1]}")


def gap_of(kind, value, model):
    beside = [] if not kind.beside else [(kind.beside, KINDS[kind.beside].example)]
    return Gap((*beside, (kind.name + fitting_body(kind, model), value)))


def run(world, steps=20):
    first = world.reset(np.random.default_rng(0))
    commands = np.random.default_rng(1).uniform(-1, 1, (steps, world.n, world.spec.action_size))
    return np.stack([first, *(world.step(command).observations for command in commands)])


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_knows_its_own_name_and_range(name):
    kind = KINDS[name]
    assert kind.name == name
    assert kind.low <= kind.neutral <= kind.high
    assert kind.admits(kind.example)
    assert kind.example != kind.neutral
    assert kind.low < kind.high
    assert kind.summary
    assert kind.unit
    assert (kind.touches == "model") == (kind.apply is not None)
    assert not kind.beside or KINDS[kind.beside].touches == kind.touches


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_is_described_with_its_range(name):
    kind = KINDS[name]
    page = (Path(__file__).parents[2] / "docs" / "gaps.md").read_text()
    assert f"| `{kind.usage}` | {kind.low:g} to {kind.high:g} {kind.unit} | {kind.neutral:g} |" in page


def test_every_draw_of_a_random_gap_is_described():
    page = (Path(__file__).parents[2] / "docs" / "gaps.md").read_text()
    for one in MIXTURE:
        low = f"1/{one.high:g}" if one.factor else f"{one.low:g}"
        name = one.name if KINDS[one.name].body == "no" else f"{one.name}:BODY"
        told = f"{one.low:g} control step" if one.low == one.high else f"{low} to {one.high:g}"
        assert f"| `{name}` | {told}" in page


@pytest.mark.parametrize("task_name", GAPPED)
@pytest.mark.parametrize("name", sorted(KINDS))
def test_at_its_neutral_value_there_is_no_gap_bit_for_bit(name, task_name):
    task = load_task(task_name)
    kind, model = KINDS[name], task.robot_model.model
    if not kind.fits(model):
        with pytest.raises(Problem, match=f"gap '{name}' does not fit this robot"):
            gap_of(kind, kind.neutral, model).apply(model)
        return
    neutral = gap_of(kind, kind.neutral, model)
    without = Gap(tuple(setting for setting in neutral.settings if setting[0].partition(":")[0] != name))
    np.testing.assert_array_equal(run(task.target(neutral, 2)), run(task.target(without, 2)))


@pytest.mark.parametrize("task_name", GAPPED)
@pytest.mark.parametrize("name", sorted(KINDS))
def test_at_any_other_value_there_is_one(name, task_name):
    task = load_task(task_name)
    kind, model = KINDS[name], task.robot_model.model
    if not kind.fits(model):
        return
    gap = gap_of(kind, kind.example, model)
    assert np.abs(run(task.target(gap, 2)) - run(task.source(2))).max() > 1e-6


@pytest.mark.parametrize("task_name", sorted(TASKS))
@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("end", ["low", "high"])
def test_a_robot_can_be_simulated_at_the_ends_of_every_range(name, task_name, end, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file
    task = load_task(task_name)
    kind, model = KINDS[name], task.robot_model.model
    if kind.fits(model):
        seen = run(task.target(gap_of(kind, getattr(kind, end), model), 2))
        assert np.isfinite(seen).all()
        assert not list(tmp_path.iterdir())


CHANGES_ROBOTS = [kind.name for kind in KINDS.values() if kind.touches == "model" and kind.body == "no"]


@pytest.mark.parametrize("name", sorted({*CHANGES_ROBOTS} - {"tilt"}))
def test_what_nothing_moves_is_no_robot_to_change(name):
    still = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><geom size='0.1'/></body></worldbody></mujoco>")
    with pytest.raises(Problem, match=f"gap '{name}' does not fit this robot"):
        Gap(((name, KINDS[name].example),)).apply(still)
