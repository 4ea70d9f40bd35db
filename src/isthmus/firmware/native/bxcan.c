/* ST's bxCAN controller: three transmit mailboxes, two receive FIFOs of three frames, 28 filter banks.

   Modelled: initialisation and sleep handshakes, the rate from BTR (one that does not fit the wire's ends in errors),
   priority by identifier or by request, abort, no-retransmission, filters (16 and 32 bits, mask and list), FIFO overrun
   and lock, error counters, error states, bus-off with and without automatic recovery, loop-back, all interrupt
   sources but wake-up. A controller may take its filters from another, as CAN2 of an STM32F4 does from CAN1, where the
   first banks belong to the one and those from CAN2SB on to the other. Not modelled: time-triggered mode, filter match
   index. */
#include "board.h"
#include <string.h>

enum { MCR = 0x00, MSR = 0x04, TSR = 0x08, RF0R = 0x0C, RF1R = 0x10, IER = 0x14, ESR = 0x18, BTR = 0x1C };
enum { FMR = 0x200, FM1R = 0x204, FS1R = 0x20C, FFA1R = 0x214, FA1R = 0x21C, BANKS = 0x240 };
enum { INRQ = 1, SLEEP = 2, TXFP = 4, RFLM = 8, NART = 16, ABOM = 64, RESET = 1 << 15 };
typedef struct { uint32_t ir, dtr, dlr, dhr; int64_t order; } Mailbox;
typedef struct { CanFrame frame[3]; int count, full_flag, overrun; } Fifo;
typedef struct {
    uint32_t mcr, ier, btr, fmr, fm, fs, ffa, fa, bank[56], tsr, msr_flags, lec;
    Mailbox box[3];
    int pending[3], on_wire;
    int64_t orders;
    Fifo fifo[2];
    int tec, rec, bus_off, recovering;
} Bxcan;

static int takes_part(Bxcan *c) { return !(c->mcr & (INRQ | SLEEP)) && !c->bus_off; }

/* Whose filter registers decide for a controller, and which banks. `option` is -1 for one that shares its banks with
   another, 1 + its place for that other one. */
static Bxcan *filters_of(Peripheral *p, int *from, int *to) {
    int is_second = p->option > 0;
    Bxcan *c = is_second ? p->board->peripheral[(int)p->option - 1].state : p->state;
    int begin = c->fmr >> 8 & 0x3F;
    *from = is_second ? begin : 0, *to = p->option < 0 && begin < 28 ? begin : 28;
    return c;
}

static int rate_fits(Peripheral *p) {
    Bxcan *c = p->state;
    double rate = p->clock / (((c->btr & 0x3FF) + 1) * (3 + (c->btr >> 16 & 15) + (c->btr >> 20 & 7)));
    double wire = p->rig->bus[p->bus].can->bitrate;
    return p->clock <= 0 || (rate > 0.99 * wire && rate < 1.01 * wire);
}

static uint32_t error_status(Bxcan *c) {
    return (uint32_t)(c->rec > 255 ? 255 : c->rec) << 24 | (uint32_t)(c->tec > 255 ? 255 : c->tec) << 16 | c->lec << 4 |
           (c->bus_off ? 4 : 0) | (c->tec > 127 || c->rec > 127 ? 2 : 0) | (c->tec >= 96 || c->rec >= 96 ? 1 : 0);
}

static void raise_lines(Peripheral *p) {
    Bxcan *c = p->state;
    board_line(p->board, p->irq[0], c->ier & 1 && c->tsr & 0x10101);
    for (int f = 0; f < 2; f++) {
        Fifo *x = &c->fifo[f];
        uint32_t on = c->ier >> (f ? 4 : 1) & 7;
        board_line(p->board, p->irq[1 + f], (on & 1 && x->count) || (on & 2 && x->full_flag) || (on & 4 && x->overrun));
    }
    board_line(p->board, p->irq[3], c->ier & 1 << 15 && c->msr_flags & 4);
}

static void error_changed(Peripheral *p, uint32_t before) {
    Bxcan *c = p->state;
    uint32_t now = error_status(c), rose = now & ~before, on = c->ier >> 8;     /* EWGIE, EPVIE, BOFIE */
    if ((rose & 1 && on & 1) || (rose & 2 && on & 2) || (rose & 4 && on & 4) || (c->lec && on & 8)) c->msr_flags |= 4;
    if (rose & 4) fw_trace_add(p->rig, T_BUS_OFF, p->bus, p->rig->now, 1, 0);
}

static void recover_later(Peripheral *p) {      /* 128 times 11 recessive bits */
    Bxcan *c = p->state;
    c->recovering = 1;
    fw_at(p->rig, p->event, p->rig->now + (ns)(128 * 11e9 / p->rig->bus[p->bus].can->bitrate));
}

static void recovered(void *self, int arg) {
    (void)arg;
    Peripheral *p = self;
    Bxcan *c = p->state;
    c->bus_off = c->recovering = c->tec = c->rec = 0, c->lec = 0;
    fw_trace_add(p->rig, T_BUS_OFF, p->bus, p->rig->now, 0, 0);
    fw_can_kick(p->rig, p->bus);
}

/* --- reception --- */
static int bank_accepts(Bxcan *c, int n, uint32_t key32, uint32_t key16) {
    uint32_t a = c->bank[2 * n], b = c->bank[2 * n + 1], list = c->fm >> n & 1;
    if (c->fs >> n & 1) return list ? key32 == a || key32 == b : !((key32 ^ a) & b);
    uint32_t part[4] = {a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16};
    if (list) return key16 == part[0] || key16 == part[1] || key16 == part[2] || key16 == part[3];
    return !((key16 ^ part[0]) & part[1]) || !((key16 ^ part[2]) & part[3]);
}

static void receive(void *self, const CanFrame *f, ns sampled) {
    (void)sampled;
    Peripheral *p = self;
    Bxcan *c = p->state;
    int from, to;
    Bxcan *owner = filters_of(p, &from, &to);
    if (!takes_part(c) || owner->fmr & 1) return;
    if (!rate_fits(p)) {
        uint32_t before = error_status(c);
        c->rec += c->rec < 128, c->lec = 2;
        return error_changed(p, before);
    }
    uint32_t key32 = (f->ext ? f->id << 3 | 4 : f->id << 21) | (f->rtr ? 2 : 0);
    uint32_t key16 = f->ext ? (f->id >> 18) << 5 | 8 | (f->id >> 15 & 7) : f->id << 5;
    key16 |= f->rtr ? 16 : 0;
    for (int n = from; n < to; n++) {
        if (!(owner->fa >> n & 1) || !bank_accepts(owner, n, key32, key16)) continue;
        Fifo *x = &c->fifo[owner->ffa >> n & 1];
        if (x->count < 3) x->frame[x->count++] = *f;
        else {
            x->overrun = 1;
            if (!(c->mcr & RFLM)) x->frame[2] = *f;
        }
        if (x->count == 3) x->full_flag = 1;
        break;
    }
    c->rec -= c->rec > 0;
    raise_lines(p);
}

/* --- transmission --- */
static int before_other(Bxcan *c, int a, int b) {
    if (c->mcr & TXFP) return c->box[a].order < c->box[b].order;
    return (c->box[a].ir & ~1u) < (c->box[b].ir & ~1u);
}

static void frame_of(const Mailbox *m, CanFrame *out) {
    int ext = m->ir >> 2 & 1;
    *out = (CanFrame){.id = ext ? m->ir >> 3 : m->ir >> 21, .ext = ext, .rtr = m->ir >> 1 & 1, .dlc = m->dtr & 15};
    if (out->dlc > 8) out->dlc = 8;
    memcpy(out->data, &m->dlr, 4);
    memcpy(out->data + 4, &m->dhr, 4);
}

static int offer(void *self, CanFrame *out) {
    Peripheral *p = self;
    Bxcan *c = p->state;
    int best = -1;
    for (int i = 0; i < 3; i++)
        if (c->pending[i] && (best < 0 || before_other(c, i, best))) best = i;
    if (best < 0 || !takes_part(c) || c->btr >> 31) return -1;
    frame_of(&c->box[best], out);
    c->on_wire = best;
    return best;
}

static void complete(Bxcan *c, int i, uint32_t flags) {
    c->pending[i] = 0, c->box[i].ir &= ~1u;
    c->tsr = (c->tsr & ~(0xFFu << (8 * i))) | (1 | flags) << (8 * i);
}

static void done(void *self, int i, int ok) {
    Peripheral *p = self;
    Bxcan *c = p->state;
    uint32_t before = error_status(c);
    c->on_wire = -1;
    if (ok && !rate_fits(p)) ok = 0;
    if (ok && c->pending[i]) {
        complete(c, i, 2);
        c->tec -= c->tec > 0, c->lec = 0;
        CanFrame f;
        frame_of(&c->box[i], &f);
        if (c->btr >> 30 & 1) receive(p, &f, -1);
    } else if (!ok) {
        c->tec += 8, c->lec = 3;
        if (c->tec > 255 && !c->bus_off) {
            c->bus_off = 1;
            if (c->mcr & ABOM) recover_later(p);
        }
        if (c->mcr & NART || (c->tsr >> (8 * i) & 0x80)) complete(c, i, 8);
        error_changed(p, before);
    }
    raise_lines(p);
}

static void request(Peripheral *p, int i) {
    Bxcan *c = p->state;
    c->pending[i] = 1, c->box[i].order = c->orders++;
    c->tsr &= ~(0xFFu << (8 * i));
    if ((c->btr >> 30) == 3 && takes_part(c)) {         /* silent loop-back: it hears itself and nobody else does */
        CanFrame f;
        frame_of(&c->box[i], &f);
        complete(c, i, 2);
        receive(p, &f, -1);
    } else fw_can_kick(p->rig, p->bus);
}

/* --- registers --- */
static void init(Peripheral *p) {
    p->event = fw_event(p->rig, recovered, p, 0);
    fw_can_attach(p->rig, p->bus, offer, done, receive, p);
}

static void reset(Peripheral *p) {
    Bxcan *c = p->state;
    c->mcr = 0x10002, c->fmr = 0x2A1C0E01, c->btr = 0x01230000, c->on_wire = -1;
}

static uint32_t transmit_status(Bxcan *c) {
    uint32_t v = c->tsr, empty = 0, code = 0;
    for (int i = 2; i >= 0; i--)
        if (!c->pending[i]) empty |= 1u << i, code = i;
    return v | empty << 26 | code << 24;
}

static uint32_t fifo_read(Fifo *x, uint32_t word) {
    CanFrame *f = &x->frame[0];
    uint32_t v;
    if (word == 0) return (f->ext ? f->id << 3 | 4 : f->id << 21) | (f->rtr ? 2 : 0);
    if (word == 1) return f->dlc;
    memcpy(&v, f->data + (word == 3 ? 4 : 0), 4);
    return v;
}

static uint32_t reg_read(Peripheral *p, uint32_t offset) {
    Bxcan *c = p->state;
    if (offset >= 0x180 && offset < 0x1B0) return ((uint32_t *)&c->box[(offset - 0x180) >> 4])[(offset >> 2) & 3];
    if (offset >= 0x1B0 && offset < 0x1D0) return fifo_read(&c->fifo[(offset - 0x1B0) >> 4], (offset >> 2) & 3);
    if (offset >= BANKS && offset < BANKS + 224) return c->bank[(offset - BANKS) / 4];
    Fifo *x = &c->fifo[offset == RF1R];
    switch (offset) {
    case MCR: return c->mcr;
    case MSR: return 0xC00 | (c->mcr & INRQ ? 1 : 0) | (c->mcr & SLEEP && !(c->mcr & INRQ) ? 2 : 0) | c->msr_flags;
    case TSR: return transmit_status(c);
    case RF0R:
    case RF1R: return (uint32_t)x->count | (x->full_flag ? 8 : 0) | (x->overrun ? 16 : 0);
    case IER: return c->ier;
    case ESR: return error_status(c);
    case BTR: return c->btr;
    case FMR: return c->fmr;
    case FM1R: return c->fm;
    case FS1R: return c->fs;
    case FFA1R: return c->ffa;
    case FA1R: return c->fa;
    default: return 0;
    }
}

static void write_fifo(Fifo *x, uint32_t v) {
    if (v & 8) x->full_flag = 0;
    if (v & 16) x->overrun = 0;
    if (v & 32 && x->count) {
        x->count--;
        memmove(x->frame, x->frame + 1, sizeof(CanFrame) * x->count);
        if (x->count < 3) x->full_flag = 0;
    }
}

static void write_mode(Peripheral *p, uint32_t v) {
    Bxcan *c = p->state;
    int left_init = c->mcr & INRQ && !(v & INRQ);
    if (v & RESET) {
        memset(c, 0, sizeof *c);
        return reset(p);
    }
    c->mcr = v;
    if (left_init && c->bus_off && !c->recovering) recover_later(p);
    fw_can_kick(p->rig, p->bus);
}

static void write_transmit(Bxcan *c, uint32_t v) {
    for (int i = 0; i < 3; i++) {
        uint32_t part = v >> (8 * i);
        if (part & 1) c->tsr &= ~(0xFu << (8 * i));
        if (!(part & 0x80) || !c->pending[i]) continue;
        if (c->on_wire == i) c->tsr |= 0x80u << (8 * i);        /* too late for this attempt, not for another */
        else complete(c, i, 0);
    }
}

static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Bxcan *c = p->state;
    if (offset >= 0x180 && offset < 0x1B0) {
        int i = (offset - 0x180) >> 4, word = (offset >> 2) & 3;
        if (c->pending[i]) return;
        ((uint32_t *)&c->box[i])[word] = v;
        if (word == 0 && v & 1) request(p, i);
    } else if (offset >= BANKS && offset < BANKS + 224) c->bank[(offset - BANKS) / 4] = v;
    else switch (offset) {
    case MCR: write_mode(p, v); break;
    case MSR: c->msr_flags &= ~(v & 0x1C); break;
    case TSR: write_transmit(c, v); break;
    case RF0R: write_fifo(&c->fifo[0], v); break;
    case RF1R: write_fifo(&c->fifo[1], v); break;
    case IER: c->ier = v; break;
    case ESR: c->lec = v >> 4 & 7; break;
    case BTR: if (c->mcr & INRQ) c->btr = v; break;
    case FMR: c->fmr = v; break;
    case FM1R: c->fm = v; break;
    case FS1R: c->fs = v; break;
    case FFA1R: c->ffa = v; break;
    case FA1R: c->fa = v; break;
    default: break;
    }
    raise_lines(p);
}

const PeripheralType BXCAN = {"bxcan", sizeof(Bxcan), init, reset, reg_read, reg_write};
