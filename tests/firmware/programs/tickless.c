/* SysTick as FreeRTOS' tickless idle uses it: stopped, read, loaded for a long sleep, loaded again while it counts. */
#include "start.h"
#define CTRL 0xE000E010
#define LOAD 0xE000E014
#define VAL 0xE000E018
#define CYCLES 0xE0001004
static volatile uint32_t ticks, at[3];
void systick_handler(void) { if (ticks < 3) at[ticks] = REG(CYCLES); ticks++; }
static void wait(uint32_t cycles) { for (uint32_t t = REG(CYCLES); REG(CYCLES) - t < cycles;) {} }
static int near(uint32_t a, uint32_t b) { return a - b + 100 < 200; }
int main(void) {
    start_usart();
    REG(0xE000EDFC) = 1 << 24, REG(0xE0001000) = 1, REG(CYCLES) = 0;
    REG(LOAD) = 99999, REG(VAL) = 0, REG(CTRL) = 5;
    wait(30000);
    REG(CTRL) = 4;                                      /* stopped: the value stays */
    uint32_t stopped = REG(VAL);
    wait(5000);
    number(near(stopped, 70000)), number(REG(VAL) == stopped);
    REG(CTRL) = 5;                                      /* and counts on from there */
    wait(10000);
    number(near(REG(VAL), 60000));
    REG(CTRL) = 7, REG(CTRL) = 5;                       /* the interrupt alone: HAL_SuspendTick, HAL_ResumeTick */
    wait(10000);
    number(near(REG(VAL), 50000));
    REG(LOAD) = 20000 - 1, REG(VAL) = 0;                /* the rest of a tick, then whole ones */
    REG(CTRL) = 7, REG(CYCLES) = 0;
    REG(LOAD) = 50000 - 1;
    while (ticks < 3) {}
    number(near(at[0], 20000)), number(near(at[1], 70000)), number(near(at[2], 120000));
    put('\n');
    for (;;) __asm volatile("wfi");
}
