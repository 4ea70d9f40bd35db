from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from isthmus.actuators import Actuator, Contract, Gru, Network, Pd

JOINTS = ("hip", "knee", "ankle")


def contract(lags=(0, 2, 5), *, command="position", dt=0.0025, limit=30.0):
    size = len(JOINTS)
    return Contract(
        JOINTS, dt, lags, 8.0, np.full(size, limit), np.array([25.0, 40.0, np.inf]), np.array([20.0, 30.0, np.inf]),
        np.tile([[-1.0, 1.0], [-5.0, 5.0]], (size, 1, 1)), command=command, provenance={"seed": 3},
    )  # fmt: skip


def law(rng, *, delay=True):
    size = len(JOINTS)
    delays = rng.uniform(0, 3, size) if delay else np.zeros(size)
    return Pd(
        rng.uniform(10, 30, size), rng.uniform(0.5, 2, size), delays, rng.uniform(8, 20, size),
        rng.uniform(0.1, 1, size), rng.uniform(0.1, 0.5, size), rng.normal(0, 0.3, size),
        load=rng.uniform(0, 0.2, size),
    )  # fmt: skip


def network(rng, lags=(0, 2, 5), hidden=(7, 5), activation="softsign", *, told=True):
    sizes = (2 * len(lags), *hidden, 1)
    weights = tuple(rng.normal(0, 0.6, (a, b)).astype(np.float32) for a, b in pairwise(sizes))
    biases = tuple(rng.normal(0, 0.3, size).astype(np.float32) for size in sizes[1:])
    return Network(
        weights, biases, rng.normal(0, 0.4, (len(JOINTS), sizes[1])).astype(np.float32) if told else None, activation
    )


def gru(rng, size=4):
    shapes = ((2, 3 * size), (size, 3 * size), (3 * size,), (3 * size,), (size,))
    return Gru(*(rng.normal(0, 0.5, shape).astype(np.float32) for shape in shapes), output_bias=0.3)


@pytest.fixture
def make() -> Callable[..., Actuator]:
    """Models of three joints with asymmetric random numbers, of the parts that are asked for."""

    def made(*parts, seed=0, activation="softsign", delay=True, **terms):
        rng = np.random.default_rng(seed)
        built = {
            "pd": law(rng, delay=delay), "network": network(rng, activation=activation), "gru": gru(rng),
        }  # fmt: skip
        return Actuator(contract(**terms), **{part: built[part] for part in parts}, name="test")

    return made
