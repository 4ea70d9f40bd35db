import numpy as np
import pytest

from isthmus.core import History, Trajectory, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid import Physics, Transitions, identify
from isthmus.sysid.fit import _Problem

WORLDS = 8


def steps(task, gap, count, noise=0.0):
    """Steps of the robot behind the gap, under commands that change slowly enough to move it."""
    world, rng = task.target(Gap.parse(gap), WORLDS), stream(0, "steps")
    spec = world.spec
    before, actions, after = [world.reset(rng)], [], []
    command = np.zeros((WORLDS, spec.action_size))
    for _ in range(count // WORLDS):
        command = 0.8 * command + 0.6 * spec.half_range * rng.uniform(-1, 1, command.shape)
        step = world.step(spec.clip(command))
        actions.append(step.applied)
        after.append(step.observations)
        before.append(step.observations)
    seen = np.concatenate(after)
    return Transitions(
        np.concatenate(before[:-1]), np.concatenate(actions), seen + noise * rng.standard_normal(seen.shape)
    )


def walked(task, gap, count):
    """Steps of the expert behind the gap, before anybody falls."""
    world, expert = task.target(Gap.parse(gap), WORLDS), load_expert(task)
    before, actions, after = [world.reset(stream(0, "steps"))], [], []
    for _ in range(count // WORLDS):
        step = world.step(expert(History.of(before[-1])))
        assert not step.ended.any()
        actions.append(step.applied)
        after.append(step.observations)
        before.append(step.observations)
    return Transitions(np.concatenate(before[:-1]), np.concatenate(actions), np.concatenate(after))


def found(task, transitions, **options):
    physics = Physics(task.robot_model)
    fit = identify(physics, transitions, task.robot_model.spec.targets, **options)
    values = physics.values(fit.z)
    return {quantity.name: one for quantity, one in zip(physics.groups, values, strict=True)}, fit


def test_an_arms_mass_damping_friction_and_gravity_are_recovered():
    task = load_task("reacher")
    values, fit = found(task, steps(task, "tilt=30,gravity=1.2,mass=1.4,damping=1.7,joint-friction=1.5", 320))
    assert values["mass"].sum() == pytest.approx(1.4 * 34.0, rel=0.02)
    np.testing.assert_allclose(values["damping"], 1.7, rtol=0.02)
    np.testing.assert_allclose(values["dry friction"], 1.5, rtol=0.02)
    np.testing.assert_allclose(values["armature"], 1.0, rtol=0.02)
    assert values["gravity"][1] == pytest.approx(-1.2 * 9.81 * np.sin(np.pi / 6), rel=0.02)
    assert fit.after.typical < 0.01 * fit.before.typical


def test_a_runners_mass_damping_gravity_and_grip_are_recovered():
    task = load_task("half-cheetah")
    values, _ = found(task, steps(task, "gravity=0.9,mass=1.2,damping=0.7,contact-friction=0.8", 160))
    assert values["mass"].sum() == pytest.approx(1.2 * 14.0, rel=0.02)
    np.testing.assert_allclose(values["damping"] / task.robot_model.model.dof_damping[3:], 0.7, rtol=0.02)
    np.testing.assert_allclose(values["gravity"], [0, 0, -0.9 * 9.81], atol=0.02 * 9.81)
    assert values["contact friction"][0] == pytest.approx(0.8, rel=0.02)


@pytest.mark.parametrize("count", [200, 800])
def test_what_shows_in_few_steps_is_recovered_though_most_are_exact_without_it(count):
    """A foot slips in one step of three, and in the others nothing is wrong: those that slip are no mistakes."""
    task = load_task("hopper")
    values, fit = found(task, walked(task, "contact-friction=0.5", count))
    assert values["contact friction"][0] == pytest.approx(0.5, rel=0.01)
    assert fit.before.typical < 1e-9
    assert fit.after.rms < 0.01 * fit.before.rms
    np.testing.assert_allclose(values["mass"] / task.robot_model.model.body_mass[1:], 1.0, rtol=0.01)


def test_one_heavier_body_is_told_from_the_others():
    task = load_task("half-cheetah")
    values, _ = found(task, steps(task, "mass:torso=1.5", 160))
    own = task.robot_model.model.body_mass[1:]
    np.testing.assert_allclose(values["mass"] / own, [1.5, *np.ones(6)], rtol=0.02)


def test_what_the_steps_do_not_determine_stays_as_the_simulator_has_it():
    task = load_task("reacher")
    values, fit = found(task, steps(task, "mass=1.4", 160))
    assert values["gravity"][2] == -9.81  # across the plane that the arm moves in
    assert fit.covariance[2, 2] == pytest.approx(1.0)
    assert fit.covariance[1, 1] < 1e-4  # a slope would have been seen
    np.testing.assert_allclose(values["gravity"][:2], 0.0, atol=1e-3)


def test_a_few_noisy_steps_of_a_robot_without_a_gap_do_little_harm():
    task = load_task("half-cheetah")
    values, fit = found(task, steps(task, "none", 24, noise=0.3))
    assert values["mass"].sum() == pytest.approx(14.0, rel=0.15)
    assert values["gravity"][2] == pytest.approx(-9.81, rel=0.15)
    clean, physics = steps(task, "none", 80), Physics(task.robot_model)
    off = physics.predict(physics.values(fit.z), clean.before, clean.actions) - clean.after
    assert np.sqrt(np.square(off).mean()) < 0.3


def test_single_steps_that_make_no_sense_are_not_believed():
    task = load_task("reacher")
    transitions = steps(task, "mass=1.4", 320)
    transitions.after[::20] += 0.5
    values, _ = found(task, transitions)
    assert values["mass"].sum() == pytest.approx(1.4 * 34.0, rel=0.02)


def test_a_search_goes_on_from_where_it_was():
    task = load_task("reacher")
    transitions = steps(task, "mass=1.4", 160)
    first, fit = found(task, transitions)
    again, _ = found(task, transitions, start=fit.z)
    np.testing.assert_allclose(again["mass"], first["mass"], rtol=1e-3)


def test_transitions_are_the_steps_to_learn_from_without_their_context():
    observations, actions = np.arange(8.0).reshape(4, 2), np.arange(3.0).reshape(3, 1)
    run = Trajectory(observations, actions, actions, actions, observations[1:], context=1)
    cut = Transitions.of([[run], [run]])
    np.testing.assert_array_equal(cut.before, np.vstack((observations[1:3], observations[1:3])))
    np.testing.assert_array_equal(cut.after, np.vstack((observations[2:], observations[2:])))
    np.testing.assert_array_equal(cut.actions[:, 0], [1, 2, 1, 2])
    np.testing.assert_array_equal(cut.thinned(2).actions[:, 0], [1, 2])
    assert cut.thinned(9) is cut


class Quadratic:
    """Physics with one parameter: every step leads to shift(z), whatever is done."""

    size, bounds = 1, (np.full(1, -5.0), np.full(1, 5.0))

    def __init__(self, shift):
        self.shift = shift

    def values(self, z):
        return [z]

    def predict(self, values, observations, actions, *, coarse=False):
        return observations + self.shift(float(values[0][0]))


@pytest.mark.parametrize(("worse", "nearer"), [(1.005, True), (1.04, False)])
def test_of_two_optima_the_prior_prefers_the_nearer_one_unless_the_steps_say_otherwise(worse, nearer):
    """At z = 1 the errors are a little larger than at z = 2, but the prior prefers it by 4 - 1."""
    rng = np.random.default_rng(0)
    before, noise = rng.standard_normal((200, 3)), rng.standard_normal((200, 3))
    physics = Quadratic(lambda z: 0.0 if z > 1.5 else (1 - worse) * noise)
    problem = _Problem(physics, Transitions(before, np.zeros((200, 1)), before + noise), np.arange(3), np.ones(3))
    typical = 1.4826 * np.median(np.abs(noise), axis=0)
    near, far = (
        3**2 / 3 * np.log1p(np.square(size * noise / (3 * typical))).sum() + z**2 for z, size in ((1, worse), (2, 1.0))
    )
    assert (near < far) == nearer
    assert problem.prefers(np.array([1.0]), np.array([2.0])) == nearer
    assert problem.prefers(np.array([2.0]), np.array([1.0])) != nearer
    assert not problem.prefers(np.array([1.0]), np.array([1.0]))
