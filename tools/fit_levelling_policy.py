"""Fit the reference firmware's small network to its levelling rule, and write its weights as a C header.

    python tools/fit_levelling_policy.py src/isthmus/firmware/reference/policy_weights.h

The hidden layer is drawn at random, the output layer fitted by least squares, so that the result is the same anywhere.
"""

import sys
from pathlib import Path

import numpy as np

HIDDEN, SAMPLES = 16, 20000
LEG_X, LEG_Y = np.array([0.18, 0.18, -0.18, -0.18]), np.array([0.12, -0.12, 0.12, -0.12])


def squash(x: np.ndarray) -> np.ndarray:
    """The firmware's tanh."""
    s = x * x
    return np.where(np.abs(x) > 3, np.sign(x), x * (27 + s) / (27 + 9 * s))


def rule(gravity: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """How much longer each leg gets (n, 4)."""
    lean = gravity[:, 1:2] * LEG_Y + gravity[:, :1] * LEG_X
    return np.clip(-lean - 0.05 * (rates[:, :1] * LEG_Y - rates[:, 1:2] * LEG_X), -0.05, 0.05)


def main() -> None:
    """Write the header named on the command line."""
    rng = np.random.default_rng(0)
    gravity = rng.normal(0, 0.15, (SAMPLES, 3)) + np.array([0, 0, 1])
    gravity /= np.linalg.norm(gravity, axis=1, keepdims=True)
    rates = rng.normal(0, 0.7, (SAMPLES, 3))
    w1 = (rng.normal(0, 1, (HIDDEN, 6)) * [3, 3, 0.3, 0.3, 0.3, 0.1]).astype(np.float32)
    b1 = rng.normal(0, 0.3, HIDDEN).astype(np.float32)
    hidden = np.hstack([squash(np.hstack([gravity, rates]) @ w1.T + b1), np.ones((SAMPLES, 1))])
    wanted = rule(gravity, rates)
    solution = np.linalg.solve(hidden.T @ hidden + 1e-3 * np.eye(HIDDEN + 1), hidden.T @ wanted).astype(np.float32)
    error = float(np.sqrt(np.mean((hidden @ solution - wanted) ** 2)))

    def rows(name: str, values: np.ndarray) -> str:
        text = ", ".join("{" + ", ".join(f"{x:.8g}f" if x % 1 else f"{x:.1f}f" for x in row) + "}" for row in values)
        return f"static const float {name}[{values.shape[0]}][{values.shape[1]}] = {{{text}}};\n"

    def row(name: str, values: np.ndarray) -> str:
        return f"static const float {name}[{len(values)}] = {{{', '.join(f'{x:.8g}f' for x in values)}}};\n"

    text = f"/* Made by tools/fit_levelling_policy.py: within {1e3 * error:.2f} mm rms of the levelling rule. */\n"
    text += "#pragma once\n"
    text += f"#define HIDDEN {HIDDEN}\n" + rows("WEIGHT1", w1) + row("BIAS1", b1)
    text += rows("WEIGHT2", solution[:-1].T) + row("BIAS2", solution[-1])
    Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
