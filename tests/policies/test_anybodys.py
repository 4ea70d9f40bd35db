"""Policies of other libraries: they act as they did there, and no file ever runs code."""

import io
import os
import pickle
import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import onnx
import pytest
import sb3_contrib
import stable_baselines3
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from isthmus.core import History, Problem, stream
from isthmus.policies import load_policy
from isthmus.policies.normaliser import read_vec_normalize
from isthmus.policies.pickles import read_plain
from isthmus.robots import load_task

HOPPER = load_task("hopper")
SPEC = HOPPER.robot_model.spec
ALGORITHMS = {
    "PPO": (stable_baselines3.PPO, {"n_steps": 8, "batch_size": 8}),
    "A2C": (stable_baselines3.A2C, {}),
    "TRPO": (sb3_contrib.TRPO, {"n_steps": 8, "batch_size": 8}),
    "SAC": (stable_baselines3.SAC, {"buffer_size": 10}),
    "TD3": (stable_baselines3.TD3, {"buffer_size": 10}),
    "TQC": (sb3_contrib.TQC, {"buffer_size": 10}),
}


@pytest.fixture(scope="module")
def seen():
    """What a hopper might see, root x included."""
    rng = stream(0, "seen")
    return HOPPER.source(6).reset(rng) + rng.normal(0, 3, (6, 12))


@pytest.fixture(scope="module")
def environment():
    env = VecNormalize(DummyVecEnv([lambda: gymnasium.make("Hopper-v5")]))
    env.reset()
    rng = stream(0, "environment")
    for _ in range(30):
        env.step(rng.uniform(-1, 1, (1, 3)))
    env.training = False
    return env


@pytest.fixture(scope="module")
def folder(tmp_path_factory, environment):
    path = tmp_path_factory.mktemp("anybodys")
    environment.save(str(path / "statistics.pkl"))
    for name, (algorithm, options) in ALGORITHMS.items():
        small = {"net_arch": [16, 8]}
        algorithm("MlpPolicy", environment, policy_kwargs=small, seed=0, **options).save(path / f"{name}.zip")
    return path


def load(path, **options):
    return load_policy(Path(path), HOPPER.views, SPEC, **options)


def test_statistics_of_an_environment_with_a_seed_are_read(tmp_path, environment):
    environment.action_space.seed(0)  # as SB3 does when it is given a seed: the file then holds a random generator
    environment.save(str(tmp_path / "seeded.pkl"))
    np.testing.assert_array_equal(read_vec_normalize(tmp_path / "seeded.pkl").mean, environment.obs_rms.mean)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("normalised", [False, True])
def test_a_policy_of_stable_baselines_acts_as_it_did_there(folder, environment, seen, name, normalised):
    algorithm, _ = ALGORITHMS[name]
    shown = HOPPER.view.see(seen)
    theirs, _ = algorithm.load(folder / f"{name}.zip").predict(
        environment.normalize_obs(shown) if normalised else shown.astype(np.float32), deterministic=True
    )
    ours = load(folder / f"{name}.zip", normaliser=folder / "statistics.pkl" if normalised else None)
    np.testing.assert_allclose(SPEC.clip(ours(History.of(seen))), theirs, atol=1e-5)


@pytest.mark.parametrize(
    ("activation", "hidden"), [(torch.nn.ReLU, [8]), (torch.nn.Tanh, []), (torch.nn.Tanh, [4] * 4)]
)
def test_other_networks_are_read_too(tmp_path, environment, seen, activation, hidden):
    kind = {"activation_fn": activation, "net_arch": hidden}
    theirs = stable_baselines3.PPO("MlpPolicy", environment, policy_kwargs=kind, n_steps=8, batch_size=8, seed=1)
    theirs.save(tmp_path / "policy.zip")
    expected, _ = theirs.predict(HOPPER.view.see(seen).astype(np.float32), deterministic=True)
    np.testing.assert_allclose(SPEC.clip(load(tmp_path / "policy.zip")(History.of(seen))), expected, atol=1e-5)


def test_an_activation_that_is_not_known_is_named(tmp_path, environment):
    kind = {"activation_fn": torch.nn.ELU}
    stable_baselines3.PPO("MlpPolicy", environment, policy_kwargs=kind, n_steps=8, batch_size=8).save(
        tmp_path / "p.zip"
    )
    with pytest.raises(Problem, match="activation ELU: only ReLU and Tanh"):
        load(tmp_path / "p.zip")


def onnx_policy(path, inputs=11, outputs=3, batch="batch", output_names=("action",)):
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(inputs, outputs)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["observation", "weight"], [name]) for name in output_names]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [batch, inputs])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, outputs]) for name in output_names],
        [numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    assert isinstance(model, onnx.ModelProto)
    return weight


@pytest.mark.parametrize("batch", ["batch", 1])
def test_an_onnx_policy_acts_on_what_gymnasium_shows(tmp_path, seen, batch):
    weight = onnx_policy(tmp_path / "policy.onnx", batch=batch)
    actions = load(tmp_path / "policy.onnx")(History.of(seen))
    np.testing.assert_allclose(actions, HOPPER.view.see(seen) @ weight, rtol=1e-4, atol=1e-4)


def test_an_onnx_policy_takes_a_normaliser(tmp_path, folder, environment, seen):
    weight = onnx_policy(tmp_path / "policy.onnx")
    actions = load(tmp_path / "policy.onnx", normaliser=folder / "statistics.pkl")(History.of(seen))
    expected = environment.normalize_obs(HOPPER.view.see(seen)) @ weight
    np.testing.assert_allclose(actions, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((17, 3), r"takes 17 numbers, but this robot shows 11 \(v4 or v5\).*likely layout is v4 or v5, with 6 fewer"),
        ((11, 6), r"gives 6 actions, but this robot has 3 actuators \(thigh_joint, leg_joint, foot_joint\)"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_with_both_sizes(tmp_path, sizes, message):
    onnx_policy(tmp_path / "policy.onnx", *sizes)
    with pytest.raises(Problem, match=message):
        load(tmp_path / "policy.onnx")


def test_the_layout_is_told_by_the_size_or_said(tmp_path):
    reacher = load_task("reacher")
    spec, rng = reacher.robot_model.spec, stream(0, "layout")
    seen = reacher.source(4).reset(rng)
    for size in (10, 11):
        weight = onnx_policy(tmp_path / "policy.onnx", size, 2)
        policy = load_policy(tmp_path / "policy.onnx", reacher.views, spec)
        np.testing.assert_allclose(policy(History.of(seen)), seen[:, :size] @ weight, rtol=1e-4, atol=1e-4)
    with pytest.raises(Problem, match=r"takes 11 numbers, but this robot shows 10 \(v5\)"):
        load_policy(tmp_path / "policy.onnx", reacher.views, spec, layout="v5")
    with pytest.raises(Problem, match=r"unknown layout 'v6': choose from v4, v4\+time, v5"):
        load_policy(tmp_path / "policy.onnx", reacher.views, spec, layout="v6")


def test_a_normaliser_of_another_size_is_refused(tmp_path, folder):
    onnx_policy(tmp_path / "policy.onnx", 10, 2)
    reacher = load_task("reacher")
    with pytest.raises(Problem, match="is for 11 numbers"):
        load_policy(
            tmp_path / "policy.onnx", reacher.views, reacher.robot_model.spec, normaliser=folder / "statistics.pkl"
        )


def test_a_policy_with_a_normaliser_takes_no_second_one(folder):
    from isthmus.experts import load_expert

    load_expert(load_task("reacher")).save(folder / "ours.npz")
    reacher = load_task("reacher")
    with pytest.raises(Problem, match="brings its own normaliser"):
        load_policy(folder / "ours.npz", reacher.views, reacher.robot_model.spec, normaliser=folder / "statistics.pkl")


def test_an_unknown_kind_of_file_is_told_the_known_ones(tmp_path):
    with pytest.raises(Problem, match=r"\.npz \(our own\), \.zip \(Stable-Baselines3\), \.onnx \(ONNX\)"):
        load(tmp_path / "policy.pt")


@pytest.mark.parametrize("name", ["policy.npz", "policy.zip", "policy.onnx"])
def test_a_policy_that_is_not_there_is_a_problem(tmp_path, name):
    with pytest.raises(Problem, match=name):
        load(tmp_path / name)


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return os.system, (f"touch {self.trap}",)


class Sneaky:
    """Asks a library that is allowed for a function that is not a class."""

    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return np.load, (str(self.trap),)


@pytest.mark.parametrize("kind", [Hostile, Sneaky])
@pytest.mark.parametrize("protocol", range(6))
def test_a_hostile_pickle_is_refused_and_not_run(tmp_path, kind, protocol):
    trap = tmp_path / "trap"
    (tmp_path / "hostile.pkl").write_bytes(pickle.dumps({"obs_rms": kind(trap)}, protocol))
    with pytest.raises(Problem, match=r"hostile\.pkl is refused"):
        read_vec_normalize(tmp_path / "hostile.pkl")
    assert not trap.exists()


HANDMADE = {
    "eval": b'cbuiltins\neval\n(S\'open("trap", "w")\'\ntR.',
    "getattr": b"cbuiltins\ngetattr\n(cos\nsystem\nS'x'\ntR.",
    "a library's function": b"cnumpy.lib.npyio\nload\n(S'trap'\ntR.",
    "a nested name": b"\x80\x04\x8c\x05numpy\x8c\x10core.os.system.x\x93.",
    "a persistent id": b"Ptrap\n.",
    "an extension": b"\x82\x01.",
}


@pytest.mark.parametrize("name", HANDMADE)
def test_a_handmade_pickle_is_refused_and_not_run(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handmade.pkl").write_bytes(HANDMADE[name])
    with pytest.raises(Problem, match=r"handmade\.pkl"):
        read_vec_normalize(tmp_path / "handmade.pkl")
    assert [file.name for file in tmp_path.iterdir()] == ["handmade.pkl"]


def test_an_object_of_a_known_library_becomes_plain_data():
    """Even a dangerous function of such a library is only a name: nothing of it is looked up."""
    stand_in = read_plain(b"cgymnasium.utils\nsave_video\n(S'trap'\ntR.")
    assert stand_in.arguments == ("trap",)


def repacked(source, target, **entries):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, entries.get(name, old.read(name)))


def test_weights_that_hide_code_are_refused_and_not_run(folder, tmp_path):
    trap = tmp_path / "trap"
    buffer = io.BytesIO()
    torch.save({"action_net.weight": Hostile(trap)}, buffer)
    repacked(folder / "PPO.zip", tmp_path / "hostile.zip", **{"policy.pth": buffer.getvalue()})
    with pytest.raises(Problem, match=r"hostile\.zip is refused.*not plain weights"):
        load(tmp_path / "hostile.zip")
    assert not trap.exists()


def test_pickles_in_the_settings_are_never_opened(folder, tmp_path):
    """SB3 keeps base64 pickles in its settings; only words beside them are read."""
    settings = b'{"policy_kwargs": {":type:": "x", ":serialized:": "gASVIAAAAAAAAACMBXBvc2l4"}, "lr": 1}'
    repacked(folder / "PPO.zip", tmp_path / "policy.zip", data=settings)
    assert load(tmp_path / "policy.zip")(History.of(np.zeros((1, 12)))).shape == (1, 3)


@pytest.mark.parametrize(
    "entries", [{"data": b"{"}, {"data": b"[]"}, {"policy.pth": b""}, {"policy.pth": b"PK\x03\x04 nonsense"}]
)
def test_a_damaged_zip_is_a_problem(folder, tmp_path, entries):
    repacked(folder / "PPO.zip", tmp_path / "damaged.zip", **entries)
    with pytest.raises(Problem, match=r"damaged\.zip"):
        load(tmp_path / "damaged.zip")


@given(st.sampled_from(["PPO.zip", "SAC.zip"]), st.data())
def test_a_zip_with_changed_bytes_is_read_or_refused(folder, name, data):
    content = bytearray((folder / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    victim = folder / "changed.zip"
    victim.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    outcome = None
    try:
        outcome = load(victim)
    except Problem as problem:
        outcome = problem
    assert outcome is not None


@given(st.binary(max_size=200) | st.just(b""), st.data())
def test_any_bytes_are_a_problem_to_the_pickle_reader(folder, content, data):
    whole = (folder / "statistics.pkl").read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    victim = folder / "changed.pkl"
    victim.write_bytes(content + whole[:cut] if data.draw(st.booleans()) else content)
    with pytest.raises(Problem, match=r"changed\.pkl"):
        read_vec_normalize(victim)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_problem_to_the_onnx_reader(folder, content):
    (folder / "changed.onnx").write_bytes(content)
    with pytest.raises(Problem, match=r"changed\.onnx"):
        load(folder / "changed.onnx")
