"""The torque of a model before limits, in double precision: what exports are checked against."""

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.core import Float, Problem


def exact(actuator: Actuator, inputs: Float) -> Float:
    """Torques (n, J), before limits, for lagged errors and velocities (n, J, 2 k)."""
    check_stateless(actuator, "this")
    k = len(actuator.contract.lags)
    torque = np.zeros(inputs.shape[:2])
    if actuator.network is not None:
        network = actuator.network
        hidden = inputs @ network.weights[0].astype(np.float64) + network.biases[0].astype(np.float64)
        if network.joint_bias is not None:
            hidden = hidden + network.joint_bias.astype(np.float64)
        for weight, bias in zip(network.weights[1:], network.biases[1:], strict=True):
            hidden = _active(hidden, network.activation) @ weight.astype(np.float64) + bias.astype(np.float64)
        torque += hidden[..., 0]
    if actuator.pd is not None:
        law, error, velocity = actuator.pd, inputs[..., 0], inputs[..., k]
        drive = np.clip(law.kp * error - law.kd * velocity, -law.limit, law.limit)
        torque += (
            drive
            - (law.coulomb + law.rub * np.abs(drive)) * np.tanh(velocity / law.smooth)
            - law.viscous * velocity
            + law.bias
        )
    return torque


def check_stateless(actuator: Actuator, what: str) -> None:
    """Refuse models that need more than lagged errors and velocities."""
    if actuator.gru is not None:
        raise Problem(
            f"a GRU cannot be exported to {what}, which takes a history and no state: choose --to c or an MLP"
        )
    if actuator.pd is not None and actuator.pd.delay.any():
        raise Problem(
            f"a PD law with a delayed target cannot be exported to {what}, which sees errors and no targets: "
            "choose --to c, or a network without one"
        )
    if actuator.contract.lags[0] != 0:
        raise Problem(f"{what} shows the newest sample first, and this model does not take it")


def _active(values: Float, activation: str) -> Float:
    if activation == "softsign":
        return values / (1 + np.abs(values))
    if activation == "tanh":
        return np.tanh(values)
    if activation == "relu":
        return np.maximum(values, 0)
    return np.where(values > 0, values, np.expm1(np.minimum(values, 0)))
