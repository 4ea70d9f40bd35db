"""The networks that a control step asks, as ONNX, and a policy whose networks ONNX Runtime runs."""

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from isthmus.core import AnyPolicy, Float, Float32, Mlp
from isthmus.deploy.onnx_graph import OnnxGraph
from isthmus.policies.onnx import Session

PARTS = ("policy", "inverse", "network", "clone")
"""Attributes of policies that lead to the networks which they ask."""
INPUTS, OUTPUTS = "inputs", "outputs"


def network_onnx(network: Mlp) -> bytes:
    """The network as ONNX, in the precision in which NumPy computes it: double outside, single within the layers."""
    graph = OnnxGraph("network")
    outputs = add_network(graph, network, INPUTS)
    return graph.content(INPUTS, network.input_size, outputs, OUTPUTS, network.output_size)


def add_network(graph: OnnxGraph, network: Mlp, inputs: str) -> str:
    """Add a network to a graph; returns the name of its outputs."""
    if network.input_clip < np.inf:
        centred = graph.add("Sub", inputs, graph.constant(network.input_mean))
        scaled = graph.add("Div", centred, graph.constant(network.input_scale))
        above = graph.add("Max", scaled, graph.constant(-network.input_clip))
        inputs = graph.add("Min", above, graph.constant(network.input_clip))
    inner, (weight, bias) = network.layers
    hidden = graph.add("Cast", inputs, to=1)
    for inner_weight, inner_bias in inner:
        product = graph.add("MatMul", hidden, graph.constant(inner_weight, "f4"))
        shifted = graph.add("Add", product, graph.constant(inner_bias, "f4"))
        hidden = graph.add("Relu" if network.activation == "relu" else "Tanh", shifted)
    last = graph.add("MatMul", hidden, graph.constant(weight, "f4"))
    return graph.add("Add", graph.add("Cast", last, to=11), graph.constant(bias))


@dataclass(frozen=True)
class OnnxNetwork:
    """Runs in place of an `Mlp`."""

    session: Session

    def __call__(self, inputs: Float | Float32) -> Float:
        """Outputs (n, outputs) for inputs (n, inputs)."""
        return self.session.run([OUTPUTS], {INPUTS: np.asarray(inputs, np.float64)})[0]


def networks_in(policy: AnyPolicy) -> dict[str, Mlp]:
    """Every network that a policy asks, by where it is."""
    found: dict[str, Mlp] = {}

    def keep(name: str, network: Mlp) -> Mlp:
        found[name] = network
        return network

    with_networks(policy, keep)
    return found


def with_networks(policy: AnyPolicy, replace: Callable[[str, Mlp], Any]) -> AnyPolicy:
    """The same policy with what `replace` makes of each of its networks, by the name of where it is."""
    return cast("AnyPolicy", _replaced(policy, replace, ""))


def _replaced(part: Any, replace: Callable[[str, Mlp], Any], where: str) -> Any:  # noqa: ANN401 - any part of a policy
    changed: dict[str, Any] = {}
    for name in PARTS:
        inner = getattr(part, name, None)
        place = f"{where}-{name}".lstrip("-")
        new = replace(place, inner) if isinstance(inner, Mlp) else inner
        if inner is not None and not isinstance(inner, Mlp):
            new = _replaced(inner, replace, place)
        if new is not inner:
            changed[name] = new
    if not changed:
        return part
    if dataclasses.is_dataclass(part):
        return dataclasses.replace(cast("Any", part), **changed)
    other = copy.copy(part)
    for name, value in changed.items():
        setattr(other, name, value)
    return other
