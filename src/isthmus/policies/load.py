"""Anybody's policy: our own format, Stable-Baselines3 zips, ONNX. Loading never runs code from the file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from isthmus.core import History, Mlp, Policy, Problem, WorldSpec, unknown_name
from isthmus.policies.network import NetworkPolicy, Squash, read_network
from isthmus.policies.normaliser import Normaliser, read_vec_normalize
from isthmus.policies.onnx import OnnxPolicy, onnx_policy, read_onnx
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
    trust: bool = False,
) -> Policy:
    """The policy in `path`, which sees the observation in the layout of its size, or in the one that is said.

    `trust` accepts ONNX files that loop or branch, which may take long.
    """
    if path.suffix not in FORMATS:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in FORMATS.items())
        raise Problem(f"the kind of policy in {path} is unknown: its name should end in one of {known}")
    statistics = read_vec_normalize(normaliser) if normaliser else None
    if path.suffix == ".onnx":
        return _onnx(path, views, spec, layout, statistics, trust=trust)
    squash, timed = None, False
    if path.suffix == ".npz":
        network = read_network(path)
    else:
        saved = read_sb3(path)
        network, timed = saved.network, saved.timed
        squash = Squash(spec.action_low, spec.action_high, saved.clip) if saved.squashed else None
    view = _view(path, views, network.input_size, layout, timed=timed)
    _check_outputs(path, network.output_size, spec)
    policy = NetworkPolicy(_normalised(network, statistics, normaliser), view.see, squash)
    _try(policy, path, spec)
    return policy


def _try(policy: Policy, path: Path, spec: WorldSpec) -> None:
    """Refuse a policy that does not act on observations of ordinary size."""
    seen = np.random.default_rng(0).normal(size=(4, spec.observation_size))
    seen[0] = 0
    try:
        with np.errstate(all="ignore"):
            policy(History.of(seen))
    except Problem as problem:
        raise Problem(f"{path} is refused: {problem}") from problem


def _onnx(
    path: Path,
    views: Sequence[View],
    spec: WorldSpec,
    layout: str | None,
    statistics: Normaliser | None,
    *,
    trust: bool,
) -> OnnxPolicy:
    file = read_onnx(path, trust=trust)
    view = _view(path, views, file.inputs, layout)
    fitting = [name for name, size in file.outputs.items() if size == spec.action_size]
    if not fitting:
        _check_outputs(path, next(iter(file.outputs.values()), 0), spec)
    if statistics is not None and len(statistics.mean) != file.inputs:
        raise Problem(
            f"the normaliser is for {len(statistics.mean)} numbers, but the policy in {path} takes {file.inputs}"
        )
    policy = onnx_policy(file, fitting[0], view.see, statistics)
    _try(policy, path, spec)
    return policy


def _view(path: Path, views: Sequence[View], size: int, layout: str | None, *, timed: bool = False) -> View:
    """The layout that a policy of that input size was made for; a time feature is known of or said, never guessed."""
    with_time = [view.with_time for view in views]
    known = [*views, *(with_time if timed or layout else ())]
    if layout is not None:
        known = [view for view in known if layout in view.names]
        if not known:
            raise unknown_name("layout", layout, [name for view in [*views, *with_time] for name in view.names])
    found = next((view for view in known if view.size == size), None)
    if found is None:
        raise _unknown_size(path, known, size)
    if found.lacks:
        raise Problem(
            f"the policy in {path} takes {size} numbers, the layout {found.name}, which has {found.lacks}: "
            f"this robot does not show them"
        )
    return found


def _unknown_size(path: Path, views: Sequence[View], size: int) -> Problem:
    complete = [view for view in views if not view.lacks] or views
    offered = ", ".join(f"{view.size} ({view.name})" for view in complete)
    likely = min(complete, key=lambda view: abs(view.size - size))
    maybe = [view.with_time.names[0] for view in complete if view.size + 1 == size]
    timed = f", or with RL Zoo's time feature, which --layout {maybe[0]} says" if maybe else ""
    return Problem(
        f"the policy in {path} takes {size} numbers, but this robot shows {offered}; "
        f"the likely layout is {likely.name}, with {abs(likely.size - size)} "
        f"{'more' if likely.size > size else 'fewer'}{timed}: was it made for another robot or other options?"
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
