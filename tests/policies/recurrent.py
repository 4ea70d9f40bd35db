"""Recurrent policies as ONNX files, and what they have to compute."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def elman(weights, *, batch="batch", names=("obs", "h_in", "actions", "h_out"), layers=1):
    """Make h' = tanh(o A + h B), a = h' C; the hidden state is (layers, batch, hidden), or (batch, hidden)."""
    obs, taken, actions, given = names
    into, back, out = (np.asarray(one, np.float32) for one in weights)
    hidden = [layers, batch, len(back)] if layers else [batch, len(back)]
    node = helper.make_node
    nodes = [
        node("MatMul", [obs, "A"], ["from_obs"]),
        node("MatMul", [taken, "B"], ["from_h"]),
        node("Add", ["from_obs", "from_h"], ["sum"]),
        node("Tanh", ["sum"], [given]),
        node("MatMul", [given, "C"], ["stacked"]),
        node("Squeeze", ["stacked", "first"], [actions]) if layers else node("Identity", ["stacked"], [actions]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "elman",
        [info(obs, FLOAT, [batch, len(into)]), info(taken, FLOAT, hidden)],
        [info(actions, FLOAT, [batch, out.shape[1]]), info(given, FLOAT, hidden)],
        [
            numpy_helper.from_array(one, name)
            for name, one in (("A", into), ("B", back), ("C", out), ("first", np.array([0], np.int64)))
        ],
    )
    return _model(graph)


def two_memories(taken, given):
    """Make a = o + m + k with two memories of the same shape, m' = o and k' = m, under the names that are given."""
    node, info = helper.make_node, helper.make_tensor_value_info
    nodes = [
        node("Add", ["obs", taken[0]], ["half"]),
        node("Add", ["half", taken[1]], ["actions"]),
        node("Identity", ["obs"], [given[0]]),
        node("Identity", [taken[0]], [given[1]]),
    ]
    shape = ["batch", 3]
    graph = helper.make_graph(
        nodes,
        "two",
        [info(name, FLOAT, shape) for name in ("obs", *taken)],
        [info(name, FLOAT, shape) for name in ("actions", *given)],
    )
    return _model(graph)


def _model(graph):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
