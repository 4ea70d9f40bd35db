import numpy as np
import pytest

from isthmus.collection import CollectSettings, Course, collect, observation_scale
from isthmus.core import stream
from isthmus.evaluate import evaluate
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.models.disturbance import Disturbance
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.tasks import load_task
from isthmus.transfer.rehearsal import DisturbedWorld, rehearsal_in

TASK = load_task("reacher")
EXPERT = load_expert(TASK)


def recorded(gap, n=10):
    scale = observation_scale(EXPERT, TASK.source(4), 1, stream(0, "scale"))
    course, decider = Course(EXPERT, TASK.source(n), 1, scale), Unadapted(EXPERT, TASK.source(n))
    robot = TASK.robot(Gap.parse(gap).resolve(TASK.embodiment.model), n)
    return collect(robot, decider, course, CollectSettings(), history=1, length=25, budget=500, rng=stream(0, "e"))


@pytest.mark.parametrize("gap", ["none", "tilt=90"])
def test_a_rehearsal_foresees_the_score_on_the_target(gap):
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded(gap), Disturbance.none(2))
    foreseen = rehearsal.scores(EXPERT, 1)
    target = TASK.target(Gap.parse(gap).resolve(TASK.embodiment.model), len(foreseen))
    happened = evaluate(TASK, target, EXPERT, 1, stream(0, "rehearsal")).scores
    np.testing.assert_allclose(foreseen, happened, atol=0.02 * np.abs(happened).max())
    source = evaluate(TASK, TASK.source(len(foreseen)), EXPERT, 1, stream(0, "rehearsal")).scores
    assert rehearsal.source == pytest.approx(source.mean())


@pytest.mark.parametrize("cut", [True, False])
def test_commands_are_disturbed_as_the_disturbance_has_it(cut):
    like = Disturbance(np.array([0.3, 0.0]), np.array([0.9, 0.0]), np.zeros(2), cut=cut)
    disturbed, plain = DisturbedWorld(TASK.source(200), like, stream(0, "d")), TASK.source(200)
    commands = np.tile([0.1, 0.1], (200, 1))
    for world in (disturbed, plain):
        world.reset(stream(0, "r"))
    drawn = []
    for _ in range(30):
        drawn.append(disturbed._now[:, 0].copy())
        step = disturbed.step(commands)
        np.testing.assert_array_equal(step.applied, commands)
    drawn = np.array(drawn)
    assert drawn.std() == pytest.approx(0.3, rel=0.1)
    assert np.corrcoef(drawn[1:].ravel(), drawn[:-1].ravel())[0, 1] == pytest.approx(0.9, abs=0.03)
    nothing = DisturbedWorld(TASK.source(200), Disturbance.none(2), stream(0, "d"))
    nothing.reset(stream(0, "r"))
    np.testing.assert_array_equal(nothing.step(commands).observations, plain.step(commands).observations)


def test_the_same_is_rehearsed_every_time():
    rehearsal = rehearsal_in(TASK, EXPERT, 0)(recorded("none"), Disturbance(*np.full((3, 2), 0.5), cut=True))
    np.testing.assert_array_equal(rehearsal.scores(EXPERT, 1), rehearsal.scores(EXPERT, 1))
    assert rehearsal.scores(EXPERT, 1).mean() > rehearsal.scores(ZeroPolicy(2), 1).mean()
