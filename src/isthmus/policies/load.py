"""Anybody's policy: our own format, Stable-Baselines3 zips, ONNX. Loading never runs code from the file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from isthmus.core import Float, Mlp, Policy, Problem, WorldSpec, unknown_name
from isthmus.policies.network import NetworkPolicy, Squash, read_network
from isthmus.policies.normaliser import Normaliser, read_vec_normalize
from isthmus.policies.onnx import OnnxPolicy, read_onnx
from isthmus.policies.sb3 import read_sb3
from isthmus.policies.view import View

FORMATS = {".npz": "our own", ".zip": "Stable-Baselines3", ".onnx": "ONNX"}


def load_policy(
    path: Path,
    views: Sequence[View],
    spec: WorldSpec,
    *,
    layout: str | None = None,
    normaliser: Path | None = None,
) -> Policy:
    """The policy in `path`, which sees the observation in the layout of its size, or in the one that is said."""
    if path.suffix not in FORMATS:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in FORMATS.items())
        raise Problem(f"the kind of policy in {path} cannot be told: its name should end in one of {known}")
    statistics = read_vec_normalize(normaliser) if normaliser else None
    if path.suffix == ".onnx":
        return _onnx(path, views, spec, layout, statistics)
    squash = None
    if path.suffix == ".npz":
        network = read_network(path)
    else:
        network, squashed = read_sb3(path)
        squash = Squash(spec.action_low, spec.action_high) if squashed else None
    view = _view(path, views, network.input_size, layout)
    _check_outputs(path, network.output_size, spec)
    return NetworkPolicy(_normalised(network, statistics, normaliser), view.see, squash)


def _onnx(
    path: Path, views: Sequence[View], spec: WorldSpec, layout: str | None, statistics: Normaliser | None
) -> OnnxPolicy:
    file = read_onnx(path)
    view = _view(path, views, file.inputs, layout)
    fitting = [name for name, size in file.outputs.items() if size == spec.action_size]
    if not fitting:
        _check_outputs(path, next(iter(file.outputs.values()), 0), spec)
    if statistics is not None and len(statistics.mean) != file.inputs:
        raise Problem(
            f"the normaliser is for {len(statistics.mean)} numbers, but the policy in {path} takes {file.inputs}"
        )
    return OnnxPolicy(file.session, file.input, fitting[0], file.one_by_one, _after(view.see, statistics))


def _after(see: Callable[[Float], Float], statistics: Normaliser | None) -> Callable[[Float], Float]:
    return see if statistics is None else lambda observations: statistics(see(observations))


def _view(path: Path, views: Sequence[View], size: int, layout: str | None) -> View:
    """The layout that a policy of that input size was made for."""
    if layout is not None:
        named = [view for view in views if layout in view.name.split(" or ")]
        if not named:
            raise unknown_name("layout", layout, [name for view in views for name in view.name.split(" or ")])
        views = named
    for view in views:
        if view.size == size:
            return view
    offered = ", ".join(f"{view.size} ({view.name})" for view in views)
    likely = min(views, key=lambda view: abs(view.size - size))
    raise Problem(
        f"the policy in {path} takes {size} numbers, but this robot shows {offered}; "
        f"the likely layout is {likely.name}, with {abs(likely.size - size)} "
        f"{'more' if likely.size > size else 'fewer'}: was it made for another robot or other options?"
    )


def _check_outputs(path: Path, size: int, spec: WorldSpec) -> None:
    if size != spec.action_size:
        raise Problem(
            f"the policy in {path} gives {size} actions, but this robot has {spec.action_size} actuators "
            f"({', '.join(spec.action_names)}): was it made for another robot?"
        )


def _normalised(network: Mlp, statistics: Normaliser | None, path: Path | None) -> Mlp:
    if statistics is None:
        return network
    if len(statistics.mean) != network.input_size:
        raise Problem(f"{path} is for {len(statistics.mean)} numbers, but the policy takes {network.input_size}")
    if (network.input_mean != 0).any() or (network.input_scale != 1).any() or network.input_clip < np.inf:
        raise Problem(f"this policy brings its own normaliser: leave out {path}")
    return replace(network, input_mean=statistics.mean, input_scale=statistics.scale, input_clip=statistics.clip)
