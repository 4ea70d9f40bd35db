/* The simulated robot behind the program: buses and devices here, physics in the process that started us. */
#pragma once
#include "shim.h"

#define SHARED_VERSION 1

/* The page shared with that process. It fills in everything above `now` before the program starts. */
typedef struct {
    int64_t version, joints;
    int64_t step_ns;                /* of the physics */
    int64_t start_ns;               /* CLOCK_MONOTONIC when world time is 0 */
    uint64_t seed;
    int64_t trace_capacity;
    char script[32768];             /* what is on the buses, a line each: see build() in wires.c */
    int64_t now;                    /* world time, ns */
    int64_t trace_count;
    double sensors[2 * MAX_JOINTS + 6];  /* q, qd, gyro, acceleration */
    double torques[MAX_JOINTS], asked[MAX_JOINTS], command_age[MAX_JOINTS], sample_age[MAX_JOINTS], max_gap[MAX_JOINTS];
    int64_t host_in_count, host_out_count;
    uint8_t host_in[1024], host_out[4096];   /* bytes on the serial port since the last step */
    int64_t frames_sent, frames_received, frames_dropped, i2c_transfers, i2c_errors;
    int64_t bus_counters[3 * MAX_BUSES];     /* frames, busy ns and errors of each bus */
    char said[512];                 /* the first thing that the program asked for and the shim does not have */
    TraceEvent ring[];
} Shared;

extern Shared *shared;
extern Rig *rig;
typedef struct { char name[32]; int rig_bus; } Wire;
extern Wire can_wires[MAX_BUSES], i2c_wires[MAX_BUSES];
extern int can_count, i2c_count;
extern char serial_path[64];

void wires_start(void);             /* reads ISTHMUS_SHIM; leaves shim_on at 0 if it is not there */
ns_t wires_next(void);
void wires_run(ns_t now);
void can_attach(void);
bool can_queue_full(int bus);
bool can_waiting(void);              /* frames of the program are not all on the wire yet */
void serial_arrived(const uint8_t *bytes, int count);
