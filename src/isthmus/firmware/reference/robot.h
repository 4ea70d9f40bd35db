/* Which robot the firmware is built for: a quadruped of twelve joints, or one of its legs. */
#pragma once
#ifdef ROBOT_LEG
#define LEGS 1
#else
#define LEGS 4
#endif
#define NJ (3 * LEGS)               /* joints; three on each CAN bus */
#define TORQUE_LIMIT 23.0f          /* N m */
#define SILENCE_US 100000           /* without a command, a reply or the IMU for this long: emergency stop */
