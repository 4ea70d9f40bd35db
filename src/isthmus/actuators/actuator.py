"""An actuator model: the terms it may be used on, and the sum of its parts. Saved as npz, with a JSON beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.contract import Contract
from isthmus.actuators.parts import Activation, Gru, Joint, Network, Pd
from isthmus.core import Problem
from isthmus.io import load_arrays, save_arrays, write_json

KIND = "actuator"
LIMITS = ("effort_limit", "saturation", "speed_limit", "seen")
PARTS = ("pd", "network", "gru", "joint")
LARGEST_LAYER = 4096


@dataclass(frozen=True)
class Actuator:
    """Joint torque from the recent errors and velocities of a joint: a PD law, networks, or both together."""

    contract: Contract
    pd: Pd | None = None
    network: Network | None = None
    gru: Gru | None = None
    joint: Joint | None = None
    """Armature, damping and friction that the simulator's joints get with it; None leaves them as they are."""
    name: str = ""
    """The kind of model: `ideal PD`, `MLP 3 x 32`."""

    def __post_init__(self) -> None:
        """Refuse parts that are for other joints or lags."""
        size, inputs = self.contract.size, 2 * len(self.contract.lags)
        if self.pd is None and self.network is None and self.gru is None:
            raise Problem("an actuator needs a PD law or a network")
        if self.pd is not None and len(self.pd.kp) != size:
            raise Problem(f"a PD law of {len(self.pd.kp)} joints does not fit an actuator of {size}")
        if self.joint is not None and len(self.joint.armature) != size:
            raise Problem(f"the parameters of {len(self.joint.armature)} joints do not fit an actuator of {size}")
        if self.network is not None:
            if self.network.inputs != inputs:
                raise Problem(
                    f"{len(self.contract.lags)} lags make {inputs} inputs, the network has {self.network.inputs}"
                )
            joint = self.network.joint_bias
            if joint is not None and joint.shape != (size, self.network.weights[0].shape[1]):
                raise Problem(f"joint biases of shape {joint.shape} do not fit an actuator of {size} joints")

    @property
    def depth(self) -> int:
        """How many samples of the past must be kept, the present one included."""
        late = 0 if self.pd is None else int(np.ceil(self.pd.delay.max()))
        return max(self.contract.lags[-1], late) + 1

    def at(self, dt: float) -> "Actuator":
        """This model for samples `dt` apart, with the same lags and delays in time; a Problem where that cannot be."""
        ratio = self.contract.dt / dt
        if abs(ratio - 1) < 1e-3:
            return self
        lags = np.array(self.contract.lags) * ratio
        if self.gru is not None or np.abs(lags - lags.round()).max() > 1e-3 * max(1.0, ratio):
            wanted = (
                "every GRU runs at the rate of its data"
                if self.gru is not None
                else (
                    f"its lags of {', '.join(f'{1e3 * lag:g}' for lag in self.contract.lag_seconds)} ms are not whole "
                    "numbers of steps there"
                )
            )
            raise Problem(
                f"this actuator model was made for steps of {1e3 * self.contract.dt:g} ms and cannot run at "
                f"{1e3 * dt:g} ms: {wanted}"
            )
        pd = None if self.pd is None else replace(self.pd, delay=self.pd.delay * ratio)
        return replace(
            self, contract=replace(self.contract, dt=dt, lags=tuple(int(lag) for lag in lags.round())), pd=pd
        )

    def save(self, path: Path) -> None:
        """Write the model to `path` (npz) and its terms to a JSON file beside it."""
        if path.suffix != ".npz":
            raise Problem(f"an actuator model is an npz file, got {path}: give a name that ends in .npz")
        arrays: dict[str, NDArray[Any]] = {name: np.asarray(getattr(self.contract, name)) for name in LIMITS}
        for part in PARTS:
            if (one := getattr(self, part)) is not None:
                arrays |= {f"{part}/{key}": value for key, value in one.arrays().items()}
        terms = self.terms()
        save_arrays(path, arrays, {"kind": KIND} | terms)
        write_json(path.with_suffix(".json"), terms | {name: _finite(getattr(self.contract, name)) for name in LIMITS})

    def terms(self) -> dict[str, Any]:
        """What a reader must know besides the arrays."""
        contract = self.contract
        return {
            "name": self.name,
            "parts": [part for part in PARTS if getattr(self, part) is not None],
            "activation": self.network.activation if self.network else None,
            "joints": list(contract.joints),
            "dt": contract.dt,
            "lags": list(contract.lags),
            "torque_scale": contract.torque_scale,
            "command": contract.command,
            "provenance": dict(contract.provenance),
        }


def load_actuator(path: Path) -> Actuator:
    """The model in a file that `Actuator.save` wrote; nothing in it is executed."""
    arrays, meta = load_arrays(path, KIND, follow=True)
    try:
        contract = Contract(
            joints=tuple(_text(joint) for joint in _list(meta["joints"])),
            dt=float(meta["dt"]),
            lags=tuple(int(lag) for lag in _list(meta["lags"])),
            torque_scale=float(meta["torque_scale"]),
            **{name: np.asarray(arrays[name], np.float64) for name in LIMITS},
            command="effort" if meta["command"] == "effort" else "position",
            provenance=_object(meta.get("provenance", {})),
        )
        parts = {part: _part(part, arrays, meta) for part in PARTS if part in _list(meta["parts"])}
        return Actuator(contract, **cast("dict[str, Any]", parts), name=_text(meta.get("name", ""))[:80])
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise Problem(f"{path} is not an {KIND} file, or it is damaged ({type(error).__name__}: {error})") from error
    except Problem as error:
        raise Problem(f"{path} is not a usable {KIND} file: {error}") from error


def _part(part: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Pd | Network | Gru | Joint:
    own = {key.removeprefix(f"{part}/"): value for key, value in arrays.items() if key.startswith(f"{part}/")}
    if any(max(value.shape, default=0) > LARGEST_LAYER for value in own.values()):
        raise ValueError(f"a layer is wider than {LARGEST_LAYER}")
    if part == "pd":
        return Pd.from_arrays(own)
    if part == "joint":
        return Joint.from_arrays(own)
    return Gru.from_arrays(own) if part == "gru" else Network.from_arrays(own, cast("Activation", meta["activation"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is not a name")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{str(value)[:40]!r} is not a list")
    return cast("list[Any]", value)


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("its provenance is not an object")
    return cast("dict[str, Any]", value)


def _finite(array: NDArray[Any]) -> object:
    """Nested lists with None for what is infinite, since JSON has no such number."""
    if array.ndim > 1:
        return [_finite(row) for row in array]
    return [float(value) if np.isfinite(value) else None for value in array]
