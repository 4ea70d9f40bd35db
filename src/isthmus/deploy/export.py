"""A finished run as a bundle: one folder with all that a control step needs."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import mujoco
import numpy as np

from isthmus.adapt import Method, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.metric_state import metric_arrays
from isthmus.adapt.finetune.storage import TRAINING
from isthmus.core import AnyPolicy, Problem, rollout, stream
from isthmus.core.commit import current_commit
from isthmus.deploy.fused import needs_simulator
from isthmus.deploy.fused_files import fused_files
from isthmus.deploy.load import ADAPTER, ASSETS, CHECK, ESTIMATOR, NUMBERS, SOURCE, XML, no_finetuner
from isthmus.deploy.manifest import FORMAT, Adapter, Manifest, Robot, Safety, World, digest, write_manifest
from isthmus.deploy.mjcf import ModelFiles, model_digest
from isthmus.deploy.networks import network_onnx, networks_in
from isthmus.deploy.policy_files import ROBUST, PolicyFiles, network_file
from isthmus.deploy.selection import selection_of
from isthmus.estimate.estimation import Estimation
from isthmus.estimate.policy import SENSED, EstimatedPolicy
from isthmus.estimate.stored import whole
from isthmus.io import write_whole
from isthmus.io.files import pack_arrays
from isthmus.policies import NetworkPolicy
from isthmus.policies.observation import PRESETS, SpecPolicy
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.robots.equipment import base_of
from isthmus.robots.registry import is_code, load_task, mjcf_of
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.control_step import time_step
from isthmus.transfer.estimation import estimation_of
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.result import Result
from isthmus.transfer.source.context import SourceContext
from isthmus.transfer.source.policy import PolicyFile, source_policy

CHECKED = 8
"""Control steps whose commands are kept in the bundle."""
SHOWN = "shown"
"""The estimator that shows what is not sensed as at the usual start."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class FinishedRun:
    """A run as it ended: its policy for the target, and all that this was made from."""

    config: Config
    task: Task
    source: Source
    method: Method
    state: MethodState | None
    policy: AnyPolicy
    """Behind its estimator, if it has one."""
    estimation: Estimation | None = None

    @property
    def history(self) -> int:
        """Observations that a step looks at."""
        return max(self.method.history, SENSED) if isinstance(self.policy, EstimatedPolicy) else self.method.history

    @staticmethod
    def load(folder: RunFolder, task: str | None = None, policy: PolicyFile | None = None) -> "FinishedRun":
        """Read a run; its robot file and its policy file are opened only if they are named here."""
        if not folder.result_path.exists():
            raise Problem(
                f"{folder.path} is not the folder of a finished run: go on with it by --resume, or name another"
            )
        folder.check()
        config = Config.load(folder.config_path)
        if task is None and is_code(config.task):
            raise Problem(f"{folder.path} was made with the robot file {config.task}: name it by --task {config.task}")
        _check_source(folder, config.policy, policy)
        loaded = load_task(task or config.task)
        context = SourceContext(loaded, source_policy(loaded, policy), config.seed)
        source, estimation = replace(context.source, finetuner=no_finetuner), estimation_of(config, context)
        method, state = make_method(config.method, source, config.settings), None
        for number, _ in enumerate(folder.rounds()):
            state = MethodState.read(folder.model_path(number), method.kind)
            method.restore(state)
            if estimation is not None:
                estimation.restore(folder.estimator_path(number))
        acting = method.policy() if estimation is None else estimation.behind(method.policy(), method.history)
        return FinishedRun(config, loaded, source, method, state, acting, estimation)


def export_bundle(
    run: FinishedRun, out: Path, result: Result | None = None, tell: Tell = lambda _what: None
) -> Manifest:
    """Write the bundle of a run to `out`, a new or empty folder; it is there as a whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Problem(f"{out} is there already: give a new or empty folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.", suffix=".partial"))
    except OSError as error:
        raise Problem(f"cannot write {out}: {error.strerror}") from error
    try:
        manifest = _write(run, place, result, tell)
        place.chmod(0o755)
        if out.exists():
            out.rmdir()
        place.rename(out)
    except OSError as error:
        raise Problem(f"cannot write {out}: {error.strerror}") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return manifest


def _write(run: FinishedRun, place: Path, result: Result | None, tell: Tell) -> Manifest:
    task, config, spec = run.task, run.config, run.task.robot_model.spec
    tell("the robot's model")
    robot, files = _robot_files(run)
    tell("the policy and what was learned")
    policy = PolicyFiles.of(run.source.policy, task)
    files |= policy.files | _learned(run)
    tell("networks")
    networks = networks_in(run.policy)
    files |= {f"networks/{name}.onnx": network_onnx(network) for name, network in networks.items()}
    tell("one graph for a whole step")
    adapter = Adapter(
        method=config.method,
        history=run.history,
        settings=config.settings,
        seed=config.seed,
        chosen=result.chosen if result is not None else "",
        state=run.state is not None,
        networks=tuple(networks),
        simulates=needs_simulator(run.policy),
    )
    adapter, fused = fused_files(adapter, run.policy, task)
    tell("how long a step takes")
    time = time_step(run.policy, run.history, task.source(), stream(config.seed, "bundle"))
    adapter = replace(adapter, step_us={name: float(getattr(time, name) or 0.0) for name in ("p50", "p99", "worst")})
    files |= fused | {CHECK: _check_file(run)}
    for name, content in files.items():
        write_whole(place / name, content)
    speeds = task.speed_limits
    manifest = Manifest(
        format=FORMAT,
        versions=_versions(),
        robot=robot,
        world=World.of(spec, _terms(run.source.policy)),
        policy=policy.about,
        adapter=adapter,
        safety=Safety(config.safety, None if speeds is None else tuple(speeds.tolist())),
        made_from=_made_from(config, result),
        files={name: digest(content) for name, content in sorted(files.items())},
    )
    write_manifest(place, manifest)
    return manifest


def _robot_files(run: FinishedRun) -> tuple[Robot, dict[str, bytes]]:
    text, model = run.config.task, run.task.robot_model.model
    robot = Robot(task=text, model_digest=model_digest(model), estimator=_estimator(run))
    if is_code(text):
        name = Path(base_of(text)).name
        why = f"its robot is the Python file {name}, and no code is in a bundle"
        return replace(robot, task=name, outside=why), {}
    if base_of(text) != text:
        why = f"its robot has an actuator model ({text}), which is not in a bundle"
        return replace(robot, outside=why), {}
    made = ModelFiles.of(mjcf_of(text), model)
    files = {XML: made.xml, NUMBERS: pack_arrays(made.numbers, {"kind": "model"})}
    return robot, files | {f"{ASSETS}{name}": content for name, content in made.assets.items()}


def _estimator(run: FinishedRun) -> str:
    """The name of what makes observations of what the sensors show."""
    if run.estimation is not None and isinstance(run.policy, EstimatedPolicy):
        return run.estimation.report().estimator if run.estimation.active else SHOWN
    return "none" if run.task.estimator is None else "task"


def _learned(run: FinishedRun) -> dict[str, bytes]:
    """What the method has learned, without what only training goes on from, and what it knows of the source."""
    files: dict[str, bytes] = {}
    if run.estimation is not None and isinstance(run.policy, EstimatedPolicy):
        files[ESTIMATOR] = pack_arrays(*whole(run.estimation))
    if run.state is not None:
        arrays = {name: one for name, one in run.state.arrays.items() if not name.startswith(TRAINING)}
        files[ADAPTER] = pack_arrays(arrays, {**run.state.about, "kind": run.state.kind})
    source, pi_src = run.source, run.source.pi_src
    facts: dict[str, np.ndarray] = {
        "derived": pi_src.derived if isinstance(pi_src, SimDerivedPolicy) else np.empty(0, np.int64)
    }
    about: dict[str, object] = {"kind": "source"}
    known = source.facts is not None
    if known or "cost_to_go" in vars(source):  # it was asked for
        metric = source.cost_to_go
        facts |= metric_arrays(metric)
        about["effort"] = metric.effort
    if known or "step_scale" in vars(source):
        facts["step_scale"] = source.step_scale
    files[SOURCE] = pack_arrays(facts, about)
    if run.config.method == "robust" and source.robust is not None:
        robust = source.robust()
        if isinstance(robust, NetworkPolicy):
            selection = selection_of(robust.see, source.spec.observation_size)
            files[ROBUST] = network_file(robust.network, selection)
    return files


def _check_file(run: FinishedRun) -> bytes:
    """The first steps of an episode in the simulator: what was seen, commanded and applied."""
    world, spec = run.task.source(), run.task.robot_model.spec
    start = world.reset(stream(run.config.seed, "bundle check"))
    moments = list(rollout(world, run.policy, start, history=run.history, steps=CHECKED))
    arrays = {
        "observations": np.concatenate([one.before for one in moments]),
        "commands": np.concatenate([spec.clip(one.commands) for one in moments]),
        "applied": np.concatenate([one.step.applied for one in moments]),
    }
    return pack_arrays(arrays, {"kind": "check"})


def _terms(policy: AnyPolicy) -> tuple[str, ...]:
    return tuple(term.name for term in policy.spec.terms) if isinstance(policy, SpecPolicy) else ()


def _versions() -> dict[str, str]:
    return {
        "isthmus": version("isthmus"),
        "commit": current_commit(),
        "mujoco": mujoco.__version__,
        "numpy": np.__version__,
    }


def _made_from(config: Config, result: Result | None) -> dict[str, str]:
    about = {"target": config.target.label, "samples": str(config.samples), "seed": str(config.seed)}
    if result is not None:
        about |= {
            "normalised_unadapted": f"{result.normalised_unadapted:.4g}",
            "normalised_adapted": f"{result.normalised_adapted:.4g}",
        }
    return about


def _check_source(folder: RunFolder, ours: PolicyFile | None, named: PolicyFile | None) -> None:
    """Refuse a run whose policy or recording was not named, or another: a path in a run is not followed."""
    if ours is None and named is not None:
        raise Problem(f"{folder.path} was made with the task's own policy: leave out {named.path}")
    if ours is not None and (named is None or not _same(ours, named)):
        what, option = ("recording", "--source") if ours.reference else ("policy file", "--policy")
        raise Problem(f"the {what} that {folder.path} was made with is {ours.path}: name it by {option}")


def _same(ours: PolicyFile, theirs: PolicyFile) -> bool:
    names = ("digest", "layout", "spec_edits", "reference")
    return all(getattr(ours, name) == getattr(theirs, name) for name in names) and _preset(ours) == _preset(theirs)


def _preset(file: PolicyFile) -> str | None:
    """The preset of its observation spec; a spec in a file is part of the digest."""
    return file.observation_spec if file.observation_spec in PRESETS else None
