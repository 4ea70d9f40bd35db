"""Gaps in where a robot's masses and joints are, which no drawing gets quite right.

They come for many bodies at once, so that what MuJoCo derives from the model is left to whoever applies them all.
"""

import copy
from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.gaps.kind import GapKind
from isthmus.sim.anatomy import bodies_of

MOST = 0.2
"""Metres: further off it is another robot."""


Move = Callable[[mujoco.MjModel, float, str], None]


def _mass_misfit(move: Move) -> Callable[[mujoco.MjModel, str], str | None]:
    def misfit(model: mujoco.MjModel, body: str) -> str | None:
        if not model.body_mass[bodies_of(model, body)].any():
            return "it has no mass to move"
        return None if _matters(model, move, body) else "no joint notices where its mass is along that axis"

    return misfit


def _joint_misfit(move: Move) -> Callable[[mujoco.MjModel, str], str | None]:
    def misfit(model: mujoco.MjModel, body: str) -> str | None:
        link = model.body(body).id
        if not model.body_jntnum[link]:
            return f"{body!r} has no joint"
        if not model.body_parentid[link]:
            return f"{body!r} hangs on nothing: its joint is its position"
        return None if _matters(model, move, body) else "no joint notices where that one is along that axis"

    return misfit


def _matters(model: mujoco.MjModel, move: Move, body: str) -> bool:
    """Whether inertia or gravity at the joints changes, in a pose without symmetry."""
    changed = copy.copy(model)
    move(changed, MOST, body)
    felt: list[Float] = []
    for one in (model, changed):
        data, full = mujoco.MjData(one), np.zeros((one.nv, one.nv))
        mujoco.mj_integratePos(one, data.qpos, 0.3 + 0.1 * np.arange(one.nv), 1.0)
        mujoco.mj_forward(one, data)
        mujoco.mj_fullM(one, data, full)
        felt.append(np.concatenate((full.ravel(), data.qfrc_bias)))
    return not np.allclose(felt[0], felt[1], rtol=1e-6, atol=1e-9)


def _move_mass(axis: int) -> Move:
    def apply(model: mujoco.MjModel, metres: float, body: str) -> None:
        which = bodies_of(model, body)
        model.body_ipos[which, axis] += metres
        # Where MuJoCo takes the inertia to lie in the body's own frame, it does not look at its position.
        model.body_sameframe[which] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE.value

    return apply


def _move_joint(axis: int) -> Move:
    def apply(model: mujoco.MjModel, metres: float, body: str) -> None:
        model.body_pos[model.body(body).id, axis] += metres

    return apply


PLACEMENT = tuple(
    GapKind(
        name=f"com-{axis}",
        summary=f"centre of mass of all bodies or of one, moved along the body's own {axis} axis",
        touches="model",
        unit="m",
        low=-MOST,
        high=MOST,
        neutral=0.0,
        example=0.02,
        body="perhaps",
        misfit=_mass_misfit(_move_mass(number)),
        apply=_move_mass(number),
    )
    for number, axis in enumerate("xyz")
) + tuple(
    GapKind(
        name=f"joint-{axis}",
        summary=f"where a body's joint is attached, moved along its parent's {axis} axis, and all it carries with it",
        touches="model",
        unit="m",
        low=-MOST,
        high=MOST,
        neutral=0.0,
        example=0.02,
        body="yes",
        misfit=_joint_misfit(_move_joint(number)),
        apply=_move_joint(number),
    )
    for number, axis in enumerate("xyz")
)
