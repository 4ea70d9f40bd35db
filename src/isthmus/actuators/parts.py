"""The parts that an actuator model is made of: a PD law with losses, a feed-forward network, a recurrent one."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Float32, Problem

Activation = Literal["softsign", "tanh", "relu", "elu"]
ACTIVATIONS: tuple[Activation, ...] = ("softsign", "tanh", "relu", "elu")
SMOOTH = 0.05
"""Speed in rad/s at which dry friction has nearly its full size."""


@dataclass(frozen=True)
class Pd:
    """torque = drive - (coulomb + load |drive|) tanh(v / smooth) - viscous v + bias.

    The drive is clip(kp (target[t - delay] - q) - kd v) to its limit.
    """

    kp: Float
    """(J,) N m/rad; for an effort command the gain of the command."""
    kd: Float
    """(J,) N m s/rad."""
    delay: Float
    """(J,) samples that a target takes to arrive; between two samples it is interpolated."""
    limit: Float
    """(J,) N m: where the drive saturates, before friction."""
    coulomb: Float
    """(J,) N m."""
    viscous: Float
    """(J,) N m s/rad."""
    bias: Float
    """(J,) N m."""
    smooth: float = SMOOTH
    load: Float | None = None
    """(J,): friction of gears under load, as a share of the drive's torque; none when not given."""

    def __post_init__(self) -> None:
        """Refuse numbers that no drive has."""
        size = len(self.kp)
        if self.load is None:
            object.__setattr__(self, "load", np.zeros(size))
        for one in fields(self):
            if one.name == "smooth":
                continue
            array = np.array(getattr(self, one.name), dtype=np.float64)
            if array.shape != (size,) or np.isnan(array).any():
                raise Problem(f"{one.name} of a PD law of {size} joints has shape {array.shape}")
            array.flags.writeable = False
            object.__setattr__(self, one.name, array)
        if (self.delay < 0).any() or (self.limit <= 0).any() or not self.smooth > 0:
            raise Problem("a PD law needs delays of at least 0 and positive limits")
        if not np.isfinite(
            np.concatenate((self.kp, self.kd, self.delay, self.coulomb, self.viscous, self.bias, self.rub))
        ).all():
            raise Problem("a PD law must consist of finite numbers, but for its limit")

    @property
    def rub(self) -> Float:
        """(J,): friction under load, as a share of the drive's torque."""
        return np.zeros(len(self.kp)) if self.load is None else self.load

    @staticmethod
    def ideal(kp: Float, kd: Float) -> "Pd":
        """The law as it is written in a data sheet: no delay, no friction, no limit."""
        zero = np.zeros(len(kp))
        return Pd(kp, kd, zero, np.full(len(kp), np.inf), zero, zero, zero)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers of the law, by name."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> "Pd":
        """The law whose `arrays()` these are."""
        named = {one.name: np.asarray(arrays[one.name], np.float64) for one in fields(Pd) if one.name != "smooth"}
        return Pd(**named, smooth=float(arrays["smooth"]))


@dataclass(frozen=True)
class Joint:
    """What the simulator's joints need beside the torque: found by replay, where both are fitted together."""

    armature: Float
    """(J,) kg m2: inertia of the rotor, seen at the joint."""
    damping: Float
    """(J,) N m s/rad."""
    frictionloss: Float
    """(J,) N m."""

    def __post_init__(self) -> None:
        """Refuse numbers that no joint has."""
        for one in fields(self):
            array = np.array(getattr(self, one.name), dtype=np.float64)
            if array.shape != (len(self.armature),) or not np.isfinite(array).all() or (array < 0).any():
                raise Problem(f"{one.name} of {len(self.armature)} joints must be as many numbers of at least 0")
            array.flags.writeable = False
            object.__setattr__(self, one.name, array)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> "Joint":
        """The joint whose `arrays()` these are."""
        return Joint(**{one.name: np.asarray(arrays[one.name], np.float64) for one in fields(Joint)})


@dataclass(frozen=True)
class Network:
    """Layers of `x @ weight + bias` on raw inputs: all scaling is in the weights. No hidden layer makes it linear.

    The inputs are the errors at all lags, newest first, then the velocities at all lags. One network serves all joints;
    `joint_bias` tells them apart, as a one-hot input would.
    """

    weights: tuple[Float32, ...]
    """Each (inputs, outputs)."""
    biases: tuple[Float32, ...]
    joint_bias: Float32 | None = None
    """(J, outputs of the first layer), added to its bias."""
    activation: Activation = "softsign"

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        if self.activation not in ACTIVATIONS:
            raise Problem(f"unknown activation {str(self.activation)[:20]!r}: choose from {', '.join(ACTIVATIONS)}")
        width = self.weights[0].shape[0]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            if weight.ndim != 2 or weight.shape[0] != width or bias.shape != (weight.shape[1],):
                raise Problem(
                    f"a layer of weights {weight.shape} and biases {bias.shape} does not follow {width} values"
                )
            width = weight.shape[1]
        if width != 1:
            raise Problem(f"an actuator network gives one torque, this one gives {width} numbers")
        numbers = (*self.weights, *self.biases, *(() if self.joint_bias is None else (self.joint_bias,)))
        if not all(np.isfinite(one).all() for one in numbers):
            raise Problem("an actuator network must consist of finite numbers")

    @property
    def inputs(self) -> int:
        """How many numbers go in for each joint."""
        return self.weights[0].shape[0]

    def __call__(self, inputs: Float | Float32) -> Float:
        """Torques (..., J) for inputs (..., J, 2 k)."""
        hidden = inputs.astype(np.float32) @ self.weights[0] + self.biases[0]
        if self.joint_bias is not None:
            hidden = hidden + self.joint_bias
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden = activate(hidden, self.activation) @ weight + bias
        return hidden[..., 0].astype(np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and biases by name."""
        named: dict[str, NDArray[Any]] = {}
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            named |= {f"weight_{layer}": weight, f"bias_{layer}": bias}
        return named if self.joint_bias is None else named | {"joint_bias": self.joint_bias}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], activation: Activation) -> "Network":
        """The network whose `arrays()` these are."""
        layers = sum(name.startswith("weight_") for name in arrays)
        if not layers:
            raise KeyError("weight_0")
        each = {
            part: tuple(np.asarray(arrays[f"{part}_{layer}"], np.float32) for layer in range(layers))
            for part in ("weight", "bias")
        }
        joint = np.asarray(arrays["joint_bias"], np.float32) if "joint_bias" in arrays else None
        return Network(each["weight"], each["bias"], joint, activation)


def activate(values: Float32, activation: Activation) -> Float32:
    """The activation of a hidden layer."""
    if activation == "tanh":
        return np.tanh(values)
    if activation == "relu":
        return np.asarray(np.maximum(values, 0), np.float32)
    if activation == "elu":
        return np.asarray(np.where(values > 0, values, np.expm1(np.minimum(values, 0))), np.float32)
    return np.asarray(values / (1 + np.abs(values)), np.float32)


@dataclass(frozen=True)
class Gru:
    """A gated recurrent unit on the present error and velocity, as torch has it: gates r, z, n."""

    input_weight: Float32
    """(2, 3 h)."""
    hidden_weight: Float32
    """(h, 3 h)."""
    input_bias: Float32
    """(3 h,)."""
    hidden_bias: Float32
    """(3 h,)."""
    output_weight: Float32
    """(h,)."""
    output_bias: float

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        size = self.size
        shapes = {
            "input_weight": (2, 3 * size),
            "hidden_weight": (size, 3 * size),
            "input_bias": (3 * size,),
            "hidden_bias": (3 * size,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise Problem(f"{name} of a GRU of {size} units must be {shape}, got {getattr(self, name).shape}")
        numbers = (*(getattr(self, name) for name in shapes), self.output_weight, np.array(self.output_bias))
        if not all(np.isfinite(one).all() for one in numbers):
            raise Problem("an actuator network must consist of finite numbers")

    @property
    def size(self) -> int:
        """Hidden units."""
        return len(self.output_weight)

    def step(self, inputs: Float, hidden: Float32) -> tuple[Float, Float32]:
        """Torques (...,) and the next state (..., h), from inputs (..., 2) and the state."""
        left = inputs.astype(np.float32) @ self.input_weight + self.input_bias
        right = hidden @ self.hidden_weight + self.hidden_bias
        h = self.size
        reset, update = (
            1 / (1 + np.exp(-(left[..., part] + right[..., part]))) for part in (slice(0, h), slice(h, 2 * h))
        )
        new = np.tanh(left[..., 2 * h :] + reset * right[..., 2 * h :])
        following = ((1 - update) * new + update * hidden).astype(np.float32)
        return (following @ self.output_weight + self.output_bias).astype(np.float64), following

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, by name."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> "Gru":
        """The unit whose `arrays()` these are."""
        named = {one.name: np.asarray(arrays[one.name], np.float32) for one in fields(Gru) if one.name != "output_bias"}
        return Gru(**named, output_bias=float(arrays["output_bias"]))
