/* Goes wrong in the way that -DWRONG names. */
#include "start.h"
enum { UNMAPPED, FETCH, UNDEFINED, ENDLESS, PERIPHERAL, FLASH, VECTOR, STACK, NULLCALL, BREAKPOINT, BUSY, THUMB };
static uint32_t table[16] __attribute__((aligned(128)));
__attribute__((noinline)) void culprit(int what) {
    if (what == UNMAPPED) REG(0x90000000) = 1;
    if (what == FETCH) ((void (*)(void))0x30000001)();
    if (what == UNDEFINED) __asm volatile(".short 0xDEFE");
    if (what == ENDLESS) __asm volatile("cpsid i\n1: b 1b");
    if (what == PERIPHERAL) REG(0x40012345 & ~3u) = 1;
    if (what == FLASH) REG(0x08000100) = 1;
    if (what == VECTOR) __asm volatile("svc 1");
    if (what == STACK) __asm volatile("mov sp, %0\n svc 1" ::"r"(0x10));
    if (what == NULLCALL) ((void (*)(void))1)();
    if (what == BREAKPOINT) __asm volatile("bkpt 0");
    if (what == THUMB) table[11] = (uint32_t)&reset_handler & ~1u, REG(0xE000ED08) = (uint32_t)table, ({ __asm volatile("svc 1"); });
    if (what == BUSY) for (volatile int i = 0;; i++) {}
}
int main(void) {
    start_usart();
    culprit(WRONG);
    for (;;) {}
}
