import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.core import Problem, stream
from isthmus.experts import expert_path, load_expert, load_robust, provenance, robust_path
from isthmus.experts.agent import learned_arrays, make_agent, restore_arrays
from isthmus.experts.assess import assess, assess_randomised
from isthmus.experts.make import make_expert
from isthmus.experts.settings import TrainSettings
from isthmus.experts.vec_env import BatchedEnv
from isthmus.gaps import Gap, Ranges
from isthmus.io import save_arrays
from isthmus.policies import load_policy
from isthmus.robots import TASKS, load_task

SHIPPED = [name for name in TASKS if expert_path(name).exists()]


def policy_in(path):
    task = load_task("reacher")
    return load_policy(path, task.views, task.robot_model.spec)


TINY = TrainSettings(steps=400, worlds=4, batch=50, hidden=8)
TINY_TRPO = dataclasses.replace(TINY, algorithm="trpo")


EPISODES = 40
"""That are walked again: fewer than were published, and the standard error knows."""


def alike(found, told, episodes):
    """Whether the mean of a few episodes and the one of `episodes` are of one distribution, to five standard errors.

    Walking is chaotic: where another processor rounds otherwise, a few of the episodes end in other falls.
    """
    error = np.hypot(found["std"] / np.sqrt(EPISODES), told["std"] / np.sqrt(episodes))
    return found["mean"] == pytest.approx(told["mean"], abs=5 * error, rel=1e-3)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_expert_is_what_its_provenance_says(name):
    task, made = load_task(name), provenance(expert_path(name))
    outcome = assess(task, load_expert(task), Gap(), EPISODES, stream(made["seed"], "expert", "evaluate"))
    assert alike(outcome["gym_return"], made["evaluation"]["gym_return"], made["evaluation"]["episodes"])
    assert re.match(rf"isthmus (expert|policy) train {name}\b", made["command"])  # by the name of its day
    assert {"seed", "stages", "seconds", "versions"} <= made.keys()


@pytest.mark.parametrize("name", [name for name in TASKS if robust_path(name).exists()])
def test_a_shipped_robust_policy_is_what_its_provenance_says(name):
    task, made = load_task(name), provenance(robust_path(name))
    told, ranges = made["evaluation"], Ranges.parse(made["stages"][-1]["settings"]["randomise"])
    rng = stream(made["seed"], "expert", "evaluate", "randomised")
    outcome = assess_randomised(task, load_robust(task), ranges, EPISODES, rng)
    assert alike(outcome["score"], told["randomised"]["score"], told["episodes"])


def test_reacher_ships():
    assert "reacher" in SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_running_an_expert_imports_neither_torch_nor_sb3(name):
    code = f"""
import sys
from isthmus.core import History, stream
from isthmus.experts import load_expert
from isthmus.robots import load_task
task = load_task({name!r})
load_expert(task)(History.of(task.source().reset(stream(0))))
assert not {{"torch", "stable_baselines3", "sb3_contrib"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("settings", [TINY, TINY_TRPO], ids=lambda settings: settings.algorithm)
def test_training_writes_policy_and_provenance(tmp_path, settings):
    reports = []
    made = make_expert("reacher", tmp_path / "mine.npz", settings, 3, 10, lambda *row: reports.append(row))
    assert json.loads((tmp_path / "mine.json").read_text()) == json.loads(json.dumps(made))
    assert reports[-1][0] == 400
    assert np.isfinite(reports[-1][1])
    assert "--steps 400" in made["command"]
    assert settings.algorithm.upper() in made["algorithm"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "mine.npz", "mine.training.npz"]
    task = load_task("reacher")
    outcome = assess(task, policy_in(tmp_path / "mine.npz"), Gap(), 10, stream(3, "expert", "evaluate"))
    assert outcome["gym_return"]["mean"] == pytest.approx(made["evaluation"]["gym_return"]["mean"])


class KilledError(Exception):
    pass


def cut_short(path, settings, monkeypatch):
    """Train for two batches and be killed after the second was saved."""
    monkeypatch.setattr("isthmus.experts.make.SAVE_SECONDS", 0.0)
    steps = []

    def report(step, _recent):
        steps.append(step)
        if len(steps) == 3:
            raise KilledError

    with pytest.raises(KilledError):
        make_expert("reacher", path, settings, 0, 5, report)
    return steps


@pytest.mark.parametrize("algorithm", ["ppo", "trpo"])
def test_a_training_that_was_cut_short_goes_on_from_its_last_save(tmp_path, monkeypatch, algorithm):
    settings, path = dataclasses.replace(TINY, steps=1000, algorithm=algorithm), tmp_path / "mine.npz"
    assert cut_short(path, settings, monkeypatch) == [200, 400, 600]
    before = policy_in(path).network
    steps, networks = [], []

    def report(step, _recent):
        steps.append(step)
        networks.append(policy_in(path).network)

    made = make_expert("reacher", path, settings, 0, 5, report, resume=True)
    assert steps == [600, 800, 1000]  # the batch after the last save is collected again
    assert made["steps"] == 1000
    np.testing.assert_array_equal(networks[0].weights[0], before.weights[0])
    assert not np.array_equal(policy_in(path).network.weights[0], before.weights[0])
    assert [stage["from"] for stage in made["stages"]] == [0]


def test_what_was_learned_is_put_back_whole():
    env = VecNormalize(BatchedEnv(load_task("reacher"), 4, 0))
    agent = make_agent(env, TINY, 0)
    agent.learn(400)
    arrays = learned_arrays(agent, env)
    other = VecNormalize(BatchedEnv(load_task("reacher"), 4, 0))
    fresh = make_agent(other, TINY, 1)
    restore_arrays(fresh, other, arrays)
    for name, array in learned_arrays(fresh, other).items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)
    assert {name.split("/")[0] for name in arrays} == {"policy", "optimiser", "observations", "returns"}


def test_resuming_from_nothing_or_with_another_network_is_refused(tmp_path, monkeypatch):
    settings, path = dataclasses.replace(TINY, steps=1000), tmp_path / "mine.npz"
    with pytest.raises(Problem, match="there is no training at"):
        make_expert("reacher", path, settings, 0, 5, lambda *_: None, resume=True)
    cut_short(path, settings, monkeypatch)
    with pytest.raises(Problem, match="another network"):
        make_expert("reacher", path, dataclasses.replace(settings, hidden=9), 0, 5, lambda *_: None, resume=True)
    with pytest.raises(Problem, match="training of reacher from seed 0"):
        make_expert("reacher", path, settings, 1, 5, lambda *_: None, resume=True)


def test_other_settings_are_a_new_stage(tmp_path):
    path, slower = tmp_path / "mine.npz", dataclasses.replace(TINY, steps=800, rate=1e-4)
    make_expert("reacher", path, TINY, 0, 5, lambda *_: None)
    made = make_expert("reacher", path, slower, 0, 5, lambda *_: None, resume=True)
    assert [stage["from"] for stage in made["stages"]] == [0, 400]
    assert made["command"].endswith("--resume")
    assert "--rate 0.0001" in made["command"]
    assert made["steps"] == 800


def test_a_training_can_start_from_a_policy_and_remembers_which(tmp_path):
    first, path = tmp_path / "first.npz", tmp_path / "mine.npz"
    made = make_expert("reacher", first, TINY, 0, 5, lambda *_: None)
    begun = make_expert("reacher", path, TINY, 1, 5, lambda *_: None, start=first)
    assert begun["start"] == made
    assert begun["command"].endswith("--start first.npz")
    # Two batches are for the critic alone: it acts as before, and what it has seen since does not change that.
    ours, theirs = policy_in(path).network, policy_in(first).network
    for one, other in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(ours.input_mean, theirs.input_mean, rtol=1e-6)
    np.testing.assert_allclose(ours.input_scale, theirs.input_scale, rtol=1e-6)
    longer = dataclasses.replace(TINY, steps=600)
    assert make_expert("reacher", path, longer, 1, 5, lambda *_: None, resume=True)["start"] == made


def test_a_policy_that_does_not_fit_is_no_start(tmp_path):
    first = tmp_path / "first.npz"
    make_expert("reacher", first, TINY, 0, 5, lambda *_: None)
    wrong = dataclasses.replace(TINY, hidden=9)
    with pytest.raises(Problem, match="--hidden"):
        make_expert("reacher", tmp_path / "mine.npz", wrong, 0, 5, lambda *_: None, start=first)


def test_trpo_starts_from_a_policy_too(tmp_path):
    first, path = tmp_path / "first.npz", tmp_path / "mine.npz"
    made = make_expert("reacher", first, TINY, 0, 5, lambda *_: None)
    settings = dataclasses.replace(TINY, algorithm="trpo")
    assert make_expert("reacher", path, settings, 1, 5, lambda *_: None, start=first)["start"] == made


def test_training_is_the_same_again_from_the_same_seed(tmp_path):
    for name in ("one", "two"):
        make_expert("reacher", tmp_path / f"{name}.npz", TINY, 5, 5, lambda *_: None)
    one, two = (policy_in(tmp_path / f"{name}.npz").network for name in ("one", "two"))
    for ours, theirs in zip(one.weights, two.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_existing_expert_is_not_overwritten(tmp_path):
    (tmp_path / "mine.npz").write_text("precious")
    with pytest.raises(Problem, match="exists already"):
        make_expert("reacher", tmp_path / "mine.npz", TINY, 0, 5, lambda *_: None)
    assert (tmp_path / "mine.npz").read_text() == "precious"


def test_a_task_without_an_expert_says_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setattr("isthmus.experts.shipped.WEIGHTS", tmp_path)
    with pytest.raises(Problem, match="isthmus policy train reacher"):
        load_expert(load_task("reacher"))


def test_the_vectorised_environment_restarts_what_is_over_and_says_why():
    task = load_task("hopper")
    env = BatchedEnv(task, 6, seed=0)
    first = env.reset()
    assert first.shape == (6, 11)
    over = 0
    for _ in range(200):
        env.step_async(np.full((6, 3), 0.8))
        observations, rewards, done, infos = env.step_wait()
        assert np.isfinite(rewards).all()
        for world in np.flatnonzero(done):
            over += 1
            assert infos[world]["TimeLimit.truncated"] is False
            assert infos[world]["terminal_observation"][0] != observations[world][0]
            assert abs(observations[world][1]) < 0.01  # upright again
    assert over > 6


def test_reacher_is_truncated_at_its_time_limit():
    env = BatchedEnv(load_task("reacher"), 2, seed=0)
    env.reset()
    for step in range(50):
        env.step_async(np.zeros((2, 2)))
        _, _, done, infos = env.step_wait()
        assert done.all() == (step == 49)
    assert infos[0]["TimeLimit.truncated"] is True


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"worlds": 0}, {"batch": 1}, {"kl": 0.0}, {"discount": 2.0}, {"minibatch": 1}, {"entropy": -1.0}],
)
def test_training_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(Problem, match=next(iter(wrong))):
        TrainSettings(**wrong)


@pytest.mark.parametrize(
    "change", [{"steps": -1}, {"steps": "many"}, {"stages": [{}]}, {"stages": {}}, {"seconds": None}, {"start": 3}]
)
def test_a_training_with_odd_progress_is_refused(tmp_path, change):
    sound = {"task": "reacher", "seed": 0, "steps": 9, "seconds": 1.5, "stages": [], "start": None}
    save_arrays(tmp_path / "x.training.npz", {}, {"kind": "training"} | sound | change)
    (tmp_path / "x.npz").touch()
    with pytest.raises(Problem, match="not a training file"):
        make_expert("reacher", tmp_path / "x.npz", TINY, 0, 5, lambda *_: None, resume=True)
