import numpy as np
import pytest

from isthmus.adapt.mpc.affine import Affine, Transition, Units
from isthmus.adapt.mpc.gaussian_dynamics import GaussianDynamics, GaussianSettings
from isthmus.adapt.mpc.output_error import OutputError


class Plant:
    """x' = A x + B u + c, under large random controls."""

    def __init__(self, seed, d=3, act=2, n=2):
        self.rng = np.random.default_rng(seed)
        self.A = 0.4 * self.rng.standard_normal((d, d))
        self.B, self.c = self.rng.standard_normal((d, act)), self.rng.standard_normal(d)
        self.x, self.first = 100 * self.rng.standard_normal((n, d)), np.ones(n, np.bool_)

    def step(self, prior):
        u = 100 * self.rng.standard_normal((len(self.x), self.B.shape[1]))
        after = self.x @ self.A.T + u @ self.B.T + self.c
        last = Transition(self.x, u, after, prior(self.x, u), np.ones(len(u), np.bool_), self.first)
        self.x, self.first = after, np.zeros(len(u), np.bool_)
        return last

    @property
    def affine(self):
        return Affine(*(np.repeat(part[None], len(self.x), axis=0) for part in (self.A, self.B, self.c)))


def wrong(plant):
    truth = plant.affine
    return Affine(0.5 * truth.A, 1.5 * truth.B, np.zeros_like(truth.c))


def distance(found, wanted):
    parts = zip(vars(found).values(), vars(wanted).values(), strict=True)
    return max(float(np.abs(one - other).max()) for one, other in parts)


class Carried:
    """An adaptation with its state, for two worlds of three targets and two actuators."""

    def __init__(self, adaptation, spec):
        self.adaptation, self.state = adaptation, adaptation.initial_state(2, Units(spec, np.ones(3)))

    def __call__(self, prior, last):
        found, self.state = self.adaptation(prior, last, self.state)
        return found


@pytest.fixture
def carried(make_spec):
    return lambda adaptation: Carried(adaptation, make_spec(3, 2))


EVIDENCE_ALONE = GaussianSettings(forget=0.05, evidence=1e12, alpha=1e-6, noise=0.0)


def test_known_linear_dynamics_are_recovered_from_noise_free_data(carried):
    plant = Plant(0)
    model, prior = carried(GaussianDynamics(EVIDENCE_ALONE)), wrong(plant)
    for _ in range(60):
        found = model(prior, plant.step(prior))
    assert distance(found, plant.affine) < 1e-6


def test_a_change_is_tracked_within_a_hundred_steps(carried):
    """With g = 0.1, what was before counts for 0.9^100 = 3e-5 by then."""
    plant = Plant(1)
    model = carried(GaussianDynamics(GaussianSettings(forget=0.1, evidence=1e12, alpha=1e-6, noise=0.0)))
    prior = wrong(plant)
    for _ in range(60):
        found = model(prior, plant.step(prior))
    plant.B = -plant.B
    assert distance(found, plant.affine) > 0.5
    found = model(prior, plant.step(prior))
    assert distance(found, plant.affine) > 0.1
    for _ in range(100):
        found = model(prior, plant.step(prior))
    assert distance(found, plant.affine) < 0.01


def test_without_a_step_there_is_the_simulator_alone_and_a_right_one_is_kept(carried):
    plant = Plant(2)
    prior, model = wrong(plant), carried(GaussianDynamics())
    last = plant.step(prior)
    nothing = Transition(last.before, last.control, last.before, last.expected, ~last.there, ~last.there)
    assert distance(model(prior, nothing), prior) == 0.0
    kept = carried(GaussianDynamics(GaussianSettings(noise=0.0)))
    for _ in range(20):
        found = kept(plant.affine, plant.step(plant.affine))
    assert distance(found, plant.affine) < 1e-3


def test_a_new_episode_forgets_the_last_one_in_its_own_world_only(carried):
    plant, other = Plant(3), Plant(4)
    prior = wrong(plant)
    model, fresh = carried(GaussianDynamics()), carried(GaussianDynamics())
    for _ in range(5):
        before = model(prior, plant.step(prior))
    other.first = np.array([True, False])
    last = other.step(prior)
    restarted = model(prior, last)
    alone = fresh(prior, Transition(**(vars(last) | {"first": np.ones(2, np.bool_)})))
    np.testing.assert_allclose(restarted.A[0], alone.A[0])
    assert np.abs(restarted.A[1] - alone.A[1]).max() > 1e-3
    assert np.isfinite(before.A).all()


def test_evidence_and_simulator_are_mixed_as_the_normal_inverse_wishart_has_it(carried):
    """The formulas of the module, one world at a time, at strengths that all differ."""
    settings = GaussianSettings(
        forget=0.3, evidence=3.0, mean_strength=2.0, covariance_strength=1.5, alpha=50.0, noise=0.4
    )
    plant = Plant(6)
    plant.x /= 100  # so that the simulator counts too
    model, prior = carried(GaussianDynamics(settings)), wrong(plant)
    steps = [plant.step(prior) for _ in range(3)]
    for last in steps:
        found = model(prior, last)
    for world in range(2):
        mu = square = None
        for last in steps:
            z = np.concatenate((last.before[world], last.control[world], last.after[world]))
            mu = z if mu is None else 0.7 * mu + 0.3 * z
            square = np.outer(z, z) if square is None else 0.7 * square + 0.3 * np.outer(z, z)
        xu, F = z[:5], np.hstack((prior.A[world], prior.B[world]))
        mu0 = np.concatenate((xu, F @ xu + prior.c[world]))
        phi = 50.0 * np.block([[np.eye(5), F.T], [F, F @ F.T]])
        phi[5:, 5:] += 0.4 * np.eye(3)
        shift = 3.0 * 2.0 / (3.0 + 2.0) * np.outer(mu - mu0, mu - mu0)
        sigma = (3.0 * (square - np.outer(mu, mu)) + phi + shift) / (3.0 + 1.5)
        mean = (3.0 * mu + 2.0 * mu0) / (3.0 + 2.0)
        Fm = np.linalg.solve(sigma[:5, :5] + 1e-5 * np.eye(5), sigma[:5, 5:]).T
        np.testing.assert_allclose(np.hstack((found.A[world], found.B[world])), Fm, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found.c[world], mean[5:] - Fm @ mean[:5], rtol=1e-6, atol=1e-6)


def test_output_errors_are_smoothed_and_the_first_is_taken_as_it_is(carried):
    plant = Plant(5)
    model, prior = carried(OutputError(0.25)), wrong(plant)
    errors = []
    for _ in range(4):
        last = plant.step(prior)
        errors.append(last.after - last.expected)
        found = model(prior, last).c - prior.c
        e = errors[0]
        for raw in errors[1:]:
            e = 0.75 * e + 0.25 * raw
        np.testing.assert_allclose(found, e, rtol=1e-9)
    nothing = Transition(last.before, last.control, last.after, last.expected, ~last.there, ~last.there)
    np.testing.assert_array_equal(model(prior, nothing).c, prior.c)


def test_units_lead_there_and_back(make_spec):
    units = Units(make_spec(3, 2), np.array([0.1, 2.0, 5.0]))
    rng = np.random.default_rng(0)
    observations, actions = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    np.testing.assert_allclose(units.observation(units.state(observations), np.zeros((4, 3))), observations)
    np.testing.assert_allclose(units.action(units.control(actions)), actions)
    assert units.state(np.array([[1.0, 1.0, 1.0]]))[0, 0] == pytest.approx(10)
