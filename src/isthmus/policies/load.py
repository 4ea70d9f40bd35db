"""Anybody's policy: our own format, Stable-Baselines3 zips, ONNX. Loading never runs code from the file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import AnyPolicy, History, Mlp, Problem, WorldSpec, act, unknown_name
from isthmus.policies.network import NetworkPolicy, Squash, read_network
from isthmus.policies.normaliser import Normaliser, read_vec_normalize
from isthmus.policies.observation import Body, ObservationSpec, SpecPolicy
from isthmus.policies.observation.shown import Shown
from isthmus.policies.onnx import OnnxPolicy, onnx_policy, read_onnx
from isthmus.policies.sb3 import read_sb3
from isthmus.policies.view import View

SpecFor = tuple[ObservationSpec, Body]
"""An observation spec, and the robot it is for."""
FORMATS = {".npz": "our own", ".zip": "Stable-Baselines3", ".onnx": "ONNX"}


def load_policy(
    path: Path,
    views: Sequence[View],
    spec: WorldSpec,
    *,
    layout: str | None = None,
    normaliser: Path | None = None,
    trust: bool = False,
    shown: SpecFor | None = None,
) -> AnyPolicy:
    """The policy in `path`, which sees the observation in the layout of its size, or in the one that is said.

    `shown` is an observation spec, with the robot it is for, in place of the layouts. `trust` accepts ONNX files that
    loop or branch, which may take long.
    """
    if path.suffix not in FORMATS:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in FORMATS.items())
        raise Problem(f"the kind of policy in {path} is unknown: its name should end in one of {known}")
    statistics = read_vec_normalize(normaliser) if normaliser else None
    choose = partial(_view, path, views, layout=layout) if shown is None else partial(_spec_view, path, shown)
    if path.suffix == ".onnx":
        policy = _onnx(path, choose, spec, statistics, trust=trust)
    else:
        policy = _network(path, choose, spec, statistics, normaliser, unit=shown is not None)
    loaded: AnyPolicy = policy if shown is None else SpecPolicy(*shown, policy)
    _try(loaded, path, spec)
    return loaded


def _network(
    path: Path,
    choose: Callable[..., View],
    spec: WorldSpec,
    statistics: Normaliser | None,
    normaliser: Path | None,
    *,
    unit: bool,
) -> NetworkPolicy:
    """A network; squashed actions are between the actuators' limits, or between -1 and 1 where `unit`."""
    squash, timed = None, False
    if path.suffix == ".npz":
        network = read_network(path)
    else:
        saved = read_sb3(path)
        network, timed = saved.network, saved.timed
        one = np.ones(spec.action_size)
        limits = (-one, one) if unit else (spec.action_low, spec.action_high)
        squash = Squash(*limits, saved.clip) if saved.squashed else None
    view = choose(network.input_size, timed=timed)
    _check_outputs(path, network.output_size, spec)
    return NetworkPolicy(_normalised(network, statistics, normaliser), view.see, squash)


def _try(policy: AnyPolicy, path: Path, spec: WorldSpec) -> None:
    """Refuse a policy that does not act on observations of ordinary size."""
    seen = np.random.default_rng(0).normal(size=(4, spec.observation_size))
    seen[0] = 0
    try:
        with np.errstate(all="ignore"):
            act(policy, History.of(seen))
    except Problem as problem:
        raise Problem(f"{path} is refused: {problem}") from problem


def _onnx(
    path: Path,
    choose: Callable[..., View],
    spec: WorldSpec,
    statistics: Normaliser | None,
    *,
    trust: bool,
) -> OnnxPolicy:
    file = read_onnx(path, trust=trust)
    view = choose(file.inputs)
    fitting = [name for name, size in file.outputs.items() if size == spec.action_size]
    if not fitting:
        _check_outputs(path, next(iter(file.outputs.values()), 0), spec)
    if statistics is not None and len(statistics.mean) != file.inputs:
        raise Problem(
            f"the normaliser is for {len(statistics.mean)} numbers, but the policy in {path} takes {file.inputs}"
        )
    return onnx_policy(file, fitting[0], view.see, statistics)


def _spec_view(path: Path, shown: SpecFor, size: int, *, timed: bool = False) -> View:  # noqa: ARG001
    """All that the spec shows, if that is as much as the network takes."""
    made = Shown.of(*shown)
    if made.size != size:
        raise Problem(
            f"the policy in {path} takes {size} numbers, but its observation spec shows {made.sizes}: a term, a joint "
            "or a frame is missing or too many"
        )
    return View("observation spec", size)


def _view(path: Path, views: Sequence[View], size: int, *, layout: str | None, timed: bool = False) -> View:
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
