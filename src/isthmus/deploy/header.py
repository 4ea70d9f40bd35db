"""A control step without a simulator as a C header without dependencies, for a microcontroller."""

from collections.abc import Iterable

import numpy as np

from isthmus.adapt.common.response import FAR, LARGEST, Response
from isthmus.core.overflow import NEAR
from isthmus.deploy.fused import FusedStep, Table

MOST_BYTES = 512 << 10
"""Of constants in single precision: more does not fit the flash of a common microcontroller."""
PER_LINE = 8


def header_bytes(step: FusedStep) -> int:
    """Bytes of constants that the header takes in single precision."""
    count = sum(array.size for array in (*step.network.weights, *step.network.biases))
    if step.response is not None:
        table = Table.of(step.response)
        count += step.response.weights.size + (0 if table is None else 3 * table.commands.size)
    return 4 * count


def header(step: FusedStep, name: str) -> str:
    """The text of the header, for a robot called `name`."""
    spec, network = step.spec, step.network
    inner, (weight, bias) = network.layers
    sizes = [network.input_size, *(one.shape[1] for one, _ in inner), weight.shape[1]]
    clipped = network.input_clip < np.inf
    parts = [
        f"/* A policy for {name}, exported by Isthmus. Include it in one file. Call policy_reset before an episode,",
        f" * and policy_act every {spec.control_period:.9g} s with an observation of {spec.observation_size} numbers.",
        f" * It gives {spec.action_size} commands within the limits, in this order: {', '.join(spec.action_names)}.",
        " * Where something else was applied than the last command, call policy_applied before the next policy_act.",
        " * Compile with -DPOLICY_REAL=double for double precision. */",
        "#ifndef ISTHMUS_POLICY_H\n#define ISTHMUS_POLICY_H\n#include <math.h>\n#include <string.h>",
        "#ifndef POLICY_REAL\n#define POLICY_REAL float\n#endif",
        f"#define POLICY_OBSERVATIONS {spec.observation_size}\n#define POLICY_ACTIONS {spec.action_size}",
        f"#define POLICY_PAST {0 if step.response is None else step.response.lookback}",
        f"#define POLICY_LAYERS {len(sizes) - 1}\n#define POLICY_WIDEST {max(sizes)}",
        "typedef POLICY_REAL policy_real;",
        "typedef struct {\n    policy_real past[POLICY_PAST + 1][POLICY_ACTIONS]; /* the newest first */",
        "    int begun;\n} policy_state;",
        _array("int", "policy_sizes", sizes),
        _array("int", "policy_columns", np.maximum(step.selection.columns, 0)),
        _array("policy_real", "policy_least", _finite(step.selection.low)),
        _array("policy_real", "policy_most", _finite(step.selection.high)),
        _array("policy_real", "policy_low", spec.action_low),
        _array("policy_real", "policy_high", spec.action_high),
        _array("policy_real", "policy_weights", _flat([*(one for one, _ in inner), weight])),
        _array("policy_real", "policy_biases", _flat([*(one for _, one in inner), bias])),
    ]
    if clipped:
        parts += [
            _array("policy_real", "policy_input_mean", network.input_mean),
            _array("policy_real", "policy_input_scale", network.input_scale),
        ]
    if step.response is not None:
        parts += _response_arrays(step.response)
    return "\n".join([*parts, _functions(step, clipped=clipped), "#endif"]) + "\n"


def _response_arrays(response: Response) -> list[str]:
    act = len(response.half_range)
    table, disturbance = Table.of(response), response.disturbance
    offset = np.zeros(act) if disturbance.saturates else (disturbance.prior * disturbance.grid).sum(axis=-1)
    parts = [
        f"#define POLICY_TARGETS {len(response.targets)}",
        f"#define POLICY_FEATURES {len(response.weights)}",
        _array("int", "policy_targets", response.targets),
        _array("policy_real", "policy_mean", response.mean),
        _array("policy_real", "policy_scale", response.scale),
        _array("policy_real", "policy_half", response.half_range),
        _array("policy_real", "policy_middle", np.broadcast_to(response.middle, act)),
        _array("policy_real", "policy_response", response.weights.ravel()),
        _array("policy_real", "policy_gain", response.inverse_gain.ravel()),
        _array("policy_real", "policy_offset", offset),
    ]
    if table is not None:
        parts += [
            f"#define POLICY_TABLE {table.commands.shape[1]}",
            _array("int", "policy_table_used", table.used),
            _array("policy_real", "policy_table_command", table.commands.ravel()),
            _array("policy_real", "policy_table_effect", table.effect.ravel()),
            _array("policy_real", "policy_table_squared", table.squared.ravel()),
        ]
    return parts


def _functions(step: FusedStep, *, clipped: bool) -> str:
    network, squash = step.network, step.squash
    clip = f"{network.input_clip:.9g}"
    scale = (
        f"x = policy_held((x - policy_input_mean[i]) / policy_input_scale[i], -{clip}, {clip});\n        "
        if clipped
        else ""
    )
    active = "x > 0 ? x : 0" if network.activation == "relu" else "(policy_real)tanh(x)"
    squashed = ""
    if squash is not None:
        held = f"policy_held(in[j], -{squash.clip:.9g}, {squash.clip:.9g})" if squash.clip < np.inf else "in[j]"
        squashed = f"""
    for (int j = 0; j < POLICY_ACTIONS; j++)
        in[j] = policy_low[j] + ((policy_real)tanh({held}) + 1) / 2 * (policy_high[j] - policy_low[j]);"""
    corrected = (
        "    for (int j = 0; j < POLICY_ACTIONS; j++) command[j] = policy_held(in[j], policy_low[j], policy_high[j]);"
    )
    if step.response is not None:
        corrected = _correction(step.response)
    return f"""
static policy_real policy_held(policy_real x, policy_real low, policy_real high) {{
    return x < low ? low : x > high ? high : x;
}}

static inline void policy_reset(policy_state *s) {{
    memset(s, 0, sizeof *s);
}}

/* Tell what was applied in place of the last command. */
static inline void policy_applied(policy_state *s, const policy_real *applied) {{
    memcpy(s->past[0], applied, sizeof s->past[0]);
}}

static inline void policy_act(policy_state *s, const policy_real *observation, policy_real *command) {{
    policy_real in[POLICY_WIDEST], out[POLICY_WIDEST];
    for (int i = 0; i < policy_sizes[0]; i++) {{
        policy_real x = policy_held(observation[policy_columns[i]], policy_least[i], policy_most[i]);
        {scale}in[i] = x;
    }}
    const policy_real *weight = policy_weights, *bias = policy_biases;
    for (int n = 0; n < POLICY_LAYERS; n++) {{
        const int inputs = policy_sizes[n], outputs = policy_sizes[n + 1];
        for (int o = 0; o < outputs; o++) {{
            policy_real x = bias[o];
            for (int i = 0; i < inputs; i++) x += weight[i * outputs + o] * in[i];
            out[o] = n + 1 < POLICY_LAYERS ? ({active}) : x;
        }}
        memcpy(in, out, outputs * sizeof(policy_real));
        weight += inputs * outputs;
        bias += outputs;
    }}{squashed}
{corrected}
    memmove(s->past[1], s->past[0], POLICY_PAST * sizeof s->past[0]);
    memcpy(s->past[0], command, sizeof s->past[0]);
    s->begun = 1;
}}"""


def _correction(response: Response) -> str:
    table = ""
    if Table.of(response) is not None:
        table = """
        if (policy_table_used[j]) {
            int best = 0;
            policy_real least = 0;
            for (int c = 0; c < POLICY_TABLE; c++) {
                const int at = j * POLICY_TABLE + c;
                const policy_real cost = policy_table_squared[at] - 2 * share * policy_table_effect[at];
                if (c == 0 || cost < least) least = cost, best = c;
            }
            against[j] = policy_table_command[j * POLICY_TABLE + best] - share;
        }"""
    return f"""    policy_real feature[POLICY_FEATURES], against[POLICY_ACTIONS], wanted[POLICY_ACTIONS];
    int f = 0;
    feature[f++] = 1;
    for (int i = 0; i < POLICY_TARGETS; i++)
        feature[f++] = policy_held((observation[policy_targets[i]] - policy_mean[i]) / policy_scale[i], -{FAR}, {FAR});
    for (int j = 0; j < POLICY_ACTIONS; j++) {{
        wanted[j] = policy_held(in[j], policy_low[j], policy_high[j]);
        feature[f++] = wanted[j] / policy_half[j];
    }}
    for (int k = POLICY_PAST - 1; k >= 0; k--)
        for (int j = 0; j < POLICY_ACTIONS; j++) feature[f++] = s->past[k][j] / policy_half[j];
    for (int j = 0; j < POLICY_ACTIONS; j++) {{
        const policy_real share = (wanted[j] - policy_middle[j]) / policy_half[j];
        (void)share;
        against[j] = -policy_offset[j];{table}
        out[j] = 0;
        for (int i = 0; i < POLICY_FEATURES; i++) out[j] -= feature[i] * policy_response[i * POLICY_ACTIONS + j];
    }}
    for (int j = 0; j < POLICY_ACTIONS; j++) {{
        policy_real noise = 0, learned = 0;
        for (int i = 0; i < POLICY_ACTIONS; i++) {{
            noise += against[i] * policy_gain[i * POLICY_ACTIONS + j];
            learned += out[i] * policy_gain[i * POLICY_ACTIONS + j];
        }}
        const policy_real near = {NEAR} * (policy_high[j] - policy_low[j]);
        policy_real x = wanted[j] + policy_half[j] * (noise + policy_held(learned, -{LARGEST}, {LARGEST}));
        const int over = in[j] > policy_high[j] && x >= policy_high[j] - near;
        const int under = in[j] < policy_low[j] && x <= policy_low[j] + near;
        if (over || under) x += in[j] - wanted[j];
        command[j] = policy_held(x, policy_low[j], policy_high[j]);
    }}"""


def _finite(values: np.ndarray) -> np.ndarray:
    """With the largest number of single precision for what is infinite: C has no portable way to write that."""
    return np.clip(values, -3e38, 3e38)


def _flat(arrays: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(one, np.float64)) for one in arrays])


def _array(kind: str, name: str, values: Iterable[float]) -> str:
    texts = [f"{int(one)}" if kind == "int" else f"{float(one):.17g}" for one in values]
    lines = [", ".join(texts[at : at + PER_LINE]) for at in range(0, len(texts), PER_LINE)]
    return f"static const {kind} {name}[] = {{{(',' + chr(10) + '    ').join(lines)}}};"
