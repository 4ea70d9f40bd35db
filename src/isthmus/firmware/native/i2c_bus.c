/* An I2C wire: finds the device of an address and hands it bytes. */
#include "fw.h"
#include <stdlib.h>
#include <string.h>

int fw_rig_add_i2c(Rig *rig, const char *name, double hz) {
    if (rig->buses == MAX_BUSES) return -1;
    I2cBus *b = calloc(1, sizeof *b);
    if (!b) return -1;
    strncpy(b->name, name, NAME - 1);
    b->rig = rig, b->hz = hz, b->current = -1;
    rig->bus[rig->buses].i2c = b;
    fw_knob(rig, name, "nack", &b->nack, 0), fw_knob(rig, name, "stretch_us", &b->stretch_us, 0);
    return rig->buses++;
}

int i2c_attach(I2cBus *b, I2cDevice device) {
    if (b->count == 8) return -1;
    b->devices[b->count] = device;
    return b->count++;
}

int fw_i2c_start(Rig *rig, int bus, int address, int read) {
    I2cBus *b = rig->bus[bus].i2c;
    b->current = -1, b->frames++;
    for (int i = 0; i < b->count; i++)
        if (b->devices[i].address == address && !fw_chance(&b->rng, b->nack) &&
            b->devices[i].start(b->devices[i].self, read) == 0)
            b->current = i;
    if (b->current < 0) b->errors++;
    return b->current < 0 ? -1 : 0;
}

int fw_i2c_write(Rig *rig, int bus, uint8_t byte) {
    I2cBus *b = rig->bus[bus].i2c;
    return b->current < 0 ? -1 : b->devices[b->current].write(b->devices[b->current].self, byte);
}

int fw_i2c_read(Rig *rig, int bus, int ack) {
    (void)ack;
    I2cBus *b = rig->bus[bus].i2c;
    return b->current < 0 ? 0xFF : b->devices[b->current].read(b->devices[b->current].self);
}

void fw_i2c_stop(Rig *rig, int bus) {
    I2cBus *b = rig->bus[bus].i2c;
    if (b->current >= 0 && b->devices[b->current].stop) b->devices[b->current].stop(b->devices[b->current].self);
    b->current = -1;
}

double fw_i2c_seconds(Rig *rig, int bus, int bytes) {
    I2cBus *b = rig->bus[bus].i2c;
    double stretch = b->stretch_us > 0 ? b->stretch_us * 1e-6 * fw_uniform(&b->rng) : 0;
    double lasts = bytes * 9.0 / b->hz + stretch;
    b->busy_ns += (int64_t)(lasts * 1e9);
    return lasts;
}

int fw_i2c_transfer(Rig *rig, int bus, int address, const uint8_t *w, int nw, uint8_t *r, int nr) {
    int failed = 0;
    if (nw || !nr) {
        failed = fw_i2c_start(rig, bus, address, 0);
        for (int i = 0; i < nw && !failed; i++) failed = fw_i2c_write(rig, bus, w[i]);
    }
    if (nr && !failed) {
        failed = fw_i2c_start(rig, bus, address, 1);
        for (int i = 0; i < nr && !failed; i++) r[i] = (uint8_t)fw_i2c_read(rig, bus, i + 1 < nr);
    }
    fw_i2c_stop(rig, bus);
    fw_trace_add(rig, T_I2C, bus, rig->now, (int64_t)address << 8 | (nw + nr) | (failed ? 1ll << 32 : 0),
                 (int64_t)((nw + nr + 2) * 9e9 / rig->bus[bus].i2c->hz));
    return failed ? -1 : 0;
}
