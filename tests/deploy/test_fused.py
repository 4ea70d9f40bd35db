"""A whole control step as one graph and as C."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.action_residual.method import ActionResidualPolicy
from isthmus.core import History, HistoryBuffer, act, stream
from isthmus.deploy.fused import FusedStep, fused_step
from isthmus.deploy.fused_onnx import fused_onnx
from isthmus.deploy.header import header
from isthmus.deploy.selection import selection_of
from isthmus.policies import NetworkPolicy, Unadapted
from isthmus.policies.network import Squash
from isthmus.policies.onnx_runtime import open_session

from .conftest import network, response

ROWS = 200
KINDS = ("plain", "squashed", "clipped inputs", "learned", "learned, noise", "learned, noise at the limits")


def policy_of(task, kind):
    """A policy of each kind that fits a graph, and how many observations it looks at."""
    spec = task.robot_model.spec
    see = task.views[1].see  # without the last number
    source = NetworkPolicy(network(10, 2, 12, 9, clip=1.2 if kind == "clipped inputs" else np.inf), see)
    if kind == "squashed":
        source = replace(source, squash=Squash(spec.action_low, spec.action_high, clip=0.8))
    if not kind.startswith("learned"):
        return Unadapted(source, task.source()), 1
    std = 0.4 if "noise" in kind else 0.0
    learned = response(spec, 3, std=std, correlation=0.0, saturates=kind.endswith("limits"))
    return ActionResidualPolicy(source, task.source(), learned, DisturbanceObserver(learned, None)), 3


def histories(spec, k):
    rng = np.random.default_rng(5)
    observations = 1.5 * rng.normal(size=(ROWS, k, spec.observation_size))
    return History(observations, spec.half_range * rng.uniform(-1, 1, size=(ROWS, k - 1, spec.action_size)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_gives_what_numpy_gives(kind, reacher):
    policy, k = policy_of(reacher, kind)
    spec = reacher.robot_model.spec
    step = fused_step(policy, spec, k)
    assert isinstance(step, FusedStep)
    content = fused_onnx(step)
    window = histories(spec, k)
    expected = spec.clip(act(policy, window)[0])
    inputs = np.concatenate((window.observations.reshape(ROWS, -1), window.actions.reshape(ROWS, -1)), axis=1)
    found = open_session(content).run(["command"], {"history": inputs})[0]
    assert np.abs(found - expected).max() < 1e-6
    limit = np.tanh(0.8) if kind == "squashed" else 1.0
    assert 0.05 < (np.abs(expected) < limit - 1e-9).mean() < 0.95  # some commands are at a limit, and some are not


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_what_the_onnx_package_takes_for_one(kind, reacher):
    onnx = pytest.importorskip("onnx")
    policy, k = policy_of(reacher, kind)
    onnx.checker.check_model(onnx.load_from_string(fused_onnx(fused_step(policy, reacher.robot_model.spec, k))), True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_the_header_gives_what_numpy_gives(kind, reacher, tmp_path):
    policy, k = policy_of(reacher, kind)
    spec = reacher.robot_model.spec
    library = compiled(header(fused_step(policy, spec, k), "reacher"), tmp_path, "double")
    seen, command = np.zeros(11), np.zeros(2)
    buffer, rng = HistoryBuffer(spec, 1, k), stream(0, "header")
    library.reset()
    for row in range(40):
        seen[:] = 1.5 * rng.normal(size=11)
        if row:
            applied = command + (0.05 * spec.half_range if row % 3 == 0 else 0.0)
            library.applied(pointer(applied))
            buffer.append(applied[None], seen[None])
        else:
            buffer.begin(seen[None])
        library.act(pointer(seen), pointer(command))
        np.testing.assert_allclose(command, spec.clip(act(policy, buffer.window)[0])[0], rtol=0, atol=2e-6)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_the_header_compiles_without_warnings_in_single_precision(reacher, tmp_path):
    policy, k = policy_of(reacher, "learned, noise at the limits")
    text = header(fused_step(policy, reacher.robot_model.spec, k), "reacher")
    assert compiled(text, tmp_path, "float")
    assert compiled(text, tmp_path, "float", USE_ACT)  # and of the functions that a program leaves out


def pointer(array):
    return np.ascontiguousarray(array).ctypes.data_as(ctypes.POINTER(ctypes.c_double))


USE_ACT = (
    '#include "policy.h"\nstatic policy_state s;\n'
    "void act(const policy_real *o, policy_real *c) { policy_act(&s, o, c); }\n"
)
USE_ALL = (
    f"{USE_ACT}void reset(void) {{ policy_reset(&s); }}\n"
    "void applied(const policy_real *a) { policy_applied(&s, a); }\n"
)


def compiled(text, folder, real, use=USE_ALL):
    (folder / "policy.h").write_text(text)
    (folder / "use.c").write_text(use)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", f"-DPOLICY_REAL={real}"]
    made = subprocess.run(
        ["gcc", *flags, "-o", "use.so", "use.c", "-lm"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return ctypes.CDLL(str(folder / "use.so"))


def test_a_view_that_only_chooses_is_found_and_another_is_not(reacher):
    from isthmus.robots.locomotion import clipped_speeds

    see = clipped_speeds(unseen=1, positions=4)
    found = selection_of(see, 11)
    tried = 30 * np.random.default_rng(0).normal(size=(50, 11))
    np.testing.assert_array_equal(found(tried), see(tried))
    assert (np.abs(found(tried)) == 10).any()
    timed = reacher.view.with_time.see
    np.testing.assert_array_equal(selection_of(timed, 11)(tried), timed(tried))
    assert selection_of(lambda seen: seen**2, 11) is None
    assert selection_of(lambda seen: seen[:, :3] + 1e-12, 11) is None
