/* Processor and physics in turns: in every physics step devices are shown the robot's state, the processor runs for as
   long as the step lasts, and the motors' torques act on the step. Many loops run on threads, each its own. */
#define _POSIX_C_SOURCE 200809L
#include "board.h"
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WATCHES 16
enum WatchType { W_F32, W_U32, W_I32, W_U16, W_I16, W_U8, W_I8, W_F64 };
typedef struct { uint8_t *at; int type, count; } Watch;
typedef struct {
    Rig *rig;
    Board *board;                               /* none: physics alone, motors keep their last command */
    const mjModel *model;                       /* none: a robot that stands still */
    mjData *data;
    int qpos[MAX_JOINTS], dof[MAX_JOINTS], actuator[MAX_JOINTS], gyro, accel, body, own_time;
    double gear[MAX_JOINTS], force[3], timestep;
    int64_t steps;
    Watch watch[MAX_WATCHES];
    int watches, width;
    double *record;
    int64_t capacity, recorded;
    const double *truth;                        /* gyro and accelerometer of each step, in place of the physics' */
    int truths;
    int64_t taken;
} Loop;

FW_API Loop *loop_new(Rig *rig, Board *board, const mjModel *model, mjData *data, const int *qpos, const int *dof,
                      const int *actuator, int gyro, int accel, int body, double timestep) {
    Loop *l = calloc(1, sizeof *l);
    if (!l) return 0;
    l->rig = rig, l->board = board, l->model = model, l->data = data, l->gyro = gyro, l->accel = accel, l->body = body;
    l->timestep = timestep;
    for (int j = 0; j < rig->joints && model; j++) {
        l->qpos[j] = qpos[j], l->dof[j] = dof[j], l->actuator[j] = actuator[j];
        l->gear[j] = actuator[j] >= 0 ? model->actuator_gear[6 * actuator[j]] : 1;
    }
    return l;
}

FW_API void loop_free(Loop *l) { free(l); }

FW_API int loop_watch(Loop *l, uint32_t address, int type, int count) {
    static const int SIZE[] = {4, 4, 4, 2, 2, 1, 1, 8};
    uint8_t *at = l->board ? board_bytes(l->board, address, SIZE[type] * count) : 0;
    if (!at || l->watches == MAX_WATCHES) return -1;
    l->watch[l->watches++] = (Watch){at, type, count};
    return 0;
}

FW_API int loop_width(Loop *l) {
    int n = 2 + 5 * l->rig->joints + (l->model ? (int)(l->model->nq + l->model->nv) : 0);
    for (int i = 0; i < l->watches; i++) n += l->watch[i].count;
    return l->width = n;
}

FW_API void loop_record(Loop *l, double *rows, int64_t capacity) { l->record = rows, l->capacity = capacity, l->recorded = 0; }
FW_API int64_t loop_recorded(Loop *l) { return l->recorded; }
FW_API void loop_force(Loop *l, const double *force) { memcpy(l->force, force, sizeof l->force); }
FW_API void loop_truth(Loop *l, const double *truth, int n) { l->truth = truth, l->truths = n, l->taken = 0; }
FW_API void loop_restart(Loop *l) { l->steps = 0, l->recorded = 0, l->taken = 0; }

static double watched(const Watch *w, int i) {
    switch (w->type) {
    case W_F32: { float v; memcpy(&v, w->at + 4 * i, 4); return v; }
    case W_U32: { uint32_t v; memcpy(&v, w->at + 4 * i, 4); return v; }
    case W_I32: { int32_t v; memcpy(&v, w->at + 4 * i, 4); return v; }
    case W_U16: { uint16_t v; memcpy(&v, w->at + 2 * i, 2); return v; }
    case W_I16: { int16_t v; memcpy(&v, w->at + 2 * i, 2); return v; }
    case W_I8: return (int8_t)w->at[i];
    case W_F64: { double v; memcpy(&v, w->at + 8 * i, 8); return v; }
    default: return w->at[i];
    }
}

static void note(Loop *l, const double *tau, int64_t instructions) {
    if (!l->record || l->recorded >= l->capacity) return;
    double *row = l->record + l->recorded++ * l->width;
    int n = l->rig->joints;
    *row++ = l->rig->now * 1e-9;
    *row++ = (double)instructions;
    memcpy(row, tau, sizeof(double) * n);
    fw_rig_joints(l->rig, row + n, row + 2 * n, row + 3 * n, row + 4 * n);
    row += 5 * n;
    if (l->model) {
        memcpy(row, l->data->qpos, sizeof(double) * l->model->nq);
        row += l->model->nq;
        memcpy(row, l->data->qvel, sizeof(double) * l->model->nv);
        row += l->model->nv;
    }
    for (int i = 0; i < l->watches; i++)
        for (int k = 0; k < l->watch[i].count; k++) *row++ = watched(&l->watch[i], k);
}

static void sense(Loop *l) {
    double q[MAX_JOINTS] = {0}, qd[MAX_JOINTS] = {0}, gyro[3] = {0, 0, 0}, accel[3] = {0, 0, 9.81};
    const mjData *d = l->data;
    for (int j = 0; j < l->rig->joints && l->model; j++) q[j] = d->qpos[l->qpos[j]], qd[j] = d->qvel[l->dof[j]];
    if (l->model && l->gyro >= 0) memcpy(gyro, d->sensordata + l->gyro, sizeof gyro);
    if (l->model && l->accel >= 0) memcpy(accel, d->sensordata + l->accel, sizeof accel);
    if (l->truth && l->truths) {
        const double *row = l->truth + 6 * (l->taken < l->truths ? l->taken : l->truths - 1);
        memcpy(gyro, row, sizeof gyro);
        memcpy(accel, row + 3, sizeof accel);
        l->taken++;
    }
    fw_rig_sense(l->rig, q, qd, gyro, accel);
}

static void push(Loop *l, const double *tau) {
    mjData *d = l->data;
    for (int j = 0; j < l->rig->joints; j++)
        if (l->actuator[j] >= 0) d->ctrl[l->actuator[j]] = tau[j] / l->gear[j];
        else d->qfrc_applied[l->dof[j]] = tau[j];
    if (l->body >= 0) memcpy(d->xfrc_applied + 6 * l->body, l->force, sizeof l->force);
    mj_step(l->model, d);
}

static int step(Loop *l) {
    double tau[MAX_JOINTS];
    ns end = (ns)((double)(++l->steps) * l->timestep * 1e9 + 0.5);
    int64_t before = l->board ? l->board->instructions : 0;
    sense(l);
    int halt = l->board ? board_run(l->board, end) : (fw_rig_advance(l->rig, end), 0);
    fw_rig_torques(l->rig, tau);
    if (l->model && !l->truth) push(l, tau);
    note(l, tau, l->board ? l->board->instructions - before : 0);
    return halt;
}

typedef struct { Loop **loops; int from, to, steps, *halts; } Share;

static void *work(void *given) {
    Share *s = given;
    for (int i = s->from; i < s->to; i++) {
        int halt = 0;
        for (int k = 0; k < s->steps && !halt; k++) halt = step(s->loops[i]);
        s->halts[i] = halt;
    }
    return 0;
}

FW_API void loops_run(Loop **loops, int n, int steps, int threads, int *halts) {
    pthread_t thread[64];
    Share share[64];
    if (threads > 64) threads = 64;
    if (threads > n) threads = n;
    int each = (n + threads - 1) / threads, started = 0;
    for (int k = 0; k < threads; k++) {
        int to = (k + 1) * each < n ? (k + 1) * each : n, from = k * each < to ? k * each : to;
        share[k] = (Share){loops, from, to, steps, halts};
        if (k && pthread_create(&thread[k], 0, work, &share[k])) work(&share[k]), thread[k] = 0;
        started = k;
    }
    work(&share[0]);
    for (int k = 1; k <= started; k++)
        if (thread[k]) pthread_join(thread[k], 0);
}
