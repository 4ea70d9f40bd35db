"""A control step needs neither torch nor Stable Baselines: a robot's computer may have neither."""

import subprocess
import sys

CONTROL_STEP = """
import sys
import numpy as np
import isthmus.transfer.collection, isthmus.gaps, isthmus.policies, isthmus.tasks, isthmus.sim
from isthmus.core import Mlp, rollout
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.policies import NetworkPolicy, TransferPolicy

def network(inputs, outputs):
    weight, bias = np.ones((inputs, outputs), np.float32) / inputs, np.zeros(outputs, np.float32)
    return Mlp((weight,), (bias,), "relu", np.zeros(inputs), np.ones(inputs), np.zeros(outputs), np.ones(outputs))

task = isthmus.robots.load_task("reacher")
robot = task.robot(isthmus.gaps.Gap.parse("tilt=90"))
inverse = InverseNetwork(network(2 * 11 + 2 + 11, 2), 2, np.arange(11))
adapted = TransferPolicy(NetworkPolicy(network(11, 2)), task.source(), inverse)
start = robot.reset(np.random.default_rng(0))
assert len(list(rollout(robot, adapted, start, history=2, steps=3))) == 3
assert robot.samples == 3
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_control_step_imports_neither_torch_nor_stable_baselines():
    done = subprocess.run([sys.executable, "-c", CONTROL_STEP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported = set(done.stdout.split())
    assert {"isthmus", "mujoco", "numpy"} <= imported
    assert not imported & {"torch", "stable_baselines3", "sb3_contrib", "gymnasium"}
