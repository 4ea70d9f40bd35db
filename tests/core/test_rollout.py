from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from isthmus.core import Step, rollout, stream


@dataclass
class Counting:
    """A policy that commands how many steps of the episode there were before, and remembers what it was shown."""

    windows: list = field(default_factory=list)

    def initial_state(self, n):
        return {"steps": np.zeros(n)}

    def act(self, history, state):
        self.windows.append(history)
        return np.repeat(state["steps"][:, None], 2, axis=1), {"steps": state["steps"] + 1}


class Ending:
    """World i ends after i + 1 steps of an episode; it shows its number, episode and step."""

    def __init__(self, spec, n):
        self.spec, self.n = spec, n
        self.episode, self.at, self.ended = np.zeros(n), np.zeros(n), np.zeros(n, bool)
        self.asked = []

    def reset(self, _rng, which=None):
        rows = np.ones(self.n, bool) if which is None else which
        self.episode[rows] += 1
        self.at[rows], self.ended[rows] = 0, False
        return self._seen()

    def step(self, commands, which=None):
        moving = ~self.ended & (np.ones(self.n, bool) if which is None else which)
        self.asked.append(moving)
        self.at[moving] += 1
        self.ended |= self.at > np.arange(self.n)
        return Step(self._seen(), self.spec.clip(commands), self.ended.copy())

    def _seen(self):
        return np.stack((np.arange(self.n), self.episode, self.at), axis=1)


def world_of(make_spec, n=3, horizon=20):
    world = Ending(make_spec(3, 2, horizon=horizon), n)
    return world, world.reset(stream(0))


def test_it_stops_when_all_have_ended_and_says_who_was_running(make_spec):
    world, start = world_of(make_spec)
    moments = list(rollout(world, Counting(), start))
    assert [moment.running.tolist() for moment in moments] == [[True] * 3, [False, True, True], [False, False, True]]
    np.testing.assert_array_equal(moments[0].before, start)
    for earlier, later in pairwise(moments):
        np.testing.assert_array_equal(earlier.step.observations, later.before)
        np.testing.assert_array_equal(earlier.after, later.before)


def test_state_goes_on_with_an_episode_and_a_world_that_takes_no_step_has_the_initial_one(make_spec):
    world, start = world_of(make_spec)
    commands = [moment.commands[:, 0].tolist() for moment in rollout(world, Counting(), start, steps=5, outlast=True)]
    assert commands == [[0, 0, 0], [1, 1, 1], [0, 2, 2], [0, 0, 3], [0, 0, 0]]


def test_worlds_that_end_begin_anew_with_the_initial_state_and_window(make_spec):
    world, start = world_of(make_spec)
    policy = Counting()
    moments = list(rollout(world, policy, start, history=2, steps=4, restart=stream(0)))
    assert all(moment.running.all() for moment in moments)
    assert [moment.commands[:, 0].tolist() for moment in moments] == [[0, 0, 0], [0, 1, 1], [0, 0, 2], [0, 1, 0]]
    assert moments[0].step.observations[0].tolist() == [0, 1, 1]
    assert moments[0].after[0].tolist() == [0, 2, 0]
    window = policy.windows[1]
    assert window.observations[0].tolist() == [[0, 2, 0], [0, 2, 0]]
    assert window.observations[1].tolist() == [[1, 1, 0], [1, 1, 1]]


def test_a_budget_is_spent_to_the_last_step_and_not_beyond(make_spec):
    for budget in range(7):
        world, start = world_of(make_spec)
        moments = list(rollout(world, Counting(), start, budget=budget))
        assert sum(moment.running.sum() for moment in moments) == min(budget, 6) == sum(map(sum, world.asked))


def test_who_is_stopped_stays_where_it_is(make_spec):
    world, start = world_of(make_spec)
    stops = np.array([False, False, True])
    moments = list(rollout(world, Counting(), start, stop=lambda _step: stops))
    assert [moment.running.tolist() for moment in moments] == [[True] * 3, [False, True, False]]
    assert world.at.tolist() == [1, 2, 1]


def test_exploration_changes_what_is_given_and_the_window_has_what_was_applied(make_spec):
    world, start = world_of(make_spec)
    policy = Counting()
    moments = list(rollout(world, policy, start, history=2, explore=lambda commands: commands + 5.0))
    assert moments[1].commands[1].tolist() == [6.0, 6.0]
    assert policy.windows[1].actions[1].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("steps", "outlast", "taken"), [(None, False, 3), (2, False, 2), (None, True, 5), (4, True, 4)]
)
def test_it_lasts_for_so_many_steps_or_the_horizon(make_spec, steps, outlast, taken):
    world, start = world_of(make_spec, horizon=5)
    assert len(list(rollout(world, Counting(), start, steps=steps, outlast=outlast))) == taken


def test_a_policy_without_memory_is_run_as_it_is(make_linear_world):
    world = make_linear_world(2)
    start = world.reset(stream(0))
    for moment in rollout(world, lambda history: -history.current, start, steps=3):
        np.testing.assert_array_equal(moment.commands, -moment.before)
