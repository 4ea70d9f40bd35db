"""Actuator networks: twelve joints of one robot, and a batched world with a network in it."""

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from isthmus.actuators import Actuator, Contract, Network, Pd, equip, make_engine
from isthmus.bench.measure import Benchmark, in_turns, middle
from isthmus.core import Float32, stream
from isthmus.robots import load_task
from isthmus.sim import MujocoWorld

JOINTS, CALLS, WORLDS, STEPS = 12, 500, 128, 5
LAGS, HIDDEN = (0, 4, 8), (32, 32, 32)
"""Of Hwangbo et al. (2019), at 400 Hz."""
MICROSECONDS = 12.0
"""That twelve joints may take on one core."""


def network(joints: tuple[str, ...], dt: float, lags: tuple[int, ...] = LAGS) -> Actuator:
    """A network of the paper's size beside a PD law; its random weights are small, so that robots stand."""
    rng, sizes = stream(0, "bench", "actuator"), (2 * len(lags), *HIDDEN, 1)

    def drawn(*shape: int) -> Float32:
        return rng.normal(0, 0.1 / np.sqrt(shape[0]), shape).astype(np.float32)

    size = len(joints)
    contract = Contract(
        joints, dt, lags, 8.0, np.full(size, 40.0), np.full(size, np.inf), np.full(size, np.inf),
        np.broadcast_to(np.array([[-1.0, 1.0], [-9.0, 9.0]]), (size, 2, 2)), command="position",
    )  # fmt: skip
    weights = tuple(drawn(before, after) for before, after in pairwise(sizes))
    law = Pd.ideal(np.full(size, 80.0), np.full(size, 2.0))
    return Actuator(
        contract, pd=law, network=Network(weights, tuple(drawn(after) for after in sizes[1:])), name="MLP 3 x 32"
    )


def actuator_step(repeats: int) -> Benchmark:
    """Twelve joints of one robot, history included, called from Python: time of one core as a share of that allowed."""
    engine = make_engine(network(tuple(f"joint {number}" for number in range(JOINTS)), 0.0025), 1)
    target, position, velocity, out = (np.full((1, JOINTS), value) for value in (0.3, 0.1, 1.5, 0.0))

    def ours() -> None:
        for _ in range(CALLS):
            engine.step(target, position, velocity, out=out)

    ours()
    took = [1e6 * _processor_seconds(ours) / CALLS for _ in range(repeats)]
    median, half_iqr = middle(took)
    return Benchmark(
        "actuator-step",
        median / MICROSECONDS,
        half_iqr / MICROSECONDS,
        f"{MICROSECONDS:g} us for {JOINTS} joints on one core",
        goal=1.0,
        better="lower",
        step={"p50": median, "p99": float(np.percentile(took, 99)), "worst": max(took)},
    )


def actuator_batch(repeats: int) -> Benchmark:
    """A batched world whose drives are networks, against the same world without them."""
    task = load_task("anymal")
    robot = task.robot_model
    names = tuple(robot.model.joint(int(joint)).name for joint in robot.model.actuator_trnid[:, 0])
    learned = equip(robot, network(names, robot.model.opt.timestep))
    worlds = MujocoWorld(robot, WORLDS), MujocoWorld(learned, WORLDS)
    command = np.tile(robot.spec.middle, (WORLDS, 1))

    def run(world: MujocoWorld) -> None:
        world.reset(stream(0, "bench", "reset"))
        for _ in range(STEPS):
            world.step(command)

    ratio, half_iqr = in_turns(lambda: run(worlds[1]), lambda: run(worlds[0]), repeats)
    return Benchmark(
        "actuator-batch",
        1 / ratio,
        half_iqr / ratio**2,
        f"{WORLDS} of {task.name} without a network",
        goal=0.7,
        better="higher",
    )


def _processor_seconds(work: Callable[[], object]) -> float:
    """How long a core works on `work`, whatever else the machine does."""
    began = time.process_time()
    work()
    return time.process_time() - began
