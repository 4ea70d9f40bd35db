"""Policies of Stable-Baselines3, its contrib package and the RL Zoo act as they do there."""

import copy
import io
import json
import pickle
import zipfile

import gymnasium
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from isthmus.core import History, Problem, stream
from isthmus.policies import load_policy
from isthmus.policies.normaliser import read_vec_normalize
from isthmus.policies.view import TIME_LEFT
from isthmus.robots import load_task

HOPPER, ANT = load_task("hopper"), load_task("ant")
SPEC = HOPPER.robot_model.spec
OFF_POLICY = {"buffer_size": 10}
SMALL = {"net_arch": [8, 8]}


class WithTime(gymnasium.ObservationWrapper):
    """RL Zoo's TimeFeatureWrapper while a policy is tested: a last number from 0 to 1, which is 1."""

    def __init__(self, env):
        super().__init__(env)
        low, high = env.observation_space.low, env.observation_space.high
        self.observation_space = gymnasium.spaces.Box(
            np.append(low, 0.0).astype(np.float32), np.append(high, 1.0).astype(np.float32)
        )

    def observation(self, observation):
        return np.append(observation, 1.0)


class Sized(gymnasium.Env):
    """An environment of which only the sizes matter."""

    def __init__(self, observations, actions, discrete=False):
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (observations,))
        self.action_space = (
            gymnasium.spaces.Discrete(actions) if discrete else gymnasium.spaces.Box(-1.0, 1.0, (actions,))
        )

    def reset(self, **_options):
        return np.zeros(self.observation_space.shape, np.float32), {}

    def step(self, _action):
        return np.zeros(self.observation_space.shape, np.float32), 0.0, False, False, {}


@pytest.fixture(scope="module")
def seen():
    rng = stream(0, "seen")
    return HOPPER.source(6).reset(rng) + rng.normal(0, 3, (6, 12))


def load(path, task=HOPPER, **options):
    return load_policy(path, task.views, task.robot_model.spec, **options)


def changed(source, target, **entries):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, entries.get(name.replace(".", "_"), old.read(name)))
    return target


KINDS = {
    "ARS, linear": (sb3_contrib.ARS, "LinearPolicy", {}, {}),
    "ARS, linear with bias": (sb3_contrib.ARS, "LinearPolicy", {"with_bias": True, "squash_output": False}, {}),
    "ARS, linear and squashed": (sb3_contrib.ARS, "LinearPolicy", {"squash_output": True}, {}),
    "ARS, hidden layers": (sb3_contrib.ARS, "MlpPolicy", SMALL, {}),
    "DDPG": (stable_baselines3.DDPG, "MlpPolicy", SMALL, OFF_POLICY),
    "SAC, gSDE": (stable_baselines3.SAC, "MlpPolicy", SMALL, OFF_POLICY | {"use_sde": True}),
    "SAC, gSDE, another clip": (
        stable_baselines3.SAC,
        "MlpPolicy",
        SMALL | {"clip_mean": 0.1},
        OFF_POLICY | {"use_sde": True},
    ),
    "SAC, gSDE, no layers": (stable_baselines3.SAC, "MlpPolicy", {"net_arch": []}, OFF_POLICY | {"use_sde": True}),
    "TQC, gSDE, no clip": (sb3_contrib.TQC, "MlpPolicy", SMALL | {"clip_mean": 0.0}, OFF_POLICY | {"use_sde": True}),
    "PPO, gSDE": (stable_baselines3.PPO, "MlpPolicy", SMALL, {"use_sde": True}),
    "PPO, gSDE, squashed": (stable_baselines3.PPO, "MlpPolicy", SMALL | {"squash_output": True}, {"use_sde": True}),
    "A2C, gSDE": (stable_baselines3.A2C, "MlpPolicy", SMALL, {"use_sde": True}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_action_is_that_of_the_library(tmp_path, seen, kind):
    algorithm, policy, how, options = KINDS[kind]
    theirs = algorithm(policy, Sized(11, 3), policy_kwargs=dict(how), seed=0, **options)
    with torch.no_grad():
        for weights in theirs.policy.parameters():  # as after a training: clips and limits matter
            weights.mul_(3.0)
    theirs.save(tmp_path / "policy.zip")
    expected, _ = theirs.predict(HOPPER.view.see(seen).astype(np.float32), deterministic=True)
    ours = load(tmp_path / "policy.zip")(History.of(seen))
    np.testing.assert_allclose(SPEC.clip(ours), expected, atol=1e-5)


def test_layers_that_actor_and_critic_share_come_first(tmp_path, seen):
    """Old versions name them; new ones do not make them any more."""
    theirs = stable_baselines3.PPO("MlpPolicy", Sized(11, 3), policy_kwargs={"net_arch": [8, 8]}, seed=0)
    theirs.save(tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "new.zip") as archive:
        weights = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
    names = {
        name: name.replace("policy_net.0", "shared_net.0").replace("policy_net.2", "policy_net.0") for name in weights
    }
    file = io.BytesIO()
    torch.save({names[name]: value for name, value in weights.items() if "value_net.0" not in name}, file)
    changed(tmp_path / "new.zip", tmp_path / "old.zip", policy_pth=file.getvalue())
    new, old = (load(tmp_path / name)(History.of(seen)) for name in ("new.zip", "old.zip"))
    np.testing.assert_array_equal(old, new)


def test_weights_of_before_torch_1_6_are_read(tmp_path, seen):
    stable_baselines3.PPO("MlpPolicy", Sized(11, 3), policy_kwargs=dict(SMALL), seed=0).save(tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "new.zip") as archive:
        weights = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
    file = io.BytesIO()
    torch.save(weights, file, _use_new_zipfile_serialization=False)
    changed(tmp_path / "new.zip", tmp_path / "old.zip", policy_pth=file.getvalue())
    new, old = (load(tmp_path / name)(History.of(seen)) for name in ("new.zip", "old.zip"))
    np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    ("algorithm", "policy", "environment", "options", "message"),
    [
        (stable_baselines3.DQN, "MlpPolicy", (4, 2, True), OFF_POLICY, "of DQN, whose actions are discrete"),
        (sb3_contrib.QRDQN, "MlpPolicy", (4, 2, True), OFF_POLICY, "of QR-DQN, whose actions are discrete"),
        (sb3_contrib.RecurrentPPO, "MlpLstmPolicy", (11, 3), {}, "of RecurrentPPO, which has a memory"),
        (sb3_contrib.CrossQ, "MlpPolicy", (11, 3), OFF_POLICY, "of CrossQ"),
        (stable_baselines3.PPO, "MlpPolicy", (4, 2, True), {}, "of PPO, A2C or TRPO with discrete actions"),
    ],
)
def test_what_is_no_plain_map_to_continuous_actions_is_refused_by_name(
    tmp_path, algorithm, policy, environment, options, message
):
    algorithm(policy, Sized(*environment), **options).save(tmp_path / "policy.zip")
    with pytest.raises(Problem, match=rf"policy\.zip is a policy {message}"):
        load(tmp_path / "policy.zip")


def test_a_time_feature_is_told_by_the_limits_of_what_is_seen(tmp_path, seen):
    env = WithTime(gymnasium.make("Hopper-v5"))
    theirs = stable_baselines3.SAC("MlpPolicy", env, policy_kwargs=dict(SMALL), seed=0, **OFF_POLICY)
    theirs.save(tmp_path / "policy.zip")
    shown = np.append(HOPPER.view.see(seen), np.full((6, 1), TIME_LEFT), axis=1)
    expected, _ = theirs.predict(shown.astype(np.float32), deterministic=True)
    np.testing.assert_allclose(SPEC.clip(load(tmp_path / "policy.zip")(History.of(seen))), expected, atol=1e-5)


def test_one_number_more_is_not_taken_for_time_unless_it_is_said(tmp_path, seen):
    """Twelve numbers may also be those of Hopper with its position."""
    stable_baselines3.PPO("MlpPolicy", Sized(12, 3), policy_kwargs=dict(SMALL), seed=0).save(tmp_path / "policy.zip")
    with pytest.raises(Problem, match=r"takes 12 numbers.*time feature, which --layout v4\+time says"):
        load(tmp_path / "policy.zip")
    assert load(tmp_path / "policy.zip", layout="v5+time")(History.of(seen)).shape == (6, 3)


@pytest.mark.parametrize("size", [27, 111, 112])
def test_ant_of_versions_2_and_3_sees_no_contact(tmp_path, size):
    theirs = sb3_contrib.TQC("MlpPolicy", Sized(size, 8), policy_kwargs=dict(SMALL), seed=0, **OFF_POLICY)
    theirs.save(tmp_path / "ant.zip")
    seen = ANT.source(3).reset(stream(0, "ant"))
    parts = [seen, np.zeros((3, 84)), np.full((3, 1), TIME_LEFT)]
    shown = np.concatenate(parts, axis=1)[:, :size].astype(np.float32)
    expected, _ = theirs.predict(shown, deterministic=True)
    ours = load(tmp_path / "ant.zip", ANT, layout="v3+time" if size == 112 else None)
    np.testing.assert_allclose(ours(History.of(seen)), expected, atol=1e-5)


def test_ant_of_version_5_is_named_in_the_refusal(tmp_path):
    stable_baselines3.PPO("MlpPolicy", Sized(105, 8), policy_kwargs=dict(SMALL)).save(tmp_path / "ant.zip")
    with pytest.raises(Problem, match="takes 105 numbers, the layout v5, which has contact forces"):
        load(tmp_path / "ant.zip", ANT)


@pytest.fixture(scope="module")
def seeded():
    """A normaliser as it is after a training with a seed: its spaces hold a random generator."""
    env = VecNormalize(DummyVecEnv([lambda: gymnasium.make("Hopper-v5")]), clip_obs=7.0)
    stable_baselines3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, seed=3, policy_kwargs=dict(SMALL)).learn(32)
    return env


def test_a_normaliser_of_a_seeded_training_is_read(tmp_path, seeded):
    seeded.save(str(tmp_path / "normaliser.pkl"))
    ours = read_vec_normalize(tmp_path / "normaliser.pkl")
    np.testing.assert_array_equal(ours.mean, seeded.obs_rms.mean)
    np.testing.assert_array_equal(ours.scale, np.sqrt(seeded.obs_rms.var + seeded.epsilon))
    assert ours.clip == 7.0


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_normaliser_of_the_days_of_gym_is_read(tmp_path, seeded, protocol):
    """Old files name gym, NumPy's old modules, types of numbers and generators of the old kind."""
    old = VecNormalize.__new__(VecNormalize)
    space = copy.copy(seeded.observation_space)
    space._np_random = np.random.RandomState(0)
    left_out = {"venv": None, "class_attributes": {}, "returns": None}
    vars(old).update(seeded.__getstate__() | left_out | {"observation_space": space, "dtype": np.float32})
    content = pickle.dumps(old, protocol)
    for new, earlier in (
        (b"cgymnasium.spaces", b"cgym.spaces"),
        (b"cnumpy._core.multiarray", b"cnumpy.core.multiarray"),
        (b"cnumpy._core.numeric", b"cnumpy.core.numeric"),
    ):
        content = content.replace(new, earlier)
    assert b"gymnasium." not in content.replace(b"gymnasium.envs", b"")
    (tmp_path / "old.pkl").write_bytes(content)
    np.testing.assert_array_equal(read_vec_normalize(tmp_path / "old.pkl").mean, seeded.obs_rms.mean)


@pytest.mark.parametrize(
    "data", ['{"policy_kwargs": {"clip_mean": -1}}', '{"policy_kwargs": {"squash_output": "maybe"}}', "9" * 5000]
)
def test_odd_settings_are_a_problem(tmp_path, data):
    options = {"policy_kwargs": dict(SMALL), "use_sde": True, "seed": 0, **OFF_POLICY}
    stable_baselines3.SAC("MlpPolicy", Sized(11, 3), **options).save(tmp_path / "sound.zip")
    with pytest.raises(Problem, match=r"odd\.zip"):
        load(changed(tmp_path / "sound.zip", tmp_path / "odd.zip", data=data.encode()))


def test_settings_are_words(tmp_path):
    stable_baselines3.PPO("MlpPolicy", Sized(11, 3), policy_kwargs=dict(SMALL)).save(tmp_path / "policy.zip")
    with zipfile.ZipFile(tmp_path / "policy.zip") as archive:
        assert "low" in json.loads(archive.read("data"))["observation_space"]
