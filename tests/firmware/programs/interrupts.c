/* Nested interrupts, SysTick, a timer, SVC, IPSR, BASEPRI, the cycle counter, code in RAM, a software reset. */
#include "start.h"
static volatile uint32_t ticks, updates, ipsr, nested, svc;
void systick_handler(void) {
    uint32_t v;
    __asm volatile("mrs %0, ipsr" : "=r"(v));
    ipsr = v, ticks++;
    if (updates & 0x80000000u) nested++;
}
void tim_handler(void) {
    REG(0x40000010) = 0;
    updates |= 0x80000000u;
    if (updates == 0x80000002u) for (uint32_t t = ticks; ticks < t + 2;) {}     /* SysTick is more urgent */
    updates = (updates & 0x7FFFFFFFu) + 1;
}
void svc_handler(void) { svc++; }
__attribute__((section(".data.ramcode"), noinline, long_call)) static uint32_t in_ram(uint32_t x) {
    uint32_t v;
    __asm volatile("mrs %0, ipsr" : "=r"(v));
    return 3 * x + 1 + v;
}
int main(void) {
    start_usart();
    uint32_t back = REG(0x40023874) >> 28 & 1;                      /* was it a software reset? */
    number(back);
    REG(0xE000EDFC) = 1 << 24, REG(0xE0001000) = 1, REG(0xE0001004) = 0;
    REG(0xE000ED20) = 0x20u << 24, *(volatile uint8_t *)(0xE000E400 + 28) = 0x40;
    REG(0xE000E014) = 16799, REG(0xE000E018) = 0, REG(0xE000E010) = 7;          /* 10 kHz */
    REG(0x40000028) = 83, REG(0x4000002C) = 999, REG(0x40000014) = 1, REG(0x40000010) = 0, REG(0x4000000C) = 1;
    REG(0xE000E100) = 1 << 28, REG(0x40000000) = 1;                             /* 1 kHz */
    while ((updates & 0x7FFFFFFF) < 5) {}
    uint32_t t = ticks, c = REG(0xE0001004) / 168000;
    number(t >= 49 && t <= 54), number(c >= 4 && c <= 6), number(nested >= 2), number(ipsr);
    __asm volatile("svc 0");
    number(svc), number(in_ram(5));
    __asm volatile("msr basepri, %0" ::"r"(0x30));
    uint32_t masked = updates;
    for (volatile int i = 0; i < 100000; i++) {}
    number(updates == masked || updates == masked + 1);
    __asm volatile("msr basepri, %0" ::"r"(0));
    uint32_t now;
    __asm volatile("mrs %0, ipsr" : "=r"(now));
    number(now);
    put('\n');
    for (volatile int i = 0; i < 20000; i++) {}
    if (!back) REG(0xE000ED0C) = 0x05FA0004;
    print("end\n");
    for (;;) __asm volatile("wfi");
}
