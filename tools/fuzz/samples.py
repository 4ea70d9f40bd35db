"""Sound files of every kind that Isthmus reads, and what reads them."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import mutate
import numpy as np
import sb3_contrib
import stable_baselines3
from onnx import TensorProto, helper, numpy_helper
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from isthmus.data import load_episode, read_json
from isthmus.evaluate import Trace
from isthmus.experts import load_expert
from isthmus.methods import MethodSettings
from isthmus.models import FitSettings
from isthmus.models.inverse import InverseNetwork
from isthmus.policies import load_policy, onnx, onnx_trial
from isthmus.policies.normaliser import read_vec_normalize
from isthmus.tasks import load_task
from isthmus.transfer import Config, Result, RunFolder, cross
from isthmus.transfer.records import Baseline, Round


@dataclass(frozen=True)
class Reader:
    """One reader: sound files to begin with, how to damage them, and what is called."""

    name: str
    samples: list[Path]
    mutate: mutate.Mutation
    read: Callable[[Path], object]


HOPPER = load_task("hopper")


def read_policy(path: Path) -> object:
    """Read a policy for Hopper, as a command does."""
    return load_policy(path, HOPPER.views, HOPPER.embodiment.spec)


def readers(folder: Path) -> list[Reader]:
    """All readers, with samples in `folder`."""
    _make_policies(folder)
    run = _make_run(folder)
    onnx.try_model = _try_in_a_fork  # a process for each of 10,000 files would take hours
    network = folder / "policy.npz"
    load_expert(HOPPER).save(network)
    zips, onnx_files = sorted(folder.glob("*.zip")), sorted(folder.glob("*.onnx"))
    parts: list[tuple[str, list[Path], mutate.Mutation, Callable[[Path], object]]] = [
        ("policy .npz", [network], mutate.zipped, read_policy),
        ("policy .zip", zips, mutate.zipped, read_policy),
        ("policy .onnx", onnx_files, mutate.plain, read_policy),
        ("normaliser .pkl", sorted(folder.glob("*.pkl")), mutate.pickled, read_vec_normalize),
        ("config.json", [run / "config.json"], mutate.jsoned, Config.load),
        ("baseline.json", [run / "baseline.json"], mutate.jsoned, Baseline.load),
        ("round .json", sorted((run / "rounds").glob("*.json")), mutate.jsoned, Round.load),
        ("result.json", [run / "result.json"], mutate.jsoned, Result.load),
        ("step.json", [run / "step.json"], mutate.jsoned, read_json),
        ("episode .npz", sorted((run / "episodes").glob("*.npz")), mutate.zipped, load_episode),
        ("model .npz", sorted((run / "models").glob("*.npz")), mutate.zipped, InverseNetwork.load),
        ("trace .npz", sorted((run / "traces").glob("*.npz"))[:1], mutate.zipped, Trace.load),
    ]
    return [Reader(*part) for part in parts]


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
        algorithm("MlpPolicy", env, policy_kwargs=dict(small), seed=0, **options).save(folder / f"{name}.zip")
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


LAYERS = {"w0": (11, 8), "b0": (8,), "w1": (8, 3), "b1": (3,)}


def _make_run(folder: Path) -> Path:
    settings = MethodSettings(fit=FitSettings(epochs=2))
    config = Config(
        "reacher", "tilt=90", "inverse", samples=100, round_samples=50, evaluation_episodes=50, settings=settings
    )
    cross(config, RunFolder(folder / "run"))
    return folder / "run"


def _try_in_a_fork(content: bytes) -> dict[str, Any]:
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
