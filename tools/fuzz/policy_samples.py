"""Sound policies of every kind, and what reads them."""

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import mutate
import numpy as np
import sb3_contrib
import stable_baselines3
from onnx import TensorProto, helper, numpy_helper
from reader import Reader
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from isthmus.core import Problem
from isthmus.experts import load_expert
from isthmus.policies import load_policy, onnx, onnx_trial
from isthmus.policies.normaliser import read_vec_normalize
from isthmus.policies.sb3 import ORIGINAL, trained_normalised
from isthmus.robots import load_task

HOPPER = load_task("hopper")


def read_policy(path: Path) -> object:
    """Read a policy for Hopper, as a command does."""
    return load_policy(path, HOPPER.views, HOPPER.robot_model.spec)


def policy_readers(folder: Path, wanted: list[str]) -> list[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    onnx.try_model = try_in_a_fork  # a process for each of 10,000 files would take hours
    _make_policies(folder)
    network = folder / "policy.npz"
    load_expert(HOPPER).save(network)
    found = [
        Reader("policy .npz", [network], mutate.zipped, read_policy),
        Reader("policy .zip", sorted(folder.glob("*.zip")), mutate.zipped, read_policy),
        Reader("policy .onnx", sorted(folder.glob("*.onnx")), mutate.plain, read_policy),
        Reader("normaliser .pkl", sorted(folder.glob("*.pkl")), mutate.pickled, read_vec_normalize),
        Reader("training record .zip", sorted(folder.glob("*.zip")), mutate.zipped, _record, must_refuse=False),
    ]
    return [reader for reader in found if reader.name in wanted]


def _record(path: Path) -> object:
    """Look what a policy file says of its training, which other files say nothing of."""
    if not trained_normalised(path):
        raise Problem(f"{path} does not say that it was trained under VecNormalize")
    return True


def _make_policies(folder: Path) -> None:
    env = VecNormalize(DummyVecEnv([lambda: gymnasium.make("Hopper-v5")]))
    env.reset()
    small: dict[str, Any] = {"net_arch": [8, 8]}
    kinds: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("ppo", stable_baselines3.PPO, {"n_steps": 8, "batch_size": 8}),
        ("sac", stable_baselines3.SAC, {"buffer_size": 10, "use_sde": True}),
        ("ars", sb3_contrib.ARS, {}),
    )
    for name, algorithm, options in kinds:
        model = algorithm("MlpPolicy", env, policy_kwargs=dict(small), seed=0, **options)
        model.save(folder / f"{name}.zip", exclude=["_last_obs", "ep_info_buffer", "ep_success_buffer"])
        _keep(folder / f"{name}.zip", ("data", "policy.pth"))
    env.save(str(folder / "normaliser.pkl"))
    rng = np.random.default_rng(0)
    layers = [numpy_helper.from_array(rng.normal(size=size).astype(np.float32), name) for name, size in LAYERS.items()]
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["seen", "w0", "b0"], ["h"]),
            helper.make_node("Tanh", ["h"], ["t"]),
            helper.make_node("Gemm", ["t", "w1", "b1"], ["action"]),
        ],
        "policy",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", 11])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", 3])],
        layers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "policy.onnx").write_bytes(model.SerializeToString())


def _keep(path: Path, names: Sequence[str]) -> None:
    """Keep only these entries of a zip: damage to others would show nothing; it says that it was trained normalised."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in names}
    settings = json.loads(entries["data"]) | {ORIGINAL: {":serialized:": "gAU="}}  # as training leaves it
    entries["data"] = json.dumps(settings).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


LAYERS = {"w0": (11, 8), "b0": (8,), "w1": (8, 3), "b1": (3,)}


def try_in_a_fork(content: bytes) -> dict[str, Any]:
    """`try_model` in a copy of this process, which has ONNX Runtime loaded."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        os.close(receiving)
        os.write(sending, json.dumps(onnx_trial.trial(content)).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return onnx_trial.accepted(answer)
