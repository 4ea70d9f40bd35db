from dataclasses import asdict

import numpy as np
import pytest

from isthmus.core import History
from isthmus.robots import load_task
from isthmus.sysid import IdentifiedParameters, Physics, canonical_scale, estimates

PHYSICS = Physics(load_task("half-cheetah").robot_model)
TORQUES = ("mass", "damping", "armature", "stiffness", "strength")


def told(factors, covariance=None):
    """What is said when the first number of each quantity's z, which is common to its parts, is the factor's log."""
    z = np.zeros(PHYSICS.size)
    for quantity, part in zip(PHYSICS.groups, PHYSICS.split(np.arange(PHYSICS.size)), strict=True):
        if quantity.name in factors:
            z[int(part[0])] = np.log(factors[quantity.name]) / quantity.root[0, 0]
    found = IdentifiedParameters(z, np.eye(PHYSICS.size) if covariance is None else covariance, 1.0, 0.0)
    return {one.name: one for one in estimates(PHYSICS, found)}


def ratios(found):
    return {name: found[name].together.estimate / found[name].together.simulator for name in TORQUES}


def test_one_quantity_that_is_off_is_said_to_be():
    found = told({"mass": 1.3, "damping": 0.7})
    assert ratios(found) == pytest.approx({"mass": 1.3, "damping": 0.7, "armature": 1, "stiffness": 1, "strength": 1})
    assert found["mass"].together.simulator == pytest.approx(14.0)
    assert found["gravity"].together is None


def test_weak_motors_are_not_said_to_be_a_robot_of_which_all_else_has_grown():
    found = told(dict.fromkeys(("mass", "damping", "armature", "stiffness"), 1.25))
    assert ratios(found) == pytest.approx(
        {"mass": 1, "damping": 1, "armature": 1, "stiffness": 1, "strength": 0.8}, rel=1e-9
    )


def test_what_is_determined_is_what_the_steps_have_made_certain():
    certain = np.eye(PHYSICS.size)
    certain[2, 2] = 0.01
    found = told({}, certain)
    assert [part.determined for part in found["gravity"].parts] == pytest.approx([0, 0, 0.99])
    assert found["mass"].together.determined == pytest.approx(0.0)
    assert found["strength"].together.determined == 0.0
    assert asdict(found["gravity"])["parts"][2]["estimate"] == -9.81


@pytest.mark.parametrize("seed", range(3))
def test_fewest_terms_make_the_same_motion(seed):
    rng = np.random.default_rng(seed)
    task = load_task("half-cheetah")
    weak = {"mass": 1.25, "damping": 1.25, "armature": 1.25, "stiffness": 1.25, "dry friction": 0.3}
    values = [
        value + weak[quantity.name] if quantity.name == "dry friction" else value * weak.get(quantity.name, 1.0)
        for quantity, value in zip(PHYSICS.groups, PHYSICS.values(np.zeros(PHYSICS.size)), strict=True)
    ]
    fewest = canonical_scale(PHYSICS, values)
    named = {quantity.name: value for quantity, value in zip(PHYSICS.groups, fewest, strict=True)}
    np.testing.assert_allclose(named["strength"], 0.8)
    np.testing.assert_allclose(named["mass"], task.robot_model.model.body_mass[1:])
    world, seen = task.source(8), []
    now = world.reset(rng)
    for _ in range(20):  # the legs are on the ground by then
        seen.append(now)
        now = world.step(rng.uniform(-1, 1, (8, 6))).observations
    before = np.concatenate(seen)
    actions = rng.uniform(-1, 1, (len(before), 6))
    as_found, as_told = (PHYSICS.predict(one, before, actions) for one in (values, fewest))
    np.testing.assert_allclose(as_told, as_found, atol=1e-5)
    assert np.abs(as_told - task.source().predict(History.of(before), actions)).max() > 0.1
