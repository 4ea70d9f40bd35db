"""Runs that follow recorded observations, as bundles."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.reference import Reference
from isthmus.adapt.reference.method import CLONE_KIND, KIND
from isthmus.core import Problem, rollout, stream
from isthmus.deploy import load_policy
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.load import no_finetuner
from isthmus.io import write_json
from isthmus.transfer import Config, PolicyFile, RunFolder
from isthmus.transfer.source.policy import source_policy
from isthmus.transfer.source.reference import load_reference_policy, write_reference
from isthmus.transfer.source.source import make_source

from .conftest import arx, commands_of, course, inverse, network, response, source_of


def learned_inverse(source, clones):
    spec = source.spec
    arrays = {"inverse": inverse(spec).state().packed()}
    if clones:
        clone = network(spec.observation_size, spec.action_size, 8)
        arrays["clone"] = MethodState(CLONE_KIND, clone.arrays(), {"activation": clone.activation}).packed()
    return MethodState(KIND, arrays)


ALONG = {
    "clone": ("reacher", "inverse", lambda source: learned_inverse(source, clones=True)),
    "track": ("reacher", "inverse", lambda source: learned_inverse(source, clones=False)),
    "inverted": ("reacher", "unadapted", None),
    "residual-action": ("reacher", "residual-action", lambda source: response(source.spec).state()),
    "preview": ("fetch-swing", "preview", lambda source: arx(source.spec).state()),
    "preview of efforts": ("reacher", "preview", lambda source: arx(source.spec).state()),
}
"""Robot, method and what it may have learned."""


@cache
def recording(robot):
    """Observations of an episode of the robot's own policy."""
    task, source = source_of(robot)
    world = task.source()
    moments = list(rollout(world, source.policy, world.reset(stream(5, "recording")), steps=40))
    return Reference((np.concatenate([one.before for one in moments]),))


def following(case, path):
    """A run that follows a recording, which is written to `path`."""
    robot, name, learned = ALONG[case]
    task, _ = source_of(robot)
    write_reference(path, recording(robot), task.robot_model.spec)
    source = replace(make_source(task, load_reference_policy(path, task), 0), finetuner=no_finetuner)
    follow = case if case in ("clone", "track") else "auto"
    settings = MethodSettings(history=1 if case == "clone" else 2, follow=follow)
    method, state = make_method(name, source, settings), None
    if learned is not None:
        state = learned(source)
        method.restore(state)
    config = Config(robot, "none", name, settings=settings, policy=PolicyFile(str(path), reference=True))
    return FinishedRun(config, task, source, method, state, method.policy())


@pytest.mark.parametrize("case", ALONG)
def test_a_bundle_follows_a_recording_as_the_run_did(case, tmp_path):
    run = following(case, tmp_path / "gait.npz")
    manifest = export_bundle(run, tmp_path / "bundle")
    (tmp_path / "gait.npz").unlink()  # the bundle has its own
    observations, applied = course(run, steps=8)
    expected = commands_of(run, observations, applied)
    runtimes = {"numpy": 1e-9, "onnx": 1e-5} | ({"fused": 1e-6} if case == "clone" else {})
    for runtime, atol in runtimes.items():
        policy = load_policy(tmp_path / "bundle", runtime=runtime)
        found = [policy.act(seen, applied[row - 1]) for row, seen in enumerate(observations)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
    assert manifest.policy.kind == "reference"
    assert (manifest.adapter.simulates == "") == (case in ("clone", "track", "preview"))
    assert ("fused.onnx" in manifest.files) == (case == "clone")


def test_the_recording_has_to_be_named_and_to_be_that_of_the_run(tmp_path):
    task, _ = source_of("reacher")
    path, other = tmp_path / "gait.npz", tmp_path / "other.npz"
    write_reference(path, recording("reacher"), task.robot_model.spec)
    write_reference(other, Reference((recording("reacher").observations[5:],)), task.robot_model.spec)
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    config = Config("reacher", method="unadapted", policy=PolicyFile(str(path), reference=True))
    write_json(folder.config_path, config.to_json())
    folder.result_path.write_text("{}")
    for named in (None, PolicyFile(str(other), reference=True), PolicyFile(str(path))):
        with pytest.raises(Problem, match=r"the recording that .* was made with is .*gait.npz: name it by --source"):
            FinishedRun.load(folder, policy=named)
    followed = FinishedRun.load(folder, policy=PolicyFile(str(path), reference=True))
    assert followed.source.reference.is_same(recording("reacher"))
    assert source_policy(task, followed.config.policy).reference.is_same(recording("reacher"))
