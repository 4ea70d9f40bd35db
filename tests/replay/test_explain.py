import numpy as np
import pytest

from isthmus.replay.boosting import boost, fit_boosting
from isthmus.replay.errors import hold
from isthmus.replay.explain import alike, explain, predictor
from isthmus.replay.fit import lessons, quick
from isthmus.replay.gap import analyse, judge_on
from isthmus.replay.parameters import parameters
from isthmus.replay.recording import Recording
from isthmus.replay.residual import learn_residual
from isthmus.replay.rig import make_rig
from isthmus.replay.scales import measure
from isthmus.replay.simulate import replay
from isthmus.replay.spectrum import BANDS, spectra
from isthmus.replay.split import split
from isthmus.replay.windows import windows


def rubs(model):
    model.dof_frictionloss[0] = 0.07


def strong(model):
    model.actuator_gainprm[0, 0] *= 1.45


def tilted(model):
    model.opt.gravity[:] = (1.7, 0, -9.66)


def nothing(_model):
    pass


@pytest.mark.parametrize(
    ("change", "late", "family"),
    [(rubs, 0, "friction"), (nothing, 5, "delay"), (strong, 0, "motor"), (tilted, 0, "gravity")],
    ids=["friction", "delay", "motor", "gravity"],
)
def test_the_family_that_differs_is_named_first_and_explains_nearly_all(lab, change, late, family):
    recording = lab.record(lab.pendulum, change, late=late, size=0.25)
    parts = split(recording)
    rig = make_rig(lab.model(lab.pendulum), recording.joints, recording.actuators, lab.dt)
    known, course = parameters(rig, measure(rig, parts.train)), quick(lessons(rig, parts.train))
    source, explained, alone = explain(rig, parts.train, judge_on(rig, parts.validation), known, course)
    assert explained[0].family == family or family in explained[0].rivals
    assert alone[family] < 0.05 * source
    assert explained[-1].after <= alone[family]


@pytest.mark.parametrize(
    ("tried", "named"),
    [
        # Weak motors: a tilted arm explains most of it, and is far from explaining it all.
        ({"motor": 7e-5, "inertia": 0.15, "gravity": 0.075}, ["motor"]),
        ({"motor": 7e-5, "inertia": 8e-3, "gravity": 0.075}, ["motor", "inertia"]),  # below 1 %, none is told apart
        ({"friction": 0.35, "inertia": 0.36, "gravity": 0.88}, ["friction", "inertia"]),
        ({"friction": 0.35, "inertia": 0.55, "gravity": 0.88}, ["friction"]),
    ],
)
def test_a_family_that_leaves_far_more_than_another_is_no_rival(tried, named):
    assert alike(tried, 1.0, 1.0) == named


def test_a_simulator_without_a_gap_needs_no_explanation_of_any_size(lab):
    recording = lab.record(lab.pendulum, noise=0.0, seconds=3.0)
    parts = split(recording)
    rig = make_rig(lab.model(lab.pendulum), recording.joints, recording.actuators, lab.dt)
    assert judge_on(rig, parts.validation)(predictor(rig)) < 1e-4


def test_boosting_learns_a_function_of_two_features_and_beats_the_mean():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (1500, 3))
    y = np.stack((np.sin(3 * x[:, 0]) * x[:, 1], x[:, 2] > 0.3), axis=1).astype(float)
    trees = boost(x[:1000], y[:1000])
    off = np.mean((trees(x[1000:]) - y[1000:]) ** 2, axis=0)
    assert (off < (0.12 * y.var(axis=0), 0.05 * y.var(axis=0))).all()


def test_replays_by_boosting_begin_where_the_robot_was_and_beat_the_previous_value(lab):
    recording = lab.record(lab.pendulum, rubs, recordings=3, seconds=6.0)
    parts = split(recording)
    where = windows(parts.test, 0.2)
    learned = fit_boosting(parts.train)(parts.test, where)
    assert (learned[:, 0] == parts.test.position[where.first]).all()
    real = where.of(parts.test.position)
    assert np.mean((learned - real) ** 2) < 0.5 * np.mean((hold(parts.test, where) - real) ** 2)


def test_a_residual_learns_a_force_that_no_parameter_stands_for(lab):
    def pushed(model):
        model.jnt_stiffness[0], model.qpos_spring[0] = 1.5, 0.8

    recording = lab.record(lab.pendulum, pushed, seconds=6.0)
    parts = split(recording)
    rig = make_rig(lab.model(lab.pendulum), recording.joints, recording.actuators, lab.dt)
    residual = learn_residual(rig, parts.train, (), np.zeros(0))
    judge = judge_on(rig, parts.test)

    def corrected(one, where):
        return replay(rig, one, where, residual=residual).position[0]

    assert judge(corrected) < 0.3 * judge(predictor(rig))


def test_spectra_tell_the_gain_of_a_recorded_system_and_where_a_model_is_off(lab):
    command = np.random.default_rng(0).standard_normal((1000, 1))
    recording = Recording(lab.dt, ("swing",), ("drive",), 0.7 * command, 0 * command, command)
    where = windows(recording, 4.0, 0.5)
    real = where.of(recording.position)
    wobble = 0.01 * np.sin(2 * np.pi * 5.0 * lab.dt * np.arange(where.length))[None, :, None]
    [found] = spectra(recording, where, {"same": real, "double": 2 * real, "wobbles": real + wobble})
    np.testing.assert_allclose(np.abs(found.recorded[1:]), 0.7, rtol=1e-9)
    np.testing.assert_allclose(found.coherence[1:], 1.0, rtol=1e-9)
    worst = found.differs("double")
    assert worst is not None
    assert worst[1] == pytest.approx(2.0)
    assert found.bands["same"] == pytest.approx(np.zeros(len(BANDS) - 1))
    assert found.bands["wobbles"][2] == pytest.approx(0.01 / np.sqrt(2), rel=0.02)


def test_a_model_that_moves_as_the_log_does_is_left_as_it_is(lab):
    report = analyse(lab.model(lab.pendulum), lab.record(lab.pendulum, noise=2e-3))
    assert not report.explained
    assert report.fitted.values == {}
    assert report.shares["unexplained"] == pytest.approx(1.0)
