"""No command looks for anything on a network: nothing is sent, and no name is resolved."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from isthmus.cli.commands import LEAVES
from isthmus.experts import load_expert
from isthmus.robots import load_task

TALKS = {
    "robot up": "talks to a ROS graph at the address it is given",
    "robot faults": "the same",
    "deploy run": "talks to the robot at the address it is given",
    "experiment transports": "talks to stand-in robots on this machine",
}
SAME_PARTS = {
    "experiment random-gaps": "many of experiment seeds",
    "experiment ablation": "many of experiment seeds",
    "experiment fixed-gaps": "many of compare",
    "experiment suite": "many of compare",
    "experiment paper": "many of transfer",
    "experiment references": "many of transfer, from a recording",
    "experiment estimation": "many of transfer, with an estimator",
    "experiment blind": "many of transfer, with an estimator",
    "compare": "transfer with other methods",
    "policy train": "needs the task and its simulator, as policy evaluate does",
    "policy sensitivity": "many of policy evaluate",
    "bench": "times parts of transfer",
    "experiment anymal": "talks to a stand-in through pipes; its parts are those of actuator and policy train",
    "actuator fit": "reads files and simulates",
    "actuator excite": "simulates and writes files",
    "actuator export": "reads and writes files",
    "firmware run": "a simulation in this process",
    "firmware test": "many of firmware run",
    "firmware twin": "firmware run, recorded",
    "firmware study": "many of firmware test",
    "firmware story": "many of firmware run",
    "firmware build": "compiles files of the package",
    "analyse gap": "logs inspect, and simulations in this process",
    "logs map": "logs inspect, and simulations in this process",
    "logs study": "many of logs map",
    "deploy export": "reads a run and writes files",
    "experiment firmware-policies": "many of policy train and firmware run",
    "experiment firmware-transfer": "many of transfer, with firmware run",
    "vision preview": "renders in processes of its own, over pipes",
    "vision train": "the same",
    "vision locate": "reads pictures",
    "vision calibrate": "reads pictures and writes a file",
    "vision photograph": "renders in this process",
    "vision evaluate": "reads pictures",
    "vision ablate": "many of vision train",
    "vision grasp": "a simulation in this process",
}
"""Commands that are not run here, with what they are made of."""
TINY = ["--evaluation-episodes", "50", "--fit.epochs", "1"]
TRANSFER = ["transfer", "reacher", "--gap", "tilt=45", "--method", "inverse", "--samples", "60", "--no-video", *TINY]
COMMANDS = {
    "list tasks": [["list", "tasks"]],
    "list gaps": [["list", "gaps"]],
    "list methods": [["list", "methods"]],
    "transfer": [[*TRANSFER, "--out", "run"], [*TRANSFER, "--policy", "policy.onnx", "--out", "theirs"]],
    "report": [["report", "run", "--no-video"]],
    "check": [["check", "reacher", "--policy", "policy.onnx", "--episodes", "2"]],
    "logs inspect": [["logs", "inspect", "log.csv"]],
    "policy evaluate": [["policy", "evaluate", "reacher", "--episodes", "20"]],
    "policy record": [["policy", "record", "reacher", "--episodes", "1", "--out", "recording.npz"]],
    "analyse identify": [["analyse", "identify", "reacher", "--gap", "mass=1.2", "--samples", "60"]],
    "analyse oracle": [["analyse", "oracle", "reacher", "--gap", "tilt=45", "--episodes", "2"]],
    "experiment seeds": [
        ["experiment", "seeds", "reacher", "--seeds", "1", "--samples", "60", "--method", "inverse", "--out", "study"]
    ],
}
RUN_ALL = """
import sys
from isthmus.cli import main
for command in {commands!r}:
    try:
        main(command)
    except SystemExit as end:
        assert end.code in (0, 1, None), (command, end.code)
"""
WATCH = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o"]
ALONE = ["unshare", "--map-root-user", "--net"]
"""In a network of its own, which has no routes."""
OUTSIDE = re.compile(
    r"AF_INET6?, .*?(?:sin6?_port=htons\((\d+)\)).*?(?:inet_addr\(\"([^\"]+)\"\)|AF_INET6, \"([^\"]+)\")"
)


def reached_for(code, folder):
    """The addresses that a program tried to reach, this machine's own apart."""
    log = folder / "strace.log"
    done = subprocess.run(
        [*ALONE, *WATCH, str(log), sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = set()
    for port, *address in OUTSIDE.findall(log.read_text()):
        where = "".join(address)
        if port == "53" or not (where.startswith("127.") or where == "::1"):
            found.add(f"{where}:{port}")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for tool in ("strace", "unshare"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: make env installs it as root")
    path = tmp_path_factory.mktemp("offline")
    trial = subprocess.run([*ALONE, *WATCH, "/dev/null", "true"], cwd=path, capture_output=True, text=True, check=False)
    if trial.returncode:
        pytest.skip(f"this machine allows no namespace or no tracing: {trial.stderr.strip()[:100]}")
    return path


def test_an_attempt_would_be_seen(folder):
    code = (
        "import socket\nfor host in ('192.0.2.1', '2001:db8::1'):\n    try: socket.create_connection((host, 443), 1)\n"
    )
    code += "    except OSError: pass\ntry: socket.getaddrinfo('example.invalid', 443)\nexcept OSError: pass\n"
    code += "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    code += "try: s.sendto(b'x', ('192.0.2.2', 9))\nexcept OSError: pass"
    found = reached_for(code, folder)
    assert {"192.0.2.1:443", "192.0.2.2:9"} <= found
    assert any(address.endswith(":53") for address in found)


def export(network, path):
    """Write a network as ONNX."""
    node, at = helper.make_node, "seen"
    constants = {"mean": network.input_mean, "scale": network.input_scale, "clip": network.input_clip}
    nodes = [
        node("Sub", [at, "mean"], ["s"]),
        node("Div", ["s", "scale"], ["d"]),
        node("Clip", ["d", "least", "clip"], ["x"]),
    ]
    at = "x"
    for layer, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        constants |= {f"w{layer}": weight, f"b{layer}": bias}
        nodes += [
            node("Gemm", [at, f"w{layer}", f"b{layer}"], [f"g{layer}"]),
            node("Tanh", [f"g{layer}"], [f"t{layer}"]),
        ]
        at = f"t{layer}"
    constants |= {"least": -np.asarray(network.input_clip), "gain": network.output_scale, "shift": network.output_mean}
    nodes[-1:] = [node("Mul", [nodes[-2].output[0], "gain"], ["m"]), node("Add", ["m", "shift"], ["action"])]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", network.input_size])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", network.output_size])],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def test_no_command_reaches_for_anything(folder):
    export(load_expert(load_task("reacher")).network, folder / "policy.onnx")
    (folder / "log.csv").write_text("time,q\n0,1\n0.1,2\n")
    commands = [command for several in COMMANDS.values() for command in several]
    assert reached_for(RUN_ALL.format(commands=commands), folder) == set()


def test_every_command_is_among_them_or_made_of_them():
    assert {" ".join(words) for words in LEAVES} == COMMANDS.keys() | SAME_PARTS.keys() | TALKS.keys()
