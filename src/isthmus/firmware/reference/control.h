/* The firmware's arithmetic, free of hardware: the same source is built for the board and for the host. */
#pragma once
#include "robot.h"
#include <stdint.h>
typedef struct { float q0, q1, q2, q3, bx, by, bz; } Attitude;
typedef struct { float position, velocity, torque; uint32_t stamp; } Joint;
extern const float POSE[NJ];
void attitude_start(Attitude *a);
void attitude_update(Attitude *a, const int16_t gyro[3], const int16_t accel[3], float dt);
void attitude_gravity(const Attitude *a, float g[3]);
void levelling(const float gravity[3], const float rates[3], float out[LEGS]);
void joint_torques(const float level[LEGS], const Joint joints[NJ], const float target[NJ], float torque[NJ]);
void pack_command(uint8_t d[8], float position, float velocity, float kp, float kd, float torque);
void unpack_reply(const uint8_t d[6], int *id, Joint *joint);
