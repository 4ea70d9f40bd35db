"""The files of a bundle, each damaged in a bundle that is otherwise sound and whose manifest vouches for the damage."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import mutate
from policy_samples import try_in_a_fork
from reader import Reader

from isthmus.adapt import MethodSettings
from isthmus.core import Problem
from isthmus.deploy import load_policy
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.manifest import NAME, digest
from isthmus.deploy.policy import Runtime
from isthmus.io import read_regular
from isthmus.policies import onnx
from isthmus.transfer import Config, RunFolder, run_transfer

TAG = re.compile(rb"<[^>]*>")


def bundle_readers(folder: Path, wanted: list[str]) -> Iterator[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    onnx.try_model = try_in_a_fork  # a process for each of 10,000 files would take hours
    adapted, plain = (_bundle(folder, method) for method in ("residual-action", "unadapted"))
    found = [
        _reader("manifest.json", adapted, NAME, mutate.jsoned),
        _reader("model .xml", adapted, "robot/model.xml", marked),
        _reader("numbers .npz", adapted, "robot/numbers.npz", mutate.zipped),
        _reader("policy .npz", adapted, "policy.npz", mutate.zipped),
        _reader("adapter .npz", adapted, "adapter.npz", mutate.zipped),
        _reader("source .npz", adapted, "source.npz", mutate.zipped),
        _reader("check .npz", adapted, "check.npz", mutate.zipped),
        _reader("network .onnx", plain, "networks/policy-network.onnx", mutate.plain, "onnx"),
        _reader("fused .onnx", plain, "fused.onnx", mutate.plain, "fused"),
    ]
    yield from (reader for reader in found if reader.name in wanted)


def marked(content: bytes, rng: random.Random) -> bytes:
    """MJCF with an element moved, doubled or left out, with another number, or damaged anywhere."""
    tags = list(TAG.finditer(content))
    chosen, other = rng.choice(tags), rng.choice(tags)
    kind = rng.randrange(5)
    if kind == 0:
        return content[: chosen.start()] + content[chosen.end() :]
    if kind == 1:
        return content[: chosen.start()] + other.group() + content[chosen.start() :]
    numbers = list(re.finditer(rb"-?\d+(?:\.\d+)?", content))
    if kind in (2, 3) and numbers:
        number = rng.choice(numbers)
        new = rng.choice([b"0", b"-1", b"1e308", b"nan", b"inf", b"1e-300", b"99999999999", b"1000000", b"0.5"])
        return content[: number.start()] + new + content[number.end() :]
    return mutate.plain(content, rng)


def _bundle(folder: Path, method: str) -> Path:
    run, out = RunFolder(folder / f"bundled-{method}"), folder / f"bundle-{method}"
    config = Config("reacher", "tilt=90", method, 100, evaluation_episodes=50, settings=MethodSettings(history=2))
    run_transfer(config, run, traces=False)
    export_bundle(FinishedRun.load(run), out)
    return out


def _reader(name: str, bundle: Path, file: str, damage: mutate.Mutation, runtime: Runtime = "numpy") -> Reader:
    return Reader(f"bundle {name}", [bundle / file], damage, _loader(bundle, file, runtime))


def _loader(bundle: Path, file: str, runtime: Runtime) -> Callable[[Path], object]:
    """Reads a file in the place of the bundle's own."""

    def load(path: Path) -> object:
        try:
            content = read_regular(path)  # a pipe or a device is refused here as it would be there
        except OSError as error:
            raise Problem(f"cannot read {path}: {error.strerror}") from error
        copy = bundle.with_name(f"{bundle.name}-{os.getpid()}")
        if not copy.exists():
            shutil.copytree(bundle, copy)
        sound, manifest = (copy / file).read_bytes(), (copy / NAME).read_bytes()
        try:
            (copy / file).write_bytes(content)
            if file != NAME:
                listed = json.loads(manifest)
                listed["files"][file] = digest(content)
                (copy / NAME).write_text(json.dumps(listed))
            return load_policy(copy, runtime=runtime)
        finally:
            (copy / file).write_bytes(sound)
            (copy / NAME).write_bytes(manifest)

    return load
