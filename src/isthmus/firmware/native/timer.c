/* STM32 timers: up-counting with prescaler and reload, update events, one-pulse mode. No capture, no compare. */
#include "board.h"

enum { CR1 = 0x00, DIER = 0x0C, SR = 0x10, EGR = 0x14, CNT = 0x24, PSC = 0x28, ARR = 0x2C };
typedef struct { uint32_t reg[0x60 / 4], psc, start; int64_t since; } Timer;    /* count was `start` at cycle `since` */

static double per_cycle(Peripheral *p) { return p->clock / p->board->clock_hz; }

static uint64_t ticks(Peripheral *p) {          /* counted since `since`, plus what it had then */
    Timer *t = p->state;
    if (!(t->reg[CR1 / 4] & 1)) return t->start;
    double raw = (double)(p->board->cycle - t->since) * per_cycle(p);
    return t->start + (uint64_t)raw / (t->psc + 1);
}

static uint64_t span(Timer *t) { return (uint64_t)t->reg[ARR / 4] + 1; }

static void plan(Peripheral *p) {
    Timer *t = p->state;
    p->rig->at[p->event] = NEVER;
    if (!(t->reg[CR1 / 4] & 1) || !(t->reg[DIER / 4] & 1)) return;
    uint64_t left = span(t) - ticks(p) % span(t);
    double cycles = (double)left * (t->psc + 1) / per_cycle(p);
    fw_at(p->rig, p->event, cycle_ns(p->board, p->board->cycle + (int64_t)cycles + 1));
}

static void settle(Peripheral *p) {             /* note wraps since the last look, begin to count from here */
    Timer *t = p->state;
    uint64_t now = ticks(p);
    if (now >= span(t)) {
        t->reg[SR / 4] |= 1;
        t->psc = t->reg[PSC / 4];
        if (t->reg[CR1 / 4] & 8) t->reg[CR1 / 4] &= ~1u, now = 0;
    }
    if (t->reg[CR1 / 4] & 1) {                  /* keep the fraction of a tick */
        double raw = (double)(p->board->cycle - t->since) * per_cycle(p);
        double rest = raw - (double)((uint64_t)raw / (t->psc + 1) * (t->psc + 1));
        t->since = p->board->cycle - (int64_t)(rest / per_cycle(p));
    } else t->since = p->board->cycle;
    t->start = (uint32_t)(now % span(t));
}

static void raise_line(Peripheral *p) {
    Timer *t = p->state;
    board_line(p->board, p->irq[0], t->reg[SR / 4] & t->reg[DIER / 4] & 1);
}

static void fired(void *self, int arg) {
    (void)arg;
    Peripheral *p = self;
    settle(p);
    raise_line(p);
    plan(p);
}

static void init(Peripheral *p) { p->event = fw_event(p->rig, fired, p, 0); }

static void reset(Peripheral *p) {
    Timer *t = p->state;
    t->reg[ARR / 4] = p->option == 32 ? 0xFFFFFFFFu : 0xFFFFu;
}

static uint32_t reg_read(Peripheral *p, uint32_t offset) {
    Timer *t = p->state;
    if (offset >= 0x60) return 0;
    uint32_t limit = p->option == 32 ? 0xFFFFFFFFu : 0xFFFFu;
    if (offset == CNT) {
        uint64_t shift = t->reg[ARR / 4] == limit ? (uint64_t)p->board->counter_offset : 0;
        return (uint32_t)((ticks(p) + shift) % span(t));
    }
    if (offset == SR) settle(p);
    return t->reg[offset / 4];
}

static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Timer *t = p->state;
    if (offset >= 0x60) return;
    settle(p);
    if (offset == SR) t->reg[SR / 4] &= v;
    else if (offset == CNT) t->start = v % span(t), t->since = p->board->cycle;
    else if (offset == EGR) {
        if (!(v & 1)) return;
        t->start = 0, t->since = p->board->cycle, t->psc = t->reg[PSC / 4];
        if (!(t->reg[CR1 / 4] & 4)) t->reg[SR / 4] |= 1;
    } else t->reg[offset / 4] = v;
    if (offset == PSC && !(t->reg[CR1 / 4] & 1)) t->psc = v;    /* a stopped timer takes it with its start */
    raise_line(p);
    plan(p);
}

const PeripheralType STM32_TIMER = {"stm32-timer", sizeof(Timer), init, reset, reg_read, reg_write};
