/* Reference firmware: a quadruped, or one leg, whose host sends joint targets.

   Every 2 ms the IMU is read and the attitude estimated, and every joint gets a torque from a PD controller. Replies are
   put in their place every millisecond. Without a command, a joint's reply or the IMU for 100 ms all joints are damped
   until the next reset. */
#include "hw.h"
#include "kernel.h"
#include "state.h"
#include <string.h>

volatile uint32_t estop;
static volatile uint32_t control_steps;

static int older(uint32_t now, uint32_t stamp) {
#ifdef BUG_SHORT_AGE
    uint16_t a = now / 1000, b = stamp / 1000;          /* milliseconds in 16 bits; their difference is an int */
    return (uint32_t)(a - b) > SILENCE_US / 1000;
#else
    return (int32_t)(now - stamp) > SILENCE_US;
#endif
}

static void estop_task(void) {
    uint32_t next = tick + 150;                         /* let the buses come up */
    sleep_until(next);
    for (;;) {
        next += 10;
        uint32_t now = now_us(), bad = 0;
#ifndef BUG_STALE_FRAME
        for (int i = 0; i < NJ; i++)
            if (older(now, joints[i].stamp)) bad |= 1;
        if ((int32_t)(now - imu_stamp) > SILENCE_US) bad |= 2;
#endif
        if ((int32_t)(now - target_stamp) > SILENCE_US) bad |= 4;
        if (bad) estop |= bad;
        sleep_until(next);
    }
}

static void control_task(void) {
    uint32_t next = tick;
    for (;;) {
        Joint j[NJ];
        float gravity[3], turning[3], wanted[NJ], level[LEGS], torque[NJ];
        next += 2;
        uint32_t was = mask();
        Attitude a = attitude;
        memcpy(j, joints, sizeof j), memcpy(turning, rates, sizeof turning), memcpy(wanted, target, sizeof wanted);
        unmask(was);
        attitude_gravity(&a, gravity);
        if (policy_on) policy(gravity, turning, level);
        else levelling(gravity, turning, level);
        joint_torques(level, j, wanted, torque);
        for (int i = 0; i < NJ; i++) {
            uint8_t d[8];
            if (estop) pack_command(d, 0, 0, 0, 2.0f, 0);
            else pack_command(d, 0, 0, 0, 0, torque[i]);
            can_command(i + 1, d);
        }
#ifdef BUG_WATCHDOG_UNFED
        if (!estop)
#endif
        REG(IWDG) = 0xAAAA;
        if (++control_steps % 10 == 0) telemetry();
        sleep_until(next);
    }
}

static void clocks_start(void) {
    REG(RCC) |= 1 << 16;
    while (!(REG(RCC) & 1 << 17)) {}
    REG(TIM2 + TIM_PSC) = 83, REG(TIM2 + TIM_ARR) = 0xFFFFFFFFu, REG(TIM2 + TIM_EGR) = 1, REG(TIM2 + TIM_CR1) = 1;
}

static void stamps_start(void) {                        /* nothing is late before it was expected */
    uint32_t now = now_us();
    imu_stamp = target_stamp = now;
    for (int i = 0; i < NJ; i++) joints[i].stamp = now, joints[i].position = POSE[i];
}

static void watchdog_start(void) {
    REG(IWDG) = 0x5555;
    REG(IWDG + 4) = 0, REG(IWDG + 8) = 160 - 1;         /* 20 ms */
    REG(IWDG) = 0xCCCC;
}

int main(void) {                                        /* the kernel does not return */
    clocks_start();
    stamps_start();
    can_start(), imu_start(), host_start();
    watchdog_start();
    spawn(T_ESTOP, estop_task), spawn(T_IMU, imu_task), spawn(T_CAN, can_task), spawn(T_CONTROL, control_task);
    kernel_start();
    return 0;
}
