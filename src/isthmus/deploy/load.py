"""Load a bundle: NumPy, MuJoCo and, where networks are to be run by it, ONNX Runtime are all it takes."""

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, cast

import mujoco
import numpy as np

from isthmus.adapt import Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.metric_state import stored_metric
from isthmus.adapt.method import Rehearsal, SourceFacts
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Mlp, Problem
from isthmus.deploy.followed import FOLLOWED
from isthmus.deploy.manifest import ADVICE, Bundle
from isthmus.deploy.mjcf import ModelFiles, model_digest
from isthmus.deploy.networks import OnnxNetwork, network_onnx, with_networks
from isthmus.deploy.policy import DeployedPolicy, FusedPolicy, Runtime
from isthmus.deploy.policy_files import ROBUST, load_source_policy, read_network_file
from isthmus.estimate.estimation import KIND
from isthmus.estimate.policy import SENSED, EstimatedPolicy
from isthmus.estimate.stored import filter_of
from isthmus.io.bounded import brief
from isthmus.policies import NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.policies.finetuner import Finetuner
from isthmus.policies.onnx import open_onnx
from isthmus.policies.onnx_runtime import open_session
from isthmus.robots.registry import load_task, task_with_model
from isthmus.tasks import Task
from isthmus.transfer.source.source import source_cost

ADAPTER, SOURCE, CHECK, NUMBERS = "adapter.npz", "source.npz", "check.npz", "robot/numbers.npz"
ESTIMATOR = "estimator.npz"
XML, ASSETS = "robot/model.xml", "robot/assets/"
FUSED, HEADER = "fused.onnx", "policy.h"
UNFIT = (ValueError, TypeError, IndexError, KeyError, OverflowError, ArithmeticError, np.linalg.LinAlgError)
"""What NumPy raises when arrays of a file that was tampered with do not fit the robot."""
TOLERANCE: dict[Runtime, float] = {"numpy": 1e-6, "onnx": 1e-4, "fused": 1e-4}
"""By how much commands may differ from the run's, in half ranges of the actuators, before a bundle is refused."""


def load_policy(
    path: Path | str, *, task: str | None = None, runtime: Runtime = "numpy", check: bool = True
) -> DeployedPolicy:
    """The policy of the bundle at `path`, ready to act.

    Args:
        path: The folder that `isthmus deploy export` made.
        task: The robot file that the run was made with. It is Python code and is run. Only bundles of robots that are
            not part of Isthmus need it.
        runtime: Who computes: `numpy`, `onnx` for the networks, or `fused` for a whole step in ONNX Runtime.
        check: Whether to compare with commands of the run that the bundle recorded, which takes some control steps,
            and every file with its digest, also those that this runtime does not need.
    """
    bundle = Bundle(path)
    robot = bundle.manifest.robot
    if runtime not in TOLERANCE:
        raise Problem(f"unknown runtime {runtime!r}: choose from {', '.join(TOLERANCE)}")
    if robot.outside and task is None:
        if FUSED not in bundle:
            raise Problem(f"{bundle.path} needs more than is in it: {robot.outside}; name it by task=, or --task FILE")
        runtime = "fused"
    if check:
        bundle.check_files()
    known = None if robot.outside and task is None else load_bundle_task(bundle, task)
    try:
        loaded = _fused(bundle, known) if runtime == "fused" else _loaded(bundle, known, runtime)
        if check:
            with np.errstate(all="ignore"):
                check_commands(bundle, loaded)
    except UNFIT as error:
        raise Problem(f"{bundle.path} holds numbers that do not fit together ({brief(error)}): {ADVICE}") from error
    return loaded


def _loaded(bundle: Bundle, task: Task | None, runtime: Runtime) -> DeployedPolicy:
    source = _source(bundle, task)
    method = _restored(bundle, source)
    policy: AnyPolicy = method.policy()
    if ESTIMATOR in bundle and task is not None:
        body = task.robot_model
        policy = EstimatedPolicy(policy, filter_of(*bundle.arrays(ESTIMATOR, KIND), body), method.history, body.spec)
    if runtime == "onnx":
        policy = with_networks(policy, partial(_by_onnx, bundle))
    return DeployedPolicy(bundle.manifest, policy, source.policy, task, runtime)


def load_bundle_task(bundle: Bundle, task: str | None = None) -> Task:
    """The task of a bundle: of its own model, or of the robot file that is named."""
    robot, world = bundle.manifest.robot, bundle.manifest.world
    if robot.outside:
        if task is None:
            raise Problem(f"{bundle.path} needs more than is in it: {robot.outside}; name it by --task FILE")
        made = load_task(task)
        if model_digest(made.robot_model.model) != robot.model_digest:
            raise Problem(f"the robot in {task} has another model than the one that {bundle.path} was made with")
    elif task is not None:
        raise Problem(f"{bundle.path} has its robot in it ({robot.task}): leave out {task}")
    else:
        made = task_with_model(robot.task, _model(bundle))
    ours, theirs = made.robot_model.spec, world.spec
    names = (ours.observation_names, ours.action_names) == (theirs.observation_names, theirs.action_names)
    numbers = ("action_low", "action_high", "control_period", "targets", "robot_dimensions", "commands")
    if not names or not all(np.array_equal(getattr(ours, one), getattr(theirs, one)) for one in numbers):
        raise Problem(f"the robot {robot.task} observes or commands otherwise than {bundle.path} says: {ADVICE}")
    return made


def check_commands(bundle: Bundle, policy: DeployedPolicy) -> float:
    """Compare with commands of the run; returns the largest difference, in half ranges, or refuses the bundle."""
    arrays, _ = bundle.arrays(CHECK, "check")
    spec = policy.spec
    try:
        seen, applied, commands = (
            np.asarray(arrays[one], np.float64) for one in ("observations", "applied", "commands")
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Problem(f"{bundle.path / CHECK} is damaged ({error}): {ADVICE}") from error
    shapes = (seen.shape[1:], applied.shape, commands.shape)
    rows = (len(seen), spec.action_size)
    if not len(seen) or shapes != ((spec.observation_size,), rows, rows):
        raise Problem(f"{bundle.path / CHECK} is damaged (arrays of other shapes): {ADVICE}")
    policy.reset()
    worst = 0.0
    for row, observation in enumerate(seen):
        command = policy.act(observation, applied[row - 1])
        worst = max(worst, float(np.max(np.abs(command - commands[row]) / spec.half_range)))
    policy.reset()
    if not worst <= TOLERANCE[policy.runtime]:
        made, here = bundle.manifest.versions.get("mujoco", "?"), mujoco.__version__
        raise Problem(
            f"{bundle.path} does not act here as it did where it was made: commands differ by {worst:.2g} of half "
            f"their range (made with MuJoCo {made}, here is {here}); export it again with this version"
        )
    return worst


def _model(bundle: Bundle) -> mujoco.MjModel:
    names = [name for name in bundle.manifest.files if name.startswith(ASSETS)]
    assets = {name.removeprefix(ASSETS): bundle.read(name) for name in names}
    numbers, _ = bundle.arrays(NUMBERS, "model")
    try:
        model = ModelFiles(bundle.read(XML), assets, numbers).model()
    except ValueError as error:
        raise Problem(f"{bundle.path / XML} makes no robot ({brief(error)}): {ADVICE}") from error
    if model_digest(model) != bundle.manifest.robot.model_digest:
        raise Problem(
            f"{bundle.path / XML} compiles to another model here (made with MuJoCo "
            f"{bundle.manifest.versions.get('mujoco', '?')}, here is {mujoco.__version__}): {ADVICE}"
        )
    return model


def _source(bundle: Bundle, task: Task | None) -> Source:
    """What a method is given, as it was in the run; nothing of it is worked out again."""
    if task is None:
        raise Problem(f"{bundle.path} needs the robot's code: name it by task=, or --task FILE")
    body = task.robot_model
    facts = _facts(bundle, body.spec.targets)
    policy = load_source_policy(bundle, task, facts)
    return Source(
        policy=policy,
        simulator=task.source(),
        unclamped=task.unclamped(),
        spec=body.spec,
        seed=bundle.manifest.adapter.seed,
        cost=source_cost(task),
        finetuner=no_finetuner,
        robust=partial(_robust, bundle, task),
        conditioned=no_conditioned,
        rehearsal=_rehearsal,
        robot_model=body,
        facts=facts,
        reference=policy.reference if isinstance(policy, ReferencePolicy) else None,
    )


def _facts(bundle: Bundle, targets: np.ndarray) -> SourceFacts:
    arrays, about = bundle.arrays(SOURCE, "source")
    try:
        derived = np.asarray(arrays["derived"], np.int64)
        metric = stored_metric(arrays, about, targets)
        step_scale = np.asarray(arrays["step_scale"], np.float64) if "step_scale" in arrays else None
        size = len(bundle.manifest.world.observation_names)
        if derived.ndim != 1 or ((derived < 0) | (derived >= size)).any():
            raise ValueError("its derived numbers do not fit the robot")  # noqa: TRY301
        if step_scale is not None and (step_scale.shape != targets.shape or not (step_scale > 0).all()):
            raise ValueError("its scale does not fit the robot")  # noqa: TRY301
    except (KeyError, ValueError, TypeError) as error:
        raise Problem(f"{bundle.path / SOURCE} is damaged ({brief(error)}): {ADVICE}") from error
    return SourceFacts(derived, metric, step_scale)


def _restored(bundle: Bundle, source: Source) -> Any:  # noqa: ANN401 - a method
    adapter = bundle.manifest.adapter
    method = make_method(adapter.method, source, adapter.settings)
    if adapter.state:
        method.restore(MethodState(method.kind, *bundle.arrays(ADAPTER, method.kind), str(bundle.path / ADAPTER)))
    looked_at = max(method.history, SENSED) if ESTIMATOR in bundle else method.history
    if looked_at != adapter.history:
        raise Problem(f"{bundle.path} says that its method looks at {adapter.history} observations: {ADVICE}")
    return method


def _fused(bundle: Bundle, task: Task | None) -> DeployedPolicy:
    if FUSED not in bundle:
        raise Problem(f"{bundle.path} has no {FUSED}: {bundle.manifest.adapter.fused or 'it was left out'}")
    file = open_onnx(bundle.read(FUSED), bundle.path / FUSED)
    spec, k = bundle.manifest.world.spec, bundle.manifest.adapter.history
    if file.inputs != k * spec.observation_size + (k - 1) * spec.action_size or "command" not in file.outputs:
        raise Problem(f"{bundle.path / FUSED} takes {file.inputs} numbers, which is no history of this robot")
    return DeployedPolicy(bundle.manifest, FusedPolicy(file.session), _unadapted(bundle, task), task, "fused")


def _unadapted(bundle: Bundle, task: Task | None) -> AnyPolicy | None:
    """The policy as it was before, unless that takes the robot's code, which is not at hand."""
    about = bundle.manifest.policy
    if task is None:
        return None if about.view or about.kind == FOLLOWED else load_source_policy(bundle, task)
    return load_source_policy(bundle, task, _facts(bundle, task.robot_model.spec.targets))


def _by_onnx(bundle: Bundle, name: str, network: Mlp) -> OnnxNetwork:
    """The network as its file has it; a file that this version would not write is tried out first."""
    file = f"networks/{name}.onnx"
    content = bundle.read(file)
    if content == network_onnx(network):
        return OnnxNetwork(open_session(content))
    return OnnxNetwork(open_onnx(content, bundle.path / file).session)


def _robust(bundle: Bundle, task: Task) -> AnyPolicy:
    network, selection = read_network_file(bundle, ROBUST, task.robot_model.spec)
    return NetworkPolicy(network, selection or task.view.see)


def no_conditioned() -> ConditionedPolicy:
    """A bundle holds the policy for its robot, and asks for no other."""
    raise Problem("a bundle only acts: its policy is told no other physics")


def no_finetuner(policy: NetworkPolicy) -> Finetuner:
    """Who would train a policy on, for methods that ask for one before they take over what was trained."""
    return cast("Finetuner", _Untrained(policy))


@dataclasses.dataclass(frozen=True)
class _Untrained:
    """Stands where a policy was trained: a bundle has what came of it, and trains no more."""

    policy: NetworkPolicy

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        raise Problem(f"a bundle does not train: {name} belongs to `isthmus transfer`")


def _rehearsal(*_given: object, **_options: object) -> Rehearsal:
    """Stand where candidates were rehearsed: a bundle has what was chosen."""
    raise Problem("a bundle does not learn: rehearsals belong to `isthmus transfer`")
