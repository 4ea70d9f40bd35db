/* What the tasks share. Whoever writes more than a word of it masks interrupts. */
#pragma once
#include "control.h"
extern Attitude attitude;
extern float rates[3], target[NJ];
extern uint32_t imu_stamp, imu_errors, imu_reads, target_stamp;
extern Joint joints[NJ];
extern volatile uint32_t estop, frames_lost, frames_received, policy_on;
void imu_start(void);
void imu_task(void);
void can_start(void);
void can_task(void);
void can_command(int id, const uint8_t d[8]);
void host_start(void);
void telemetry(void);
void policy(const float gravity[3], const float rates[3], float out[LEGS]);
