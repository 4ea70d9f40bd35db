"""The model as a C header without dependencies: one function keeps the history and gives the torques of all joints."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.engine import SETTLE
from isthmus.io.files import write_whole

ACTIVATIONS = {
    "softsign": "x / (1.0 + fabs(x))",
    "tanh": "tanh(x)",
    "relu": "x > 0 ? x : 0",
    "elu": "x > 0 ? x : expm1(x)",
}


def write_header(actuator: Actuator, path: Path) -> None:
    """Write a C99 header; every number of the model is in it."""
    write_whole(path, header(actuator).encode())


def header(actuator: Actuator) -> str:
    """The text of the header."""
    contract, network, gru, law = actuator.contract, actuator.network, actuator.gru, actuator.pd
    size, lags, depth = contract.size, contract.lags, actuator.depth
    sizes = [network.inputs, *(weight.shape[1] for weight in network.weights)] if network else [0]
    parts = [
        "/* An actuator model, exported by Isthmus. Call actuator_reset before an episode, and actuator_torque every",
        f" * {contract.dt:.9g} s with the targets, positions and velocities of {size} joints in this order:",
        f" * {', '.join(contract.joints)}. */",
        "#include <math.h>\n#include <string.h>",
        f"#define ACTUATOR_JOINTS {size}\n#define ACTUATOR_DEPTH {depth}\n#define ACTUATOR_LAGS {len(lags)}",
        f"#define ACTUATOR_DT {contract.dt:.17g}\n#define ACTUATOR_LAYERS {len(sizes) - 1}",
        f"#define ACTUATOR_WIDEST {max([*sizes, 1])}\n#define ACTUATOR_UNITS {gru.size if gru else 0}",
        "typedef struct {\n    double target[ACTUATOR_DEPTH][ACTUATOR_JOINTS], error[ACTUATOR_DEPTH][ACTUATOR_JOINTS],",
        "        velocity[ACTUATOR_DEPTH][ACTUATOR_JOINTS], hidden[ACTUATOR_JOINTS][ACTUATOR_UNITS + 1];",
        "    int head, fresh;\n} actuator_state;",
        _array("int", "actuator_lags", lags),
        _array("int", "actuator_sizes", sizes),
        *(
            _array("double", f"actuator_{name}", _bounded(getattr(contract, name)))
            for name in ("effort_limit", "saturation", "speed_limit")
        ),
    ]
    if network:
        told = network.joint_bias if network.joint_bias is not None else np.zeros((size, sizes[1]))
        parts += [
            _array("double", "actuator_weights", _flat(network.weights)),
            _array("double", "actuator_biases", _flat(network.biases)),
            _array("double", "actuator_joint_bias", _flat((told,))),
        ]
    if law:
        parts += [
            _array("double", f"actuator_{name}", np.atleast_1d(_bounded(values)))
            for name, values in law.arrays().items()
        ]
    if gru:
        parts += [_array("double", f"actuator_{name}", _flat((values,))) for name, values in gru.arrays().items()]
    activation = ACTIVATIONS[network.activation if network else "softsign"]
    return "\n".join([*parts, _functions(actuator, activation)]) + "\n"


def _bounded(values: Any) -> NDArray[np.float64]:  # noqa: ANN401 - any array
    """The numbers with 1e300 for what is infinite: C has no portable way to write that."""
    return np.where(np.isfinite(values), values, 1e300).astype(np.float64)


def _flat(arrays: Iterable[Any]) -> NDArray[np.float64]:
    return np.concatenate([np.ravel(np.asarray(one, np.float64)) for one in arrays])


def _array(kind: str, name: str, values: Iterable[Any]) -> str:
    text = ", ".join(f"{int(one)}" if kind == "int" else f"{float(one):.17g}" for one in values)
    return f"static const {kind} {name}[] = {{{text}}};"


def _functions(actuator: Actuator, activation: str) -> str:
    effort = actuator.contract.command == "effort"
    law = (
        ""
        if actuator.pd is None
        else f"""
        const int whole = (int)actuator_delay[j];
        const double part = actuator_delay[j] - whole;
        const int near = (s->head - whole + ACTUATOR_DEPTH) % ACTUATOR_DEPTH;
        const int far = (near - (part > 0) + ACTUATOR_DEPTH) % ACTUATOR_DEPTH;
        const double late = s->target[near][j] + part * (s->target[far][j] - s->target[near][j]);
        const double asked = late{"" if effort else " - q[j]"};
        double drive = actuator_kp[j] * asked - actuator_kd[j] * v[j];
        drive = fmax(-actuator_limit[j], fmin(actuator_limit[j], drive));
        const double rub = (actuator_coulomb[j] + actuator_load[j] * fabs(drive)) * tanh(v[j] / actuator_smooth[0]);
        sum += drive - rub - actuator_viscous[j] * v[j] + actuator_bias[j];"""
    )
    network = (
        ""
        if actuator.network is None
        else f"""
        double in[ACTUATOR_WIDEST], out[ACTUATOR_WIDEST];
        for (int l = 0; l < ACTUATOR_LAGS; l++) {{
            const int at = (s->head - actuator_lags[l] + ACTUATOR_DEPTH) % ACTUATOR_DEPTH;
            in[l] = s->error[at][j];
            in[ACTUATOR_LAGS + l] = s->velocity[at][j];
        }}
        const double *weight = actuator_weights, *bias = actuator_biases;
        for (int n = 0; n < ACTUATOR_LAYERS; n++) {{
            const int inputs = actuator_sizes[n], outputs = actuator_sizes[n + 1];
            for (int o = 0; o < outputs; o++) {{
                double x = bias[o] + (n == 0 ? actuator_joint_bias[j * outputs + o] : 0.0);
                for (int i = 0; i < inputs; i++) x += weight[i * outputs + o] * in[i];
                out[o] = n + 1 < ACTUATOR_LAYERS ? ({activation}) : x;
            }}
            memcpy(in, out, outputs * sizeof(double));
            weight += inputs * outputs;
            bias += outputs;
        }}
        sum += in[0];"""
    )
    gru = (
        ""
        if actuator.gru is None
        else f"""
        double given = 0;
        for (int n = s->fresh ? {SETTLE} : 1; n > 0; n--) {{
            const int u3 = 3 * ACTUATOR_UNITS;
            double left[3 * ACTUATOR_UNITS], right[3 * ACTUATOR_UNITS], *h = s->hidden[j];
            for (int i = 0; i < u3; i++) {{
                left[i] = actuator_input_bias[i] + s->error[s->head][j] * actuator_input_weight[i]
                          + v[j] * actuator_input_weight[u3 + i];
                right[i] = actuator_hidden_bias[i];
                for (int u = 0; u < ACTUATOR_UNITS; u++) right[i] += h[u] * actuator_hidden_weight[u * u3 + i];
            }}
            given = actuator_output_bias[0];
            for (int u = 0; u < ACTUATOR_UNITS; u++) {{
                const double r = 1 / (1 + exp(-left[u] - right[u]));
                const double z = 1 / (1 + exp(-left[ACTUATOR_UNITS + u] - right[ACTUATOR_UNITS + u]));
                h[u] = (1 - z) * tanh(left[2 * ACTUATOR_UNITS + u] + r * right[2 * ACTUATOR_UNITS + u]) + z * h[u];
                given += h[u] * actuator_output_weight[u];
            }}
        }}
        sum += given;"""
    )
    return f"""
static void actuator_reset(actuator_state *s) {{
    memset(s, 0, sizeof *s);
    s->fresh = 1;
}}

/* Torques of all joints in N m; the first sample after a reset fills the history. */
static void actuator_torque(actuator_state *s, const double *target, const double *q, const double *v,
                            double *torque) {{
    s->head = (s->head + 1) % ACTUATOR_DEPTH;
    for (int d = 0; d < ACTUATOR_DEPTH; d++) {{
        if (d != s->head && !s->fresh) continue;
        for (int j = 0; j < ACTUATOR_JOINTS; j++) {{
            s->target[d][j] = target[j];
            s->error[d][j] = target[j]{"" if effort else " - q[j]"};
            s->velocity[d][j] = v[j];
        }}
    }}
    for (int j = 0; j < ACTUATOR_JOINTS; j++) {{
        double sum = 0;{network}{gru}{law}
        const double most = actuator_effort_limit[j], stall = actuator_saturation[j];
        double top = most, bottom = -most;
        if (stall < 1e299) {{
            const double share = actuator_speed_limit[j] < 1e299 ? v[j] / actuator_speed_limit[j] : 0.0;
            top = fmax(fmin(stall * (1 - share), most), -most);
            bottom = fmin(fmax(stall * (-1 - share), -most), most);
        }}
        torque[j] = fmax(bottom, fmin(top, sum));
    }}
    s->fresh = 0;
}}"""
