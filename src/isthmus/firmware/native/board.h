/* A board: an emulated Cortex-M4F, its memory and its peripherals, on the clock of a rig. */
#pragma once
#include "fw.h"
#include <stddef.h>
#include <unicorn/unicorn.h>

#define MAX_REGIONS 8
#define MAX_PERIPHERALS 64
#define MAX_IRQS 112
#define PERIPHERAL_BASE 0x40000000u
#define PERIPHERAL_SPAN 0x80000u
#define THREAD_PRIORITY 256

typedef struct Board Board;
typedef struct Peripheral Peripheral;

/* What a kind of peripheral is. Registers are 32 bits; `offset` is a multiple of four. */
typedef struct {
    const char *type;
    size_t state;                               /* bytes of `Peripheral.state`, set to zero by a reset */
    void (*init)(Peripheral *p);                /* once: events, nodes, knobs */
    void (*reset)(Peripheral *p);               /* after every reset of the processor */
    uint32_t (*read)(Peripheral *p, uint32_t offset);
    void (*write)(Peripheral *p, uint32_t offset, uint32_t value);
} PeripheralType;

struct Peripheral {
    const PeripheralType *type;
    Board *board;
    Rig *rig;
    char name[NAME];
    uint32_t at, size;
    int irq[8];                                 /* -1: not connected */
    int bus, index, event, event2;
    double clock;                               /* what it is clocked with, in Hz */
    double option;                              /* the kind's own: bits of a timer */
    void *state, *kept;                         /* `kept` survives a reset */
};

typedef struct { uint32_t at, size; uint8_t *bytes; int writable, runs; } Region;
typedef struct { uint16_t size, count; } Block;  /* bytes and instructions */
enum HaltCode {
    H_NONE, H_UNMAPPED, H_FETCH, H_UNDEFINED, H_STACK, H_RETURN, H_ENDLESS, H_BREAKPOINT, H_PERIPHERAL, H_VECTOR,
    H_WALL, H_FLASH_WRITE, H_OTHER, H_THUMB
};
enum ResetCause { R_POWER, R_WATCHDOG, R_SOFTWARE, R_BROWNOUT };

struct Board {
    /* what every block looks at: two lines of the cache */
    int64_t cycle, limit, instructions, blocks;
    Block *block;                               /* that begins at a halfword of the first region */
    uint32_t cost256;
    enum HaltCode halt;
    int reset_wanted, pending_any, diagnosing, dirty;
    Region region[MAX_REGIONS];
    Rig *rig;
    uc_engine *uc;
    uc_context *boot;
    int regions, exact;
    uint8_t *exception_page;
    Peripheral peripheral[MAX_PERIPHERALS];
    int peripherals;
    Peripheral *page[PERIPHERAL_SPAN >> 10];
    double clock_hz, drift, ns_per_cycle, counter_offset, brownout_from, brownout_to, cycles_per_instruction;
    int64_t anchor_cycle;
    ns anchor_ns, limit_ns, end;
    /* interrupts */
    uint32_t pending[4], enabled[4], line[4];   /* pending by exception number, enabled and line by interrupt */
    uint8_t priority[MAX_IRQS], unprivileged[32];
    int active[32], actives, active_priority, best, best_priority;
    int found, known;                           /* what may be entered, as the hook of the block ahead has found */
    uint32_t vtor, shpr[3], aircr, scr, ccr, shcsr, cpacr, demcr, group_mask;
    uint32_t systick_ctrl, systick_load, systick_flag, systick_top;     /* it counts down from `top` since `base` */
    int systick_event;
    int64_t systick_base, cycle_counter_base;
    /* execution */
    int waiting, stopped, it_left, interrupt, reset_cause, in_brownout, watchdog_on;
    uint32_t pc, halt_pc, halt_address, reset_flags;
    double wall_end;                            /* when it must have ended, by the wall's clock */
    int64_t turns;
    int64_t starts, exceptions, accesses, watchdog_resets, resets, idle_cycles;
};

/* cpu.c */
FW_API Board *board_new(Rig *rig, double clock_hz, double cycles_per_instruction, int exact);
FW_API int board_region(Board *b, uint32_t at, uint32_t size, int writable);
FW_API int board_load(Board *b, uint32_t at, const uint8_t *bytes, uint32_t size);
FW_API int board_start(Board *b);
FW_API void board_reset(Board *b);
FW_API int board_run(Board *b, ns end);
FW_API void board_free(Board *b);
FW_API uint8_t *board_bytes(Board *b, uint32_t at, uint32_t size);
FW_API void board_halted(Board *b, uint32_t *out);
FW_API void board_counters(Board *b, int64_t *out);
FW_API void board_wall(Board *b, double seconds);
void board_want_reset(Board *b, enum ResetCause cause);
void board_halt(Board *b, enum HaltCode code, uint32_t address);

/* time: the processor's own cycles, which drift against the world */
static inline ns board_ns(const Board *b) {
    return b->anchor_ns + (ns)((double)(b->cycle - b->anchor_cycle) * b->ns_per_cycle);
}
static inline ns cycle_ns(const Board *b, int64_t cycle) {
    return b->anchor_ns + (ns)((double)(cycle - b->anchor_cycle) * b->ns_per_cycle);
}
int64_t ns_cycle(const Board *b, ns t);

/* nvic.c */
void nvic_reset(Board *b);
void nvic_pend(Board *b, int exception);
int nvic_candidate(Board *b);
void nvic_entered(Board *b, int exception);
void nvic_left(Board *b);
FW_API void board_line(Board *b, int irq, int level);  /* an interrupt line of a peripheral, by level */
uint64_t system_read(uc_engine *uc, uint64_t offset, unsigned size, void *user);
void system_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user);
void systick_fired(void *self, int arg);

/* peripherals.c */
FW_API int board_peripheral(Board *b, const char *type, const char *name, uint32_t at, uint32_t size, const int *irq,
                            int irqs, int bus, double clock, double option);
FW_API int board_peripheral_of(Board *b, const PeripheralType *kind, const char *name, uint32_t at, uint32_t size,
                               const int *irq, int irqs, int bus, double clock, double option);
typedef uint32_t (*ReadCall)(uint32_t offset, double seconds);
typedef void (*WriteCall)(uint32_t offset, uint32_t value, double seconds);
FW_API void board_calls(Board *b, int peripheral, ReadCall read, WriteCall write);      /* of a "callback" */
uint32_t peripheral_read(Board *b, uint32_t address);
void peripheral_write(Board *b, uint32_t address, uint32_t value);
int peripherals_map(Board *b);
void peripherals_reset(Board *b);
FW_API int dma_request(Board *b, uint32_t address, int to_memory);     /* one unit: -1 no stream, else how many are left */
int dma_left(Board *b, uint32_t address, int to_memory);
FW_API int uart_send(Board *b, int peripheral, const uint8_t *bytes, int n);
FW_API double uart_heard(Board *b, int peripheral);       /* when the last byte came */
FW_API int uart_take(Board *b, int peripheral, uint8_t *bytes, int size);
extern const PeripheralType BXCAN, STM32_I2C, STM32_USART, STM32_TIMER, STM32_IWDG, STM32_RCC, STM32_DMA, REGISTERS, MARK,
    CALLBACK;
