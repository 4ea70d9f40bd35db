from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from isthmus.adapt.auto.perturbed_world import PerturbedWorld
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.response import LARGEST, Response
from isthmus.adapt.method import Perturbation
from isthmus.adapt.settings import CollectSettings
from isthmus.core import stream
from isthmus.evaluate import evaluate
from isthmus.experts import load_expert
from isthmus.experts.finetuner import JUDGED
from isthmus.gaps import Gap
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.robots import load_task
from isthmus.sysid.forward_model import fit_forward_model
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale
from isthmus.transfer.source.source import rehearsal_in

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
QUIET = np.zeros(TASK.robot_model.spec.observation_size)


def upset(disturbance, noise=QUIET):
    return Perturbation(Response.plain(TASK.robot_model.spec, disturbance), noise)


def nothing(_simulator=None):
    return upset(AR1Disturbance.none(2))


def recorded(gap, n=10):
    scale = observation_scale(EXPERT, TASK.source(4), 1, stream(0, "scale"))
    course, decider = ReferenceRollout(EXPERT, TASK.source(n), 1, scale), Unadapted(EXPERT, TASK.source(n))
    robot = TASK.robot(Gap.parse(gap).resolve(TASK.robot_model.model), n)
    return collect(robot, decider, course, CollectSettings(), history=1, length=25, budget=500, rng=stream(0, "e"))


@pytest.mark.parametrize("gap", ["none", "tilt=90"])
def test_a_rehearsal_foresees_the_score_on_the_target(gap):
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded(gap), nothing, None)
    foreseen = rehearsal.scores(EXPERT, 1, 0)
    target = TASK.target(Gap.parse(gap).resolve(TASK.robot_model.model), len(foreseen))
    happened = evaluate(TASK, target, EXPERT, 1, stream(0, "rehearsal", 0)).scores
    np.testing.assert_allclose(foreseen, happened, atol=0.02 * np.abs(happened).max())
    source = evaluate(TASK, TASK.source(len(foreseen)), EXPERT, 1, stream(0, "rehearsal", 0)).scores
    np.testing.assert_array_equal(rehearsal.source(0), source)


def test_a_fit_that_moves_unlike_the_target_is_not_rehearsed_in(monkeypatch):
    """Single steps may be explained by physics that leads elsewhere: the records tell."""
    recorded_there = recorded("tilt=90")

    def wrong(robot_model, episodes, z):
        elsewhere = recorded("tilt=90,gravity=3")
        return replace(
            fit_forward_model(robot_model, elsewhere, z), fitted=fit_forward_model(robot_model, episodes).fitted
        )

    monkeypatch.setattr("isthmus.transfer.source.source.fit_forward_model", wrong)
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded_there, nothing, None)
    np.testing.assert_allclose(rehearsal.scores(EXPERT, 1, 0), rehearsal.source(0))
    # Of a robot whose commands are late, the records do not tell it in this way.
    late = rehearsal_in(TASK, EXPERT, 0)(recorded_there, nothing, None, 1)
    assert late.scores(EXPERT, 1, 0).mean() < rehearsal.source(0).mean()


class Sensed:
    """Stands for an estimation that has identified the physics of `gap` beside exact sensors."""

    may_do_without = False

    def __init__(self, gap):
        self.model = Gap.parse(gap).apply(TASK.robot_model.model)
        self.kalman = SimpleNamespace(simulator=TASK.target(Gap.parse(gap)))

    @property
    def sensing(self):
        return self

    def largest_disturbance(self, observations, actions):
        return np.zeros(actions.shape[1])

    def stage(self, n, rng):
        return None


def test_physics_found_beside_sensors_is_rehearsed_in_unless_it_moves_unlike_the_target():
    there, home = (recorded(gap) for gap in ("tilt=90", "none"))
    right, wrong = (rehearsal_in(TASK, EXPERT, 0, Sensed("tilt=90"))(runs, nothing, None) for runs in (there, home))
    target = TASK.target(Gap.parse("tilt=90"), len(right.source(0)))
    happened = evaluate(TASK, target, EXPERT, 1, stream(0, "rehearsal", 0)).scores
    np.testing.assert_allclose(right.scores(EXPERT, 1, 0), happened)
    np.testing.assert_allclose(wrong.scores(EXPERT, 1, 0), wrong.source(0))


def test_a_policy_is_practised_where_it_is_rehearsed():
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded("tilt=90"), nothing, None)
    worth = rehearsal.finetuner(EXPERT).worth(EXPERT.network, 0)
    target, source = TASK.target(Gap.parse("tilt=90").resolve(TASK.robot_model.model), JUDGED), TASK.source(JUDGED)
    there, home = (evaluate(TASK, one, EXPERT, 1, stream(0, "worth")).returns.mean() for one in (target, source))
    assert worth == pytest.approx(there, rel=0.02)
    assert there < 1.5 * home < 0


def test_observations_are_given_as_they_are_to_be_seen():
    noise = np.where(np.arange(QUIET.size) == 3, 0.1, 0.0)
    worlds = [
        PerturbedWorld(TASK.source(3), upset(AR1Disturbance.none(2), noise), stream(0, "d"), see=see)
        for see in (None, lambda observations: 2 * observations)
    ]
    plain, seen = (world.reset(stream(1)) for world in worlds)
    np.testing.assert_array_equal(seen, 2 * plain)
    plain, seen = (world.step(np.full((3, 2), 0.5)).observations for world in worlds)
    np.testing.assert_array_equal(seen, 2 * plain)


def test_what_is_not_to_be_corrected_is_rehearsed_in_the_source():
    asked = []

    def upset_in(simulator):
        asked.append(simulator)
        return nothing()

    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded("tilt=90"), upset_in, None, correct=False)
    np.testing.assert_allclose(rehearsal.scores(EXPERT, 1, 0), rehearsal.source(0))
    assert asked == [None]


def arrived(like, commands, steps, late=0):
    """What arrives in a world (steps, n, act) of commands (n, act) that are given again and again."""
    world, arriving = TASK.source(len(commands)), []
    plain_step = world.step

    def step(given, which=None):
        arriving.append(given.copy())
        return plain_step(given, which)

    world.step = step
    disturbed = PerturbedWorld(world, upset(like), stream(0, "d"), late)
    disturbed.reset(stream(0, "r"))
    for _ in range(steps):
        np.testing.assert_array_equal(disturbed.step(commands).applied, TASK.robot_model.spec.clip(commands))
    return np.array(arriving)


@pytest.mark.parametrize("cut", [True, False])
def test_commands_are_disturbed_as_the_disturbance_has_it(cut):
    like = AR1Disturbance(np.array([0.3, 0.1]), np.array([0.9, 0.2]), np.zeros(2), saturates=cut)
    commands = np.tile([0.1, 2.0], (400, 1))
    drawn = arrived(like, commands, 30) - (commands if cut else [0.1, 1.0])  # what is not cut comes after the limit
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), 0, atol=0.03)
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), like.std, rtol=0.05)
    np.testing.assert_allclose(drawn[0].std(axis=0), like.std, rtol=0.1)  # from the first step on
    for actuator, lasting in enumerate(like.correlation):
        values = drawn[:, :, actuator]
        assert np.corrcoef(values[1:].ravel(), values[:-1].ravel())[0, 1] == pytest.approx(lasting, abs=0.03)


def test_what_lasts_stays_for_an_episode():
    like = AR1Disturbance(np.array([0.3, 0.1]), np.array([1.0, 0.5]), np.zeros(2), saturates=True)
    drawn = arrived(like, np.zeros((50, 2)), 5)
    np.testing.assert_array_equal(drawn[1:, :, 0], np.broadcast_to(drawn[0, :, 0], (4, 50)))
    assert drawn[0, :, 0].std() == pytest.approx(0.3, rel=0.3)
    assert (drawn[1:, :, 1] != drawn[:-1, :, 1]).all()


def test_nothing_disturbs_where_nothing_was_found():
    disturbed, plain = PerturbedWorld(TASK.source(5), nothing(), stream(0, "d")), TASK.source(5)
    commands = np.tile([0.1, 0.1], (5, 1))
    for world in (disturbed, plain):
        world.reset(stream(0, "r"))
    np.testing.assert_array_equal(disturbed.step(commands).observations, plain.step(commands).observations)


def test_commands_come_as_late_as_it_is_said():
    commands = np.tile([0.3, -0.2], (3, 1))
    drawn = arrived(AR1Disturbance.none(2), commands, 4, late=2)
    np.testing.assert_array_equal(drawn[:2], 0.0)
    np.testing.assert_array_equal(drawn[2:], np.broadcast_to(commands, (2, 3, 2)))


@pytest.mark.parametrize(("cut", "late"), [(False, 0), (True, 0), (False, 1)])
def test_commands_come_to_what_the_lines_have_it(cut, late):
    spec, drawn = TASK.robot_model.spec, stream(1)
    d, nobody = len(spec.targets), np.zeros(2)
    response = Response(
        drawn.normal(0, 0.3, (1 + d + 2 + 2, 2)),  # a one, the state, the command, and that before
        drawn.normal(0, 0.1, d),
        drawn.uniform(1, 2, d),
        spec.half_range,
        spec.targets,
        AR1Disturbance(nobody, nobody, nobody, saturates=cut),
    )
    world, arriving = TASK.source(3), []
    plain_step = world.step
    world.step = lambda given, which=None: arriving.append(given.copy()) or plain_step(given, which)
    answering = PerturbedWorld(world, Perturbation(response, QUIET), stream(0, "d"), late)
    for episode in range(2):
        seen, past = answering.reset(stream(0, "r", episode)), np.zeros((3, 2))
        before = np.zeros((3, 2))
        for _ in range(4):
            commands = drawn.uniform(-2, 2, (3, 2))
            accepted = commands if cut else spec.clip(commands)
            came = before if late else accepted
            errors = response.features(seen, spec.clip(came), past) @ response.weights
            seen = answering.step(commands).observations
            np.testing.assert_allclose(arriving[-1], came + np.clip(errors, -LARGEST, LARGEST), atol=1e-12)
            past, before = spec.clip(came), accepted


def test_sensors_are_as_noisy_as_it_is_said():
    noise = np.where(np.arange(len(QUIET)) == 3, 0.1, 0.0)
    noisy, plain = (
        PerturbedWorld(TASK.source(500), upset(AR1Disturbance.none(2), noise), stream(0, "d")),
        TASK.source(500),
    )
    seen, true = noisy.reset(stream(0, "r")), plain.reset(stream(0, "r"))
    for _ in range(2):
        np.testing.assert_array_equal((seen - true)[:, noise == 0], 0.0)
        assert (seen - true)[:, 3].std() == pytest.approx(0.1, rel=0.15)
        commands = np.tile([0.1, 0.1], (500, 1))
        seen, true = noisy.step(commands).observations, plain.step(commands).observations


def test_the_same_is_rehearsed_every_time():
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(
        recorded("none"), lambda _simulator: upset(AR1Disturbance(*np.full((3, 2), 0.5), saturates=True)), None
    )
    np.testing.assert_array_equal(rehearsal.scores(EXPERT, 1, 0), rehearsal.scores(EXPERT, 1, 0))
    assert (rehearsal.scores(EXPERT, 1, 0) != rehearsal.scores(EXPERT, 1, 1)).any()  # other starts
    assert rehearsal.scores(EXPERT, 1, 0).mean() > rehearsal.scores(ZeroPolicy(2), 1, 0).mean()


@pytest.mark.parametrize(("gap", "is_physics"), [("tilt=90", True), ("motor-noise=0.5", False)])
def test_disturbances_are_those_that_physics_leaves(gap, is_physics):
    asked = []

    def upset_in(simulator):
        asked.append(simulator)
        return nothing()

    rehearsal_in(TASK, EXPERT, 0)(recorded(gap), upset_in, None)
    assert asked[0] is None
    assert len(asked[1:]) == is_physics
    assert None not in asked[1:]


@pytest.mark.parametrize(("left", "is_taken"), [(0.0, True), (0.1, True), (0.2, False)])
def test_a_model_in_which_there_are_more_disturbances_has_explained_nothing(left, is_taken):
    def upset_in(simulator):
        spread = np.full(2, 0.1 if simulator is None else left)
        return upset(AR1Disturbance(spread, np.zeros(2), np.zeros(2), saturates=True))

    noisy = [Gap.parse(f"tilt={tilt},motor-noise={left if tilt else 0.1}") for tilt in (0, 90)]
    foreseen = rehearsal_in(TASK, EXPERT, 0)(recorded("tilt=90"), upset_in, None).scores(EXPERT, 1, 0)
    flat, tilted = (
        evaluate(TASK, TASK.target(gap, len(foreseen)), EXPERT, 1, stream(0, "rehearsal", 0)).score for gap in noisy
    )
    nearer = tilted if is_taken else flat
    assert abs(foreseen.mean() - nearer) < 0.25 * abs(flat - tilted)


@pytest.mark.parametrize(("lasting", "is_taken"), [(1.0, True), (0.3, False)])
def test_a_model_in_which_a_constant_comes_and_goes_has_explained_nothing(lasting, is_taken):
    """An offset that stays for an episode bends the state, and a model may take the one for the other's cause."""

    def upset_in(simulator):
        lasts = np.full(2, 1.0 if simulator is None else lasting)
        return upset(AR1Disturbance(np.full(2, 1e-3), lasts, np.full(2, 1e-4), saturates=True))

    foreseen = rehearsal_in(TASK, EXPERT, 0)(recorded("tilt=90"), upset_in, None).scores(EXPERT, 1, 0)
    flat, tilted = (
        evaluate(TASK, TASK.target(Gap.parse(f"tilt={tilt}"), len(foreseen)), EXPERT, 1, stream(0, "rehearsal", 0))
        for tilt in (0, 90)
    )
    nearer, farther = (tilted, flat) if is_taken else (flat, tilted)
    assert np.abs(foreseen - nearer.scores).mean() < 0.1 * np.abs(foreseen - farther.scores).mean()


def test_what_lines_explain_is_rehearsed():
    spec = TASK.robot_model.spec
    weak = Response.plain(spec, AR1Disturbance.none(2))
    weak.weights[-2:] = -0.4 * np.eye(2)  # every command comes to six tenths of it
    foreseen = rehearsal_in(TASK, EXPERT, 0)(recorded("none"), lambda _simulator: Perturbation(weak, QUIET), None)
    target = TASK.target(Gap.parse("torque-scale=0.6").resolve(TASK.robot_model.model), 8)
    happened = evaluate(TASK, target, EXPERT, 1, stream(0, "rehearsal", 0)).scores
    np.testing.assert_allclose(foreseen.scores(EXPERT, 1, 0), happened, rtol=1e-6)


def test_a_robot_with_weak_motors_is_not_shown_as_a_heavy_one():
    model = fit_forward_model(TASK.robot_model, recorded("torque-scale=0.6")).model
    np.testing.assert_allclose(model.body_mass, TASK.robot_model.model.body_mass, rtol=0.01)
    np.testing.assert_allclose(model.actuator_gainprm[:, 0], 0.6, rtol=0.01)
