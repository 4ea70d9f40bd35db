"""Plain networks in ONNX files become ours, and act as before; everything else is refused."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from isthmus.core import History, Problem
from isthmus.policies import View, load_policy
from isthmus.policies.normaliser import Normaliser
from isthmus.policies.onnx_mlp import as_network

RNG = np.random.default_rng(1)
W1, W2 = (RNG.normal(size=shape).astype(np.float32) for shape in ((5, 4), (5, 2)))
CONSTANTS = {
    "w1": W1,  # (outputs, inputs), as torch has it
    "b1": RNG.normal(size=5).astype(np.float32),
    "w2": W2,
    "b2": RNG.normal(size=2).astype(np.float32),
    "mean": RNG.normal(size=4).astype(np.float32),
    "std": np.full(4, 2.0, np.float32),
    "five": np.array(5.0, np.float32),
    "minus_five": np.array(-5.0, np.float32),
    "one": np.array(1.0, np.float32),
    "minus_one": np.array(-1.0, np.float32),
    "half": np.array([0.5, 0.4], np.float32),
    "small": np.array(0.1, np.float32),
    "minus_small": np.array(-0.1, np.float32),
}
OBSERVATIONS = RNG.normal(size=(9, 4)) * 3
LOW, HIGH = -np.ones(2), np.ones(2)


def layers(start, activation="Tanh"):
    return [
        helper.make_node("Gemm", [start, "w1", "b1"], ["h"], transB=1),
        helper.make_node(activation, ["h"], ["a"]),
        helper.make_node("MatMul", ["a", "w2"], ["m"]),
        helper.make_node("Add", ["m", "b2"], ["y"]),
    ]


NORMALISED = [
    helper.make_node("Sub", ["seen", "mean"], ["c"]),
    helper.make_node("Div", ["c", "std"], ["s"]),
    helper.make_node("Clip", ["s", "minus_five", "five"], ["n"]),
]
SQUASHED = [helper.make_node("Tanh", ["y"], ["t"]), helper.make_node("Mul", ["t", "half"], ["action"])]
ENDS = helper.make_node("Identity", ["y"], ["action"])
PLAIN = {
    "tanh": [*layers("seen"), ENDS],
    "relu": [*layers("seen", "Relu"), ENDS],
    "normalised": [*NORMALISED, *layers("n"), ENDS],
    "clipped by a maximum and a minimum": [
        *NORMALISED[:2],
        helper.make_node("Max", ["s", "minus_five"], ["above"]),
        helper.make_node("Min", ["above", "five"], ["n"]),
        *layers("n"),
        ENDS,
    ],
    "squashed": [*layers("seen"), *SQUASHED],
    "clipped to the actuators' limits": [
        *layers("seen"),
        helper.make_node("Clip", ["y", "minus_one", "one"], ["action"]),
    ],
}
OTHERS = {
    "a sine": ([*layers("seen"), helper.make_node("Sin", ["y"], ["action"])], "has a node 'Sin'"),
    "two kinds": (
        [
            *layers("seen", "Relu"),
            helper.make_node("Tanh", ["y"], ["t"]),
            helper.make_node("MatMul", ["t", "id"], ["action"]),
        ],
        "several activations",
    ),
    "clipped to less": (
        [*layers("seen"), helper.make_node("Clip", ["y", "minus_small", "small"], ["action"])],
        "less than the actuators' limits",
    ),
    "limited on one side": (
        [helper.make_node("Max", ["seen", "minus_five"], ["n"]), *layers("n"), ENDS],
        "on one side only",
    ),
    "a skip": (
        [
            *layers("seen"),
            helper.make_node("MatMul", ["seen", "skip"], ["k"]),
            helper.make_node("Add", ["y", "k"], ["action"]),
        ],
        "",
    ),
}


@pytest.fixture
def load(tmp_path, make_spec):
    def load(nodes):
        constants = CONSTANTS | {"id": np.eye(2, dtype=np.float32), "skip": np.ones((4, 2), np.float32)}
        graph = helper.make_graph(
            nodes,
            "policy",
            [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", 4])],
            [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", 2])],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        )
        content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        (tmp_path / "policy.onnx").write_bytes(content.SerializeToString())
        return load_policy(tmp_path / "policy.onnx", (View("v4", 4),), make_spec(4, 2))

    return load


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_network_acts_as_before(load, name):
    policy = load(PLAIN[name])
    made = as_network(policy, LOW, HIGH)
    window = History.of(OBSERVATIONS)
    np.testing.assert_allclose(np.clip(made(window), -1, 1), np.clip(policy(window), -1, 1), atol=1e-5)
    assert (made.squash is not None) == (name == "squashed")
    assert (made.network.input_clip == 5.0) == (name in ("normalised", "clipped by a maximum and a minimum"))


def test_the_normaliser_beside_a_file_becomes_the_networks_own(load):
    policy = replace(load(PLAIN["tanh"]), normaliser=Normaliser(np.ones(4), np.full(4, 3.0), 2.0))
    window = History.of(OBSERVATIONS)
    np.testing.assert_allclose(as_network(policy, LOW, HIGH)(window), policy(window), atol=1e-5)


@pytest.mark.parametrize("name", OTHERS)
def test_anything_else_is_refused_in_a_sentence(load, name):
    nodes, why = OTHERS[name]
    with pytest.raises(Problem, match=f"cannot be trained on.*{why}"):
        as_network(load(nodes), LOW, HIGH)
