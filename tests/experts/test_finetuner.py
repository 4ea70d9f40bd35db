import dataclasses

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.core import History, stream
from isthmus.core.trajectory import RewardedTrajectory
from isthmus.experts import load_expert
from isthmus.experts.agent import adopt_network, make_agent, mean_network
from isthmus.experts.finetuner import FINETUNE, PpoFinetuner
from isthmus.experts.settings import TrainSettings
from isthmus.experts.vec_env import BatchedEnv
from isthmus.gaps import Gap
from isthmus.policies import View
from isthmus.policies.network import Squash
from isthmus.robots import load_task
from isthmus.sim import CorrectedWorld

REACHER = load_task("reacher")
EXPERT = load_expert(REACHER)
TINY = dataclasses.replace(FINETUNE, steps=400, worlds=4, batch=50, minibatch=50, epochs=2)


def practice():
    return PpoFinetuner(REACHER, EXPERT, TINY, critic_steps=400)


def as_expected(_observations, _applied, expected):
    return expected


def test_training_leaves_no_folder_of_logs_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    practice().begin(seed=0)
    assert not list(tmp_path.glob("SB3*"))


# The corrected simulator


@pytest.mark.parametrize(
    ("name", "gap"), [("hopper", "gravity=1.2"), ("half-cheetah", "mass=1.3"), ("ant", "mass=1.3")]
)
def test_with_the_right_correction_the_simulator_does_what_the_target_does(name, gap):
    task = load_task(name)
    oracle, target = task.target(Gap.parse(gap)), task.target(Gap.parse(gap), 3)

    def correct(observations, applied, _expected):
        return oracle.predict(History.of(observations), applied)

    worlds, rng = CorrectedWorld(task.source(3), correct), stream(1)
    np.testing.assert_array_equal(worlds.reset(stream(0)), target.reset(stream(0)))
    measured = task.measure(worlds.fields).copy()
    for _ in range(15):
        commands = rng.uniform(-1, 1, (3, task.robot_model.spec.action_size))
        ours, theirs = worlds.step(commands), target.step(commands)
        np.testing.assert_allclose(ours.observations, theirs.observations, atol=1e-5)
        np.testing.assert_array_equal(ours.ended, theirs.ended)
    away = task.measure(target.fields) - measured
    assert np.abs(away).min() > 1e-4
    # How far it has come is not observed on these robots: it follows from the speeds, with an error of a step's.
    np.testing.assert_allclose(task.measure(worlds.fields) - measured, away, atol=0.02)


def test_without_an_error_the_simulator_stays_what_it_was():
    task = load_task("hopper")
    worlds, source = CorrectedWorld(task.source(2), as_expected), task.source(2)
    worlds.reset(stream(0))
    source.reset(stream(0))
    for _ in range(60):
        step = worlds.step(np.full((2, 3), 0.8))
        np.testing.assert_allclose(step.observations, source.step(np.full((2, 3), 0.8)).observations, atol=1e-9)
    assert step.ended.all()  # and what has ended stays as it is
    np.testing.assert_array_equal(worlds.step(np.full((2, 3), 0.8)).observations, step.observations)


def test_what_a_corrected_simulator_predicts_is_what_happens():
    task, rng = load_task("hopper"), stream(1)
    push = 0.05 * np.eye(12)[6] - 0.02 * np.eye(12)[8]

    def pushed(_observations, _applied, expected):
        return expected + push

    world = CorrectedWorld(task.source(3), pushed)
    observations = world.reset(stream(0))
    for _ in range(5):
        actions = rng.uniform(-1, 1, (3, 3))
        expected = world.predict(History.of(observations), actions)
        plain = task.source().predict(History.of(observations), actions)
        np.testing.assert_allclose(expected - plain, np.tile(push, (3, 1)), atol=1e-12)
        observations = world.step(actions).observations
        np.testing.assert_allclose(observations, expected, atol=1e-5)
        np.testing.assert_allclose(world.fields["qvel"], observations[:, 6:])
    np.testing.assert_array_equal(world.place(observations), observations)


def test_an_episode_ends_where_the_corrected_state_has_fallen():
    task = load_task("hopper")

    def fallen(_observations, _applied, expected):
        return expected - 0.6 * np.eye(12)[1]

    worlds = CorrectedWorld(task.source(1), fallen)
    worlds.reset(stream(0))
    assert worlds.step(np.zeros((1, 3))).ended.all()


# Training


@pytest.mark.parametrize(("sizes", "activation"), [((11, 8, 2), "relu"), ((11, 6, 7, 5, 2), "tanh")])
def test_a_network_of_any_shape_is_adopted_and_given_back(random_mlp, rng, sizes, activation):
    network = random_mlp(sizes, rng, activation, clip=3.0)
    env = VecNormalize(BatchedEnv(REACHER, 4, 0, view=View("all", 11)), clip_obs=3.0)
    agent = make_agent(env, TrainSettings(worlds=4, batch=50), 0, like=network)
    adopt_network(agent, env, network)
    seen = rng.normal(size=(20, 11)) * 3
    np.testing.assert_allclose(mean_network(agent, env)(seen), network(seen), rtol=1e-4, atol=1e-4)


def test_training_begins_with_the_policy_as_it_is_and_is_the_same_again():
    one, two = practice().begin(5), practice().begin(5)
    seen = REACHER.source(20).reset(stream(0))
    np.testing.assert_allclose(one.network(seen), EXPERT.network(seen), atol=1e-4)
    np.testing.assert_allclose(one.exploration_std, FINETUNE.initial_std)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, two.arrays[name], err_msg=name)
    batches = []
    after = [practice().train(one, 6, lambda batch, _earned: batches.append(batch)) for _ in range(2)]
    assert batches == [1, 2, 1, 2]
    np.testing.assert_array_equal(after[0].network(seen), after[1].network(seen))
    assert not np.allclose(after[0].network(seen), one.network(seen), atol=1e-4)
    np.testing.assert_allclose(after[0].network.input_mean, one.network.input_mean, atol=1e-6)


def test_what_a_policy_is_worth_depends_on_the_simulator():
    def heavy(observations, _applied, expected):
        return observations + 0.5 * (expected - observations)

    worth = [practice().corrected(correct).worth(EXPERT.network, 0) for correct in (as_expected, heavy)]
    assert worth[0] > worth[1] + 1


def runs(paid_for, trained, count, steps):
    """Runs of an exploring policy on random states, whose steps are paid for by `paid_for` their noise."""
    rng, made = stream(3), []
    for _ in range(count):
        seen = REACHER.source(steps + 1).reset(rng)
        noise = trained.exploration_std * rng.standard_normal((steps, 2))
        commands = trained.network(seen[:-1]) + noise
        made.append(
            RewardedTrajectory(seen, commands, commands, commands, seen[1:], rewards=paid_for(noise), ended=True)
        )
    return made


@pytest.mark.parametrize("wanted", [1.0, -1.0])
def test_studying_runs_makes_what_was_paid_for_more_likely(wanted):
    trained = practice().begin(0)
    seen = REACHER.source(50).reset(stream(4))
    single = runs(lambda noise: 100 * wanted * noise[:, 0], trained, count=200, steps=1)
    after = practice().study(trained, single, 1)
    change = (after.network(seen) - trained.network(seen)).mean(axis=0)
    assert wanted * change[0] > 1e-3
    assert abs(change[1]) < abs(change[0]) / 2


def test_a_run_that_was_cut_off_counts_for_what_it_might_have_gone_on_to_earn():
    trained, taught = practice().begin(0), practice()
    agent, env = taught._agent(REACHER.source(4), 0)
    made = runs(lambda noise: np.zeros(len(noise)), trained, count=2, steps=5)
    cut = [dataclasses.replace(made[0], ended=False), made[1]]
    ended, going_on = (taught._buffer(agent, env, some) for some in (made, cut))
    gain = going_on.rewards - ended.rewards
    assert np.flatnonzero(gain).tolist() == [4]  # the last step of the first run
    np.testing.assert_array_equal(going_on.episode_starts[:, 0], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0])


def test_squashed_actions_are_trained_before_the_squashing():
    squash = Squash(-0.3 * np.ones(2), 0.3 * np.ones(2))
    env = BatchedEnv(REACHER, 2, 0, command=squash)
    env.reset()
    asked = []
    step = env.world.step
    env.world.step = lambda commands: asked.append(commands) or step(commands)
    env.step_async(np.array([[9.0, -9.0], [0.0, 1.0]]))
    env.step_wait()
    np.testing.assert_allclose(asked[0], [[0.3, -0.3], [0.0, 0.3 * np.tanh(1.0)]], atol=1e-6)
    squashed = dataclasses.replace(EXPERT, squash=squash)
    trainer = PpoFinetuner(REACHER, squashed, TINY, critic_steps=400)
    trained = trainer.train(trainer.begin(seed=0), 1, lambda *_: None)
    window = History.of(REACHER.source(5).reset(stream(0)))
    assert np.abs(dataclasses.replace(squashed, network=trained.network)(window)).max() <= 0.3
    assert trainer.worth(trained.network, 0) < 0
