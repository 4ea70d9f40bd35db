/* The rig: buses and devices on one simulated clock. No processor emulator and no physics is known here, so that an
   emulated board and a Linux program under the shim speak to the very same devices.

   Time is world time in nanoseconds. Nothing here draws from a shared random stream: every bus and device has its own,
   so that a fault on one leaves the noise of another as it was. */
#pragma once
#include <stdint.h>

#define FW_API __attribute__((visibility("default")))
#define NEVER INT64_MAX
#define MAX_EVENTS 160
#define MAX_BUSES 16
#define MAX_DEVICES 64
#define MAX_JOINTS 64
#define MAX_NODES 24
#define MAX_HELD 64
#define MAX_KNOBS 1024
#define NAME 32

typedef int64_t ns;
typedef struct Rig Rig;
typedef void (*Fire)(void *self, int arg);
typedef struct { uint64_t state; double spare; int has_spare; } Rng;
typedef struct { uint32_t id; uint8_t ext, rtr, dlc, pad; uint8_t data[8]; } CanFrame;
typedef struct { int64_t t; int32_t kind, source; int64_t a, b; } TraceEvent;

enum TraceKind {
    T_EXC_ENTER = 1, T_EXC_LEAVE, T_CAN_FRAME, T_CAN_DELIVERED, T_I2C, T_UART_RX, T_UART_TX, T_IDLE, T_WATCHDOG,
    T_RESET, T_FAULT, T_COMMAND, T_CAN_ERROR, T_BUS_OFF, T_IMU_SAMPLE, T_FAULT_WINDOW, T_MARK, T_HOST_SENT
};

/* --- CAN: a wire with nodes; arbitration by identifier, frames take their time --- */
typedef int (*CanOffer)(void *self, CanFrame *out);
typedef void (*CanDone)(void *self, int handle, int ok);
typedef void (*CanReceive)(void *self, const CanFrame *frame, ns sampled);
typedef struct { CanOffer offer; CanDone done; CanReceive receive; void *self; int firmware; int joint; } CanNode;
typedef struct { CanFrame frame; int from; ns due, sampled; } HeldFrame;
typedef struct {
    char name[NAME];
    Rig *rig;
    double bitrate;
    CanNode nodes[MAX_NODES];
    int count, busy, winner, handle, failing;
    CanFrame frame;
    ns sampled;
    int event, hold_event;
    HeldFrame held[MAX_HELD];
    int nheld;
    Rng rng;
    double loss, corrupt, delay_ms, jitter_ms, reorder, reorder_ms, off_from, off_to, error;
    int64_t frames, busy_ns, errors, lost;
} CanBus;

/* --- I2C: devices answer byte by byte; whoever drives the bus keeps the time --- */
typedef struct I2cDevice {
    int address;
    void *self;
    int (*start)(void *self, int read);         /* 0 is an acknowledge */
    int (*write)(void *self, uint8_t byte);
    int (*read)(void *self);
    void (*stop)(void *self);
} I2cDevice;
typedef struct {
    char name[NAME];
    Rig *rig;
    double hz, nack, stretch_us;
    I2cDevice devices[8];
    int count, current;
    Rng rng;
    int64_t frames, busy_ns, errors;
} I2cBus;

typedef struct { char name[2 * NAME]; double *value; } Knob;
typedef struct Lsm6 Lsm6;
typedef struct Motor Motor;

struct Rig {
    ns now, next, at[MAX_EVENTS];
    Fire fire[MAX_EVENTS];
    void *self[MAX_EVENTS];
    int arg[MAX_EVENTS], events;
    uint64_t seed;
    struct { int kind; CanBus *can; I2cBus *i2c; } bus[MAX_BUSES];
    int buses;
    struct { char name[NAME]; void *self; void (*reset)(void *self, uint64_t seed); } device[MAX_DEVICES];
    int devices;
    int joints;
    Motor *motor[MAX_JOINTS];
    double q[MAX_JOINTS], qd[MAX_JOINTS], gyro[3], accel[3];
    ns sensed_at;
    ns delivered[MAX_JOINTS];                   /* when the newest sample was taken that reached a firmware node */
    Knob knob[MAX_KNOBS];
    int knobs;
    TraceEvent *trace;
    int64_t trace_capacity, trace_count;
    void *ports[MAX_BUSES];
    int nports;
};

/* scheduler */
FW_API int fw_event(Rig *rig, Fire fire, void *self, int arg);
static inline void fw_at(Rig *rig, int event, ns t) {
    rig->at[event] = t;
    if (t < rig->next) rig->next = t;
}
static inline void fw_trace_add(Rig *rig, int kind, int source, ns t, int64_t a, int64_t b) {
    if (rig->trace_capacity) {
        TraceEvent *e = &rig->trace[rig->trace_count++ % rig->trace_capacity];
        e->t = t, e->kind = kind, e->source = source, e->a = a, e->b = b;
    }
}
static inline ns fw_ms(double ms) { return (ns)(ms * 1e6); }
static inline int fw_within(ns now, double from, double to) { double t = now * 1e-9; return t >= from && t < to; }

/* random numbers */
FW_API void fw_seed(Rng *rng, uint64_t seed, uint64_t stream);
FW_API double fw_uniform(Rng *rng);
FW_API double fw_normal(Rng *rng);
static inline int fw_chance(Rng *rng, double p) { return p > 0 && fw_uniform(rng) < p; }
FW_API void fw_knob(Rig *rig, const char *owner, const char *name, double *value, double initial);

/* rig */
FW_API Rig *fw_rig_new(int joints);
FW_API void fw_rig_free(Rig *rig);
FW_API void fw_rig_reset(Rig *rig, uint64_t seed);
FW_API ns fw_rig_now(Rig *rig);
FW_API ns fw_rig_next(Rig *rig);
FW_API void fw_rig_advance(Rig *rig, ns until);
FW_API void fw_rig_sense(Rig *rig, const double *q, const double *qd, const double *gyro, const double *accel);
FW_API void fw_rig_torques(Rig *rig, double *tau);
FW_API void fw_rig_joints(Rig *rig, double *asked, double *command_age, double *sample_age, double *max_gap);
FW_API int fw_set(Rig *rig, const char *knob, double value);
FW_API double fw_get(Rig *rig, const char *knob);
FW_API int fw_knobs(Rig *rig, char *out, int size);
FW_API void fw_trace(Rig *rig, TraceEvent *ring, int64_t capacity);
FW_API int64_t fw_trace_count(Rig *rig);
FW_API void fw_bus_counters(Rig *rig, int bus, int64_t *frames, int64_t *busy, int64_t *errors);

/* buses */
FW_API int fw_rig_add_can(Rig *rig, const char *name, double bitrate);
FW_API int fw_rig_add_i2c(Rig *rig, const char *name, double hz);
FW_API int fw_can_attach(Rig *rig, int bus, CanOffer offer, CanDone done, CanReceive receive, void *self);
FW_API void fw_can_kick(Rig *rig, int bus);
FW_API int fw_can_port(Rig *rig, int bus);
FW_API int fw_can_send(Rig *rig, int port, const CanFrame *frame);
FW_API int fw_can_recv(Rig *rig, int port, CanFrame *frame, ns *at);
FW_API int fw_i2c_start(Rig *rig, int bus, int address, int read);
FW_API int fw_i2c_write(Rig *rig, int bus, uint8_t byte);
FW_API int fw_i2c_read(Rig *rig, int bus, int ack);
FW_API void fw_i2c_stop(Rig *rig, int bus);
FW_API int fw_i2c_transfer(Rig *rig, int bus, int address, const uint8_t *w, int nw, uint8_t *r, int nr);
FW_API double fw_i2c_seconds(Rig *rig, int bus, int bytes);
FW_API int can_attach_device(CanBus *bus, CanOffer offer, CanDone done, CanReceive receive, void *self, int joint);
FW_API void can_kick(CanBus *bus);
void can_reset(CanBus *bus, uint64_t seed);
FW_API int i2c_attach(I2cBus *bus, I2cDevice device);
double can_frame_bits(const CanFrame *frame);

/* devices */
FW_API int fw_rig_add_lsm6dsox(Rig *rig, const char *name, int bus, int address);
FW_API int fw_rig_add_mit_motor(Rig *rig, const char *name, int bus, uint32_t id, uint32_t reply_id, int joint);
FW_API int fw_device(Rig *rig, const char *name, void *self, void (*reset)(void *, uint64_t));
double motor_torque(const Motor *motor);
void motor_state(const Motor *motor, double *asked, double *age, double *max_gap);
