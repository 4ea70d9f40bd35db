"""The policy of the source as files of a bundle, and back."""

import json
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from isthmus.adapt.method import SourceFacts
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Mlp, Problem, WorldSpec
from isthmus.core.mlp import Activation
from isthmus.deploy.followed import FOLLOWED, followed_files, load_followed
from isthmus.deploy.manifest import ADVICE, Bundle, SourcePolicy
from isthmus.deploy.selection import Selection, selection_of
from isthmus.io.bounded import brief
from isthmus.io.files import pack_arrays
from isthmus.policies import NetworkPolicy, View
from isthmus.policies.finite import FinitePolicy
from isthmus.policies.network import KIND, Squash
from isthmus.policies.normaliser import Normaliser
from isthmus.policies.observation import SpecPolicy, parse_spec
from isthmus.policies.observation.read import as_document
from isthmus.policies.observation.shown import Shown
from isthmus.policies.onnx import OnnxPolicy, onnx_policy, open_onnx
from isthmus.policies.view import TIME, whole
from isthmus.tasks import Task
from isthmus.tasks.policy_body import policy_body

NETWORK, FOREIGN, ROBUST = "policy.npz", "policy.onnx", "robust.npz"
TRIED = 64


@dataclass(frozen=True)
class PolicyFiles:
    """What is written of a policy."""

    about: SourcePolicy
    files: dict[str, bytes]

    @staticmethod
    def of(policy: AnyPolicy, task: Task) -> "PolicyFiles":
        """The files of the policy that a run has adapted."""
        if isinstance(policy, SpecPolicy):
            made = PolicyFiles._of_network(policy.policy, None, "")
            spec = json.dumps(as_document(policy.spec))
            return PolicyFiles(replace(made.about, observation_spec=spec), made.files)
        if isinstance(policy, ReferencePolicy):
            return PolicyFiles(*followed_files(policy, task.robot_model.spec))
        if not isinstance(policy, NetworkPolicy | OnnxPolicy):
            return PolicyFiles(SourcePolicy(kind="task"), {})
        selection = selection_of(policy.see, task.robot_model.spec.observation_size)
        return PolicyFiles._of_network(policy, selection, "" if selection else _view_name(policy, task))

    @staticmethod
    def _of_network(policy: AnyPolicy, selection: Selection | None, view: str) -> "PolicyFiles":
        """The files of a network that is shown a selection or a view; nothing is chosen for it without either."""
        if isinstance(policy, NetworkPolicy):
            squash = policy.squash
            about = SourcePolicy(
                kind="network",
                view=view,
                squashed=squash is not None,
                squash_clip=None if squash is None or squash.clip == np.inf else squash.clip,
            )
            return PolicyFiles(about, {NETWORK: network_file(policy.network, selection)})
        if isinstance(policy, OnnxPolicy):
            return _foreign(policy, selection, view)
        raise Problem("the network of the policy is of a kind that a bundle does not know")


def network_file(network: Mlp, selection: Selection | None) -> bytes:
    """A network, and what it is shown, as the content of an npz file."""
    arrays = network.arrays() | ({} if selection is None else selection.arrays())
    return pack_arrays(arrays, {"kind": KIND, "activation": network.activation})


def read_network_file(bundle: Bundle, name: str, spec: WorldSpec) -> tuple[Mlp, Selection | None]:
    """What `network_file` was given."""
    arrays, about = bundle.arrays(name, KIND)
    try:
        selection = Selection.from_arrays(arrays, spec.observation_size) if "view_columns" in arrays else None
        return Mlp.from_arrays(arrays, cast("Activation", about["activation"])), selection
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise Problem(f"{bundle.path / name} is not a network, or it is damaged ({error})") from error


def load_source_policy(bundle: Bundle, task: Task | None, facts: SourceFacts | None = None) -> AnyPolicy:
    """The policy that was adapted; `task` is that of the bundle, where the robot's code is at hand."""
    about = bundle.manifest.policy
    if about.kind == FOLLOWED:
        if task is None:
            raise Problem(f"the policy of {bundle.path} follows a recording by the robot's model: name its code")
        return load_followed(bundle, task, facts)
    if about.kind == "task":
        if task is None or task.policy is None:
            raise Problem(f"the policy of {bundle.path} is part of the robot's code, and the code has none")
        return FinitePolicy(task.policy)
    shown = _spec_in(bundle, task) if about.observation_spec else None
    policy = _network_policy(bundle, task, None if shown is None else shown.size)
    return policy if shown is None else SpecPolicy(shown.spec, shown.body, policy)


def _spec_in(bundle: Bundle, task: Task | None) -> Shown:
    """The observation spec of the policy, for the robot."""
    if task is None:
        raise Problem(f"the policy of {bundle.path} is shown terms of the robot's state, which the robot's code is for")
    try:
        document: object = json.loads(bundle.manifest.policy.observation_spec)
        if not isinstance(document, dict):
            raise TypeError("it is no table")  # noqa: TRY301
        return Shown.of(parse_spec(cast("dict[str, object]", document)), policy_body(task.robot_model))
    except (ValueError, TypeError, RecursionError, Problem) as error:
        raise Problem(
            f"{bundle.path} has no observation spec that fits its robot ({brief(error)}): {ADVICE}"
        ) from error


def _network_policy(bundle: Bundle, task: Task | None, shown: int | None) -> AnyPolicy:
    """The network of the policy; `shown` is how many numbers an observation spec shows it, if there is one."""
    about, spec = bundle.manifest.policy, bundle.manifest.world.spec
    if about.kind == "network":
        network, selection = read_network_file(bundle, NETWORK, spec)
        see = whole if shown is not None else selection or _view(bundle, task).see
        one = np.ones(spec.action_size)
        limits = (spec.action_low, spec.action_high) if shown is None else (-one, one)
        squash = Squash(*limits, about.squash_clip or np.inf) if about.squashed else None
        size = shown or (len(selection.columns) if selection else _view(bundle, task).size)
        if network.output_size != spec.action_size or network.input_size != size:
            raise Problem(
                f"{bundle.path / NETWORK} takes {network.input_size} numbers and gives {network.output_size}, "
                f"expected {size} and {spec.action_size}"
            )
        return NetworkPolicy(network, see, squash)
    if about.kind == "onnx":
        file = open_onnx(bundle.read(FOREIGN), bundle.path / FOREIGN)
        arrays, _ = bundle.arrays(NETWORK, FOREIGN)
        selection = Selection.from_arrays(arrays, spec.observation_size) if "view_columns" in arrays else None
        if about.output not in file.outputs or file.outputs[about.output] != spec.action_size:
            raise Problem(f"{bundle.path / FOREIGN} has no output {about.output[:40]!r} of {spec.action_size} numbers")
        if shown is not None and file.inputs != shown:
            raise Problem(f"{bundle.path / FOREIGN} takes {file.inputs} numbers, expected {shown}")
        see = whole if shown is not None else selection or _view(bundle, task).see
        return onnx_policy(file, about.output, see, _normaliser(bundle, arrays))
    raise Problem(f"{bundle.path} has a policy of kind {about.kind[:20]!r}: choose from network, onnx, reference, task")


def _normaliser(bundle: Bundle, arrays: dict[str, np.ndarray]) -> Normaliser | None:
    if "mean" not in arrays:
        return None
    try:
        mean, scale = (np.asarray(arrays[name], np.float64) for name in ("mean", "scale"))
        made = Normaliser(mean, scale, float(arrays["clip"]))
    except (KeyError, ValueError, TypeError) as error:
        raise Problem(f"{bundle.path / NETWORK} holds no normaliser ({error})") from error
    if mean.ndim != 1 or mean.shape != scale.shape or not (scale > 0).all() or not np.isfinite(mean).all():
        raise Problem(f"{bundle.path / NETWORK} holds no normaliser: its means and scales do not fit")
    return made


def _foreign(policy: OnnxPolicy, selection: Selection | None, view: str) -> PolicyFiles:
    arrays = {} if selection is None else selection.arrays()
    if (one := policy.normaliser) is not None:
        arrays |= {"mean": one.mean, "scale": one.scale, "clip": np.array(one.clip)}
    files = {FOREIGN: policy.file.content, NETWORK: pack_arrays(arrays, {"kind": FOREIGN})}
    return PolicyFiles(SourcePolicy(kind="onnx", view=view, output=policy.output), files)


def _view_name(policy: NetworkPolicy | OnnxPolicy, task: Task) -> str:
    """The name of the layout that a policy sees; found by trying, since a layout is a function."""
    tried = np.random.default_rng(0).normal(size=(TRIED, task.robot_model.spec.observation_size))
    shown = policy.see(tried)
    for view in (*task.views, *(one.with_time for one in task.views)):
        if not view.lacks and view.size == shown.shape[1] and np.array_equal(view.see(tried), shown):
            return view.names[0]
    raise Problem(
        "what the policy sees of an observation is neither a choice of columns nor one of the robot's layouts, so a "
        "bundle cannot say what it is"
    )


def _view(bundle: Bundle, task: Task | None) -> View:
    name = bundle.manifest.policy.view
    views = () if task is None else task.views
    timed = (one.with_time for one in views) if name.endswith(TIME) else views
    found = next((view for view in timed if name in view.names), None)
    if found is None:
        raise Problem(
            f"the policy of {bundle.path} sees the layout {name[:40]!r}, which the robot's code does not have"
        )
    return found
