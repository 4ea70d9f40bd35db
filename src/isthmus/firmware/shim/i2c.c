/* i2c-dev: /dev/i2c-N on the simulated I2C buses. A transfer takes the time its bits need on the wire. */
#include "wires.h"
#include <linux/i2c-dev.h>
#include <linux/i2c.h>

#define LONGEST 8192                /* bytes of a message, as in the kernel */

int i2c_adapter(const char *path) {
    char name[32];
    if (sscanf(path, "/dev/%31s", name) != 1 || (strncmp(name, "i2c-", 4) && strncmp(name, "i2c/", 4))) return -1;
    name[3] = '-';
    for (int i = 0; i < i2c_count; i++)
        if (!strcmp(i2c_wires[i].name, name)) return i;
    return -2;
}

/* One transfer with a repeated start between its messages. Returns 0, or the errno that Linux would give. */
static int transfer(Object *o, struct i2c_msg *messages, int count) {
    int bus = i2c_wires[o->bus].rig_bus, bytes = 0, error = 0;
    for (int i = 0; i < count; i++) {
        if (messages[i].len > LONGEST) return EINVAL;
        if (messages[i].flags & I2C_M_TEN) { say_once("10-bit I2C addresses are not simulated"); return EOPNOTSUPP; }
        bytes += messages[i].len + 1;
    }
    pthread_testcancel();
    ns_t until = shim_now + (ns_t)(fw_i2c_seconds(rig, bus, bytes) * 1e9);
    while (shim_now < until) shim_wait(until, NULL, NULL, 0);
    shared->i2c_transfers++;
    for (int i = 0; i < count && !error; i++) {
        struct i2c_msg *m = &messages[i];
        bool reading = m->flags & I2C_M_RD;
        if (fw_i2c_start(rig, bus, m->addr, reading)) error = ENXIO;
        for (int k = 0; k < m->len && !error; k++) {
            if (reading) m->buf[k] = (uint8_t)fw_i2c_read(rig, bus, k + 1 < m->len);
            else if (fw_i2c_write(rig, bus, m->buf[k])) error = ENXIO;
        }
    }
    fw_i2c_stop(rig, bus);
    if (error) shared->i2c_errors++;
    return error;
}

static int done(int error, int value) { return error ? (int)refuse(error) : value; }

ssize_t i2c_bytes(Object *o, void *data, size_t size, bool reading) {
    struct i2c_msg m = {.addr = (uint16_t)o->address, .flags = reading ? I2C_M_RD : 0, .len = (uint16_t)(size < LONGEST ? size : LONGEST), .buf = data};
    return done(transfer(o, &m, 1), m.len);
}

static int smbus(Object *o, struct i2c_smbus_ioctl_data *d) {
    uint8_t out[I2C_SMBUS_BLOCK_MAX + 2] = {d->command}, in[I2C_SMBUS_BLOCK_MAX + 2];
    uint16_t address = (uint16_t)o->address;
    bool reading = d->read_write == I2C_SMBUS_READ;
    struct i2c_msg m[2] = {{.addr = address, .len = 1, .buf = out}, {.addr = address, .flags = I2C_M_RD, .buf = in}};
    int error, size = 0;
    switch (d->size) {
    case I2C_SMBUS_QUICK:
        m[0].flags = reading ? I2C_M_RD : 0;
        m[0].len = 0;
        return done(transfer(o, m, 1), 0);
    case I2C_SMBUS_BYTE:
        if (!reading) return done(transfer(o, m, 1), 0);
        m[1].len = 1;
        error = transfer(o, m + 1, 1);
        d->data->byte = in[0];
        return done(error, 0);
    case I2C_SMBUS_BYTE_DATA: size = 1; break;
    case I2C_SMBUS_WORD_DATA:
    case I2C_SMBUS_PROC_CALL: size = 2; break;
    case I2C_SMBUS_I2C_BLOCK_DATA: size = d->data->block[0]; break;
    default:
        say_once("SMBus block transfers with a length byte are not simulated: use I2C_SMBUS_I2C_BLOCK_DATA");
        return (int)refuse(EOPNOTSUPP);
    }
    if (size < 1 || size > I2C_SMBUS_BLOCK_MAX) return (int)refuse(EINVAL);
    uint8_t *payload = d->size == I2C_SMBUS_I2C_BLOCK_DATA ? d->data->block + 1 : (uint8_t *)d->data;
    bool both = d->size == I2C_SMBUS_PROC_CALL;
    if (!reading || both) { memcpy(out + 1, payload, (size_t)size); m[0].len = (uint16_t)(size + 1); }
    m[1].len = (uint16_t)size;
    error = transfer(o, m, reading || both ? 2 : 1);
    if (!error && (reading || both)) memcpy(payload, in, (size_t)size);
    return done(error, 0);
}

int i2c_ioctl(Object *o, unsigned long request, void *argument) {
    switch (request) {
    case I2C_SLAVE:
    case I2C_SLAVE_FORCE:
        if ((uintptr_t)argument > 0x7F) return (int)refuse(EINVAL);
        o->address = (int)(intptr_t)argument;
        return 0;
    case I2C_FUNCS:
        *(unsigned long *)argument = I2C_FUNC_I2C | I2C_FUNC_SMBUS_QUICK | I2C_FUNC_SMBUS_BYTE | I2C_FUNC_SMBUS_BYTE_DATA |
            I2C_FUNC_SMBUS_WORD_DATA | I2C_FUNC_SMBUS_PROC_CALL | I2C_FUNC_SMBUS_I2C_BLOCK;
        return 0;
    case I2C_TIMEOUT:
    case I2C_RETRIES: return 0;
    case I2C_PEC: return argument ? (int)refuse(EOPNOTSUPP) : 0;
    case I2C_SMBUS: return smbus(o, argument);
    case I2C_RDWR: {
        struct i2c_rdwr_ioctl_data *d = argument;
        if (d->nmsgs > I2C_RDWR_IOCTL_MAX_MSGS) return (int)refuse(EINVAL);
        return done(transfer(o, d->msgs, (int)d->nmsgs), (int)d->nmsgs);
    }
    default: return (int)refuse(ENOTTY);
    }
}
