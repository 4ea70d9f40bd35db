"""ANYmals of other masses and sizes: what a policy is trained on so that it need not be told the robot's own."""

import copy

import mujoco
import numpy as np

from isthmus.robots.anymal.model import LEGS

SHIFT = 0.02
"""How far a centre of mass or a joint may be from where the model has it, along each axis, in m."""
HEAVIER = 0.15
"""How much heavier or lighter a link may be, as a share."""


def inertial_models(model: mujoco.MjModel, count: int, rng: np.random.Generator) -> list[mujoco.MjModel]:
    """`count` models whose masses, centres of mass and joint positions are off by uniform draws."""
    return [_drawn(model, rng) for _ in range(count)]


def _drawn(model: mujoco.MjModel, rng: np.random.Generator) -> mujoco.MjModel:
    drawn = copy.copy(model)
    legs = [number for number in range(model.nbody) if model.body(number).name.startswith(LEGS)]
    links = [model.body("base").id, *legs]
    factor = 1 + rng.uniform(-HEAVIER, HEAVIER, len(links))
    drawn.body_mass[links] *= factor
    drawn.body_inertia[links] *= factor[:, None]
    drawn.body_ipos[links] += rng.uniform(-SHIFT, SHIFT, (len(links), 3))
    drawn.body_pos[legs] += rng.uniform(-SHIFT, SHIFT, (len(legs), 3))
    mujoco.mj_setConst(drawn, mujoco.MjData(drawn))
    return drawn
