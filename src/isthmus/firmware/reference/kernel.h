/* A pre-emptive kernel: fixed priorities, one semaphore a task, a tick of 1 ms. */
#pragma once
#include <stdint.h>
typedef struct {
    uint32_t *sp;
    volatile uint8_t ready, sleeping, signal;
    volatile uint32_t wake;
} Task;
enum { T_ESTOP, T_IMU, T_CAN, T_CONTROL, T_IDLE, TASKS };   /* the first is the most urgent */
extern Task tasks[TASKS];
extern volatile uint32_t tick;
void spawn(int task, void (*run)(void));
void sleep_until(uint32_t when);
int wait_signal(uint32_t ticks);     /* 1 when it came, 0 when so many ticks were over first; 0 waits for ever */
void give_signal(int task);          /* also from an interrupt */
void kernel_start(void);             /* does not return */
