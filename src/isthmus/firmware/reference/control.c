#include "control.h"

/* DOUBLE_MATHS: a constant without its f makes a whole expression double, which this FPU does not have. */
#ifdef BUG_DOUBLE_MATHS
typedef double real;
#define SQRT __builtin_sqrt
#else
typedef float real;
#define SQRT __builtin_sqrtf
#endif
#define GYRO_LSB (35e-3f * 0.017453292519943295f)       /* 1000 degrees a second */
#define ACCEL_LSB (0.122e-3f * 9.80665f)                /* 4 g */
#define KP_ATTITUDE 1.0f
#define KI_ATTITUDE 0.05f
#define KP 60.0f
#define KD 1.5f
#define LENGTH 0.2f                                     /* of a thigh, of a shin */

#ifdef ROBOT_LEG
const float POSE[NJ] = {0, 0.8f, -1.6f};
static const float LEG_X[LEGS] = {0}, LEG_Y[LEGS] = {0};
#else
const float POSE[NJ] = {0, 0.8f, -1.6f, 0, 0.8f, -1.6f, 0, 0.8f, -1.6f, 0, 0.8f, -1.6f};
static const float LEG_X[LEGS] = {0.18f, 0.18f, -0.18f, -0.18f}, LEG_Y[LEGS] = {0.12f, -0.12f, 0.12f, -0.12f};
#endif

static float clamp(float x, float limit) { return x < -limit ? -limit : x > limit ? limit : x; }

void attitude_start(Attitude *a) {
    a->q0 = 1;
    a->q1 = a->q2 = a->q3 = a->bx = a->by = a->bz = 0;
}

/* Mahony's filter: the gyroscope is integrated, the accelerometer says slowly where down is. */
void attitude_update(Attitude *s, const int16_t gyro[3], const int16_t accel[3], float step) {
    real dt = step, one = 1, half = 0.5f, two = 2;
    real gx = gyro[0] * (real)GYRO_LSB, gy = gyro[1] * (real)GYRO_LSB, gz = gyro[2] * (real)GYRO_LSB;
#ifdef BUG_GYRO_SIGN
    gx = -gx;
#endif
    real ax = accel[0] * (real)ACCEL_LSB, ay = accel[1] * (real)ACCEL_LSB, az = accel[2] * (real)ACCEL_LSB;
    real q0 = s->q0, q1 = s->q1, q2 = s->q2, q3 = s->q3, n = ax * ax + ay * ay + az * az;
    if (n > 25 && n < 300) {                            /* neither falling nor hit */
        real r = one / SQRT(n);
        ax *= r, ay *= r, az *= r;
        real vx = two * (q1 * q3 - q0 * q2), vy = two * (q0 * q1 + q2 * q3), vz = q0 * q0 - q1 * q1 - q2 * q2 + q3 * q3;
        real ex = ay * vz - az * vy, ey = az * vx - ax * vz, ez = ax * vy - ay * vx;
        s->bx += KI_ATTITUDE * ex * dt, s->by += KI_ATTITUDE * ey * dt, s->bz += KI_ATTITUDE * ez * dt;
        gx += KP_ATTITUDE * ex + s->bx, gy += KP_ATTITUDE * ey + s->by, gz += KP_ATTITUDE * ez + s->bz;
    }
    real h = half * dt;
    real a = q0 - h * (q1 * gx + q2 * gy + q3 * gz), b = q1 + h * (q0 * gx + q2 * gz - q3 * gy);
    real c = q2 + h * (q0 * gy - q1 * gz + q3 * gx), d = q3 + h * (q0 * gz + q1 * gy - q2 * gx);
    real m = one / SQRT(a * a + b * b + c * c + d * d);
    s->q0 = a * m, s->q1 = b * m, s->q2 = c * m, s->q3 = d * m;
}

void attitude_gravity(const Attitude *s, float g[3]) {
    g[0] = 2.0f * (s->q1 * s->q3 - s->q0 * s->q2);
    g[1] = 2.0f * (s->q0 * s->q1 + s->q2 * s->q3);
    g[2] = s->q0 * s->q0 - s->q1 * s->q1 - s->q2 * s->q2 + s->q3 * s->q3;
}

/* How much longer a leg gets, in metres: longer where the body is low. */
void levelling(const float g[3], const float rates[3], float out[LEGS]) {
    for (int leg = 0; leg < LEGS; leg++) {
        float lean = g[1] * LEG_Y[leg] + g[0] * LEG_X[leg], rate = rates[0] * LEG_Y[leg] - rates[1] * LEG_X[leg];
        out[leg] = clamp(-lean - 0.05f * rate, 0.05f);
    }
}

void joint_torques(const float level[LEGS], const Joint joints[NJ], const float target[NJ], float torque[NJ]) {
    for (int leg = 0; leg < LEGS; leg++) {
        float bend = -level[leg] / (2.0f * LENGTH * 0.717f);    /* of the thigh; the knee turns twice as far */
        float extra[3] = {0, bend, -2.0f * bend};
        for (int k = 0; k < 3; k++) {
            int i = 3 * leg + k;
            float t = KP * (POSE[i] + target[i] + extra[k] - joints[i].position) - KD * joints[i].velocity;
#ifndef BUG_NO_CLAMP
            t = clamp(t, TORQUE_LIMIT);
#endif
            torque[i] = t;
        }
    }
}

static unsigned to_bits(float x, float low, float high, int bits) {
#ifndef BUG_NO_CLAMP
    if (x < low) x = low;
    if (x > high) x = high;
#endif
    return (unsigned)(int)((x - low) * ((float)((1 << bits) - 1) / (high - low)) + 0.5f) & ((1u << bits) - 1);
}

static float from_bits(unsigned x, float low, float high, int bits) {
    return (float)x * (high - low) / (float)((1 << bits) - 1) + low;
}

void pack_command(uint8_t d[8], float position, float velocity, float kp, float kd, float torque) {
    unsigned p = to_bits(position, -12.5f, 12.5f, 16), v = to_bits(velocity, -45.0f, 45.0f, 12);
    unsigned gp = to_bits(kp, 0, 500.0f, 12), gd = to_bits(kd, 0, 5.0f, 12), t = to_bits(torque, -33.0f, 33.0f, 12);
    d[0] = p >> 8, d[1] = p, d[2] = v >> 4, d[3] = (v & 15) << 4 | gp >> 8;
    d[4] = gp, d[5] = gd >> 4, d[6] = (gd & 15) << 4 | t >> 8, d[7] = t;
}

void unpack_reply(const uint8_t d[6], int *id, Joint *joint) {
    *id = d[0];
    unsigned p = d[1] << 8 | d[2];
#ifdef BUG_CAN_PARSE
    unsigned v = d[3] << 4 | (d[4] & 15), t = (d[4] >> 4) << 8 | d[5];     /* the torque's bits in the velocity */
#else
    unsigned v = d[3] << 4 | d[4] >> 4, t = (d[4] & 15) << 8 | d[5];
#endif
    joint->position = from_bits(p, -12.5f, 12.5f, 16);
    joint->velocity = from_bits(v, -45.0f, 45.0f, 12);
    joint->torque = from_bits(t, -33.0f, 33.0f, 12);
}
