"""Runs an actuator model for n robots: keeps their histories, and gives all torques in one call.

The work is done in C where there is a compiler, and in NumPy otherwise: the results agree to float32.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.parts import ACTIVATIONS, Gru, Pd
from isthmus.core import Bool, Float, Int, Problem
from isthmus.io.native import Library, load

LIBRARY = Library("actuator", (Path(__file__).with_name("actuator.c"),), flags=("-fno-math-errno",))
LANES = 16
"""Rows that the C code evaluates together."""
SETTLE = 50
"""Samples of the first one that a recurrent network is given at the start of an episode."""


class Engine(Protocol):
    """n robots with one actuator model."""

    outside: Int
    """(n,): samples of a joint outside the range of the data, since the engine was made."""
    total: Int
    """(n,): samples of a joint, since the engine was made."""

    def begin(self, worlds: Int | None = None) -> None:
        """Start a new episode in `worlds` (all by default): their next sample fills the history."""
        ...

    def step(
        self, target: Float, position: Float, velocity: Float, worlds: Int | None = None, out: Float | None = None
    ) -> Float:
        """Torques of the m `worlds` (all by default), from targets (m, .) and the state (n, .) of all."""
        ...

    def run(self, target: Float, position: Float, velocity: Float, begins: Bool) -> Float:
        """Torques (T, J) of the first robot along a recording, each (T, J), with new episodes where `begins` (T,)."""
        ...


class Columns:
    """Which columns of targets, positions and velocities belong to each joint, and what torques are multiplied by."""

    def __init__(
        self,
        size: int,
        *,
        target: NDArray[Any] | None = None,
        position: NDArray[Any] | None = None,
        velocity: NDArray[Any] | None = None,
        gain: Float | None = None,
    ) -> None:
        """By default every array has a column for each joint, in order, and torques come out in N m."""
        every = np.arange(size)
        self.target, self.position, self.velocity = (
            np.ascontiguousarray(every if one is None else one, np.int32) for one in (target, position, velocity)
        )
        self.gain = np.ascontiguousarray(np.ones(size) if gain is None else gain, np.float64)


def make_engine(actuator: Actuator, n: int, columns: Columns | None = None, *, native: bool | None = None) -> Engine:
    """An engine for n robots; `native` asks for C or NumPy, and by default takes C where it can be had."""
    columns = columns or Columns(actuator.contract.size)
    if native or (native is None and _compiled()):
        return NativeEngine(actuator, n, columns)
    return NumpyEngine(actuator, n, columns)


@cache
def _compiled() -> bool:
    try:
        load(LIBRARY)
    except (Problem, OSError):
        return False
    return True


class _Rings:
    """The histories of n robots."""

    def __init__(self, actuator: Actuator, n: int) -> None:
        shape = (n, actuator.depth, actuator.contract.size)
        self.target, self.error, self.velocity = (
            np.zeros(shape),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
        )
        self.head, self.fresh = np.zeros(n, np.int32), np.ones(n, np.uint8)
        self.state = np.zeros((n, shape[2], actuator.gru.size if actuator.gru else 0), np.float32)


class NumpyEngine:
    """The engine in NumPy, for machines without a compiler and as the reference that the C code is checked against."""

    def __init__(self, actuator: Actuator, n: int, columns: Columns) -> None:
        """Keep the histories of n robots."""
        self._model, self._at, self._worlds = actuator, columns, np.arange(n)
        self._rings = _Rings(actuator, n)
        self.outside, self.total = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def begin(self, worlds: Int | None = None) -> None:
        """Start a new episode in `worlds` (all by default)."""
        self._rings.fresh[slice(None) if worlds is None else worlds] = 1

    def step(
        self, target: Float, position: Float, velocity: Float, worlds: Int | None = None, out: Float | None = None
    ) -> Float:
        """Torques of the m `worlds` (all by default), from targets (m, .) and the state (n, .) of all."""
        which, at, contract = self._worlds if worlds is None else worlds, self._at, self._model.contract
        asked = target[:, at.target]
        q, v = position[which][:, at.position], velocity[which][:, at.velocity]
        error = asked - q if contract.command == "position" else asked
        self._push(which, asked, error, v)
        torque = np.zeros_like(q)
        if self._model.network is not None:
            torque += self._model.network(self._lagged(which))
        if self._model.gru is not None:
            torque += self._recur(self._model.gru, which, error, v)
        if self._model.pd is not None:
            torque += self._law(self._model.pd, which, q, v)
        self._rings.fresh[which] = 0
        given = np.empty_like(target) if out is None else out
        given[:, at.target] = contract.clip(torque, v) * at.gain
        return given

    def run(self, target: Float, position: Float, velocity: Float, begins: Bool) -> Float:
        """Torques (T, J) of the first robot along a recording, each (T, J), with new episodes where `begins` (T,)."""
        out, first = np.empty_like(target), np.zeros(1, np.int64)
        for row in range(len(target)):
            if begins[row]:
                self.begin(first)
            here = slice(row, row + 1)
            self.step(target[here], position[here], velocity[here], first, out[here])
        return out

    def _push(self, which: Int, asked: Float, error: Float, v: Float) -> None:
        rings, seen = self._rings, self._model.contract.seen
        head = rings.head[which] = (rings.head[which] + 1) % self._model.depth
        new = which[rings.fresh[which] > 0]
        begins = rings.fresh[which] > 0
        for ring, values in ((rings.target, asked), (rings.error, error), (rings.velocity, v)):
            ring[which, head] = values
            ring[new] = values[begins][:, None]
        off = (error < seen[:, 0, 0]) | (error > seen[:, 0, 1]) | (v < seen[:, 1, 0]) | (v > seen[:, 1, 1])
        self.outside[which] += off.sum(axis=1)
        self.total[which] += off.shape[1]

    def _lagged(self, which: Int) -> NDArray[np.float32]:
        slots = (self._rings.head[which][:, None] - np.array(self._model.contract.lags)) % self._model.depth  # (m, k)
        parts = [ring[which[:, None], slots] for ring in (self._rings.error, self._rings.velocity)]  # (m, k, J)
        return np.concatenate(parts, axis=1).transpose(0, 2, 1)

    def _recur(self, gru: Gru, which: Int, error: Float, v: Float) -> Float:
        hidden, inputs = self._rings.state[which], np.stack((error, v), axis=-1)
        begins = self._rings.fresh[which] > 0
        hidden[begins] = 0
        torque, following = gru.step(inputs, hidden)
        if begins.any():
            settled = hidden[begins]
            for _ in range(SETTLE):
                torque[begins], settled = gru.step(inputs[begins], settled)
            following[begins] = settled
        self._rings.state[which] = following
        return torque

    def _law(self, pd: Pd, which: Int, q: Float, v: Float) -> Float:
        whole = np.floor(pd.delay).astype(int)
        part = pd.delay - whole
        head, joints = self._rings.head[which][:, None], np.arange(len(whole))
        near = self._rings.target[which[:, None], (head - whole) % self._model.depth, joints]
        far = self._rings.target[which[:, None], (head - whole - (part > 0)) % self._model.depth, joints]
        asked = near + part * (far - near)
        asked = asked - q if self._model.contract.command == "position" else asked
        drive = np.clip(pd.kp * asked - pd.kd * v, -pd.limit, pd.limit)
        return drive - (pd.coulomb + pd.rub * np.abs(drive)) * np.tanh(v / pd.smooth) - pd.viscous * v + pd.bias


def _pointers(*names: str) -> list[tuple[str, type[ctypes.c_void_p]]]:
    return [(name, ctypes.c_void_p) for name in names]


class _Model(ctypes.Structure):
    """As in actuator.c."""

    _fields_ = [
        *(
            (name, ctypes.c_int32)
            for name in ["joints", "depth", "lag_count", "layers", "activation", "effort_command", "hidden", "widest"]
        ),
        *_pointers("lags", "sizes", "weights", "biases", "joint_bias"),
        *_pointers("kp", "kd", "delay", "limit", "coulomb", "viscous", "bias", "load"),
        ("smooth", ctypes.c_double),
        *_pointers("effort", "saturation", "speed", "seen"),
        *_pointers("input_weight", "hidden_weight", "input_bias", "hidden_bias", "output_weight"),
        ("output_bias", ctypes.c_double),
    ]


class _State(ctypes.Structure):
    """As in actuator.c."""

    _fields_ = _pointers("target", "error", "velocity", "head", "fresh", "state", "outside", "total", "scratch")


class NativeEngine:
    """The engine in C."""

    def __init__(self, actuator: Actuator, n: int, columns: Columns) -> None:
        """Keep the histories of n robots."""
        self._step = load(LIBRARY).actuator_step
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._step.argtypes = (
            pointer, pointer, number, pointer, pointer, number, pointer, number, pointer, number,
            pointer, pointer, pointer, pointer, pointer, ctypes.c_int32, pointer, number,
        )  # fmt: skip
        self._step.restype = None
        self._run = load(LIBRARY).actuator_run
        self._run.argtypes = (pointer, pointer, number, *[pointer] * 9, ctypes.c_int32, pointer)
        self._run.restype = None
        self._keep: list[NDArray[Any]] = []  # C holds no references of its own
        self._known: list[Float | None] = [None] * 4
        self._places = [(0, 0)] * 4
        self._rings, self._size, self._n = _Rings(actuator, n), actuator.contract.size, n
        self.outside, self.total = np.zeros(n, np.int64), np.zeros(n, np.int64)
        widest = self._fill(actuator)
        scratch = np.zeros(2 * widest * LANES + n * self._size + LANES, np.float32)
        rings = self._rings
        each = (
            rings.target,
            rings.error,
            rings.velocity,
            rings.head,
            rings.fresh,
            rings.state,
            self.outside,
            self.total,
        )
        self._state = _State(*(self._held(one) for one in (*each, scratch)))
        self._model_at, self._state_at = ctypes.addressof(self._model), ctypes.addressof(self._state)
        self._columns = tuple(
            self._held(one)
            for one in (columns.target, columns.position, columns.velocity, columns.target, columns.gain)
        )

    def begin(self, worlds: Int | None = None) -> None:
        """Start a new episode in `worlds` (all by default)."""
        self._rings.fresh[slice(None) if worlds is None else worlds] = 1

    def step(
        self, target: Float, position: Float, velocity: Float, worlds: Int | None = None, out: Float | None = None
    ) -> Float:
        """Torques of the m `worlds` (all by default), from targets (m, .) and the state (n, .) of all."""
        given = np.empty_like(target) if out is None else out
        if not len(target):  # NumPy gives an empty array any strides
            return given
        self._step(
            self._model_at, self._state_at, len(target), None if worlds is None else worlds.ctypes.data,
            *self._where(0, target), *self._where(1, position), *self._where(2, velocity), *self._columns, SETTLE,
            *self._where(3, given),
        )  # fmt: skip
        return given

    def run(self, target: Float, position: Float, velocity: Float, begins: Bool) -> Float:
        """Torques (T, J) of the first robot along a recording, each (T, J), with new episodes where `begins` (T,)."""
        arrays = [np.ascontiguousarray(one, np.float64) for one in (target, position, velocity)]
        out, marks = np.empty_like(arrays[0]), np.ascontiguousarray(begins, np.uint8)
        self._run(
            self._model_at, self._state_at, len(out), marks.ctypes.data, *(one.ctypes.data for one in arrays),
            *self._columns, SETTLE, out.ctypes.data,
        )  # fmt: skip
        return out

    def _where(self, role: int, array: Float) -> tuple[int, int]:
        """Address and row length of an array. Asking NumPy takes longer than the network: most arrays come again."""
        if self._known[role] is not array:
            if array.dtype != np.float64 or array.strides[1] != array.itemsize:
                raise ValueError(f"an actuator needs rows of float64, got {array.dtype} with strides {array.strides}")
            self._known[role], self._places[role] = array, (array.ctypes.data, array.strides[0] // array.itemsize)
        return self._places[role]

    def _held(self, array: NDArray[Any]) -> int:
        self._keep.append(array)
        return array.ctypes.data

    def _double(self, array: NDArray[Any]) -> int:
        return self._held(np.ascontiguousarray(array, np.float64))

    def _single(self, arrays: tuple[NDArray[Any], ...]) -> int:
        return self._held(np.concatenate([np.ravel(one) for one in arrays]).astype(np.float32))

    def _fill(self, actuator: Actuator) -> int:
        contract, network, gru = actuator.contract, actuator.network, actuator.gru
        sizes = [network.inputs, *(weight.shape[1] for weight in network.weights)] if network else [1]
        widest = max(*sizes, gru.size if gru else 1, 1) if len(sizes) > 1 else max(gru.size if gru else 1, 1)
        model = self._model = _Model(
            joints=contract.size,
            depth=actuator.depth,
            lag_count=len(contract.lags),
            layers=len(network.weights) if network else 0,
            activation=ACTIVATIONS.index(network.activation) if network else 0,
            effort_command=int(contract.command == "effort"),
            hidden=gru.size if gru else 0,
            widest=widest,
            lags=self._held(np.array(contract.lags, np.int32)),
            sizes=self._held(np.array(sizes, np.int32)),
            effort=self._double(contract.effort_limit),
            saturation=self._double(contract.saturation),
            speed=self._double(contract.speed_limit),
            seen=self._double(contract.seen),
        )
        if network:
            model.weights, model.biases = self._single(network.weights), self._single(network.biases)
            if network.joint_bias is not None:
                model.joint_bias = self._single((network.joint_bias,))
        if actuator.pd:
            for name, values in actuator.pd.arrays().items():
                setattr(model, name, float(values) if name == "smooth" else self._double(values))
        if gru:
            for name, values in gru.arrays().items():
                setattr(model, name, float(values) if name == "output_bias" else self._single((values,)))
        return widest
