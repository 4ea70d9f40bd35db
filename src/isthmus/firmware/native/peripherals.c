/* Which peripheral an address belongs to; the simple kinds: clocks, watchdog, plain registers, marks. */
#include "board.h"
#include <stdlib.h>
#include <string.h>

static const PeripheralType *const TYPES[] = {&BXCAN, &STM32_I2C, &STM32_USART, &STM32_TIMER, &STM32_IWDG,
                                              &STM32_RCC, &STM32_DMA, &REGISTERS, &MARK, &CALLBACK};

int board_peripheral(Board *b, const char *type, const char *name, uint32_t at, uint32_t size, const int *irq, int irqs,
                     int bus, double clock, double option) {
    const PeripheralType *kind = 0;
    for (unsigned i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i]->type, type)) kind = TYPES[i];
    return kind ? board_peripheral_of(b, kind, name, at, size, irq, irqs, bus, clock, option) : -1;
}

int board_peripheral_of(Board *b, const PeripheralType *kind, const char *name, uint32_t at, uint32_t size,
                        const int *irq, int irqs, int bus, double clock, double option) {
    if (b->peripherals == MAX_PERIPHERALS || at - PERIPHERAL_BASE >= PERIPHERAL_SPAN) return -1;
    Peripheral *p = &b->peripheral[b->peripherals];
    *p = (Peripheral){.type = kind, .board = b, .rig = b->rig, .at = at, .size = size, .bus = bus, .clock = clock};
    p->option = option, p->index = b->peripherals, p->event = p->event2 = -1;
    strncpy(p->name, name, NAME - 1);
    for (int i = 0; i < 8; i++) p->irq[i] = i < irqs ? irq[i] : -1;
    p->state = calloc(1, kind == &REGISTERS ? size : kind->state);
    if (!p->state) return -1;
    for (uint32_t a = at; a < at + size; a += 1024) b->page[(a - PERIPHERAL_BASE) >> 10] = p;
    if (kind->init) kind->init(p);
    return b->peripherals++;
}

void peripherals_reset(Board *b) {
    for (int i = 0; i < b->peripherals; i++) {
        Peripheral *p = &b->peripheral[i];
        memset(p->state, 0, p->type == &REGISTERS ? p->size : p->type->state);
        if (p->event >= 0) b->rig->at[p->event] = NEVER;
        if (p->event2 >= 0) b->rig->at[p->event2] = NEVER;
        if (p->type->reset) p->type->reset(p);
    }
}

static Peripheral *owner(Board *b, uint32_t address) {
    Peripheral *p = b->page[(address - PERIPHERAL_BASE) >> 10];
    if (!p || address - p->at >= p->size) {
        board_halt(b, H_PERIPHERAL, address);
        return 0;
    }
    return p;
}

uint32_t peripheral_read(Board *b, uint32_t address) {
    Peripheral *p = owner(b, address);
    return p ? p->type->read(p, (address - p->at) & ~3u) : 0;
}

void peripheral_write(Board *b, uint32_t address, uint32_t value) {
    Peripheral *p = owner(b, address);
    if (p) p->type->write(p, (address - p->at) & ~3u, value);
}

static void after_access(Board *b) {
    if (b->rig->next < b->limit_ns) b->limit_ns = b->rig->next, b->limit = ns_cycle(b, b->limit_ns);
}

static uint64_t mmio_read(uc_engine *uc, uint64_t offset, unsigned size, void *user) {
    (void)uc;
    Board *b = user;
    b->accesses++, b->rig->now = board_ns(b);
    uint32_t v = peripheral_read(b, PERIPHERAL_BASE + (uint32_t)offset) >> (8 * (offset & 3));
    after_access(b);
    return size == 1 ? v & 0xFF : size == 2 ? v & 0xFFFF : v;
}

static void mmio_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user) {
    (void)uc, (void)size;
    Board *b = user;
    b->accesses++, b->rig->now = board_ns(b);
    peripheral_write(b, PERIPHERAL_BASE + (uint32_t)offset, (uint32_t)value << (8 * (offset & 3)));
    after_access(b);
}

/* The bit-band alias: a word for every bit of a register. */
static uint64_t bit_read(uc_engine *uc, uint64_t offset, unsigned size, void *user) {
    (void)uc, (void)size;
    Board *b = user;
    b->accesses++, b->rig->now = board_ns(b);
    uint32_t address = PERIPHERAL_BASE + ((uint32_t)offset >> 5);
    return peripheral_read(b, address & ~3u) >> ((offset >> 2 & 7) + 8 * (address & 3)) & 1;
}

static void bit_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user) {
    (void)uc, (void)size;
    Board *b = user;
    b->accesses++, b->rig->now = board_ns(b);
    uint32_t address = PERIPHERAL_BASE + ((uint32_t)offset >> 5), bit = 1u << ((offset >> 2 & 7) + 8 * (address & 3));
    uint32_t old = peripheral_read(b, address & ~3u);
    peripheral_write(b, address & ~3u, value & 1 ? old | bit : old & ~bit);
    after_access(b);
}

int peripherals_map(Board *b) {
    return uc_mmio_map(b->uc, PERIPHERAL_BASE, PERIPHERAL_SPAN, mmio_read, b, mmio_write, b) |
           uc_mmio_map(b->uc, 0x42000000u, PERIPHERAL_SPAN * 32, bit_read, b, bit_write, b);
}

/* --- plain registers: what was written is read back --- */
static uint32_t registers_read(Peripheral *p, uint32_t offset) { return ((uint32_t *)p->state)[offset / 4]; }
static void registers_write(Peripheral *p, uint32_t offset, uint32_t v) { ((uint32_t *)p->state)[offset / 4] = v; }
const PeripheralType REGISTERS = {"registers", 4, 0, 0, registers_read, registers_write};

/* --- mark: whatever is written goes into the trace --- */
static uint32_t mark_read(Peripheral *p, uint32_t offset) { return (void)p, (void)offset, 0; }
static void mark_write(Peripheral *p, uint32_t offset, uint32_t v) {
    fw_trace_add(p->rig, T_MARK, (int)offset, p->rig->now, v, 0);
}
const PeripheralType MARK = {"mark", 4, 0, 0, mark_read, mark_write};

/* --- callback: somebody else's function answers, as one in Python; slow --- */
typedef struct { ReadCall read; WriteCall write; } Calls;
static void callback_init(Peripheral *p) { p->kept = calloc(1, sizeof(Calls)); }
static uint32_t callback_read(Peripheral *p, uint32_t offset) {
    Calls *c = p->kept;
    return c->read ? c->read(offset, p->rig->now * 1e-9) : 0;
}
static void callback_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Calls *c = p->kept;
    if (c->write) c->write(offset, v, p->rig->now * 1e-9);
}
const PeripheralType CALLBACK = {"callback", 4, callback_init, 0, callback_read, callback_write};
void board_calls(Board *b, int peripheral, ReadCall read, WriteCall write) {
    *(Calls *)b->peripheral[peripheral].kept = (Calls){read, write};
}

/* --- reset and clock control: every oscillator is ready at once --- */
enum { RCC_CR = 0x00, RCC_CFGR = 0x08, RCC_BDCR = 0x70, RCC_CSR = 0x74 };
static void rcc_reset(Peripheral *p) {
    uint32_t *r = p->state;
    r[RCC_CR / 4] = 0x83, r[1] = 0x24003010, r[RCC_CSR / 4] = p->board->reset_flags;
}
static uint32_t rcc_read(Peripheral *p, uint32_t offset) {
    uint32_t v = ((uint32_t *)p->state)[offset / 4];
    if (offset == RCC_CR) v = (v & ~0x2A020002u) | (v & 0x15010001u) << 1;
    if (offset == RCC_CFGR) v = (v & ~0xCu) | (v & 3) << 2;
    if (offset == RCC_BDCR || offset == RCC_CSR) v = (v & ~2u) | (v & 1) << 1;
    return v;
}
static void rcc_write(Peripheral *p, uint32_t offset, uint32_t v) {
    uint32_t *r = p->state;
    if (offset == RCC_CSR) v = v & 1 << 24 ? v & 1 : (v & 1) | (r[RCC_CSR / 4] & 0xFE000000u);
    r[offset / 4] = v;
}
const PeripheralType STM32_RCC = {"stm32-rcc", 1024, 0, rcc_reset, rcc_read, rcc_write};

/* --- independent watchdog, on its own 32 kHz oscillator --- */
typedef struct { uint32_t prescaler, reload, open; } Iwdg;
static void iwdg_fired(void *self, int arg) {
    (void)arg;
    board_want_reset(((Peripheral *)self)->board, R_WATCHDOG);
}
static void iwdg_init(Peripheral *p) { p->event = fw_event(p->rig, iwdg_fired, p, 0); }
static void iwdg_reset(Peripheral *p) { ((Iwdg *)p->state)->reload = 0xFFF; }
static uint32_t iwdg_read(Peripheral *p, uint32_t offset) {
    Iwdg *w = p->state;
    return offset == 4 ? w->prescaler : offset == 8 ? w->reload : 0;
}
static void iwdg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Iwdg *w = p->state;
    if (offset == 0 && v == 0x5555) w->open = 1;
    else if (offset == 0) {
        w->open = 0;
        if (v == 0xCCCC) p->board->watchdog_on = 1;
        if ((v == 0xCCCC || v == 0xAAAA) && p->board->watchdog_on) {
            int divider = 4 << (w->prescaler > 6 ? 6 : w->prescaler);
            p->rig->at[p->event] = NEVER;
            fw_at(p->rig, p->event, p->rig->now + (ns)(1e9 * divider * (w->reload + 1) / 32000));
        }
    } else if (w->open && offset == 4) w->prescaler = v & 7;
    else if (w->open && offset == 8) w->reload = v & 0xFFF;
}
const PeripheralType STM32_IWDG = {"stm32-iwdg", sizeof(Iwdg), iwdg_init, iwdg_reset, iwdg_read, iwdg_write};
