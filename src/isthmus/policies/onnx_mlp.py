"""A plain network in an ONNX file as an `Mlp`, so that it can be trained on.

The nodes from input to output are followed. Whatever is linear between two activations is one layer:

    x -> (x - mean) / scale -> clip -> W1 x + b1 -> tanh -> ... -> Wn x + bn [-> tanh, and scaled to between limits]

The result is compared with what ONNX Runtime makes of the file, and a network that differs is refused.
"""

from dataclasses import dataclass, field

import numpy as np

from isthmus.core import Float, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.io.bounded import Unreadable
from isthmus.policies.network import NetworkPolicy, Squash
from isthmus.policies.normaliser import Normaliser
from isthmus.policies.onnx import OnnxPolicy
from isthmus.policies.onnx_nodes import Node, read_graph
from isthmus.policies.onnx_trial import TYPES

ACTIVATIONS: dict[str, Activation] = {"Tanh": "tanh", "Relu": "relu"}
PASSED_ON = ("Identity", "Cast", "Flatten", "Dropout")
SHOWN, ALIKE = 64, 1e-4
"""Observations that are tried, and the largest difference of an action."""


@dataclass
class _Chain:
    """What was followed so far: whole layers, and the linear map since the last activation."""

    weight: Float
    """(inputs, now)."""
    bias: Float
    diagonal: bool = True
    """Whether the map scales every number by itself."""
    layers: list[tuple[Float, Float]] = field(default_factory=list[tuple[Float, Float]])
    activations: list[Activation] = field(default_factory=list[Activation])
    normaliser: Normaliser | None = None
    limits: tuple[Float, Float] = (np.array(-np.inf), np.array(np.inf))
    """What actions are clipped to in the end."""
    half: dict[str, Float] = field(default_factory=dict[str, Float])
    """One side of a clip that is written as a maximum and a minimum."""

    @staticmethod
    def of(size: int) -> "_Chain":
        return _Chain(np.eye(size), np.zeros(size))

    def linear(self, weight: Float, bias: Float | float = 0.0) -> None:
        """Go through x W + b."""
        self.weight, self.bias, self.diagonal = self.weight @ weight, self.bias @ weight + bias, False

    def scaled(self, factor: Float, shift: Float) -> None:
        """Go through x * factor + shift, number by number."""
        self.weight, self.bias = self.weight * factor, self.bias * factor + shift

    def activate(self, name: Activation) -> None:
        """End a layer."""
        self.layers.append((self.weight, self.bias))
        self.activations.append(name)
        size = self.weight.shape[1]
        self.weight, self.bias, self.diagonal = np.eye(size), np.zeros(size), True

    def bound(self, operator: str, limit: Float) -> None:
        """Go through a maximum or a minimum with a constant: two of them are a clip."""
        self.half[operator] = limit
        if len(self.half) == 2:
            low, high = self.half.pop("Max"), self.half.pop("Min")
            self.clip(low, high)

    def clip(self, low: Float, high: Float) -> None:
        """A clip of standardised observations, or of actions."""
        if not self.layers and self.diagonal and (low == -high).all() and np.ptp(high) == 0:
            factor = np.diag(self.weight)
            if (factor <= 0).any():
                raise Unreadable("it turns observations round before it clips them")
            self.normaliser = Normaliser(-self.bias / factor, 1 / factor, float(high.flat[0]))
            self.weight, self.bias = np.eye(len(factor)), np.zeros(len(factor))
        else:
            self.limits = low, high

    def check_limits(self, low: Float, high: Float) -> None:
        """Refuse actions that are clipped to less than the actuators' limits, each (act,)."""
        if (self.limits[0] > low).any() or (self.limits[1] < high).any():
            raise Unreadable("it clips actions to less than the actuators' limits")

    def finish(self, given: Normaliser | None) -> tuple[Mlp, tuple[Float, Float] | None]:
        """The network, and the limits that its actions are taken to if there are any.

        `given` is a normaliser that comes beside the file.
        """
        if given is not None and self.normaliser is not None:
            raise Unreadable("it has a normaliser of its own beside the one that is given")
        layers, activations, squash = list(self.layers), list(self.activations), None
        if self.diagonal and activations and activations[-1] == "tanh":
            middle, half = self.bias, np.abs(np.diag(self.weight))
            squash = middle - half, middle + half
            weight, bias = layers.pop()
            sign = np.sign(np.diag(self.weight))
            weight, bias = weight * sign, bias * sign
            activations.pop()
        else:
            weight, bias = self.weight, self.bias
        layers.append((weight, bias))
        if len(set(activations)) > 1 or not activations:
            raise Unreadable("its layers have several activations, or none")
        outputs = len(layers[-1][1])
        standardised = given or self.normaliser or Normaliser.identity(len(layers[0][0]))
        network = Mlp(
            weights=tuple(one.astype(np.float32) for one, _ in layers),
            biases=tuple(np.asarray(one, np.float32) for _, one in layers),
            activation=activations[0],
            input_mean=standardised.mean,
            input_scale=standardised.scale,
            output_mean=np.zeros(outputs),
            output_scale=np.ones(outputs),
            input_clip=standardised.clip,
        )
        return network, squash


def as_network(policy: OnnxPolicy, low: Float, high: Float) -> NetworkPolicy:
    """The same policy as a network of ours, on a robot with actuators between `low` and `high` (act,).

    Raises `Problem` for a file that is anything but a plain network.
    """
    file = policy.file
    if file.memory:
        raise Problem("this policy has a memory, and cannot be trained on: only a plain network can")
    try:
        chain = _followed(file.content, file.input, policy.output, file.inputs)
        chain.check_limits(low, high)
        network, squash = chain.finish(policy.normaliser)
    except (Unreadable, ValueError, IndexError, KeyError) as error:
        raise Problem(
            f"this ONNX policy cannot be trained on, as it is not a plain network of tanh or ReLU layers ({error})"
        ) from error
    made = NetworkPolicy(network, policy.see, None if squash is None else Squash(*squash))
    _compare(policy, made, chain.limits)
    return made


def _compare(policy: OnnxPolicy, made: NetworkPolicy, limits: tuple[Float, Float]) -> None:
    """Refuse a network that does not act as the file does."""
    seen = np.random.default_rng(0).normal(size=(SHOWN, policy.file.inputs)).astype(TYPES[policy.file.type])
    rows = [seen[i : i + 1] for i in range(SHOWN)] if policy.file.one_by_one else [seen]
    given = policy.normaliser
    shown = [row if given is None else given(row.astype(np.float64)).astype(row.dtype) for row in rows]
    theirs = np.concatenate(
        [
            np.reshape(policy.file.session.run([policy.output], {policy.file.input: row})[0], (len(row), -1))
            for row in shown
        ]
    )
    outputs = made.network(seen.astype(np.float64))
    ours = np.clip(outputs if made.squash is None else made.squash(outputs), *limits)
    if ours.shape != theirs.shape or np.abs(ours - theirs).max() > ALIKE * max(np.abs(theirs).max(), 1.0):
        raise Problem("this ONNX policy cannot be trained on: it is no plain network, and acts differently as one")


def _followed(content: bytes, start: str, end: str, size: int) -> _Chain:
    """The chain of nodes from the input to the output."""
    nodes, constants = read_graph(content)
    by_input = {name: node for node in nodes for name in node.inputs if name not in constants}
    chain, now = _Chain.of(size), start
    for _ in range(len(nodes)):
        if now == end:
            return chain
        node = by_input[now]
        _go(chain, node, node.inputs.index(now), constants)
        now = node.outputs[0]
    if now != end:
        raise Unreadable("its nodes are no chain from observation to action")
    return chain


def _go(chain: _Chain, node: Node, place: int, constants: dict[str, np.ndarray]) -> None:
    others = [constants[name].astype(np.float64) for name in node.inputs if name in constants]
    if chain.half and node.operator not in ("Max", "Min", *PASSED_ON):
        raise Unreadable("it limits numbers on one side only")
    if node.operator in ACTIVATIONS:
        chain.activate(ACTIVATIONS[node.operator])
    elif node.operator in ("Gemm", "MatMul"):
        if place:
            raise Unreadable("it multiplies from the other side")
        weight = others[0].T if node.attributes.get("transB") else others[0]
        factor, share = float(node.attributes.get("alpha", 1.0)), float(node.attributes.get("beta", 1.0))
        chain.linear(factor * weight, share * others[1].ravel() if len(others) > 1 else 0.0)
    elif node.operator in ("Add", "Sub", "Mul", "Div"):
        chain.scaled(*_elementwise(node.operator, place, others[0].ravel(), chain.weight.shape[1]))
    elif node.operator == "Clip":
        given = [np.asarray(node.attributes.get(name, end)) for name, end in (("min", -np.inf), ("max", np.inf))]
        chain.clip(*(others if len(others) == 2 else given))
    elif node.operator in ("Max", "Min"):
        chain.bound(node.operator, others[0])
    elif node.operator not in PASSED_ON:
        raise Unreadable(f"it has a node {node.operator[:40]!r}")


def _elementwise(operator: str, place: int, other: Float, size: int) -> tuple[Float, Float]:
    """The factor and the shift (size,) of an operation with a constant."""
    one, zero = np.ones(size), np.zeros(size)
    if operator == "Add":
        return one, zero + other
    if operator == "Sub":
        return (-one, zero + other) if place else (one, zero - other)
    if operator == "Mul":
        return one * other, zero
    if place:
        raise Unreadable("it divides by what it sees")
    return one / other, zero
