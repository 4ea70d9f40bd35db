"""What of a robot's physics a log may tell: delay, friction, motors, inertia, gravity, springs and offsets.

A parameter is a number of the model, counted from the model's own value in steps of a size that would be noticed: z is
0 for the model as it is, and about 1 for what may well be. Replays (`simulate.py`) take values of any of them, for many
simulations at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.replay.rig import UNLIMITED, Rig
from isthmus.replay.scales import Scales

FAMILIES = ("delay", "friction", "motor", "inertia", "gravity", "spring", "offset")
"""Kinds of gap that are told apart."""
Fields = Callable[[str], Float]
"""A model field of all simulations (N, ...), by its name."""
EVERYWHERE = -1
"""In place of a joint: it moves all of them."""


@dataclass(frozen=True)
class Parameter:
    """One number that can be fitted."""

    kind: str
    """As `dry friction`."""
    part: str
    """The joint, body or actuator that it is of; empty for one of the whole robot."""
    family: str
    unit: str
    nominal: float
    """As the model has it."""
    scale: float
    """How far off it may well be: in its own unit, or as a logarithm for a factor."""
    joint: int
    """The recorded joint (0 .. n - 1) whose tree it moves; `EVERYWHERE` for all."""
    write: Callable[[Fields, Float], None] | None = None
    """Put values (N,) into the fields of N simulations; None for what is not in the model: delay, load, zero."""
    factor: bool = False
    """Whether it is counted as a logarithm."""
    low: float = -np.inf
    high: float = np.inf
    index: int = 0
    """Of the joint or actuator that a value outside the model is for."""

    @property
    def name(self) -> str:
        """As `dry friction of elbow`."""
        return f"{self.kind} of {self.part}" if self.part else self.kind

    def value(self, z: Float) -> Float:
        """The value at z, in the parameter's unit."""
        raw = self.nominal * np.exp(self.scale * z) if self.factor else self.nominal + self.scale * z
        return np.clip(raw, self.low, self.high)

    def bounds(self) -> tuple[float, float]:
        """The least and the greatest z."""
        if self.factor:
            return -3.0 / self.scale, 3.0 / self.scale
        return (self.low - self.nominal) / self.scale, (self.high - self.nominal) / self.scale


def parameters(rig: Rig, scales: Scales) -> tuple[Parameter, ...]:
    """All that can be fitted for this robot."""
    return (
        _delay(scales),
        *_joint_parameters(rig, scales),
        *_load(rig),
        *_motors(rig, scales),
        *_bodies(rig),
        *_gravity(rig),
    )


def _delay(scales: Scales) -> Parameter:
    return Parameter(
        "delay of commands", "", "delay", "s", 0.0, max(0.005, scales.dt), EVERYWHERE, low=-scales.dt, high=0.15
    )


def _joint_parameters(rig: Rig, scales: Scales) -> list[Parameter]:
    model, out = rig.model, list[Parameter]()
    for number, (name, dof) in enumerate(zip(rig.joints, rig.dofs.tolist(), strict=True)):
        torque, speed, travel = scales.torque[number], scales.speed[number], scales.travel[number]
        joint = int(model.dof_jntid[dof])
        unit = "N m" if int(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_HINGE.value else "N"
        per = "rad" if unit == "N m" else "m"
        resistance, mass = 0.2 * torque / speed, 0.3 * scales.inertia[number]
        rows = (
            ("dry friction", "friction", unit, _of(model.dof_frictionloss, dof), 0.2 * torque, "dof_frictionloss"),
            ("damping", "friction", f"{unit} s/{per}", _of(model.dof_damping, dof), resistance, "dof_damping"),
            ("armature", "inertia", f"{unit} s2/{per}", float(model.dof_armature[dof]), mass, "dof_armature"),
        )
        for kind, family, its_unit, own, scale, field in rows:
            out.append(Parameter(kind, name, family, its_unit, own, scale, number, _writer(field, dof), low=0.0))
        stiff = _of(model.jnt_stiffness, joint)
        out.append(
            Parameter(
                *("stiffness", name, "spring", f"{unit}/{per}", stiff, 0.2 * torque / travel, number),
                _writer("jnt_stiffness", joint),
                low=0.0,
            )
        )
        out.append(
            Parameter("zero of the sensor", name, "offset", per, 0.0, 0.1 * min(travel, 1.0), number, index=number)
        )
    return out


def _load(rig: Rig) -> list[Parameter]:
    """Gears rub the more, the more they carry: the joints that servos move."""
    driven = sorted({int(one) for one, servo in zip(rig.driven, rig.servos, strict=True) if one >= 0 and servo})
    return [
        Parameter(
            *("friction under load", rig.joints[one], "friction", "of the drive's torque", 0.0, 0.15, one),
            low=0.0,
            high=0.7,
            index=one,
        )
        for one in driven
    ]


def _motors(rig: Rig, scales: Scales) -> list[Parameter]:
    model, out = rig.model, list[Parameter]()
    for name, control, joint in zip(rig.actuators, rig.controls.tolist(), rig.driven.tolist(), strict=True):
        gain, bias = float(model.actuator_gainprm[control, 0]), model.actuator_biasprm[control, :3].copy()
        gear = abs(float(model.actuator_gear[control, 0])) or 1.0
        if gain == 0 or int(model.actuator_gaintype[control]) != mujoco.mjtGain.mjGAIN_FIXED.value:
            continue
        servo = bias[1] != 0
        torque = scales.drive[rig.actuators.index(name)] / gear
        speed = (scales.speed[joint] if joint >= 0 else 1.0) * gear
        out.append(
            Parameter(
                "stiffness of the servo" if servo else "torque constant",
                *(name, "motor", "of the command", gain, 0.4, joint),
                _gain_writer(control, gain, bias if servo else np.zeros(3)),
                factor=True,
            )
        )
        if servo or bias[2] != 0:
            out.append(
                Parameter(
                    "damping of the servo" if servo else "back-EMF",
                    *(name, "motor", "torque a speed", -float(bias[2])),
                    *(max(0.5 * abs(float(bias[2])), 0.1 * torque / speed), joint),
                    _writer("actuator_biasprm", control, 2, sign=-1.0),
                    low=0.0,
                )
            )
        out.append(
            Parameter(
                *("torque offset", name, "offset", "torque", float(bias[0]), 0.1 * torque, joint),
                _offset_writer(control, float(bias[0])),
            )
        )
        most = float(np.abs(model.actuator_forcerange[control]).max())
        start = min(most, 1.2 * scales.peak[rig.actuators.index(name)] / gear)
        if start > 0:
            out.append(
                Parameter(
                    *("torque limit", name, "motor", "torque", most if most < UNLIMITED else start, 0.4, joint),
                    _limit_writer(control),
                    factor=True,
                )
            )
    return out


def _bodies(rig: Rig) -> list[Parameter]:
    """Mass, inertia and centre of mass of what the recorded joints move."""
    model, out = rig.model, list[Parameter]()
    moved = _movers(rig)
    for body, joint in moved.items():
        name = model.body(body).name or f"body {body}"
        mass, inertia = float(model.body_mass[body]), model.body_inertia[body].copy()
        size = float(np.sqrt(inertia.max() / mass)) if mass else 0.0
        if mass <= 0:
            continue
        out.append(Parameter("mass", name, "inertia", "kg", mass, 0.3, joint, _mass_writer(body, mass), factor=True))
        if size > 1e-6:
            out.append(
                Parameter(
                    *("rotational inertia", name, "inertia", "of the model's", 1.0, 0.3, joint),
                    _inertia_writer(body),
                    factor=True,
                )
            )
        reach = max(size, float(np.linalg.norm(model.body_ipos[body])))
        out += [
            Parameter(
                *(f"centre of mass ({'xyz'[axis]})", name, "inertia", "m", float(model.body_ipos[body, axis])),
                *(0.15 * reach, joint),
                _writer("body_ipos", body, axis),
            )
            for axis in range(3)
            if reach > 1e-6
        ]
    return out


def _gravity(rig: Rig) -> list[Parameter]:
    gravity = rig.model.opt.gravity.copy()
    size = float(np.linalg.norm(gravity))
    if not size:
        return []
    down = gravity / size
    across = [axis - down * (axis @ down) for axis in np.eye(3)]
    across = [one / np.linalg.norm(one) for one in sorted(across, key=np.linalg.norm, reverse=True)[:2]]
    names = ["xyz"[int(np.argmax(np.abs(one)))] for one in across]

    def tilted(axis: Float) -> Callable[[Fields, Float], None]:
        def write(fields: Fields, values: Float) -> None:
            fields("opt.gravity")[:] += size * np.tan(values)[:, None] * axis

        return write

    def scaled(fields: Fields, values: Float) -> None:
        fields("opt.gravity")[:] += (values - size)[:, None] * down

    return [
        *(
            Parameter(f"tilt towards {name}", "", "gravity", "rad", 0.0, 0.1, EVERYWHERE, tilted(axis))
            for name, axis in zip(names, across, strict=True)
        ),
        Parameter("gravity", "", "gravity", "m/s2", size, 0.1, EVERYWHERE, scaled, factor=True),
    ]


def _movers(rig: Rig) -> dict[int, int]:
    """The bodies that recorded joints move, each with a joint of its tree."""
    model, mine = rig.model, {int(dof): number for number, dof in enumerate(rig.dofs)}
    out: dict[int, int] = {}
    for body in range(1, model.nbody):
        up = body
        while up:
            first, count = int(model.body_dofadr[up]), int(model.body_dofnum[up])
            moving = [mine[dof] for dof in range(first, first + count) if dof in mine]
            if moving:
                out[body] = moving[0]
                break
            up = int(model.body_parentid[up])
    return out


def _of(values: Float, index: int) -> float:
    """A joint's value; MuJoCo keeps polynomials of damping and stiffness, of which this is the linear term."""
    return float(np.ravel(values[index])[0])


def _writer(field: str, *index: int, sign: float = 1.0) -> Callable[[Fields, Float], None]:
    def write(fields: Fields, values: Float) -> None:
        array = fields(field)
        where = (slice(None), *index, *(0 for _ in range(array.ndim - 1 - len(index))))
        array[where] = sign * values

    return write


def _gain_writer(control: int, gain: float, bias: Float) -> Callable[[Fields, Float], None]:
    """A servo pulls to its target by as much as it pulls away from where it is."""

    def write(fields: Fields, values: Float) -> None:
        fields("actuator_gainprm")[:, control, 0] = values
        if bias[1]:
            fields("actuator_biasprm")[:, control, 1] = bias[1] / gain * values
            fields("actuator_biasprm")[:, control, 0] += bias[0] * (values / gain - 1)

    return write


def _offset_writer(control: int, own: float) -> Callable[[Fields, Float], None]:
    def write(fields: Fields, values: Float) -> None:
        fields("actuator_biasprm")[:, control, 0] += values - own

    return write


def _limit_writer(control: int) -> Callable[[Fields, Float], None]:
    def write(fields: Fields, values: Float) -> None:
        fields("actuator_forcerange")[:, control] = np.stack((-values, values), axis=1)

    return write


def _mass_writer(body: int, mass: float) -> Callable[[Fields, Float], None]:
    def write(fields: Fields, values: Float) -> None:
        fields("body_mass")[:, body] = values
        fields("body_inertia")[:, body] *= (values / mass)[:, None]

    return write


def _inertia_writer(body: int) -> Callable[[Fields, Float], None]:
    def write(fields: Fields, values: Float) -> None:
        fields("body_inertia")[:, body] *= values[:, None]

    return write


def of_families(known: Sequence[Parameter], families: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters of these families."""
    return tuple(one for one in known if one.family in families)
