import numpy as np
import pytest

from isthmus.actuators.engine import make_engine
from isthmus.actuators.parts import ACTIVATIONS

PARTS = [("pd",), ("network",), ("gru",), ("pd", "network"), ("pd", "network", "gru")]


def samples(rng, n):
    return [rng.normal(0, scale, (n, 3)) for scale in (0.6, 0.4, 4.0)]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("command", ["position", "effort"])
def test_c_and_numpy_give_the_same_torques_whatever_worlds_step_and_begin(make, parts, command):
    model, rng = make(*parts, command=command), np.random.default_rng(1)
    fast, slow = (make_engine(model, 5, native=native) for native in (True, False))
    for step in range(40):
        target, position, velocity = samples(rng, 5)
        if step % 7 == 3:
            begun = np.array([0, 3])
            fast.begin(begun)
            slow.begin(begun)
        worlds = np.array([1, 2, 4]) if step % 5 == 2 else None
        asked = target if worlds is None else target[worlds]
        found, wanted = (engine.step(asked, position, velocity, worlds) for engine in (fast, slow))
        np.testing.assert_allclose(found, wanted, atol=2e-5)
    np.testing.assert_array_equal(fast.outside, slow.outside)
    assert 0 < fast.outside.sum() < fast.total.sum()


@pytest.mark.parametrize("native", [True, False])
def test_nobody_has_to_step(make, native):
    engine, (_, position, velocity) = (
        make_engine(make("network"), 2, native=native),
        samples(np.random.default_rng(4), 2),
    )
    assert engine.step(np.zeros((0, 3)), position, velocity, np.zeros(0, np.int64)).shape == (0, 3)
    assert engine.total.sum() == 0


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_is_the_same_in_c(make, activation):
    model, rng = make("network", activation=activation), np.random.default_rng(2)
    fast, slow = (make_engine(model, 2, native=native) for native in (True, False))
    for _ in range(8):
        given = samples(rng, 2)
        np.testing.assert_allclose(fast.step(*given), slow.step(*given), atol=2e-5)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("parts", [("network",), ("pd",)])
def test_the_first_sample_fills_the_history(make, native, parts):
    model, rng = make(*parts), np.random.default_rng(3)
    engine = make_engine(model, 1, native=native)
    given = samples(rng, 1)
    first = engine.step(*given).copy()
    for _ in range(model.depth + 2):  # a robot that stays where it is gives the same torque from the first sample on
        np.testing.assert_allclose(engine.step(*given), first, atol=1e-6)


@pytest.mark.parametrize("native", [True, False])
def test_lags_reach_back_so_many_samples(make, native):
    model, rng = make("network"), np.random.default_rng(4)
    engine = make_engine(model, 1, native=native)
    past = [samples(rng, 1) for _ in range(12)]
    for given in past:
        torque = engine.step(*given)
    errors = [target - position for target, position, _ in past]
    newest = np.stack([errors[-1 - lag][0] for lag in (0, 2, 5)] + [past[-1 - lag][2][0] for lag in (0, 2, 5)], axis=-1)
    wanted = model.contract.clip(model.network(newest), past[-1][2][0])
    np.testing.assert_allclose(torque[0], wanted, atol=2e-5)


@pytest.mark.parametrize("native", [True, False])
def test_a_recording_in_one_call_is_the_recording_step_by_step(make, native):
    model, rng = make("pd", "network", "gru"), np.random.default_rng(5)
    target, position, velocity = samples(rng, 30)
    begins = np.isin(np.arange(30), (0, 17))
    whole = make_engine(model, 1, native=native).run(target, position, velocity, begins)
    engine = make_engine(model, 1, native=native)
    for row in range(30):
        if begins[row]:
            engine.begin()
        here = slice(row, row + 1)
        np.testing.assert_allclose(engine.step(target[here], position[here], velocity[here])[0], whole[row], atol=1e-6)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("velocity", "low", "high"), [(0.0, -25, 25), (12.0, -30, 10), (-12.0, -10, 30), (30.0, -30, -12.5)]
)
def test_torque_stays_within_the_quadrants_of_a_dc_motor(make, native, velocity, low, high):
    engine = make_engine(make("pd", delay=False), 2, native=native)
    pulls = np.array([[1e4, 0, 0], [-1e4, 0, 0]])
    torque = engine.step(pulls, np.zeros((2, 3)), np.full((2, 3), velocity))[:, 0]
    # The drive saturates at 8 to 20 N m before friction, and the motor on its torque-speed line behind that.
    assert (torque >= low - 1e-9).all()
    assert (torque <= high + 1e-9).all()


def test_limits_are_those_of_the_contract_in_every_quadrant(make):
    terms = make("pd").contract
    torque, velocity = np.full((1, 3), 1e3), np.array([[10.0, -15.0, 400.0]])
    np.testing.assert_allclose(terms.clip(torque, velocity)[0], [12.5, 30.0, 30.0])
    np.testing.assert_allclose(terms.clip(-torque, velocity)[0], [-30.0, -20.0, -30.0])
