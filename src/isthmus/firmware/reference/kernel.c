#include "kernel.h"
#include "hw.h"

#define WORDS 256
#define PEND_SWITCH() (REG(SCB + 4) = 1u << 28)
Task tasks[TASKS];
volatile uint32_t tick;
static uint32_t stacks[TASKS][WORDS] __attribute__((aligned(8)));
static Task *volatile current;

uint32_t *switch_stack(uint32_t *sp) {
    current->sp = sp;
    int i = 0;
    while (i < T_IDLE && !tasks[i].ready) i++;
    current = &tasks[i];
    return current->sp;
}

__attribute__((naked)) void pendsv_handler(void) {
    __asm volatile(
        "mrs r0, psp\n tst lr, #0x10\n it eq\n vstmdbeq r0!, {s16-s31}\n stmdb r0!, {r4-r11, lr}\n"
        "cpsid i\n bl switch_stack\n cpsie i\n"
        "ldmia r0!, {r4-r11, lr}\n tst lr, #0x10\n it eq\n vldmiaeq r0!, {s16-s31}\n msr psp, r0\n bx lr\n");
}

void systick_handler(void) {
    tick++;
    int woken = 0;
    for (int i = 0; i < TASKS; i++)
        if (tasks[i].sleeping && (int32_t)(tick - tasks[i].wake) >= 0) tasks[i].sleeping = 0, tasks[i].ready = 1, woken = 1;
    if (woken) PEND_SWITCH();
}

static void yield(void) {
    PEND_SWITCH();
    __asm volatile("dsb\n isb");
}

void sleep_until(uint32_t when) {
    uint32_t was = mask();
    current->wake = when, current->sleeping = 1, current->ready = 0;
    unmask(was);
    yield();
}

int wait_signal(uint32_t ticks) {
    uint32_t was = mask();
    if (!current->signal) {
        current->ready = 0;
        if (ticks) current->wake = tick + ticks, current->sleeping = 1;
        unmask(was);
        yield();
        was = mask();
    }
    int came = current->signal;
    current->signal = current->sleeping = 0;
    unmask(was);
    return came;
}

void give_signal(int task) {
    tasks[task].signal = tasks[task].ready = 1;
    tasks[task].sleeping = 0;
    PEND_SWITCH();
}

void spawn(int task, void (*run)(void)) {
    uint32_t *s = stacks[task] + WORDS;
    *--s = 0x01000000, *--s = (uint32_t)run;
    for (int i = 0; i < 6; i++) *--s = 0;       /* LR, R12, R3 to R0 */
    *--s = 0xFFFFFFFD;                          /* back to thread mode on the task's own stack */
    for (int i = 0; i < 8; i++) *--s = 0;
    tasks[task].sp = s, tasks[task].ready = 1;
}

static void idle(void) {
    for (;;) __asm volatile("wfi");
}

void kernel_start(void) {
    spawn(T_IDLE, idle);
    REG(SCB + 0x20) = 0xF0u << 16 | 0x40u << 24;        /* PendSV last of all, SysTick in the middle */
    REG(SYSTICK + 4) = 168000 - 1, REG(SYSTICK + 8) = 0, REG(SYSTICK) = 7;
    static uint32_t boot_stack[32] __attribute__((aligned(8)));
    static Task boot;
    current = &boot;
    __asm volatile("msr psp, %0\n mov r0, #2\n msr control, r0\n isb" ::"r"(boot_stack + 32) : "r0");
    yield();
    for (;;) __asm volatile("wfi");
}
