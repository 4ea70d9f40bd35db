/* ST's LSM6DSOX inertial sensor on I2C, by its registers.

   Modelled: who-am-i, software reset, ranges and output data rates of both sensors, status and its clearing, block data
   update, address increment, temperature (25 C), FIFO in FIFO and continuous mode with tagged words, noise, bias,
   saturation, clock error. Not modelled: interrupt pins, embedded functions, filters, self-test, power modes. */
#include "fw.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 512
enum {
    FUNC_CFG = 0x01, FIFO_CTRL1 = 0x07, FIFO_CTRL2, FIFO_CTRL3, FIFO_CTRL4, WHO_AM_I = 0x0F, CTRL1_XL, CTRL2_G, CTRL3_C,
    STATUS = 0x1E, OUT_TEMP = 0x20, OUT_G = 0x22, OUT_XL = 0x28, OUT_END = 0x2E, FIFO_STATUS1 = 0x3A, FIFO_STATUS2,
    FIFO_OUT = 0x78, FIFO_END = 0x7F
};
static const double ODR[16] = {0, 12.5, 26, 52, 104, 208, 417, 833, 1667, 3333, 6667, 1.6};
static const double G_LSB[4] = {8.75e-3, 17.5e-3, 35e-3, 70e-3};         /* degrees a second */
static const double A_LSB[4] = {0.061e-3, 0.488e-3, 0.122e-3, 0.244e-3}; /* g */

struct Lsm6 {
    Rig *rig;
    int index, event, pointer, writing, has_high;
    uint8_t reg[128], high;
    uint8_t fifo[DEPTH][7];
    int head, count, overrun, tag_count;
    int64_t tick;
    double raw[6];
    Rng rng;
    double gyro_noise, accel_noise, gyro_bias[3], accel_bias[3], drift, dead_from, dead_to, stuck_from, stuck_to;
};

static void defaults(Lsm6 *s) {
    memset(s->reg, 0, sizeof s->reg);
    s->reg[WHO_AM_I] = 0x6C, s->reg[CTRL3_C] = 0x04;
    s->head = s->count = s->overrun = s->tag_count = s->has_high = 0;
    s->rig->at[s->event] = NEVER;
}

static double fastest(const Lsm6 *s) {
    double a = ODR[s->reg[CTRL1_XL] >> 4], g = ODR[s->reg[CTRL2_G] >> 4];
    return a > g ? a : g;
}

static void schedule(Lsm6 *s) {
    double hz = fastest(s);
    s->rig->at[s->event] = NEVER;
    if (hz > 0) fw_at(s->rig, s->event, s->rig->now + (ns)(1e9 / (hz * (1 + s->drift))));
}

static void put(Lsm6 *s, int at, double value) {
    double r = rint(value);
    int16_t v = (int16_t)(r > 32767 ? 32767 : r < -32768 ? -32768 : r);
    s->reg[at] = v & 0xFF, s->reg[at + 1] = (uint16_t)v >> 8;
}

static void batch(Lsm6 *s, int tag, int at) {
    int mode = s->reg[FIFO_CTRL4] & 7;
    if (mode == 0) return;
    if (s->count == DEPTH) {
        s->overrun = 1;
        if (mode == 1) return;                  /* FIFO mode stops when it is full, continuous mode drops the oldest */
        s->head = (s->head + 1) % DEPTH, s->count--;
    }
    uint8_t *w = s->fifo[(s->head + s->count++) % DEPTH];
    uint8_t t = tag << 3 | (s->tag_count & 3) << 1;
    w[0] = t | (__builtin_popcount(t) & 1);
    memcpy(w + 1, s->reg + at, 6);
}

static void sample(void *self, int arg) {
    (void)arg;
    Lsm6 *s = self;
    double hz = fastest(s), a = ODR[s->reg[CTRL1_XL] >> 4], g = ODR[s->reg[CTRL2_G] >> 4];
    int stuck = fw_within(s->rig->now, s->stuck_from, s->stuck_to);
    s->tick++;
    int has_g = g > 0 && s->tick % (int64_t)rint(hz / g) == 0, has_a = a > 0 && s->tick % (int64_t)rint(hz / a) == 0;
    double glsb = s->reg[CTRL2_G] & 2 ? 4.375e-3 : G_LSB[(s->reg[CTRL2_G] >> 2) & 3];
    double alsb = A_LSB[(s->reg[CTRL1_XL] >> 2) & 3];
    for (int i = 0; i < 3 && !stuck; i++) {
        double ng = s->gyro_noise * fw_normal(&s->rng), na = s->accel_noise * fw_normal(&s->rng);
        if (has_g) put(s, OUT_G + 2 * i, (s->rig->gyro[i] + s->gyro_bias[i] + ng) * 57.29577951308232 / glsb);
        if (has_a) put(s, OUT_XL + 2 * i, (s->rig->accel[i] + s->accel_bias[i] + na) / 9.80665 / alsb);
    }
    s->reg[STATUS] |= (has_a ? 1 : 0) | (has_g ? 2 : 0) | 4;
    s->tag_count++;
    if (has_g && s->reg[FIFO_CTRL3] >> 4) batch(s, 1, OUT_G);
    if (has_a && s->reg[FIFO_CTRL3] & 15) batch(s, 2, OUT_XL);
    fw_trace_add(s->rig, T_IMU_SAMPLE, s->index, s->rig->now, has_a | has_g << 1, 0);
    schedule(s);
}

static int start(void *self, int read) {
    Lsm6 *s = self;
    if (fw_within(s->rig->now, s->dead_from, s->dead_to)) return -1;
    s->writing = read ? 2 : 0, s->has_high = 0;
    return 0;
}

static void next_address(Lsm6 *s) {
    if (!(s->reg[CTRL3_C] & 4)) return;
    s->pointer = s->pointer == FIFO_END - 1 ? FIFO_OUT : (s->pointer + 1) & 127;
}

static int write_byte(void *self, uint8_t v) {
    Lsm6 *s = self;
    if (!s->writing) return s->pointer = v & 127, s->writing = 1, 0;
    int r = s->pointer, read_only = r == WHO_AM_I || (r >= 0x1A && r < 0x56 && r > 0x19) || r >= FIFO_OUT;
    if (!read_only) s->reg[r] = v;
    if (r == CTRL3_C && v & 1) defaults(s);
    else if (r == CTRL1_XL || r == CTRL2_G) schedule(s);
    else if (r == FIFO_CTRL4 && (v & 7) == 0) s->count = s->head = s->overrun = 0;
    next_address(s);
    return 0;
}

static uint8_t fifo_byte(Lsm6 *s, int r) {
    if (!s->count) return 0;
    uint8_t v = s->fifo[s->head][r - FIFO_OUT];
    if (r == FIFO_END - 1) s->head = (s->head + 1) % DEPTH, s->count--;
    return v;
}

static uint8_t output_byte(Lsm6 *s, int r) {    /* with BDU the two bytes of a number are of one sample */
    uint8_t v = s->reg[r];
    if (s->reg[CTRL3_C] & 0x40) {
        if (!(r & 1)) s->high = s->reg[r + 1], s->has_high = 1;
        else if (s->has_high) v = s->high, s->has_high = 0;
    }
    if (r >= OUT_XL) s->reg[STATUS] &= ~1;
    else if (r >= OUT_G) s->reg[STATUS] &= ~2;
    return v;
}

static int read_byte(void *self) {
    Lsm6 *s = self;
    int r = s->pointer, watermark = s->reg[FIFO_CTRL1] | (s->reg[FIFO_CTRL2] & 1) << 8;
    uint8_t v = s->reg[r];
    if (r >= OUT_TEMP && r < OUT_END) v = output_byte(s, r);
    else if (r == FIFO_STATUS1) v = s->count;
    else if (r == FIFO_STATUS2) v = s->count >> 8 | (s->overrun ? 0x48 : 0) | (s->count == DEPTH ? 0x20 : 0) |
                                    (watermark && s->count >= watermark ? 0x80 : 0);
    else if (r >= FIFO_OUT && r < FIFO_END) v = fifo_byte(s, r);
    next_address(s);
    return v;
}

static void reset(void *self, uint64_t seed) {
    Lsm6 *s = self;
    s->pointer = 0, s->tick = 0;
    fw_seed(&s->rng, seed, 0);
    defaults(s);
}

int fw_rig_add_lsm6dsox(Rig *rig, const char *name, int bus, int address) {
    if (bus < 0 || bus >= rig->buses || !rig->bus[bus].i2c) return -1;
    Lsm6 *s = calloc(1, sizeof *s);
    if (!s) return -1;
    s->rig = rig, s->event = fw_event(rig, sample, s, 0);
    if (s->event < 0 || i2c_attach(rig->bus[bus].i2c, (I2cDevice){address, s, start, write_byte, read_byte, 0}) < 0)
        return free(s), -1;
    const struct { const char *name; double *value, initial; } knobs[] = {
        {"gyro_noise", &s->gyro_noise, 0}, {"accel_noise", &s->accel_noise, 0}, {"drift", &s->drift, 0},
        {"gyro_bias_x", &s->gyro_bias[0], 0}, {"gyro_bias_y", &s->gyro_bias[1], 0}, {"gyro_bias_z", &s->gyro_bias[2], 0},
        {"accel_bias_x", &s->accel_bias[0], 0}, {"accel_bias_y", &s->accel_bias[1], 0},
        {"accel_bias_z", &s->accel_bias[2], 0}, {"dead_from", &s->dead_from, 1e9}, {"dead_to", &s->dead_to, 1e9},
        {"stuck_from", &s->stuck_from, 1e9}, {"stuck_to", &s->stuck_to, 1e9},
    };
    for (unsigned i = 0; i < sizeof knobs / sizeof *knobs; i++)
        fw_knob(rig, name, knobs[i].name, knobs[i].value, knobs[i].initial);
    s->index = fw_device(rig, name, s, reset);
    reset(s, 0);
    return s->index;
}
