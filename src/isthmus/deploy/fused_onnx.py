"""A control step without a simulator as one ONNX graph: observation history in, command out.

The input `history` (batch, k obs + (k-1) act) has k observations, oldest first, and then the k-1 commands between them.
The output `command` (batch, act) is within the actuators' limits.
"""

import numpy as np

from isthmus.adapt.common.response import FAR, LARGEST, Response
from isthmus.core.overflow import NEAR
from isthmus.deploy.fused import FusedStep, Table
from isthmus.deploy.networks import add_network
from isthmus.deploy.onnx_graph import OnnxGraph

HISTORY, COMMAND = "history", "command"


def fused_onnx(step: FusedStep) -> bytes:
    """The content of the file."""
    graph, spec = OnnxGraph("control-step"), step.spec
    low, high = graph.constant(spec.action_low), graph.constant(spec.action_high)
    source = _source(graph, step)
    command = within = graph.add("Min", graph.add("Max", source, low), high)
    if step.response is not None:
        corrected = graph.add("Add", within, _correction(graph, step, step.response, within))
        command = graph.add("Min", graph.add("Max", _keep_overflow(graph, step, source, within, corrected), low), high)
    return graph.content(HISTORY, step.input_size, command, COMMAND, spec.action_size)


def _source(graph: OnnxGraph, step: FusedStep) -> str:
    """The action of the source's policy."""
    first = (step.history - 1) * step.spec.observation_size
    selection = step.selection
    columns = graph.constant(first + np.maximum(selection.columns, 0), "i8")
    shown = graph.add("Gather", HISTORY, columns, axis=1)
    if np.isfinite(selection.low).any():
        shown = graph.add("Max", shown, graph.constant(selection.low))
    if np.isfinite(selection.high).any():
        shown = graph.add("Min", shown, graph.constant(selection.high))
    outputs = add_network(graph, step.network, shown)
    squash = step.squash
    if squash is None:
        return outputs
    if squash.clip < np.inf:
        outputs = graph.add("Min", graph.add("Max", outputs, graph.constant(-squash.clip)), graph.constant(squash.clip))
    share = graph.add("Div", graph.add("Add", graph.add("Tanh", outputs), graph.constant(1.0)), graph.constant(2.0))
    width = graph.constant(squash.high - squash.low)
    return graph.add("Add", graph.constant(squash.low), graph.add("Mul", share, width))


def _correction(graph: OnnxGraph, step: FusedStep, response: Response, within: str) -> str:
    spec, half = step.spec, graph.constant(response.half_range)
    gain = graph.constant(response.inverse_gain)
    first = (step.history - 1) * spec.observation_size
    targets = graph.add("Gather", HISTORY, graph.constant(first + response.targets, "i8"), axis=1)
    centred = graph.add("Sub", targets, graph.constant(response.mean))
    scaled = graph.add("Div", centred, graph.constant(response.scale))
    seen = graph.add("Min", graph.add("Max", scaled, graph.constant(-FAR)), graph.constant(FAR))
    features = [seen, graph.add("Div", within, half)]
    if response.lookback:
        actions = np.arange(step.history * spec.observation_size, step.input_size)
        past = graph.add("Gather", HISTORY, graph.constant(actions, "i8"), axis=1)
        features.append(graph.add("Div", past, graph.constant(np.tile(response.half_range, response.lookback))))
    joined = graph.add("Concat", *features, axis=1)
    errors = graph.add("MatMul", joined, graph.constant(response.weights[1:]))
    errors = graph.add("Add", errors, graph.constant(response.weights[0]))
    against = graph.add("MatMul", graph.add("Neg", errors), gain)
    against = graph.add("Min", graph.add("Max", against, graph.constant(-LARGEST)), graph.constant(LARGEST))
    share = graph.add("Div", graph.add("Sub", within, graph.constant(response.middle)), half)
    total = graph.add("Add", _against_noise(graph, response, share), against)
    return graph.add("Mul", half, total)


def _against_noise(graph: OnnxGraph, response: Response, share: str) -> str:
    """What to add to a wanted effect, in half ranges, for the noise that is expected at the start of an episode."""
    table, disturbance = Table.of(response), response.disturbance
    if table is None:
        offset = 0.0 if disturbance.saturates else (disturbance.prior * disturbance.grid).sum(axis=-1)
        return graph.constant(-np.broadcast_to(offset, disturbance.std.shape) @ response.inverse_gain)
    wide = graph.add("Unsqueeze", share, graph.constant([2], "i8"))  # (n, act, 1)
    linear = graph.add("Mul", wide, graph.constant(2 * table.effect))
    cost = graph.add("Sub", graph.constant(table.squared), linear)
    best = graph.add("ArgMin", cost, axis=2, keepdims=0)
    offsets = np.arange(len(table.commands)) * table.commands.shape[1]
    at = graph.add("Add", best, graph.constant(offsets, "i8"))
    command = graph.add("Gather", graph.constant(table.commands.ravel()), at, axis=0)
    used = graph.constant(table.used, "b1")
    added = graph.add("Where", used, graph.add("Sub", command, share), graph.constant(0.0))
    return graph.add("MatMul", added, graph.constant(response.inverse_gain))


def _keep_overflow(graph: OnnxGraph, step: FusedStep, source: str, within: str, corrected: str) -> str:
    """As `core.keep_overflow`."""
    spec = step.spec
    near = NEAR * (spec.action_high - spec.action_low)
    low, high = graph.constant(spec.action_low), graph.constant(spec.action_high)
    above, below = graph.add("Greater", source, high), graph.add("Less", source, low)
    at_high = graph.add("GreaterOrEqual", corrected, graph.constant(spec.action_high - near))
    at_low = graph.add("LessOrEqual", corrected, graph.constant(spec.action_low + near))
    stays = graph.add("Or", graph.add("And", above, at_high), graph.add("And", below, at_low))
    overflow = graph.add("Sub", source, within)
    return graph.add("Where", stays, graph.add("Add", corrected, overflow), corrected)
