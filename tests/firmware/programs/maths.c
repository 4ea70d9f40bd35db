/* The reference firmware's arithmetic over a drawn course of sensor readings: the same source on the board and the host. */
#ifdef HOST
#include <stdint.h>
#include <string.h>
#else
#include "start.h"
#endif
#include "control.c"
#include "policy.c"
#define STEPS 400
float out[STEPS][8];
volatile int finished;
static uint32_t state = 12345;
static int32_t draw(int span) {
    state = state * 1664525u + 1013904223u;
    return (int32_t)(state >> 8) % span;
}
void compute(void) {
    Attitude a;
    attitude_start(&a);
    for (int i = 0; i < STEPS; i++) {
        int16_t gyro[3] = {draw(6000) - 3000, draw(6000) - 3000, draw(4000) - 2000};
        int16_t accel[3] = {draw(3000) - 1500, draw(3000) - 1500, 7000 + draw(2400)};
        float gravity[3], level[LEGS], turning[3], torque[NJ], target[NJ];
        Joint j[NJ];
        attitude_update(&a, gyro, accel, 0.0017f + 1e-6f * draw(700));
        attitude_gravity(&a, gravity);
        for (int k = 0; k < 3; k++) turning[k] = gyro[k] * (35e-3f * 0.01745329f);
        policy(gravity, turning, level);
        for (int k = 0; k < NJ; k++) {
            uint8_t d[6] = {k, 100 + draw(50), draw(256), draw(256), draw(256), draw(256)};
            int id;
            unpack_reply(d, &id, &j[k]);
            target[k] = 1e-3f * draw(100);
        }
        joint_torques(level, j, target, torque);
        float row[8] = {a.q0, a.q1, a.q2, a.q3, a.bx, level[2], torque[4], torque[11]};
        memcpy(out[i], row, sizeof row);
    }
    finished = 1;
}
#ifndef HOST
int main(void) {
    compute();
    for (;;) __asm volatile("wfi");
}
#endif
