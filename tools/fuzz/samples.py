"""Sound files of every kind that Isthmus reads, and what reads them."""

import json
import os
import zipfile
from collections.abc import Callable, Sequence
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

from isthmus.adapt import MethodSettings
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.adapt.settings import FitSettings
from isthmus.evaluate import Trace
from isthmus.experts import load_expert
from isthmus.io import load_episode
from isthmus.policies import load_policy, onnx, onnx_trial
from isthmus.policies.normaliser import read_vec_normalize
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, RunFolder, run_transfer
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
    return load_policy(path, HOPPER.views, HOPPER.robot_model.spec)


def readers(folder: Path, only: Sequence[str] | None) -> list[Reader]:
    """All readers whose names have one of `only` in them, with samples in `folder`."""
    onnx.try_model = _try_in_a_fork  # a process for each of 10,000 files would take hours
    made: list[Reader] = []
    for make in (_policy_readers, _run_readers):
        names = POLICY_READERS if make is _policy_readers else RUN_READERS
        wanted = [name for name in names if not only or any(part in name for part in only)]
        made += [reader for reader in (make(folder) if wanted else ()) if reader.name in wanted]
    return made


POLICY_READERS = ("policy .npz", "policy .zip", "policy .onnx", "normaliser .pkl")
RUN_READERS = (
    *("config.json", "baseline.json", "round .json", "result.json", "step.json"),
    *("episode .npz", "model .npz", "trace .npz"),
)


def _policy_readers(folder: Path) -> list[Reader]:
    _make_policies(folder)
    network = folder / "policy.npz"
    load_expert(HOPPER).save(network)
    return [
        Reader("policy .npz", [network], mutate.zipped, read_policy),
        Reader("policy .zip", sorted(folder.glob("*.zip")), mutate.zipped, read_policy),
        Reader("policy .onnx", sorted(folder.glob("*.onnx")), mutate.plain, read_policy),
        Reader("normaliser .pkl", sorted(folder.glob("*.pkl")), mutate.pickled, read_vec_normalize),
    ]


def _run_readers(folder: Path) -> list[Reader]:
    run = _make_run(folder)
    return [
        Reader("config.json", [run / "config.json"], mutate.jsoned, Config.load),
        Reader("baseline.json", [run / "baseline.json"], mutate.jsoned, Baseline.load),
        Reader("round .json", sorted((run / "rounds").glob("*.json")), mutate.jsoned, Round.load),
        Reader("result.json", [run / "result.json"], mutate.jsoned, Result.load),
        Reader("step.json", [run / "step.json"], mutate.jsoned, _step),
        Reader("episode .npz", sorted((run / "episodes").glob("*.npz")), mutate.zipped, load_episode),
        Reader("model .npz", sorted((run / "models").glob("*.npz")), mutate.zipped, InverseNetwork.load),
        Reader("trace .npz", sorted((run / "traces").glob("*.npz"))[:1], mutate.zipped, Trace.load),
    ]


def _step(path: Path) -> object:
    """Read how long a step takes: its file is found by its name."""
    return RunFolder(path.parent).step_time()


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
    """Keep only these entries of a zip: damage to others would show nothing."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in names}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


LAYERS = {"w0": (11, 8), "b0": (8,), "w1": (8, 3), "b1": (3,)}


def _make_run(folder: Path) -> Path:
    settings = MethodSettings(fit=FitSettings(epochs=2))
    config = Config(
        "reacher", "tilt=90", "inverse", samples=100, round_samples=50, evaluation_episodes=50, settings=settings
    )
    run_transfer(config, RunFolder(folder / "run"))
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
