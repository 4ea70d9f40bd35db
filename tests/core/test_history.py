import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import History, HistoryBuffer, WorldSpec


def spec_of(observations, actions):
    return WorldSpec(
        tuple(map(str, range(observations))),
        tuple(map(str, range(actions))),
        -np.ones(actions),
        np.ones(actions),
        0.02,
        50,
        np.arange(observations),
    )


SIZES = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
SEEDS = st.integers(0, 2**32)


class ListOfEverything:
    """What a window should be, the plain way: every robot keeps its whole past."""

    def __init__(self, k, observation_size, action_size):
        self.k, self.seen, self.done = k, [np.zeros(observation_size)], []
        self.nothing = np.zeros(action_size)

    def begin(self, observation):
        self.seen, self.done = [observation], []

    def append(self, action, observation):
        self.seen.append(observation)
        self.done.append(action)

    def window(self):
        missing = max(self.k - len(self.seen), 0)
        seen = [self.seen[0]] * missing + self.seen[-self.k :]
        done = [self.nothing] * missing + (self.done[-(self.k - 1) :] if self.k > 1 else [])
        return np.array(seen), np.array(done).reshape(self.k - 1, len(self.nothing))


@given(SIZES, SEEDS, st.lists(st.sampled_from(["append", "append", "begin", "begin some"]), max_size=12))
def test_the_window_is_the_tail_of_everything_seen_and_done(sizes, seed, actions):
    n, k, obs, act = sizes
    rng = np.random.default_rng(seed)
    buffer = HistoryBuffer(spec_of(obs, act), n, k)
    plain = [ListOfEverything(k, obs, act) for _ in range(n)]
    for action in ["begin", *actions]:
        observations = rng.normal(size=(n, obs))
        if action == "append":
            commands = rng.normal(size=(n, act))
            buffer.append(commands, observations)
            for i in range(n):
                plain[i].append(commands[i], observations[i])
        else:
            which = None if action == "begin" else rng.random(n) < 0.5
            buffer.begin(observations, which)
            for i in range(n):
                if which is None or which[i]:
                    plain[i].begin(observations[i])
        for i in range(n):
            seen, done = plain[i].window()
            np.testing.assert_array_equal(buffer.window.observations[i], seen)
            np.testing.assert_array_equal(buffer.window.actions[i], done)


@given(SIZES, SEEDS)
def test_the_buffer_keeps_nothing_of_the_arrays_it_was_given(sizes, seed):
    n, k, obs, act = sizes
    rng = np.random.default_rng(seed)
    buffer = HistoryBuffer(spec_of(obs, act), n, k)
    first, commands, second = rng.normal(size=(n, obs)), rng.normal(size=(n, act)), rng.normal(size=(n, obs))
    buffer.begin(first)
    buffer.append(commands, second)
    before = buffer.window.observations.copy(), buffer.window.actions.copy()
    for array in (first, commands, second):
        array[:] = np.nan
    np.testing.assert_array_equal(buffer.window.observations, before[0])
    np.testing.assert_array_equal(buffer.window.actions, before[1])


def test_nobody_can_write_to_the_window():
    buffer = HistoryBuffer(spec_of(4, 1), 2, 3)
    with pytest.raises(ValueError, match="read-only"):
        buffer.window.observations[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        buffer.window.actions[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        buffer.window.current[0, 0] = 1.0


@pytest.mark.parametrize("k", [1, 2])
def test_a_window_stays_as_it_is_when_the_next_step_comes(k):
    buffer = HistoryBuffer(spec_of(1, 1), 2, k)
    buffer.begin(np.array([[1.0], [1.5]]))
    window = buffer.window
    buffer.append(np.array([[5.0], [6.0]]), np.array([[2.0], [3.0]]))
    assert buffer.window.current.ravel().tolist() == [2.0, 3.0]
    buffer.begin(np.array([[8.0], [9.0]]), np.array([True, False]))
    assert buffer.window.current.ravel().tolist() == [8.0, 3.0]
    assert window.observations.ravel().tolist() == [1.0] * k + [1.5] * k
    assert not window.actions.any()


@given(SIZES, SEEDS, st.integers(1, 4))
def test_last_gives_the_latest_part_of_a_window(sizes, seed, k):
    n, length, obs, act = sizes
    rng = np.random.default_rng(seed)
    history = History(rng.normal(size=(n, length, obs)), rng.normal(size=(n, length - 1, act)))
    if k > length:
        with pytest.raises(ValueError, match=f"a history of {length} observations cannot give the last {k}"):
            history.last(k)
        return
    last = history.last(k)
    assert last.length == k
    np.testing.assert_array_equal(last.observations, history.observations[:, length - k :])
    np.testing.assert_array_equal(last.actions, history.actions[:, length - k :])
    np.testing.assert_array_equal(last.current, history.current)


def test_last_refuses_to_give_nothing():
    with pytest.raises(ValueError, match="cannot give the last 0"):
        History(np.zeros((1, 2, 3)), np.zeros((1, 1, 1))).last(0)


def test_one_observation_is_a_history_without_actions():
    observations = np.arange(6.0).reshape(2, 3)
    history = History.of(observations)
    assert history.length == 1
    np.testing.assert_array_equal(history.current, observations)
    assert history.actions.shape[:2] == (2, 0)


@pytest.mark.parametrize(
    ("observations", "actions"),
    [((2, 3), (2, 0, 1)), ((2, 3, 4), (2, 1)), ((2, 3, 4), (2, 3, 1)), ((2, 3, 4), (1, 2, 1)), ((2, 0, 4), (2, 0, 1))],
)
def test_parts_that_do_not_fit_are_refused(observations, actions):
    with pytest.raises(ValueError, match=r"observations|a history needs"):
        History(np.zeros(observations), np.zeros(actions))
