"""Learning what is added to a trot: the network that comes out, and stages that resume exactly."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from isthmus.core import stream
from isthmus.experiments.anymal.learner import Learner, Settings, with_trot
from isthmus.experiments.anymal.walks import LONGEST, SCALE, Walks, act
from isthmus.robots.anymal.inertias import inertial_models
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.task import make_anymal

SMALL = Settings(robots=6, steps=4, updates=2, stages=2, hidden=(16, 8))


@pytest.fixture(scope="module")
def robot():
    return make_anymal().robot_model


def walks(robot):
    return Walks(robot, SMALL.robots, inertial_models(robot.model, 4, stream(0, "inertias")))


def test_the_network_gives_what_the_policy_adds_to_the_trot_that_it_sees():
    rng = np.random.default_rng(0)
    sizes = (48, 16, 8, 12)
    layers = [
        (rng.normal(size=shape).astype(np.float32), rng.normal(size=shape[1]).astype(np.float32))
        for shape in pairwise(sizes)
    ]
    seen = rng.normal(size=(5, 48))
    hidden = seen
    for weight, bias in layers[:-1]:
        hidden = np.maximum(hidden @ weight + bias, 0)
    outputs = hidden @ layers[-1][0] + layers[-1][1]
    np.testing.assert_allclose(with_trot(layers)(seen), act(outputs, seen), atol=1e-4)
    np.testing.assert_allclose(act(np.ones((5, 12)), seen), STANCE + seen[:, 36:] + SCALE)


def test_an_untrained_policy_is_nearly_the_bare_trot():
    network = Learner(48, SMALL, 0).network()
    seen = np.random.default_rng(1).normal(size=(4, 48))
    assert np.abs(network(seen) - act(np.zeros((4, 12)), seen)).max() < 0.5 * SCALE


def test_a_training_that_was_stopped_between_stages_ends_the_same(robot, tmp_path):
    torch.set_num_threads(1)
    whole = Learner(48, SMALL, 3)
    crowd = walks(robot)
    for _ in range(2):
        whole.run_stage(crowd)
    begun = Learner(48, SMALL, 3)
    begun.run_stage(walks(robot))
    begun.save(tmp_path / "training.npz")
    resumed = Learner(48, SMALL, 8)
    resumed.load(tmp_path / "training.npz")
    assert resumed.stage == 1
    resumed.seed = 3
    resumed.run_stage(walks(robot))
    for ours, theirs in zip(whole.network().weights, resumed.network().weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert whole.history == resumed.history


def test_learning_raises_the_reward_of_what_is_easily_learned():
    """A crowd that is paid for outputs near one: in a few updates the mean moves there."""

    class Easy:
        def begin(self, rng):
            return np.zeros((32, 48))

        def step(self, outputs, seen):
            from isthmus.experiments.anymal.walks import Taken

            none = np.zeros(32, bool)
            reward = -np.square(outputs - 1.0).mean(axis=1)
            return Taken(np.zeros((32, 48)), reward, none, none, np.zeros((32, 48)))

    learner = Learner(48, Settings(robots=32, steps=16, updates=30, stages=1, hidden=(16,)), 0)
    learner.run_stage(Easy())
    mean = learner.policy(torch.zeros(1, 48)).detach().numpy()
    assert 0.3 < mean.mean() < 1.4


def test_robots_that_fall_pay_and_begin_anew_and_old_ones_begin_anew_without_a_fall(robot):
    crowd = walks(robot)
    seen = crowd.begin(stream(0, "test"))
    crowd.world.fields["qpos"][0, 2] = 0.1  # it lies on the floor
    crowd._age[:] = 5
    crowd._age[1] = LONGEST - 1
    taken = crowd.step(np.zeros((6, 12)), seen)
    assert taken.fell.tolist() == [True, *[False] * 5]
    assert taken.out_of_time.tolist() == [False, True, *[False] * 4]
    assert taken.reward[0] < -1 < taken.reward[2]
    assert crowd._age.tolist() == [0, 0, 6, 6, 6, 6]
    np.testing.assert_array_equal(taken.seen[2:], taken.last_seen[2:])
    assert (taken.seen[:2] != taken.last_seen[:2]).any()
