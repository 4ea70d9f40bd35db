/* Torques of n x J joints from their recent errors and velocities: one call updates the history and evaluates the model.
 *
 * Rows are evaluated LANES at a time, so that the inner loops run over lanes and compilers vectorise them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 16
#define WIDEST 4096
#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MANY __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MANY
#endif

typedef struct {
    int32_t joints, depth, lag_count, layers, activation, effort_command, hidden, widest;
    const int32_t *lags, *sizes;
    const float *weights, *biases, *joint_bias;
    const double *kp, *kd, *delay, *limit, *coulomb, *viscous, *bias, *load;
    double smooth;
    const double *effort, *saturation, *speed, *seen;
    const float *input_weight, *hidden_weight, *input_bias, *hidden_bias, *output_weight;
    double output_bias;
} Model;

typedef struct {
    double *target;   /* (n, depth, J) */
    float *error;     /* (n, depth, J) */
    float *velocity;  /* (n, depth, J) */
    int32_t *head;    /* (n,) slot of the newest sample */
    uint8_t *fresh;   /* (n,) whether the next sample begins an episode */
    float *state;     /* (n, J, hidden) */
    int64_t *outside; /* (n,) joint samples outside the data */
    int64_t *total;   /* (n,) joint samples */
    float *scratch;   /* 2 x widest x LANES, and the torques of all rows */
} State;

INLINE float activate(float x, int kind) {
    switch (kind) {
    case 0: return x / (1.0f + fabsf(x));
    case 1: return tanhf(x);
    case 2: return x > 0 ? x : 0;
    default: return x > 0 ? x : expm1f(x);
    }
}

INLINE float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

/* LANES floats, which the compiler spreads over as many registers as the machine needs. */
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));

/* One layer for LANES rows: in (inputs, LANES) to out (outputs, LANES); eight outputs share the loads of the inputs. */
INLINE void layer(const float *restrict weight, const float *restrict bias, int inputs, int outputs,
                  const float *restrict in, float *restrict out) {
    const vec *x = (const vec *)in, zero = {0};
    vec *y = (vec *)out;
    int o = 0;
    for (; o + 8 <= outputs; o += 8) {
        const float *w = weight + o;
        vec a = zero + bias[o], b = zero + bias[o + 1], c = zero + bias[o + 2], d = zero + bias[o + 3];
        vec e = zero + bias[o + 4], f = zero + bias[o + 5], g = zero + bias[o + 6], h = zero + bias[o + 7];
        for (int i = 0; i < inputs; i++, w += outputs) {
            const vec given = x[i];
            a += w[0] * given;
            b += w[1] * given;
            c += w[2] * given;
            d += w[3] * given;
            e += w[4] * given;
            f += w[5] * given;
            g += w[6] * given;
            h += w[7] * given;
        }
        y[o] = a, y[o + 1] = b, y[o + 2] = c, y[o + 3] = d, y[o + 4] = e, y[o + 5] = f, y[o + 6] = g, y[o + 7] = h;
    }
    for (; o < outputs; o++) {
        vec a = zero + bias[o];
        for (int i = 0; i < inputs; i++) a += weight[(size_t)i * outputs + o] * x[i];
        y[o] = a;
    }
}

INLINE void network_block(const Model *m, const State *s, const int64_t *worlds, int64_t first, int count,
                          float *restrict torque) {
    const int k = m->lag_count, joints = m->joints;
    float *in = s->scratch, *out = s->scratch + (size_t)m->widest * LANES;
    int joint[LANES];
    int64_t turn = first / joints;
    int j = (int)(first % joints) - 1;
    for (int r = 0; r < LANES; r++) {
        if (r < count && ++j == joints) j = 0, turn++;  /* lanes without a row repeat the last one */
        const int64_t w = worlds ? worlds[turn] : turn;
        const int head = s->head[w];
        const size_t base = (size_t)w * m->depth * joints + j;
        joint[r] = j;
        for (int l = 0; l < k; l++) {
            int slot = head - m->lags[l];
            if (slot < 0) slot += m->depth;
            const size_t at = base + (size_t)slot * joints;
            in[(size_t)l * LANES + r] = s->error[at];
            in[(size_t)(k + l) * LANES + r] = s->velocity[at];
        }
    }
    const float *weight = m->weights, *bias = m->biases;
    for (int n = 0; n < m->layers; n++) {
        const int inputs = m->sizes[n], outputs = m->sizes[n + 1];
        layer(weight, bias, inputs, outputs, in, out);
        if (n == 0 && m->joint_bias)
            for (int o = 0; o < outputs; o++)
                for (int r = 0; r < LANES; r++) out[o * LANES + r] += m->joint_bias[(size_t)joint[r] * outputs + o];
        if (n + 1 < m->layers) {
            const int values = outputs * LANES;
            switch (m->activation) {
            case 0: for (int i = 0; i < values; i++) out[i] = out[i] / (1.0f + fabsf(out[i])); break;
            case 2: for (int i = 0; i < values; i++) out[i] = out[i] > 0 ? out[i] : 0; break;
            default: for (int i = 0; i < values; i++) out[i] = activate(out[i], m->activation);
            }
        }
        weight += (size_t)inputs * outputs;
        bias += outputs;
        float *swap = in;
        in = out;
        out = swap;
    }
    for (int r = 0; r < count; r++) torque[r] = in[r];
}

/* One row of a GRU: the state h is updated in place. */
INLINE float gru_row(const Model *m, float error, float velocity, float *restrict h, float *restrict room) {
    const int size = m->hidden;
    float *left = room, *right = room + 3 * size;
    for (int i = 0; i < 3 * size; i++) {
        left[i] = m->input_bias[i] + error * m->input_weight[i] + velocity * m->input_weight[3 * size + i];
        right[i] = m->hidden_bias[i];
    }
    for (int u = 0; u < size; u++)
        for (int i = 0; i < 3 * size; i++) right[i] += h[u] * m->hidden_weight[(size_t)u * 3 * size + i];
    float torque = (float)m->output_bias;
    for (int u = 0; u < size; u++) {
        const float reset = logistic(left[u] + right[u]), update = logistic(left[size + u] + right[size + u]);
        const float fresh = tanhf(left[2 * size + u] + reset * right[2 * size + u]);
        h[u] = (1.0f - update) * fresh + update * h[u];
        torque += h[u] * m->output_weight[u];
    }
    return torque;
}

INLINE double pd_torque(const Model *m, const State *s, int64_t w, int j, double q, double v) {
    const int whole = (int)m->delay[j];
    const double part = m->delay[j] - whole;
    const double *ring = s->target + (size_t)w * m->depth * m->joints + j;
    int near = s->head[w] - whole;
    if (near < 0) near += m->depth;
    double target = ring[(size_t)near * m->joints];
    if (part > 0) {
        const int far = near ? near - 1 : m->depth - 1;
        target += part * (ring[(size_t)far * m->joints] - target);
    }
    const double asked = m->effort_command ? target : target - q;
    const double torque = fmax(-m->limit[j], fmin(m->limit[j], m->kp[j] * asked - m->kd[j] * v));
    const double dry = m->coulomb[j] + m->load[j] * fabs(torque);
    return torque - (dry ? dry * tanh(v / m->smooth) : 0.0) - m->viscous[j] * v + m->bias[j];
}

INLINE double clipped(const Model *m, int j, double torque, double v) {
    const double most = m->effort[j];
    double top = most, bottom = -most;
    if (isfinite(m->saturation[j])) {
        const double share = isfinite(m->speed[j]) ? v / m->speed[j] : 0.0;
        top = fmax(fmin(m->saturation[j] * (1 - share), most), -most);
        bottom = fmin(fmax(m->saturation[j] * (-1 - share), -most), most);
    }
    return fmax(bottom, fmin(top, torque));
}

/* Note one sample of world w; at the start of an episode it fills the whole history. */
INLINE void push(const Model *m, State *s, int64_t w, const double *target, const double *q, const double *v,
                 const int32_t *q_at, const int32_t *v_at, const int32_t *t_at) {
    const int joints = m->joints;
    const int head = s->head[w] + 1 == m->depth ? 0 : s->head[w] + 1;
    const size_t base = (size_t)w * m->depth * joints;
    s->head[w] = head;
    for (int j = 0; j < joints; j++) {
        const double t = target[t_at[j]], speed = v[v_at[j]], error = m->effort_command ? t : t - q[q_at[j]];
        const double *seen = m->seen + 4 * j;
        const size_t at = base + (size_t)head * joints + j;
        s->target[at] = t;
        s->error[at] = (float)error;
        s->velocity[at] = (float)speed;
        s->outside[w] += error < seen[0] || error > seen[1] || speed < seen[2] || speed > seen[3];
    }
    s->total[w] += joints;
    if (!s->fresh[w]) return;
    for (int d = 0; d < m->depth; d++) {
        if (d == head) continue;
        memcpy(s->target + base + (size_t)d * joints, s->target + base + (size_t)head * joints, joints * sizeof(double));
        memcpy(s->error + base + (size_t)d * joints, s->error + base + (size_t)head * joints, joints * sizeof(float));
        memcpy(s->velocity + base + (size_t)d * joints, s->velocity + base + (size_t)head * joints,
               joints * sizeof(float));
    }
}

/* One step of `count` worlds (all of them in order where `worlds` is NULL). Row i of target and out belongs to the i-th
 * of these worlds, row w of q and v to world w; *_at are the columns of each joint. `settle` is how many samples a GRU is
 * given of the first one. Torques are multiplied by `gain` on their way out, joint j to column out_at[j]. */
EXPORT MANY void actuator_step(const Model *m, State *s, int64_t count, const int64_t *worlds, const double *target,
                               int64_t target_stride, const double *q, int64_t q_stride, const double *v,
                               int64_t v_stride, const int32_t *t_at, const int32_t *q_at, const int32_t *v_at,
                               const int32_t *out_at, const double *gain, int32_t settle, double *out,
                               int64_t out_stride) {
    const int joints = m->joints;
    const int64_t rows = count * joints;
    float *torque = s->scratch + 2 * (size_t)m->widest * LANES;
    for (int64_t i = 0; i < count; i++) {
        const int64_t w = worlds ? worlds[i] : i;
        push(m, s, w, target + i * target_stride, q + w * q_stride, v + w * v_stride, q_at, v_at, t_at);
    }
    if (m->layers)
        for (int64_t first = 0; first < rows; first += LANES)
            network_block(m, s, worlds, first, rows - first < LANES ? (int)(rows - first) : LANES, torque + first);
    for (int64_t i = 0; i < count; i++) {
        const int64_t w = worlds ? worlds[i] : i;
        const size_t newest = ((size_t)w * m->depth + s->head[w]) * joints;
        for (int j = 0; j < joints; j++) {
            const double position = q[w * q_stride + q_at[j]], speed = v[w * v_stride + v_at[j]];
            double sum = m->layers ? torque[i * joints + j] : 0.0;
            if (m->hidden) {
                float *h = s->state + ((size_t)w * joints + j) * m->hidden;
                float given = 0;
                if (s->fresh[w]) memset(h, 0, m->hidden * sizeof(float));
                for (int n = s->fresh[w] ? settle : 1; n > 0; n--)
                    given = gru_row(m, s->error[newest + j], s->velocity[newest + j], h, s->scratch);
                sum += given;
            }
            if (m->kp) sum += pd_torque(m, s, w, j, position, speed);
            out[i * out_stride + out_at[j]] = clipped(m, j, sum, speed) * gain[j];
        }
        s->fresh[w] = 0;
    }
}

/* A whole recording of one robot: `rows` steps of world 0, a new episode wherever `begins` is set. */
EXPORT void actuator_run(const Model *m, State *s, int64_t rows, const uint8_t *begins, const double *target,
                         const double *q, const double *v, const int32_t *t_at, const int32_t *q_at,
                         const int32_t *v_at, const int32_t *out_at, const double *gain, int32_t settle, double *out) {
    const int64_t joints = m->joints;
    for (int64_t row = 0; row < rows; row++) {
        if (begins[row]) s->fresh[0] = 1;
        actuator_step(m, s, 1, 0, target + row * joints, joints, q + row * joints, joints, v + row * joints, joints,
                      t_at, q_at, v_at, out_at, gain, settle, out + row * joints, joints);
    }
}
