"""The model as ONNX: the same rows in and out as the TorchScript for Isaac Lab, in single precision outside."""

from pathlib import Path
from typing import Any

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.core import Float, Problem
from isthmus.io.files import write_whole
from isthmus.policies.onnx_runtime import open_session

OPSET = 17


def write_onnx(actuator: Actuator, path: Path) -> None:
    """Write ONNX with an input `x` (rows, 2 k) and an output `torque` (rows, 1); rows are environments x joints."""
    try:
        from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Problem(
            "an ONNX file is written with the onnx package, which is not installed: pip install onnx"
        ) from error
    network, law, k = actuator.network, actuator.pd, len(actuator.contract.lags)
    size, nodes, constants = actuator.contract.size, list[Any](), dict[str, Any]()

    def add(operation: str, inputs: list[str], output: str, **options: Any) -> str:  # noqa: ANN401
        nodes.append(helper.make_node(operation, inputs, [output], **options))
        return output

    def number(name: str, value: Any) -> str:  # noqa: ANN401
        constants[name] = np.asarray(value)
        return name

    add("Cast", ["x"], "double", to=TensorProto.DOUBLE)
    rows = add("Reshape", ["double", number("by_joint", np.array([-1, size, 2 * k], np.int64))], "rows")
    terms: list[str] = []
    if network:
        hidden = rows
        for layer, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
            if layer:
                hidden = _activated(add, number, hidden, network.activation, layer)
            hidden = add("MatMul", [hidden, number(f"w{layer}", weight.astype(np.float64))], f"m{layer}")
            shift = bias.astype(np.float64)
            if layer == 0 and network.joint_bias is not None:
                shift = shift + network.joint_bias.astype(np.float64)
            hidden = add("Add", [hidden, number(f"b{layer}", shift)], f"a{layer}")
        terms.append(add("Reshape", [hidden, number("flat", np.array([-1, size], np.int64))], "net"))
    if law:
        terms.append(_law(add, number, law.arrays(), rows, k))
    total = terms[0] if len(terms) == 1 else add("Add", terms, "total")
    add("Reshape", [total, number("column", np.array([-1, 1], np.int64))], "tall")
    add("Cast", ["tall"], "torque", to=TensorProto.FLOAT)
    graph = helper.make_graph(
        nodes, "actuator",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2 * k])],
        [helper.make_tensor_value_info("torque", TensorProto.FLOAT, ["rows", 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    write_whole(path, model.SerializeToString())


def _activated(add: Any, number: Any, hidden: str, activation: str, layer: int) -> str:  # noqa: ANN401
    """Activations by elementary operations: runtimes have the named ones in single precision only."""
    if activation == "tanh":
        return add("Tanh", [hidden], f"h{layer}")
    if activation == "relu":
        return add("Max", [hidden, number(f"zero{layer}", np.zeros(()))], f"h{layer}")
    if activation == "elu":
        below = add("Min", [hidden, number(f"none{layer}", np.zeros(()))], f"below{layer}")
        grown = add("Sub", [add("Exp", [below], f"exp{layer}"), number(f"one{layer}", np.ones(()))], f"grown{layer}")
        above = add("Max", [hidden, f"none{layer}"], f"above{layer}")
        return add("Add", [above, grown], f"h{layer}")
    size = add("Add", [add("Abs", [hidden], f"abs{layer}"), number(f"one{layer}", np.ones(()))], f"size{layer}")
    return add("Div", [hidden, size], f"h{layer}")


def _law(add: Any, number: Any, law: dict[str, Any], rows: str, k: int) -> str:  # noqa: ANN401
    values = {
        name: number(f"law_{name}", np.where(np.isfinite(one), one, 1e30))
        for name, one in law.items()
        if name != "delay"
    }
    error = add("Gather", [rows, number("newest", np.array(0, np.int64))], "error", axis=2)
    velocity = add("Gather", [rows, number("speed", np.array(k, np.int64))], "velocity", axis=2)
    drive = add(
        "Sub", [add("Mul", [error, values["kp"]], "pull"), add("Mul", [velocity, values["kd"]], "brake")], "drive"
    )
    low = add("Max", [drive, add("Neg", [values["limit"]], "lowest")], "above_low")
    held = add("Min", [low, values["limit"]], "held")
    slip = add("Tanh", [add("Div", [velocity, values["smooth"]], "slow")], "slip")
    heavy = add(
        "Add", [add("Mul", [add("Abs", [held], "load"), values["load"]], "under_load"), values["coulomb"]], "dry"
    )
    rubbed = add("Sub", [held, add("Mul", [slip, heavy], "rub")], "rubbed")
    thick = add("Sub", [rubbed, add("Mul", [velocity, values["viscous"]], "thick")], "thickened")
    return add("Add", [thick, values["bias"]], "law")


def run_onnx(path: Path, rows: Float) -> Float:
    """What an ONNX file gives for rows of inputs."""
    session = open_session(path.read_bytes())
    return np.asarray(session.run(None, {"x": rows.astype(np.float32)})[0], np.float64)
