import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.array_utils import byte_bounds

from isthmus.adapt.inverse_network.windows import Windows
from isthmus.core import Trajectory

OBS, ACT = 3, 2


def trajectory(steps, context, rng):
    return Trajectory(
        observations=rng.normal(size=(steps + 1, OBS)),
        commands=rng.normal(scale=2, size=(steps, ACT)),
        applied=rng.uniform(-1, 1, (steps, ACT)),
        source=rng.normal(scale=2, size=(steps, ACT)),
        wanted=rng.normal(size=(steps, OBS)),
        context=context,
    )


@st.composite
def many_episodes(draw, most=4):
    """Episodes of trajectories, some of which begin with context; at least one has a sample."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = st.integers(0, 5).flatmap(lambda steps: st.tuples(st.just(steps), st.integers(0, max(steps - 1, 0))))
    shapes = draw(st.lists(st.lists(shape, max_size=3), min_size=1, max_size=most))
    shapes[0].append((2, 0))
    return [[trajectory(steps, context, rng) for steps, context in episode] for episode in shapes]


def naive_examples(episodes, k, spec):
    """Every example by explicit loops: (episode, observations, actions, reached, label, added)."""
    for number, episode in enumerate(episodes):
        for one in episode:
            for t in range(one.context, len(one)):
                seen = [one.observations[max(t - back, 0)] for back in reversed(range(k))]
                done = [one.applied[t - back] if t >= back else np.zeros(ACT) for back in reversed(range(1, k))]
                added = one.applied[t] - spec.clip(one.source[t])
                done = np.array(done).reshape(k - 1, ACT)
                yield number, np.array(seen), done, one.observations[t + 1], one.applied[t], added


@given(many_episodes(), st.integers(1, 4))
def test_the_examples_are_those_of_explicit_loops(make_spec, episodes, k):
    spec = make_spec(OBS, ACT)
    windows = Windows.of(episodes, k, spec)
    expected = list(naive_examples(episodes, k, spec))
    assert len(windows) == len(expected)
    for i, (number, seen, done, reached, label, added) in enumerate(expected):
        start = windows.starts[i]
        observations = windows.observation_runs[start].reshape(k + 1, OBS)
        actions = windows.action_runs[start].reshape(k, ACT)
        assert windows.episodes[i] == number
        np.testing.assert_array_equal(observations[:k], seen.astype(np.float32))
        np.testing.assert_array_equal(observations[k], reached.astype(np.float32))
        np.testing.assert_array_equal(actions[: k - 1], done.astype(np.float32))
        np.testing.assert_array_equal(actions[k - 1], label.astype(np.float32))
        np.testing.assert_array_equal(windows.corrections[start + k - 1], added.astype(np.float32))


def test_the_label_is_what_was_applied_not_what_was_asked(make_spec):
    one = trajectory(4, 0, np.random.default_rng(0))
    assert np.abs(one.commands).max() > 1
    windows = Windows.of([[one]], 1, make_spec(OBS, ACT))
    np.testing.assert_array_equal(windows.action_runs[windows.starts], one.applied.astype(np.float32))


@given(many_episodes(most=12), st.floats(0.05, 0.5), st.integers(1, 3))
def test_an_episode_is_trained_on_or_held_out_never_both(make_spec, episodes, validation, k):
    windows = Windows.of(episodes, k, make_spec(OBS, ACT))
    training, held_out = windows.split(validation)
    assert sorted([*training, *held_out]) == list(range(len(windows)))
    assert not set(windows.episodes[training]) & set(windows.episodes[held_out])


@given(many_episodes(most=8), many_episodes(most=8), st.floats(0.05, 0.5))
def test_an_episode_stays_on_its_side_when_more_are_added(make_spec, episodes, more, validation):
    spec = make_spec(OBS, ACT)
    before = Windows.of(episodes, 1, spec)
    after = Windows.of([*episodes, *more], 1, spec)
    for old, new in zip(before.split(validation), after.split(validation), strict=True):
        np.testing.assert_array_equal(new[new < len(before)], old)


@pytest.mark.parametrize("every", [2, 3, 4, 5, 7, 10, 20])
def test_the_share_asked_for_is_held_out(make_spec, every):
    rng = np.random.default_rng(0)
    windows = Windows.of([[trajectory(3, 0, rng)] for _ in range(10 * every)], 2, make_spec(OBS, ACT))
    _, held_out = windows.split(1 / every)
    assert len(held_out) == len(windows) // every


def test_two_episodes_are_enough_to_hold_one_out(make_spec):
    rng = np.random.default_rng(0)
    windows = Windows.of([[trajectory(3, 0, rng)] for _ in range(2)], 1, make_spec(OBS, ACT))
    training, held_out = windows.split(0.15)
    assert set(windows.episodes[training]) == {0}
    assert set(windows.episodes[held_out]) == {1}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_runs_are_views_that_cost_no_memory(make_spec, k):
    windows = Windows.of([[trajectory(50, 0, np.random.default_rng(0))]], k, make_spec(OBS, ACT))
    for runs, rows in ((windows.observation_runs, windows.observations), (windows.action_runs, windows.actions)):
        assert np.shares_memory(runs, rows)
        (first, last), (low, high) = byte_bounds(rows), byte_bounds(runs)
        assert first <= low < high <= last


def test_a_longer_history_takes_a_few_rows_more_not_a_copy_each(make_spec):
    episodes = [[trajectory(500, 0, np.random.default_rng(0))]]
    short, long = (Windows.of(episodes, k, make_spec(OBS, ACT)) for k in (1, 8))
    assert long.nbytes < 1.05 * short.nbytes


def test_a_history_of_nothing_is_refused(make_spec):
    with pytest.raises(ValueError, match="history must be at least 1, got 0"):
        Windows.of([[trajectory(3, 0, np.random.default_rng(0))]], 0, make_spec(OBS, ACT))


@pytest.mark.parametrize("episodes", [[], [[]], [[], []]])
def test_no_trajectories_are_refused(make_spec, episodes):
    with pytest.raises(ValueError, match="there are no trajectories to learn from"):
        Windows.of(episodes, 1, make_spec(OBS, ACT))
