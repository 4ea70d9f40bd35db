from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TextIO

import numpy as np
from numpy.typing import NDArray

class Verbosity(Enum):
    SILENT = 0
    FINAL = 1
    ITER = 2
    FULLITER = 3

@dataclass(frozen=True)
class IterLog:
    candidate: NDArray[np.float64]
    objective: np.float64
    reduction: np.float64
    regularizer: np.float64
    residual: NDArray[np.float64] | None = ...
    jacobian: NDArray[np.float64] | None = ...
    grad: NDArray[np.float64] | None = ...
    step: NDArray[np.float64] | None = ...

class Norm:
    def value(self, r: NDArray[np.float64]) -> np.float64: ...
    def grad_hess(
        self, r: NDArray[np.float64], proj: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def least_squares(
    x0: NDArray[np.float64],
    residual: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    bounds: Sequence[NDArray[np.float64]] | None = ...,
    jacobian: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]] | None = ...,
    norm: Norm = ...,
    eps: float = ...,
    mu_min: float = ...,
    mu_max: float = ...,
    mu_factor: float = ...,
    xtol: float = ...,
    gtol: float = ...,
    max_iter: int = ...,
    verbose: Verbosity | int = ...,
    output: TextIO | None = ...,
    iter_callback: Callable[[list[IterLog]], None] | None = ...,
    check_derivatives: bool = ...,
    x_scale: float | NDArray[np.float64] | Literal["jac"] | None = ...,
) -> tuple[NDArray[np.float64], list[IterLog]]: ...
