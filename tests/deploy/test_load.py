"""What a bundle is refused for, and what it needs."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import isthmus
from isthmus.core import Problem
from isthmus.deploy import load_policy
from isthmus.deploy.export import export_bundle
from isthmus.deploy.manifest import digest

from .conftest import LEARNED, course, finished


@pytest.fixture
def bundle(reacher_bundle, tmp_path):
    shutil.copytree(reacher_bundle[0], tmp_path / "bundle")
    return tmp_path / "bundle"


def signed(bundle, name, content):
    """Change a file of a bundle, and its digest with it."""
    (bundle / name).write_bytes(content)
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["files"][name] = digest(content)
    (bundle / "manifest.json").write_text(json.dumps(manifest))


def changed(bundle, **values):
    manifest = json.loads((bundle / "manifest.json").read_text())
    for place, value in values.items():
        *parts, last = place.split("__")
        inner = manifest
        for part in parts:
            inner = inner[part]
        inner[last] = value
    (bundle / "manifest.json").write_text(json.dumps(manifest))


def test_a_folder_without_a_manifest_is_no_bundle(tmp_path):
    with pytest.raises(Problem, match=r"is not a bundle: it has no manifest.json"):
        load_policy(tmp_path)


def test_another_format_is_named(bundle):
    changed(bundle, format=7)
    with pytest.raises(Problem, match="is a bundle of format 7, and this version of Isthmus reads format 1"):
        load_policy(bundle)


@pytest.mark.parametrize(
    "name", ["robot/model.xml", "policy.npz", "adapter.npz", "source.npz", "check.npz", "networks/policy-network.onnx"]
)
def test_a_changed_or_missing_file_is_named(bundle, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(Problem, match=f"{name} is not as it was exported"):
        load_policy(bundle)
    (bundle / name).unlink()
    with pytest.raises(Problem, match=f"cannot read .*{name}: No such file"):
        load_policy(bundle)


def test_a_name_that_leads_out_of_the_bundle_is_refused(bundle):
    changed(bundle, files={"../secret": "00", "/etc/passwd": "00"})
    with pytest.raises(Problem, match="which is no name of a file in a bundle"):
        load_policy(bundle)


def test_a_link_in_a_bundle_is_refused(bundle):
    (bundle / "policy.npz").unlink()
    (bundle / "policy.npz").symlink_to("/etc/passwd")
    with pytest.raises(Problem, match="is a symbolic link"):
        load_policy(bundle)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"<worldbody>", b'<worldbody><include file="/etc/passwd"/>', "has <include>"),
        (
            b"<worldbody>",
            b'<asset><mesh name="m" file="/etc/passwd"/></asset><worldbody>',
            "not among the bundle's assets",
        ),
        (b"<mujoco", b'<!DOCTYPE x [<!ENTITY a "b">]><mujoco', "has a document type"),
        (b"<worldbody>", b'<size memory="900G"/><worldbody>', "asks for a memory of 900G"),
        (b"</mujoco>", b"", "is not XML"),
        (b'name="joint0"', b'name="elsewhere"', "makes no robot"),
    ],
)
def test_hostile_mjcf_is_refused_before_mujoco_sees_it(bundle, old, new, why):
    content = (bundle / "robot" / "model.xml").read_bytes()
    assert old in content
    signed(bundle, "robot/model.xml", content.replace(old, new, 1))
    with pytest.raises(Problem, match=why):
        load_policy(bundle)


def test_a_robot_that_is_changed_a_little_is_noticed(bundle):
    content = (bundle / "robot" / "model.xml").read_bytes()
    signed(bundle, "robot/model.xml", content.replace(b'timestep="0.01"', b'timestep="0.011"'))
    with pytest.raises(Problem, match="compiles to another model here"):
        load_policy(bundle)


def test_a_bundle_that_acts_otherwise_here_is_refused(bundle, reacher_bundle):
    from isthmus.io.files import load_arrays, pack_arrays

    arrays, about = load_arrays(bundle / "check.npz", "check")
    signed(bundle, "check.npz", pack_arrays(arrays | {"commands": arrays["commands"] + 0.01}, about))
    with pytest.raises(Problem, match=r"does not act here as it did where it was made: commands differ by 0.01"):
        load_policy(bundle)
    assert load_policy(bundle, check=False).act(np.zeros(11)).shape == (2,)


def test_observations_of_another_size_and_of_no_number_are_refused(reacher_bundle):
    policy = isthmus.load_policy(reacher_bundle[0])
    with pytest.raises(Problem, match=r"an observation has 11 finite numbers \(cos joint0, .*\), got .* shape \(3,\)"):
        policy.act([1.0, 2.0, 3.0])
    with pytest.raises(Problem, match="not all finite"):
        policy.act([np.nan] * 11)


def test_a_reset_begins_an_episode(reacher_bundle):
    path, run = reacher_bundle
    policy = load_policy(path)
    observations, _ = course(run)
    first = [policy.act(seen) for seen in observations]
    again = [policy.act(seen) for seen in observations]
    policy.reset()
    np.testing.assert_array_equal([policy.act(seen) for seen in observations], first)
    assert not np.array_equal(first, again)


ALONE = """
import json, sys
from importlib.abc import MetaPathFinder

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Blocker())
import isthmus
commands = []
for path in sys.argv[2:]:
    for runtime in ("numpy", "onnx"):
        policy = isthmus.load_policy(path, runtime=runtime)
        commands.append([policy.act([0.1 * step] * policy.spec.observation_size).tolist() for step in range(3)])
print(json.dumps(commands))
"""
OTHERS = (
    "torch,scipy,plotly,jinja2,imageio,imageio_ffmpeg,gymnasium,gymnasium_robotics,rich,tyro,threadpoolctl,matplotlib,"
    "stable_baselines3,sb3_contrib,onnx,mcap,pyarrow,ray,rospy"
)


def test_bundles_of_all_methods_load_with_numpy_mujoco_and_onnx_runtime_only(tmp_path):
    paths = [tmp_path / name for name in sorted({name for name, _ in LEARNED.values()})]
    cases = {name: case for case, (name, _) in LEARNED.items()}
    for path in paths:
        export_bundle(finished("reacher", cases[path.name]), path)
    command = [sys.executable, "-c", ALONE, OTHERS, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for path, by_numpy, by_onnx in zip(paths, found[::2], found[1::2], strict=True):
        policy = load_policy(path)
        expected = [policy.act([0.1 * step] * 11) for step in range(3)]
        np.testing.assert_allclose(by_numpy, expected, rtol=0, atol=1e-9, err_msg=path.name)
        np.testing.assert_allclose(by_onnx, expected, rtol=0, atol=1e-5, err_msg=path.name)
