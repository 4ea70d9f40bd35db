import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid import Physics
from isthmus.sysid.quantities import Quantities

ROBOT = load_task("hopper").robot_model


@pytest.fixture(scope="module")
def told():
    quantities = Quantities(ROBOT)

    def told(gap):
        return dict(zip(quantities.names, quantities(Gap.parse(gap).apply(ROBOT.model)), strict=True))

    return told


def differing(found):
    return {name: round(value, 6) for name, value in found.items() if abs(value) > 1e-9}


def test_the_simulators_own_physics_is_all_zeros(told):
    assert differing(told("none")) == {}


def test_a_factor_is_told_as_its_logarithm(told):
    assert differing(told("mass:foot=1.5")) == {"mass foot": pytest.approx(np.log(1.5), abs=1e-6)}
    assert differing(told("contact-friction=0.5")) == {
        "contact friction all contacts": pytest.approx(np.log(0.5), abs=1e-6)
    }
    assert differing(told("gravity=1.2")) == {"gravity z": pytest.approx(-0.2, abs=1e-6)}


def test_weak_motors_are_told_as_a_robot_that_is_hard_to_move(told):
    weak, heavy = told("torque-scale=0.8"), told("mass=1.25,damping=1.25,armature=1.25")
    assert weak == pytest.approx(heavy, abs=1e-9)
    assert differing(weak)


def test_a_joint_without_damping_is_told_as_one_with_hardly_any(told):
    found = told("damping=0")
    assert all(np.isfinite(value) for value in found.values())
    assert found["damping foot_joint"] < -4


def test_what_identification_finds_is_read_from_its_model():
    physics, rng = Physics(ROBOT), np.random.default_rng(0)
    z = 0.3 * rng.normal(size=physics.size)
    values, model = physics.values(z), physics.model(physics.values(z))
    for group, value in zip(physics.groups, values, strict=True):
        np.testing.assert_allclose(group.get(model), value, atol=1e-12, err_msg=group.name)
