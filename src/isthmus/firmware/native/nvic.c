/* Interrupt controller, SysTick and system control block of a Cortex-M4. */
#include "board.h"
#include <string.h>

static int priority_of(const Board *b, int n) {
    if (n == 2) return -2;
    if (n == 3) return -1;
    if (n >= 16) return b->priority[n - 16];
    if (n < 4) return 0;
    return (b->shpr[(n - 4) >> 2] >> (8 * (n & 3))) & 0xFF;
}

void nvic_reset(Board *b) {
    memset(b->pending, 0, sizeof b->pending);
    memset(b->enabled, 0, sizeof b->enabled);
    memset(b->line, 0, sizeof b->line);
    memset(b->priority, 0, sizeof b->priority);
    memset(b->shpr, 0, sizeof b->shpr);
    b->actives = b->pending_any = b->best = 0, b->dirty = 1, b->active_priority = THREAD_PRIORITY;
    b->aircr = 0, b->group_mask = 0xFF, b->scr = b->shcsr = b->cpacr = b->demcr = 0, b->ccr = 0x200;
    b->vtor = b->regions ? b->region[0].at : 0;
    b->systick_ctrl = b->systick_load = b->systick_flag = 0, b->systick_base = b->cycle_counter_base = b->cycle;
    b->rig->at[b->systick_event] = NEVER;
}

void nvic_pend(Board *b, int n) {
    b->pending[n >> 5] |= 1u << (n & 31);
    b->pending_any = b->dirty = 1;
}

static void unpend(Board *b, int n) {
    b->pending[n >> 5] &= ~(1u << (n & 31));
    b->dirty = 1;
}

void board_line(Board *b, int irq, int level) {
    if (irq < 0) return;
    uint32_t bit = 1u << (irq & 31), *word = &b->line[irq >> 5];
    if (level && !(*word & bit)) nvic_pend(b, 16 + irq);
    *word = level ? *word | bit : *word & ~bit;
}

static void choose(Board *b) {                  /* the most urgent of what is pending and enabled */
    int best = 0, least = THREAD_PRIORITY, any = 0;
    for (int w = 0; w < 4; w++) {
        uint32_t on = w == 0 ? 0xFFFFu | b->enabled[0] << 16 : b->enabled[w - 1] >> 16 | b->enabled[w] << 16;
        uint32_t m = b->pending[w] & on;
        any |= m != 0;
        for (; m; m &= m - 1) {
            int n = 32 * w + __builtin_ctz(m), p = priority_of(b, n);
            if (p < least) least = p, best = n;
        }
    }
    b->best = best, b->best_priority = least, b->pending_any = any, b->dirty = 0;
}

static int group(const Board *b, int priority) { return priority < 0 ? priority : priority & (int)b->group_mask; }

int nvic_candidate(Board *b) {
    if (!b->pending_any) return 0;
    if (b->dirty) choose(b);
    if (!b->best || group(b, b->best_priority) >= b->active_priority) return 0;
    static int masks[3] = {UC_ARM_REG_PRIMASK, UC_ARM_REG_FAULTMASK, UC_ARM_REG_BASEPRI};
    uint32_t v[3] = {0, 0, 0};
    void *to[3] = {&v[0], &v[1], &v[2]};
    uc_reg_read_batch(b->uc, masks, to, 3);
    if ((v[0] & 1 && b->best_priority >= 0) || (v[1] & 1 && b->best_priority >= -1)) return 0;
    if (v[2] && b->best_priority >= (int)v[2]) return 0;
    return b->best;
}

static void set_active_priority(Board *b) {
    int least = THREAD_PRIORITY;
    for (int i = 0; i < b->actives; i++) {
        int p = group(b, priority_of(b, b->active[i]));
        if (p < least) least = p;
    }
    b->active_priority = least;
}

void nvic_entered(Board *b, int n) {
    unpend(b, n);
    b->active[b->actives++] = n;
    set_active_priority(b);
}

void nvic_left(Board *b) {                      /* a line that is still high asks again */
    int n = b->active[--b->actives] - 16;
    if (n >= 0 && b->line[n >> 5] >> (n & 31) & 1) nvic_pend(b, 16 + n);
    set_active_priority(b);
}

/* --- SysTick --- */
static int64_t systick_period(const Board *b) {
    return ((int64_t)b->systick_load + 1) * (b->systick_ctrl & 4 ? 1 : 8);
}

void systick_fired(void *self, int arg) {
    (void)arg;
    Board *b = self;
    b->systick_flag = 1;
    if (b->systick_ctrl & 2) nvic_pend(b, 15);
    b->systick_base += systick_period(b);
    fw_at(b->rig, b->systick_event, cycle_ns(b, b->systick_base + systick_period(b)));
}

static void systick_start(Board *b) {
    b->systick_base = b->cycle;
    b->rig->at[b->systick_event] = NEVER;
    if (b->systick_ctrl & 1 && b->systick_load) fw_at(b->rig, b->systick_event, cycle_ns(b, b->cycle + systick_period(b)));
}

static uint32_t systick_value(const Board *b) {
    if (!(b->systick_ctrl & 1)) return 0;
    int64_t gone = (b->cycle - b->systick_base) / (b->systick_ctrl & 4 ? 1 : 8);
    return gone > b->systick_load ? 0 : b->systick_load - (uint32_t)gone;
}

/* --- registers, by their offset from 0xE0000000 --- */
static uint32_t interrupt_state(Board *b) {
    uint32_t v = b->actives ? (uint32_t)b->active[b->actives - 1] : 0;
    if (b->dirty) choose(b);
    v |= (uint32_t)b->best << 12 | (b->actives <= 1 ? 1u << 11 : 0);
    v |= (b->pending[0] >> 14 & 1) << 28 | (b->pending[0] >> 15 & 1) << 26;
    return v;
}

static uint32_t read_word(Board *b, uint32_t a) {
    if (a >= 0xE100 && a < 0xE110) return b->enabled[(a - 0xE100) / 4];
    if (a >= 0xE180 && a < 0xE190) return b->enabled[(a - 0xE180) / 4];
    if ((a >= 0xE200 && a < 0xE210) || (a >= 0xE280 && a < 0xE290)) {
        int w = (a & 0xF) / 4;
        return b->pending[w] >> 16 | (w < 3 ? b->pending[w + 1] << 16 : 0);
    }
    if (a >= 0xE400 && a < 0xE400 + MAX_IRQS) {
        uint32_t v;
        memcpy(&v, b->priority + (a - 0xE400), 4);
        return v;
    }
    if (a >= 0xED18 && a < 0xED24) return b->shpr[(a - 0xED18) / 4];
    switch (a) {
    case 0xE004: return MAX_IRQS / 32 - 1;
    case 0xE010: { uint32_t v = b->systick_ctrl | b->systick_flag << 16; b->systick_flag = 0; return v; }
    case 0xE014: return b->systick_load;
    case 0xE018: return systick_value(b);
    case 0x1000: return 1;
    case 0x1004: return (uint32_t)(b->cycle - b->cycle_counter_base);
    case 0xED00: return 0x410FC241;
    case 0xED04: return interrupt_state(b);
    case 0xED08: return b->vtor;
    case 0xED0C: return 0xFA050000 | b->aircr;
    case 0xED10: return b->scr;
    case 0xED14: return b->ccr;
    case 0xED24: return b->shcsr;
    case 0xED88: return b->cpacr;
    case 0xEDFC: return b->demcr;
    case 0xEF34: return 0xC0000000;
    default: return 0;
    }
}

static void write_control(Board *b, uint32_t a, uint32_t v) {
    switch (a) {
    case 0xE010: b->systick_ctrl = v & 7; systick_start(b); break;
    case 0xE014: b->systick_load = v & 0xFFFFFF; if (b->rig->at[b->systick_event] == NEVER) systick_start(b); break;
    case 0xE018: b->systick_flag = 0; systick_start(b); break;
    case 0x1004: b->cycle_counter_base = b->cycle - v; break;
    case 0xED04:
        if (v >> 28 & 1) nvic_pend(b, 14);
        if (v >> 27 & 1) unpend(b, 14);
        if (v >> 26 & 1) nvic_pend(b, 15);
        if (v >> 25 & 1) unpend(b, 15);
        if (v >> 31 & 1) nvic_pend(b, 2);
        break;
    case 0xED08: b->vtor = v ? v : b->region[0].at; break;
    case 0xED0C:
        if (v >> 16 != 0x5FA) break;
        b->aircr = v & 0x700, b->group_mask = 0xFF & ~((2u << (v >> 8 & 7)) - 1), b->dirty = 1;
        if (v & 5) board_want_reset(b, R_SOFTWARE);
        break;
    case 0xED10: b->scr = v; break;
    case 0xED14: b->ccr = v; break;
    case 0xED24: b->shcsr = v; break;
    case 0xED88: b->cpacr = v; break;
    case 0xEDFC: b->demcr = v; break;
    case 0xEF00: nvic_pend(b, 16 + (v & 0x7F)); break;
    default: break;
    }
}

static void write_word(Board *b, uint32_t a, uint32_t v) {
    b->dirty = 1;
    if (a >= 0xE100 && a < 0xE110) {
        b->enabled[(a - 0xE100) / 4] |= v, b->pending_any = 1;
    } else if (a >= 0xE180 && a < 0xE190) b->enabled[(a - 0xE180) / 4] &= ~v;
    else if ((a >= 0xE200 && a < 0xE210) || (a >= 0xE280 && a < 0xE290))
        for (int first = (a & 0xF) * 8; v; v &= v - 1) {
            int irq = first + __builtin_ctz(v);
            if (irq >= MAX_IRQS) break;
            if (a < 0xE280 || b->line[irq >> 5] >> (irq & 31) & 1) nvic_pend(b, 16 + irq);
            else unpend(b, 16 + irq);
        }
    else if (a >= 0xED18 && a < 0xED24) b->shpr[(a - 0xED18) / 4] = v & 0xF0F0F0F0u;
    else write_control(b, a, v);
}

uint64_t system_read(uc_engine *uc, uint64_t offset, unsigned size, void *user) {
    (void)uc;
    Board *b = user;
    b->accesses++, b->rig->now = board_ns(b);
    uint32_t v = read_word(b, (uint32_t)offset & ~3u) >> (8 * (offset & 3));
    return size == 1 ? v & 0xFF : size == 2 ? v & 0xFFFF : v;
}

void system_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user) {
    (void)uc;
    Board *b = user;
    uint32_t a = (uint32_t)offset;
    b->accesses++, b->rig->now = board_ns(b);
    if (a >= 0xE400 && a + size <= 0xE400 + MAX_IRQS) {
        for (unsigned i = 0; i < size; i++) b->priority[a - 0xE400 + i] = (value >> (8 * i)) & 0xF0;
        b->dirty = 1;
    } else if (size < 4) {
        uint32_t word = a & ~3u, shift = 8 * (a & 3), mask = (size == 1 ? 0xFFu : 0xFFFFu) << shift;
        write_word(b, word, (read_word(b, word) & ~mask) | ((uint32_t)value << shift & mask));
    } else write_word(b, a, (uint32_t)value);
    if (b->rig->next < b->limit_ns) b->limit_ns = b->rig->next, b->limit = ns_cycle(b, b->limit_ns);
}
