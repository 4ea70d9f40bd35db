"""A gap is a value: what differs between source and target, and by how much."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Problem, WorldSpec, unknown_name
from isthmus.gaps.actuation import action_channel
from isthmus.gaps.kind import GapKind
from isthmus.gaps.kinds import KINDS
from isthmus.gaps.mixture import draw
from isthmus.gaps.placement import PLACEMENT
from isthmus.gaps.sensing import sensor_channel
from isthmus.sim import Channel, RobotModel
from isthmus.sim.anatomy import robot_bodies

RUNGE_KUTTA_LIMIT = 2.5
"""A damped motion grows instead of dying out past 2.79 times the step over its time constant; some poses are worse."""


def too_stiff(model: mujoco.MjModel) -> bool:
    """Whether damping brings a joint to rest faster than the simulation steps.

    The other integrators of MuJoCo treat damping implicitly and do not mind.
    """
    if model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4:
        return False
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    rates = np.linalg.eigvals(np.linalg.solve(inertia, np.diag(model.dof_damping)))
    return bool((rates.real * model.opt.timestep > RUNGE_KUTTA_LIMIT).any())


Setting = tuple[str, float]
"""A dial, perhaps with the body it is for, and its value: ("mass:torso", 1.3)."""


@dataclass(frozen=True)
class Gap:
    """Settings of dials; they are kept in the order in which they act, whatever order they are given in."""

    settings: tuple[Setting, ...] = ()
    random: int | None = None
    """The seed of a random gap that has yet to be drawn for a robot."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense, for any robot."""
        names = [name for name, _ in self.settings]
        for name, value in self.settings:
            kind, _ = _dial(name)
            if not kind.admits(value):
                raise _not_a_value(kind, name, f"{name}={kind.text(value)}")
            if names.count(name) > 1:
                raise Problem(f"gap {name!r} is given twice: give it once")
            if kind.beside and kind.beside not in names:
                main = KINDS[kind.beside]
                raise Problem(
                    f"gap {name!r} means nothing without {main.name}, "
                    f"as in {main.name}={main.example:g},{name}={kind.text(value)}"
                )
        if self.random is not None and self.random < 0:
            raise Problem(f"a random gap needs a seed of at least 0, as in random:0, got {self.random}")
        order = list(KINDS)
        ordered = sorted(self.settings, key=lambda setting: (order.index(_dial(setting[0])[0].name), setting[0]))
        object.__setattr__(self, "settings", tuple(ordered))

    @staticmethod
    def parse(text: str) -> "Gap":
        """Read `tilt=90`, `gravity=1.2,mass:torso=1.3` or `random:7`; `none` is no gap."""
        if text.strip() in ("", "none"):
            return Gap()
        settings: list[Setting] = []
        seeds: list[int] = []
        for part in text.split(","):
            name, _, number = part.partition("=")
            name = ":".join(piece.strip() for piece in name.split(":"))
            if name.partition(":")[0] == "random":
                seeds.append(_seed(part))
                continue
            kind, _ = _dial(name)
            try:
                settings.append((name, kind.parse(number)))
            except ValueError:
                raise _not_a_value(kind, name, part.strip()) from None
        if len(seeds) > 1:
            raise Problem(f"there are {len(seeds)} random gaps in {text!r}: give one")
        return Gap(tuple(settings), *seeds)

    def __str__(self) -> str:
        """The text that `parse` reads back as this gap."""
        parts = [f"{name}={_dial(name)[0].text(value)}" for name, value in self.settings]
        return ",".join(parts if self.random is None else [f"random:{self.random}", *parts]) or "none"

    def resolve(self, model: mujoco.MjModel) -> "Gap":
        """This gap with nothing left to draw: a random one becomes what its seed means for the robot `model`.

        Dials that are given besides keep their value.
        """
        if self.random is None:
            return self
        given = {kind.name for kind, _, _ in self._dials()}
        drawn = [
            (name, value)
            for name, value in draw(self.random, model)
            if not {_dial(name)[0].name, _dial(name)[0].beside} & given
        ]
        return Gap((*drawn, *self.settings))

    def apply(self, model: mujoco.MjModel) -> mujoco.MjModel:
        """A copy of `model` with this gap in it; a gap that does not fit the robot is a Problem."""
        changed = copy.copy(model)
        gap = self.resolve(model)
        for kind, body, value in gap._dials():
            if body and body not in (bodies := robot_bodies(model)):
                raise unknown_name("body", body, bodies)
            if reason := kind.misfit(changed, body):
                raise Problem(f"gap {kind.name!r} does not fit this robot: {reason}")
            if kind.apply is not None and value != kind.neutral:
                kind.apply(changed, value, body)
        if any(kind in PLACEMENT for kind, _, _ in gap._dials()):
            mujoco.mj_setConst(changed, mujoco.MjData(changed))
        if gap.settings and too_stiff(changed):
            raise Problem(f"gap {gap} cannot be simulated on this robot: use less damping, or more mass or armature")
        return changed

    def action_channel(self, spec: WorldSpec, n: int) -> Channel | None:
        """What lies between the commands and the actuators of n robots, if anything does."""
        return action_channel(self._values(), spec, n)

    def sensor_channel(self, spec: WorldSpec, n: int, robot_model: RobotModel | None = None) -> Channel | None:
        """What lies between the sensors and the observations of n robots, if anything does.

        Gaps that concern an IMU or hide something are known of a `robot_model` only.
        """
        return sensor_channel(self._values(), spec, n, robot_model)

    def _dials(self) -> Iterator[tuple[GapKind, str, float]]:
        for name, value in self.settings:
            yield (*_dial(name), value)

    def _values(self) -> dict[str, float]:
        if self.random is not None:
            raise ValueError(f"{self} has yet to be drawn: resolve it for a robot first")
        return dict(self.settings)


def _dial(name: str) -> tuple[GapKind, str]:
    """The kind of gap and the body that a setting is for."""
    name, colon, body = name.partition(":")
    if name not in KINDS:
        raise unknown_name("gap", name, [*KINDS, "random"])
    kind = KINDS[name]
    if kind.body == "no" and colon:
        raise Problem(f"gap {name!r} is not for one body: give {name}={kind.example:g}")
    if kind.body != "no" and not body and (colon or kind.body == "yes"):
        raise Problem(f"gap {name!r} needs the name of a body, as in {name}:BODY={kind.example:g}")
    return kind, body


def _not_a_value(kind: GapKind, name: str, given: str) -> Problem:
    return Problem(f"gap {given!r} needs a {kind.range}, as in {name}={kind.text(kind.example)}")


def _seed(part: str) -> int:
    _, _, seed = part.strip().partition(":")
    if not seed.strip().isdecimal():
        raise Problem(f"gap {part.strip()!r} needs a seed, as in random:7")
    return int(seed)
