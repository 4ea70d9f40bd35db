"""ONNX files are checked, and tried in a process of their own, before they are loaded."""

import os
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from isthmus.core import History, Problem
from isthmus.policies import View, load_policy
from isthmus.policies.onnx_check import check_onnx
from isthmus.policies.onnx_trial import try_model

node = helper.make_node
WEIGHT = np.arange(8, dtype=np.float32).reshape(4, 2) / 8
PRODUCT = node("MatMul", ["seen", "w"], ["action"])


def model(
    *nodes, batch="batch", output=("action", TensorProto.FLOAT, ["batch", 2]), kind=TensorProto.FLOAT, **constants
):
    constants = {"w": WEIGHT} | constants
    graph = helper.make_graph(
        list(nodes),
        "policy",
        [helper.make_tensor_value_info("seen", kind, [batch, 4])],
        [helper.make_tensor_value_info(*output)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


@pytest.fixture
def load(tmp_path, make_spec):
    def load(content, **options):
        (tmp_path / "policy.onnx").write_bytes(content)
        return load_policy(tmp_path / "policy.onnx", (View("v4", 4),), make_spec(4, 2), **options)

    return load


OBSERVATIONS = np.random.default_rng(0).normal(size=(7, 4))


def test_a_policy_that_only_claims_to_take_a_batch_is_asked_one_by_one(load):
    """Its shape is fixed to one row inside."""
    fixed = node("Reshape", ["seen", "n"], ["row"]), node("MatMul", ["row", "w"], ["action"])
    policy = load(model(*fixed, n=np.array([1, 4], np.int64)))
    np.testing.assert_allclose(policy(History.of(OBSERVATIONS)), OBSERVATIONS @ WEIGHT, atol=1e-5)


def test_a_policy_whose_answers_depend_on_the_batch_is_asked_one_by_one(load):
    policy = load(model(node("Softmax", ["seen"], ["soft"], axis=0), node("MatMul", ["soft", "w"], ["action"])))
    np.testing.assert_allclose(policy(History.of(OBSERVATIONS)), np.ones((7, 4)) @ WEIGHT, atol=1e-5)


def test_a_policy_of_doubles_is_read(load):
    double = TensorProto.DOUBLE
    policy = load(model(PRODUCT, kind=double, output=("action", double, ["batch", 2]), w=WEIGHT.astype(np.float64)))
    np.testing.assert_allclose(policy(History.of(OBSERVATIONS)), OBSERVATIONS @ WEIGHT, atol=1e-12)


def with_nan():
    parts = node("Log", ["m"], ["n"]), node("Add", ["a", "n"], ["action"])
    return model(node("MatMul", ["seen", "w"], ["a"]), *parts, m=-np.ones(2, np.float32))


BIG = np.array([100_000, 100_000], np.int64)
BRANCH = helper.make_graph(
    [node("MatMul", ["seen", "w"], ["y"])], "b", [], [helper.make_tensor_value_info("y", 1, None)]
)
IF = node("If", ["true"], ["action"], then_branch=BRANCH, else_branch=BRANCH)


def with_constant(*nodes, **constants):
    ends = node("ReduceSum", ["big"], ["s"], keepdims=0), node("Add", ["a", "s"], ["action"])
    return model(*nodes, node("MatMul", ["seen", "w"], ["a"]), *ends, **constants)


REFUSED = {
    "a batch of four": (lambda: model(PRODUCT, batch=4), "takes 4 observations at a time"),
    "NaN": (with_nan, "is not finite for ordinary observations"),
    "integers": (lambda: model(PRODUCT, kind=TensorProto.INT64, w=np.ones((4, 2), np.int64)), "Type Error|int64"),
    "control flow": (lambda: model(IF, true=np.array(True)), "has If, which can take any time: give --trust"),
    "a large constant": (
        lambda: with_constant(node("ConstantOfShape", ["n"], ["big"]), n=BIG),
        r"ConstantOfShape asks for 1e\+10 numbers",
    ),
    "a large product": (
        lambda: with_constant(
            node("MatMul", ["x", "y"], ["big"]), x=np.ones((60_000, 1), np.float32), y=np.ones((1, 60_000), np.float32)
        ),
        "takes more than 384 MB",
    ),
    "an unknown operator": (lambda: model(node("Frobnicate", ["seen"], ["action"])), "Frobnicate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_policy_that_would_not_do_is_refused_in_one_sentence(load, name):
    make, message = REFUSED[name]
    with pytest.raises(Problem, match=message) as caught:
        load(make())
    assert "\n" not in str(caught.value)


def test_control_flow_is_accepted_where_it_is_trusted(load):
    policy = load(model(IF, true=np.array(True)), trust=True)
    np.testing.assert_allclose(policy(History.of(OBSERVATIONS)), OBSERVATIONS @ WEIGHT, atol=1e-5)


def test_a_loop_without_end_is_stopped_even_where_it_is_trusted(load):
    numbers = [helper.make_tensor_value_info("i", TensorProto.INT64, [])]
    go = [helper.make_tensor_value_info("go", TensorProto.BOOL, [])]
    on = [helper.make_tensor_value_info("on", TensorProto.BOOL, [])]
    body = helper.make_graph([node("Identity", ["go"], ["on"])], "body", [*numbers, *go], on)
    loop = node("Loop", ["n", "true"], [], body=body)
    endless = model(loop, PRODUCT, n=np.array(2**62, np.int64), true=np.array(True))
    with pytest.raises(Problem, match="has Loop, which can take any time"):
        load(endless)
    held = node("Loop", ["n", "true", "seen"], ["same"], body=carrying(body))
    endless = model(held, node("MatMul", ["same", "w"], ["action"]), n=np.array(2**62, np.int64), true=np.array(True))
    with pytest.raises(Problem, match=r"takes more than 3 s of computing|took more than 300 s"):
        load(endless, trust=True)


def carrying(body):
    """The body of a loop that also passes on what it is given."""
    shape = ["batch", 4]
    body.node.append(node("Identity", ["x"], ["y"]))
    body.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, shape))
    body.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, shape))
    return body


def test_a_policy_that_fails_in_the_middle_of_a_run_ends_it_in_one_sentence(load):
    """Finite for ordinary observations, and not for large ones."""
    policy = load(
        model(node("Exp", ["seen"], ["e"]), node("Sub", ["e", "e"], ["z"]), node("MatMul", ["z", "w"], ["action"]))
    )
    with pytest.raises(Problem, match=r"the policy gave the action \(nan, nan\) .* largest number is 500"):
        policy(History.of(np.full((1, 4), 500.0)))


def test_the_trial_is_of_the_bytes_that_are_loaded_and_made_once():
    try_model.cache_clear()
    content = model(PRODUCT)
    assert try_model(content) == {
        "input": "seen",
        "inputs": 4,
        "type": "tensor(float)",
        "outputs": {"action": 2},
        "one_by_one": False,
        "memory": [],
    }
    try_model(content)
    assert try_model.cache_info().hits == 1


def test_what_a_file_says_is_checked_without_the_onnx_package():
    code = "import sys; sys.modules['onnx'] = None\nfrom isthmus.policies.onnx_check import check_onnx\n"
    code += "check_onnx(sys.stdin.buffer.read())"
    subprocess.run([sys.executable, "-c", code], input=model(PRODUCT), check=True)


def test_a_sound_model_passes_the_check():
    check_onnx(model(PRODUCT))


def test_onnx_runtime_writes_nothing_and_has_no_telemetry(tmp_path, load):
    """On its own, it makes a database below the home folder and a session file in the temporary one."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    for folder in (home, temporary):
        folder.mkdir()
    load(model(PRODUCT))  # writes the file
    code = (
        "import sys\nfrom pathlib import Path\nfrom isthmus.policies.onnx import read_onnx\n"
        f"assert 'onnxruntime' not in sys.modules\nread_onnx(Path({str(tmp_path / 'policy.onnx')!r}))"
    )
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY" and "XDG" not in name}
    places = {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=kept | places)
    assert not [*home.rglob("*"), *temporary.rglob("*")]
