import numpy as np
import pytest

from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.core import History, act, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.robots import load_task


@pytest.fixture(scope="module")
def humanoid():
    task = load_task("humanoid")
    policy = load_expert(task)
    return task, policy, sim_derived_policy(task.robot_model, policy, stream(0))(policy)


def test_what_follows_from_the_state_is_found(humanoid):
    task, _, shown = humanoid
    names = [task.robot_model.spec.observation_names[i] for i in shown.derived]
    assert {"torso inertia 9", "torso inertia 0", "right_thigh com velocity 3"} <= set(names)
    assert not [name for name in names if "inertia" not in name and "velocity" not in name and "force" not in name]
    assert not set(shown.derived) & set(task.robot_model.spec.targets)
    moving = [name for name in names if name.startswith("actuator force")]
    assert len(moving) <= 6, "those of the root, which has no actuator, are always zero"


def test_on_a_heavier_robot_a_policy_is_asked_about_the_same_state_in_simulation(humanoid):
    task, policy, shown = humanoid
    light, heavy = task.source(4), task.target(Gap.parse("mass=1.2"), 4)
    observations = light.reset(stream(1))
    np.testing.assert_allclose(act(shown, History.of(observations))[0], policy(History.of(observations)), atol=1e-6)
    felt = observations.copy()
    felt[:, shown.derived] = heavy.place(observations)[:, shown.derived]
    assert np.abs(policy(History.of(felt)) - policy(History.of(observations))).max() > 0.1
    np.testing.assert_allclose(act(shown, History.of(felt))[0], policy(History.of(observations)), atol=1e-6)


def test_only_what_is_seen_now_is_worked_out_and_the_window_stays_as_it_is(humanoid):
    _, _, shown = humanoid
    seen = []
    window = History(np.random.default_rng(0).normal(1.2, 0.01, (2, 3, 376)), np.zeros((2, 2, 17)))
    before = window.observations.copy()
    act(SimDerivedPolicy(lambda history: seen.append(history) or np.zeros((2, 17)), shown.show, shown.derived), window)
    np.testing.assert_array_equal(window.observations, before)
    np.testing.assert_array_equal(seen[0].observations[:, :-1], before[:, :-1])
    np.testing.assert_array_equal(seen[0].current[:, :45], before[:, -1, :45])
    assert not np.allclose(seen[0].current, before[:, -1])


@pytest.mark.parametrize("name", ["reacher", "hopper", "half-cheetah", "ant"])
def test_a_robot_that_observes_its_state_alone_has_nothing_to_be_shown(name):
    policy = ZeroPolicy(load_task(name).robot_model.spec.action_size)
    assert sim_derived_policy(load_task(name).robot_model, policy, stream(0))(policy) is policy
