import numpy as np
import pytest

from isthmus.adapt.settings import CollectSettings
from isthmus.core import Problem, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.robots import load_task
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
SCALE = observation_scale(EXPERT, TASK.source(8), 1, stream(0, "scale"))


def wave(settings, *, n=1, gap="tilt=90", history=1, length=50, budget=10_000, seed=0):
    robot = TASK.robot(Gap.parse(gap), n)
    course = ReferenceRollout(EXPERT, TASK.source(n), 1, SCALE)
    episodes = collect(
        robot,
        Unadapted(EXPERT, TASK.source(n)),
        course,
        settings,
        history=history,
        length=length,
        budget=budget,
        rng=stream(seed, "wave"),
    )
    return robot, episodes


def samples(episodes):
    return sum(one.samples for episode in episodes for one in episode)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("placed", [0, 2])
@pytest.mark.parametrize("budget", [1, 7, 10_000])
def test_every_step_on_the_target_is_counted_and_the_budget_is_kept(n, placed, budget):
    robot, episodes = wave(CollectSettings(placed=placed), n=n, length=10, budget=budget)
    assert samples(episodes) == robot.samples
    assert 1 <= robot.samples <= budget


def test_without_interruptions_the_policy_is_run_as_it_is():
    _, [[run]] = wave(CollectSettings(interrupt=0.0, drift=np.inf))
    np.testing.assert_array_equal(run.commands, run.source)
    assert len(run) == 50


def test_interruptions_come_as_often_and_as_large_as_asked():
    settings = CollectSettings(interrupt=0.25, interrupt_scale=0.5, drift=np.inf)
    runs = [wave(settings, n=8, seed=seed)[1] for seed in range(4)]
    every = [one for episodes in runs for [one] in episodes]
    hit = np.concatenate([(one.commands != one.source).any(axis=1) for one in every])
    assert 0.2 < hit.mean() < 0.3
    random = np.concatenate([one.commands[(one.commands != one.source).any(axis=1)] for one in every])
    assert 0.4 < np.abs(random).max() <= 0.5


def test_an_episode_that_drifts_from_the_source_is_cut_short():
    free, cut = CollectSettings(interrupt=0.0, drift=np.inf), CollectSettings(interrupt=0.0, drift=0.2)
    _, [[whole]] = wave(free)
    _, [[short]] = wave(cut)
    assert len(short) < len(whole)
    np.testing.assert_array_equal(short.observations, whole.observations[: len(short) + 1])


def test_there_is_no_drift_without_a_gap():
    _, [[run]] = wave(CollectSettings(interrupt=0.0, drift=1e-6), gap="none")
    assert len(run) == 50
    np.testing.assert_allclose(run.observations[1:], run.wanted, atol=1e-9)


def test_the_same_stream_collects_the_same_data():
    (_, first), (_, again) = wave(CollectSettings(), n=2), wave(CollectSettings(), n=2)
    for [one], [other] in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.commands, other.commands)


@pytest.mark.parametrize("history", [1, 3])
def test_placed_steps_start_from_the_states_of_the_run_with_its_history(history):
    _, [[run, *placed]] = wave(CollectSettings(placed=2, drift=np.inf), history=history, length=6)
    assert len(placed) == 2 * len(run)
    for number, one in enumerate(placed):
        t = number // 2
        assert one.samples == 1
        assert one.context == min(history - 1, t)
        np.testing.assert_array_equal(one.observations[:-1], run.observations[t - one.context : t + 1])
        np.testing.assert_array_equal(one.applied[:-1], run.applied[t - one.context : t])
        np.testing.assert_array_equal(one.source[-1], run.source[t])
        assert (one.commands[-1] != run.commands[t]).any()


def test_a_placed_step_obeys_the_targets_physics():
    gap = Gap.parse("tilt=90")
    _, [[_, *placed]] = wave(CollectSettings(placed=1, drift=np.inf), length=5)
    world = TASK.target(gap)
    for one in placed:
        world.place(one.observations[-2:-1])
        np.testing.assert_allclose(world.step(one.commands[-1:]).observations[0], one.observations[-1], atol=1e-12)


def test_trajectories_are_short_first():
    settings = CollectSettings(first_share=0.2)
    assert [settings.length(number, 50) for number in (0, 1, 2, 3, 1000)] == [10, 20, 40, 50, 50]


@pytest.mark.parametrize(
    "wrong", [{"interrupt": 1.5}, {"interrupt_scale": 0.0}, {"drift": -1.0}, {"first_share": 0.0}, {"placed": -1}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(Problem, match=next(iter(wrong)).replace("_", "-")):
        CollectSettings(**wrong)
