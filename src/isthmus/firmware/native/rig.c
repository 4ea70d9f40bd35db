/* The rig: a clock with events, named knobs, random streams, the trace ring. */
#include "fw.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int fw_event(Rig *rig, Fire fire, void *self, int arg) {
    if (rig->events == MAX_EVENTS) return -1;
    int e = rig->events++;
    rig->at[e] = NEVER, rig->fire[e] = fire, rig->self[e] = self, rig->arg[e] = arg;
    return e;
}

static void find_next(Rig *rig) {
    ns least = NEVER;
    for (int i = 0; i < rig->events; i++) least = rig->at[i] < least ? rig->at[i] : least;
    rig->next = least;
}

void fw_rig_advance(Rig *rig, ns until) {
    while (rig->next <= until) {                /* `next` may be too early, never too late */
        ns t = rig->next;
        if (t > rig->now) rig->now = t;
        for (int i = 0; i < rig->events; i++)   /* in the order of creation, so that ties always fall alike */
            if (rig->at[i] <= t) {
                rig->at[i] = NEVER;
                rig->fire[i](rig->self[i], rig->arg[i]);
            }
        find_next(rig);
    }
    if (until > rig->now) rig->now = until;
}

void fw_seed(Rng *rng, uint64_t seed, uint64_t stream) {
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + (stream + 1) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    rng->state = (z ^ (z >> 31)) | 1, rng->has_spare = 0;
    for (int i = 0; i < 8; i++) fw_uniform(rng);
}

double fw_uniform(Rng *rng) {
    uint64_t x = rng->state;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    rng->state = x;
    return (x >> 11) * (1.0 / 9007199254740992.0);
}

double fw_normal(Rng *rng) {                    /* Marsaglia's polar method: two at a time */
    if (rng->has_spare) return rng->has_spare = 0, rng->spare;
    double u, v, s;
    do {
        u = 2 * fw_uniform(rng) - 1, v = 2 * fw_uniform(rng) - 1, s = u * u + v * v;
    } while (s >= 1 || s == 0);
    double f = sqrt(-2 * log(s) / s);
    rng->spare = v * f, rng->has_spare = 1;
    return u * f;
}

void fw_knob(Rig *rig, const char *owner, const char *name, double *value, double initial) {
    *value = initial;
    if (rig->knobs == MAX_KNOBS) return;
    Knob *k = &rig->knob[rig->knobs++];
    memset(k->name, 0, sizeof k->name);
    strncpy(k->name, owner, NAME - 1);
    strncat(k->name, ".", 2);
    strncat(k->name, name, NAME - 2);
    k->value = value;
}

static Knob *find_knob(Rig *rig, const char *name) {
    for (int i = 0; i < rig->knobs; i++)
        if (!strcmp(rig->knob[i].name, name)) return &rig->knob[i];
    return 0;
}

int fw_set(Rig *rig, const char *name, double value) {
    Knob *k = find_knob(rig, name);
    if (!k) return -1;
    *k->value = value;
    return 0;
}

double fw_get(Rig *rig, const char *name) {
    Knob *k = find_knob(rig, name);
    return k ? *k->value : NAN;
}

int fw_knobs(Rig *rig, char *out, int size) {
    int n = 0;
    for (int i = 0; i < rig->knobs; i++) {
        int length = (int)strlen(rig->knob[i].name);
        if (n + length + 2 > size) return -1;
        memcpy(out + n, rig->knob[i].name, length);
        n += length;
        out[n++] = '\n';
    }
    out[n] = 0;
    return n;
}

Rig *fw_rig_new(int joints) {
    if (joints < 0 || joints > MAX_JOINTS) return 0;
    Rig *rig = calloc(1, sizeof *rig);
    if (!rig) return 0;
    rig->joints = joints, rig->next = NEVER;
    return rig;
}

void fw_rig_free(Rig *rig) {
    if (!rig) return;
    for (int i = 0; i < rig->buses; i++) free(rig->bus[i].can), free(rig->bus[i].i2c);
    for (int i = 0; i < rig->devices; i++) free(rig->device[i].self);
    for (int i = 0; i < rig->nports; i++) free(rig->ports[i]);
    free(rig);
}

void fw_rig_reset(Rig *rig, uint64_t seed) {
    rig->now = rig->sensed_at = 0, rig->next = NEVER, rig->seed = seed, rig->trace_count = 0;
    for (int i = 0; i < rig->events; i++) rig->at[i] = NEVER;
    for (int i = 0; i < MAX_JOINTS; i++) rig->delivered[i] = -1;
    for (int i = 0; i < rig->buses; i++) {
        if (rig->bus[i].can) can_reset(rig->bus[i].can, seed);
        if (rig->bus[i].i2c) {
            I2cBus *b = rig->bus[i].i2c;
            b->current = -1, b->frames = b->busy_ns = b->errors = 0;
            fw_seed(&b->rng, seed, 100 + i);
        }
    }
    for (int i = 0; i < rig->devices; i++) rig->device[i].reset(rig->device[i].self, seed * 1000003u + 200 + i);
}

int fw_device(Rig *rig, const char *name, void *self, void (*reset)(void *, uint64_t)) {
    if (rig->devices == MAX_DEVICES) return -1;
    int d = rig->devices++;
    strncpy(rig->device[d].name, name, NAME - 1);
    rig->device[d].self = self, rig->device[d].reset = reset;
    return d;
}

ns fw_rig_now(Rig *rig) { return rig->now; }

ns fw_rig_next(Rig *rig) {
    find_next(rig);
    return rig->next;
}

void fw_rig_sense(Rig *rig, const double *q, const double *qd, const double *gyro, const double *accel) {
    memcpy(rig->q, q, sizeof(double) * rig->joints);
    memcpy(rig->qd, qd, sizeof(double) * rig->joints);
    memcpy(rig->gyro, gyro, sizeof rig->gyro);
    memcpy(rig->accel, accel, sizeof rig->accel);
    rig->sensed_at = rig->now;
}

void fw_rig_torques(Rig *rig, double *tau) {
    for (int j = 0; j < rig->joints; j++) tau[j] = rig->motor[j] ? motor_torque(rig->motor[j]) : 0;
}

void fw_rig_joints(Rig *rig, double *asked, double *command_age, double *sample_age, double *max_gap) {
    for (int j = 0; j < rig->joints; j++) {
        asked[j] = max_gap[j] = 0, command_age[j] = NAN;
        if (rig->motor[j]) motor_state(rig->motor[j], &asked[j], &command_age[j], &max_gap[j]);
        sample_age[j] = rig->delivered[j] < 0 ? NAN : (rig->now - rig->delivered[j]) * 1e-9;
    }
}

void fw_trace(Rig *rig, TraceEvent *ring, int64_t capacity) {
    rig->trace = ring, rig->trace_capacity = capacity, rig->trace_count = 0;
}

int64_t fw_trace_count(Rig *rig) { return rig->trace_count; }

void fw_bus_counters(Rig *rig, int bus, int64_t *frames, int64_t *busy, int64_t *errors) {
    CanBus *can = rig->bus[bus].can;
    I2cBus *i2c = rig->bus[bus].i2c;
    *frames = can ? can->frames : i2c->frames;
    *busy = can ? can->busy_ns : i2c->busy_ns;
    *errors = can ? can->errors : i2c->errors;
}
