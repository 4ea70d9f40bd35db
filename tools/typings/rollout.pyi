from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._structs import MjData, MjModel

# Both return the states (nbatch, nstep, nstate) and the sensor data (nbatch, nstep, nsensordata).

class Rollout:
    def __init__(self, *, nthread: int | None = ...) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None: ...
    def close(self) -> None: ...
    def rollout(
        self,
        model: MjModel | Sequence[MjModel],
        data: MjData | Sequence[MjData],
        initial_state: ArrayLike,
        control: ArrayLike | None = ...,
        *,
        control_spec: int = ...,
        skip_checks: bool = ...,
        nstep: int | None = ...,
        initial_warmstart: ArrayLike | None = ...,
        state: NDArray[np.float64] | None = ...,
        sensordata: NDArray[np.float64] | None = ...,
        chunk_size: int | None = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def rollout(
    model: MjModel | Sequence[MjModel],
    data: MjData | Sequence[MjData],
    initial_state: ArrayLike,
    control: ArrayLike | None = ...,
    *,
    control_spec: int = ...,
    skip_checks: bool = ...,
    nstep: int | None = ...,
    initial_warmstart: ArrayLike | None = ...,
    state: NDArray[np.float64] | None = ...,
    sensordata: NDArray[np.float64] | None = ...,
    chunk_size: int | None = ...,
    persistent_pool: bool = ...,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def shutdown_persistent_pool() -> None: ...
