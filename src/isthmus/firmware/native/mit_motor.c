/* A joint's motor driver on CAN, with the frames of MIT's mini cheetah.

   Command: position 16 bits, velocity 12, kp 12, kd 12, feed-forward torque 12. Reply, some time later: id 8, position
   16, velocity 12, torque 12. FF FF FF FF FF FF FF and FC, FD or FE enable, disable and set the zero of the encoder. */
#include "fw.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct Motor {
    ns sampled;                                 /* first: the wire reads it */
    Rig *rig;
    CanBus *bus;
    uint32_t id, reply_id;
    int joint, event, waiting, ready, enabled, heard, node;
    CanFrame reply;
    double p, v, kp, kd, ff;
    ns last, gap;
    Rng rng;
    double reply_lo_ms, reply_hi_ms, silent_from, silent_to, mute_from, mute_to, strength, torque_limit, timeout_ms, zero;
    double p_max, v_max, t_max, kp_max, kd_max;
};

static double decode(unsigned x, double lo, double hi, int bits) { return x * (hi - lo) / ((1 << bits) - 1) + lo; }

static unsigned encode(double x, double lo, double hi, int bits) {
    x = x < lo ? lo : x > hi ? hi : x;
    return (unsigned)((x - lo) * ((1 << bits) - 1) / (hi - lo));
}

static double position(const Motor *m) {        /* between two physics steps the joint goes on as fast as it did */
    double since = (m->rig->now - m->rig->sensed_at) * 1e-9;
    return m->rig->q[m->joint] + m->rig->qd[m->joint] * since;
}

static double asked(const Motor *m, double q) {
    double t = m->kp * (m->p - (q + m->zero)) + m->kd * (m->v - m->rig->qd[m->joint]) + m->ff;
    int late = m->timeout_ms > 0 && m->rig->now - m->last > fw_ms(m->timeout_ms);
    return m->enabled && m->heard && !late ? t : 0;
}

static double exerted(const Motor *m, double q) {
    double t = m->strength * asked(m, q);
    return t > m->torque_limit ? m->torque_limit : t < -m->torque_limit ? -m->torque_limit : t;
}

double motor_torque(const Motor *m) { return exerted(m, m->rig->q[m->joint]); }

void motor_state(const Motor *m, double *torque, double *age, double *gap) {
    *torque = asked(m, m->rig->q[m->joint]);
    *age = m->heard ? (m->rig->now - m->last) * 1e-9 : NAN;
    *gap = m->gap * 1e-9;
}

static int offer(void *self, CanFrame *out) {
    Motor *m = self;
    if (!m->ready) return -1;
    *out = m->reply;
    return 0;
}

static void done(void *self, int handle, int ok) {
    (void)handle, (void)ok;                     /* a driver sends once: after an error the next command asks again */
    ((Motor *)self)->ready = 0;
}

static void reply_due(void *self, int arg) {
    (void)arg;
    Motor *m = self;
    m->waiting = 0, m->ready = 1;
    can_kick(m->bus);
}

static void answer(Motor *m) {
    double q = position(m);
    unsigned p = encode(q + m->zero, -m->p_max, m->p_max, 16), v = encode(m->rig->qd[m->joint], -m->v_max, m->v_max, 12);
    unsigned t = encode(exerted(m, q), -m->t_max, m->t_max, 12);
    uint8_t d[8] = {m->id, p >> 8, p, v >> 4, (v & 15) << 4 | t >> 8, t, 0, 0};
    m->reply = (CanFrame){.id = m->reply_id, .dlc = 6};
    memcpy(m->reply.data, d, 8);
    m->sampled = m->rig->now, m->waiting = 1;
    double wait = m->reply_lo_ms + (m->reply_hi_ms - m->reply_lo_ms) * fw_uniform(&m->rng);
    fw_at(m->rig, m->event, m->rig->now + fw_ms(wait));
}

static int special(Motor *m, const uint8_t *d) {
    static const uint8_t head[7] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    if (memcmp(d, head, 7) || d[7] < 0xFC || d[7] == 0xFF) return 0;
    if (d[7] == 0xFE) m->zero = -position(m);
    else m->enabled = d[7] == 0xFC;
    m->p = m->v = m->kp = m->kd = m->ff = 0;
    return 1;
}

static void receive(void *self, const CanFrame *f, ns sampled) {
    (void)sampled;
    Motor *m = self;
    Rig *rig = m->rig;
    if (f->id != m->id || f->ext || f->rtr || f->dlc != 8 || fw_within(rig->now, m->silent_from, m->silent_to)) return;
    const uint8_t *d = f->data;
    if (!special(m, d)) {
        m->p = decode(d[0] << 8 | d[1], -m->p_max, m->p_max, 16);
        m->v = decode(d[2] << 4 | d[3] >> 4, -m->v_max, m->v_max, 12);
        m->kp = decode((d[3] & 15) << 8 | d[4], 0, m->kp_max, 12);
        m->kd = decode(d[5] << 4 | d[6] >> 4, 0, m->kd_max, 12);
        m->ff = decode((d[6] & 15) << 8 | d[7], -m->t_max, m->t_max, 12);
        if (m->heard && rig->now - m->last > m->gap) m->gap = rig->now - m->last;
        m->heard = 1, m->last = rig->now;
        ns known = rig->delivered[m->joint];
        fw_trace_add(rig, T_COMMAND, m->joint, rig->now, known < 0 ? -1 : rig->now - known,
                     (int64_t)(asked(m, position(m)) * 1e6));
    }
    if (!m->waiting && !m->ready && !fw_within(rig->now, m->mute_from, m->mute_to)) answer(m);
}

static void reset(void *self, uint64_t seed) {
    Motor *m = self;
    m->waiting = m->ready = m->heard = 0, m->enabled = 1, m->sampled = -1, m->last = m->gap = 0;
    m->p = m->v = m->kp = m->kd = m->ff = 0;
    fw_seed(&m->rng, seed, 0);
}

int fw_rig_add_mit_motor(Rig *rig, const char *name, int bus, uint32_t id, uint32_t reply_id, int joint) {
    if (bus < 0 || bus >= rig->buses || !rig->bus[bus].can || joint < 0 || joint >= rig->joints) return -1;
    Motor *m = calloc(1, sizeof *m);
    if (!m) return -1;
    m->rig = rig, m->bus = rig->bus[bus].can, m->id = id, m->reply_id = reply_id, m->joint = joint;
    m->event = fw_event(rig, reply_due, m, 0);
    m->node = can_attach_device(m->bus, offer, done, receive, m, joint);
    if (m->event < 0 || m->node < 0) return free(m), -1;
    rig->motor[joint] = m;
    const struct { const char *name; double *value, initial; } knobs[] = {
        {"reply_lo_ms", &m->reply_lo_ms, 0.4}, {"reply_hi_ms", &m->reply_hi_ms, 0.4},
        {"silent_from", &m->silent_from, 1e9}, {"silent_to", &m->silent_to, 1e9},
        {"mute_from", &m->mute_from, 1e9}, {"mute_to", &m->mute_to, 1e9}, {"strength", &m->strength, 1},
        {"torque_limit", &m->torque_limit, 1e9}, {"timeout_ms", &m->timeout_ms, 0}, {"zero", &m->zero, 0},
        {"p_max", &m->p_max, 12.5}, {"v_max", &m->v_max, 45}, {"t_max", &m->t_max, 33},
        {"kp_max", &m->kp_max, 500}, {"kd_max", &m->kd_max, 5},
    };
    for (unsigned i = 0; i < sizeof knobs / sizeof *knobs; i++)
        fw_knob(rig, name, knobs[i].name, knobs[i].value, knobs[i].initial);
    reset(m, 0);
    return fw_device(rig, name, m, reset);
}
