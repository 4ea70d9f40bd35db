"""Whether a changed model can still be simulated."""

import mujoco
import numpy as np

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
