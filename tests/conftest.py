"""What tests share: Reacher, and a linear toy robot whose inverse is known in closed form."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from isthmus.core import Bool, Float, History, Mlp, Step, Trajectory, WorldSpec
from isthmus.io.native import cache_folder
from isthmus.report.video import backends
from isthmus.robots import load_task
from isthmus.tasks import Task

# The same examples on every run: whether a commit passes does not depend on luck or on the machine's load.
settings.register_profile("isthmus", deadline=None, max_examples=50, derandomize=True, database=None)
settings.load_profile("isthmus")


LEFT = pytest.StashKey[Path]()


def pytest_configure(config):
    """Give the session a home and a temporary folder of its own, to see whether anything is left in them."""
    # Whoever starts the tests in the background, or by nohup, has them ignore these; they are about what they do.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Each worker has one processor. Threads of a matrix product would spin, and take from it what the others need.
    threadpool_limits(1, user_api="blas")
    if hasattr(config, "workerinput"):
        return  # a worker has the rest from its controller
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # pytest's own folders stay where they are
    os.environ.setdefault("ISTHMUS_CACHE", str(cache_folder()))  # C is compiled once for all sessions
    config.stash[LEFT] = place = Path(tempfile.mkdtemp(prefix="it"))  # short: sockets are made below it
    for name in ("HOME", "TMPDIR"):
        (place / name).mkdir()
        os.environ[name] = str(place / name)
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        os.environ.pop(name, None)
    # What these libraries leave in tests that use them directly is theirs; test_leftovers looks at our own use of them.
    for name in ("SB3_LOGDIR", "TORCHINDUCTOR_CACHE_DIR"):
        os.environ[name] = str(place / name)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the same for what tests start, and for libraries that are loaded later
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the many processes that tests start are up sooner
    tempfile.tempdir = None


# Stand-ins of robots run in processes of their own against the clock, and are held, rightly, when a busy machine leaves
# either side without a processor. Such a test gets another chance; one that is wrong fails every time.
AGAINST_THE_CLOCK = ("hardware", "robots", "experiments/faults", "experiments/paper/figure_5", "test_drivers_page.py")
MAY_WAIT = ("deploy", "cli")  # some of these start such a robot, and most are of none: another chance if it was lost


def pytest_collection_modifyitems(config, items):
    def is_in(item, names):
        return any(item.path.is_relative_to(config.rootpath / "tests" / name) for name in names)

    for item in items:
        if is_in(item, AGAINST_THE_CLOCK):
            item.add_marker(pytest.mark.flaky(reruns=2))
        elif is_in(item, MAY_WAIT):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=["Lost", "TimeoutExpired", "TimeoutError"]))


def pytest_collection_finish():
    """Spare the garbage collector what was imported and collected: half a million objects that all stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session):
    """Fail a session that leaves something behind, once all its processes have ended."""
    outcome = yield
    place = session.config.stash.get(LEFT, None)
    if place is not None:
        until = time.monotonic() + 10  # processes that were told to end are still tidying up
        while (found := [*place.glob("HOME/*"), *place.glob("TMPDIR/*")]) and time.monotonic() < until:
            time.sleep(0.1)
        if found:
            names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.parent != place)
            lines = ["left behind in the home or the temporary folder:", *names[:40]]
            terminal = session.config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line("\n  ".join(lines), red=True)
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        shutil.rmtree(place, ignore_errors=True)
    return outcome


@pytest.fixture(autouse=True, scope="session")
def _measure_control_steps_briefly():
    """Every run times its control step; 20 commands do for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isthmus.transfer.control_step.MOST", 20)
        patch.setattr("isthmus.transfer.control_step.PATIENCE", 0.05)
        yield


@pytest.fixture(scope="session")
def reacher() -> Task:
    return load_task("reacher")


DRAW = """
import mujoco

context = mujoco.GLContext(16, 16)
context.make_current()
context.free()
"""


@pytest.fixture(scope="session")
def drawing() -> None:
    """Skips a test where nothing can draw off-screen; found without any of our own code that draws."""
    for backend in backends(os.environ, sys.platform):
        environment = {**os.environ, "MUJOCO_GL": backend}
        if not subprocess.run(
            [sys.executable, "-c", DRAW], env=environment, capture_output=True, check=False
        ).returncode:
            return
    pytest.skip("there is nothing to draw off-screen with: install EGL or OSMesa")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def toy_spec(observations: int = 2, actions: int = 2, *, horizon: int = 20) -> WorldSpec:
    return WorldSpec(
        observation_names=tuple(f"o{i}" for i in range(observations)),
        action_names=tuple(f"a{i}" for i in range(actions)),
        action_low=np.full(actions, -1.0),
        action_high=np.full(actions, 1.0),
        control_period=0.1,
        horizon=horizon,
        targets=np.arange(observations),
    )


@pytest.fixture(scope="session")
def make_spec() -> Callable[..., WorldSpec]:
    return toy_spec


@dataclass
class LinearWorld:
    """o' = A o + B a with an invertible B: the action that leads from o to o' is B^-1 (o' - A o)."""

    n: int = 1
    spec: WorldSpec = field(default_factory=toy_spec)
    A: Float = field(default_factory=lambda: np.array([[0.9, 0.2], [-0.1, 0.8]]))
    B: Float = field(default_factory=lambda: np.array([[0.5, 0.1], [-0.2, 0.4]]))
    at: Float = field(init=False)

    def __post_init__(self) -> None:
        self.at = np.zeros((self.n, 2))

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        rows = np.ones(self.n, np.bool_) if which is None else which
        self.at[rows] = rng.normal(size=(int(rows.sum()), 2))
        return self.at.copy()

    def place(self, observations: Float) -> Float:
        self.at[:] = observations
        return self.at.copy()

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        rows = np.ones(self.n, np.bool_) if which is None else which
        applied = self.spec.clip(commands)
        self.at[rows] = (self.at @ self.A.T + applied @ self.B.T)[rows]
        return Step(self.at.copy(), applied, np.zeros(self.n, np.bool_))

    def predict(self, history: History, actions: Float) -> Float:
        return history.current @ self.A.T + self.spec.clip(actions) @ self.B.T

    def inverse(self, before: Float, after: Float) -> Float:
        return np.linalg.solve(self.B, (after - before @ self.A.T).T).T


@pytest.fixture(scope="session")
def make_linear_world() -> Callable[..., LinearWorld]:
    return LinearWorld


@pytest.fixture(scope="session")
def linear_episodes() -> Callable[..., list[list[Trajectory]]]:
    """Episodes of a linear world under random actions; the source would have done `-o / 4`."""

    def make(count: int, steps: int, rng: np.random.Generator) -> list[list[Trajectory]]:
        world = LinearWorld(count)
        seen, done = [world.reset(rng)], []
        for _ in range(steps):
            done.append(rng.uniform(-0.9, 0.9, (count, 2)))
            seen.append(world.step(done[-1]).observations)
        observations, actions = np.stack(seen, axis=1), np.stack(done, axis=1)
        return [
            [Trajectory(observations[i], actions[i], actions[i], -observations[i, :-1] / 4, observations[i, 1:])]
            for i in range(count)
        ]

    return make


@pytest.fixture(scope="session")
def random_mlp() -> Callable[..., Mlp]:
    """A network of random weights and statistics, of the layer sizes asked for."""

    def make(sizes: tuple[int, ...], rng: np.random.Generator, activation: str = "relu", clip: float = np.inf) -> Mlp:
        pairs = list(pairwise(sizes))
        return Mlp(
            weights=tuple((rng.normal(size=pair) / np.sqrt(pair[0])).astype(np.float32) for pair in pairs),
            biases=tuple(rng.normal(size=pair[1]).astype(np.float32) for pair in pairs),
            activation=activation,
            input_mean=rng.normal(size=sizes[0]),
            input_scale=rng.uniform(0.2, 5.0, sizes[0]),
            output_mean=rng.normal(size=sizes[-1]),
            output_scale=rng.uniform(0.2, 5.0, sizes[-1]),
            input_clip=clip,
        )

    return make
