"""A bare multi-layer perceptron in NumPy: at control rates and n = 1 it is several times faster than torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from isthmus.core.arrays import Float, Float32

Activation = Literal["relu", "tanh"]


@dataclass(frozen=True)
class Mlp:
    """Standardise, then layers of `x @ weight + bias` with an activation between them, then scale back."""

    weights: tuple[Float32, ...]
    """Each (inputs, outputs)."""
    biases: tuple[Float32, ...]
    activation: Activation
    input_mean: Float
    input_scale: Float
    output_mean: Float
    output_scale: Float
    input_clip: float = np.inf
    """Standardised inputs are clipped to this magnitude."""

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        sizes = [self.weights[0].shape[0], *(weight.shape[1] for weight in self.weights)]
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if weight.shape != (sizes[layer], sizes[layer + 1]) or bias.shape != (sizes[layer + 1],):
                raise ValueError(f"layer {layer} has weight {weight.shape} and bias {bias.shape}, after {sizes[layer]}")
        for name, size in (("input_mean", sizes[0]), ("input_scale", sizes[0])):
            if getattr(self, name).shape != (size,):
                raise ValueError(f"{name} has shape {getattr(self, name).shape}, expected ({size},)")
        for name, size in (("output_mean", sizes[-1]), ("output_scale", sizes[-1])):
            if getattr(self, name).shape != (size,):
                raise ValueError(f"{name} has shape {getattr(self, name).shape}, expected ({size},)")
        numbers = (*self.weights, *self.biases, self.input_mean, self.input_scale, self.output_mean, self.output_scale)
        if not all(np.isfinite(array).all() for array in numbers):
            raise ValueError("a network must consist of finite numbers")
        if (self.input_scale <= 0).any() or not self.input_clip > 0:
            raise ValueError("input scales and the input clip must be positive")
        if self.activation not in ("relu", "tanh"):
            raise ValueError(f"unknown activation {self.activation!r}: choose relu or tanh")

    @property
    def input_size(self) -> int:
        """How many numbers go in."""
        return self.weights[0].shape[0]

    @property
    def output_size(self) -> int:
        """How many numbers come out."""
        return self.weights[-1].shape[1]

    def __call__(self, inputs: Float | Float32) -> Float:
        """Outputs (n, outputs) for inputs (n, inputs)."""
        if self.input_clip < np.inf:
            inputs = inputs - self.input_mean
            inputs /= self.input_scale
            np.maximum(inputs, -self.input_clip, out=inputs)
            np.minimum(inputs, self.input_clip, out=inputs)
        hidden = inputs.astype(np.float32, copy=False)
        inner, (weight, bias) = self.layers
        for inner_weight, inner_bias in inner:
            hidden = hidden @ inner_weight
            hidden += inner_bias
            if self.activation == "relu":
                np.maximum(hidden, 0, out=hidden)
            else:
                np.tanh(hidden, out=hidden)
        return hidden @ weight + bias

    @cached_property
    def layers(self) -> tuple[list[tuple[Float32, Float32]], tuple[Float32, Float]]:
        """Inner layers and the last, with all scaling worked into them that is not interrupted by a clip."""
        weights, biases = list(self.weights), list(self.biases)
        if self.input_clip == np.inf:
            scaled = weights[0] / self.input_scale[:, None]
            weights[0] = scaled.astype(np.float32)
            biases[0] = (biases[0] - self.input_mean @ scaled).astype(np.float32)
        last = (weights[-1] * self.output_scale).astype(np.float32)
        inner = list(zip(weights[:-1], biases[:-1], strict=True))
        return inner, (last, biases[-1] * self.output_scale + self.output_mean)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything but the activation, as named arrays for a file."""
        named: dict[str, np.ndarray] = {
            "input_mean": self.input_mean,
            "input_scale": self.input_scale,
            "output_mean": self.output_mean,
            "output_scale": self.output_scale,
            "input_clip": np.array(self.input_clip),
        }
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            named |= {f"weight_{layer}": weight, f"bias_{layer}": bias}
        return named

    @staticmethod
    def from_arrays(arrays: Mapping[str, np.ndarray], activation: Activation) -> "Mlp":
        """The network whose `arrays()` these are; KeyError or ValueError when they are not one."""
        layers = sum(name.startswith("weight_") for name in arrays)
        if not layers:
            raise KeyError("weight_0")
        return Mlp(
            weights=tuple(np.asarray(arrays[f"weight_{layer}"], dtype=np.float32) for layer in range(layers)),
            biases=tuple(np.asarray(arrays[f"bias_{layer}"], dtype=np.float32) for layer in range(layers)),
            activation=activation,
            input_mean=np.asarray(arrays["input_mean"], dtype=np.float64),
            input_scale=np.asarray(arrays["input_scale"], dtype=np.float64),
            output_mean=np.asarray(arrays["output_mean"], dtype=np.float64),
            output_scale=np.asarray(arrays["output_scale"], dtype=np.float64),
            input_clip=float(arrays["input_clip"]),
        )
