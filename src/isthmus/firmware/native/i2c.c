/* STM32F4 I2C (the first version of ST's controller), as master: 7-bit addresses, polling, interrupts, DMA reception.

   Modelled: START, repeated START, STOP; SB, ADDR, BTF, TXE, RXNE, AF and how each is cleared; ACK, POS, LAST; the rate
   from CCR; both interrupt lines; clock stretching by a register that is not read. Not modelled: slave mode, 10-bit
   addresses, SMBus, PEC, arbitration with another master. A reception by DMA ends in one piece when its last byte has
   been received. */
#include "board.h"

enum { CR1 = 0x00, CR2 = 0x04, OAR1 = 0x08, OAR2 = 0x0C, DR = 0x10, SR1 = 0x14, SR2 = 0x18, CCR = 0x1C, TRISE = 0x20 };
enum { PE = 1, START = 1 << 8, STOP = 1 << 9, ACK = 1 << 10, POS = 1 << 11, SWRST = 1 << 15 };
enum { SB = 1, ADDR = 2, BTF = 4, RXNE = 1 << 6, TXE = 1 << 7, AF = 1 << 10 };
enum { MSL = 1, BUSY = 2, TRA = 4 };
enum { ITERREN = 1 << 8, ITEVTEN = 1 << 9, ITBUFEN = 1 << 10, DMAEN = 1 << 11, LAST = 1 << 12 };
enum Phase { NOTHING, STARTING, ADDRESSING, SENDING, RECEIVING, HELD, DMA_RECEIVING, STOPPING };
typedef struct {
    uint32_t cr1, cr2, oar1, oar2, ccr, trise, sr1, sr2;
    uint8_t data, shift, has_data, full, address, sr1_read, count, nacked;
    enum Phase phase;
    ns began;
    int bytes;
} I2c;

static ns bits(Peripheral *p, double n) {
    I2c *c = p->state;
    double per_bit = c->ccr & 1 << 15 ? (c->ccr & 1 << 14 ? 25 : 3) : 2, value = c->ccr & 0xFFF;
    double hz = value > 0 && p->clock > 0 ? p->clock / (per_bit * value) : p->rig->bus[p->bus].i2c->hz;
    return (ns)(n * 1e9 / hz);
}

static void raise_lines(Peripheral *p) {
    I2c *c = p->state;
    int event = c->cr2 & ITEVTEN && (c->sr1 & (SB | ADDR | BTF) || (c->cr2 & ITBUFEN && c->sr1 & (TXE | RXNE)));
    board_line(p->board, p->irq[0], event);
    board_line(p->board, p->irq[1], c->cr2 & ITERREN && c->sr1 & AF);
}

static void enter_phase(Peripheral *p, enum Phase phase, double n) {
    ((I2c *)p->state)->phase = phase;
    p->rig->bus[p->bus].i2c->busy_ns += bits(p, n);
    p->rig->at[p->event] = NEVER;
    fw_at(p->rig, p->event, p->rig->now + bits(p, n));
}

static void note(Peripheral *p, int failed) {
    I2c *c = p->state;
    fw_trace_add(p->rig, T_I2C, p->bus, c->began, (int64_t)(c->address >> 1) << 8 | (c->bytes & 0xFF) | (failed ? 1ll << 32 : 0),
                 p->rig->now - c->began);
}

static void release(Peripheral *p) {
    I2c *c = p->state;
    fw_i2c_stop(p->rig, p->bus);
    note(p, c->nacked);
    c->cr1 &= ~(uint32_t)STOP, c->sr2 = 0, c->phase = NOTHING, c->nacked = 0;
    c->sr1 &= ~(uint32_t)(TXE | BTF | ADDR | SB);
    p->rig->at[p->event] = NEVER;
    if (c->cr1 & START) enter_phase(p, STARTING, 1);
}

static void receive_next(Peripheral *p) {
    I2c *c = p->state;
    int n = c->cr2 & DMAEN ? dma_left(p->board, p->at + DR, 1) : -1;
    if (n > 0 && c->cr2 & LAST) enter_phase(p, DMA_RECEIVING, 9.0 * n);
    else enter_phase(p, RECEIVING, 9);
}

static void got_byte(Peripheral *p) {
    I2c *c = p->state;
    int acked = c->cr1 & POS ? c->count == 0 : (c->cr1 & ACK) != 0;
    uint8_t byte = (uint8_t)fw_i2c_read(p->rig, p->bus, acked);
    c->count++, c->bytes++;
    if (c->sr1 & RXNE) c->shift = byte, c->full = 1, c->sr1 |= BTF;     /* the clock is held until DR is read */
    else c->data = byte, c->sr1 |= RXNE;
    if (c->cr2 & DMAEN && c->sr1 & RXNE) dma_request(p->board, p->at + DR, 1);
    if (c->cr1 & STOP) return release(p);
    if (!acked) c->phase = HELD, c->nacked = 0, c->count = 255;
    else if (c->full) c->phase = HELD;
    else receive_next(p);
}

static void got_all(Peripheral *p) {            /* by DMA, the last one not acknowledged */
    I2c *c = p->state;
    int left;
    c->phase = HELD, c->count = 255;
    do {
        c->data = (uint8_t)fw_i2c_read(p->rig, p->bus, 1), c->sr1 |= RXNE, c->bytes++;
        left = dma_request(p->board, p->at + DR, 1);
    } while (left > 0);
}

static void sent_byte(Peripheral *p) {
    I2c *c = p->state;
    c->bytes++;
    if (fw_i2c_write(p->rig, p->bus, c->shift)) {
        c->sr1 |= AF, c->phase = HELD, c->nacked = 1;
        return;
    }
    if (c->has_data) {
        c->shift = c->data, c->has_data = 0, c->sr1 |= TXE;
        enter_phase(p, SENDING, 9);
    } else {
        c->sr1 |= BTF | TXE, c->phase = HELD;
        if (c->cr1 & STOP) release(p);
        else if (c->cr1 & START) enter_phase(p, STARTING, 1);
    }
}

static void addressed(Peripheral *p) {
    I2c *c = p->state;
    int read = c->address & 1;
    c->phase = HELD;
    if (fw_i2c_start(p->rig, p->bus, c->address >> 1, read)) {
        c->sr1 |= AF, c->nacked = 1;
        return;
    }
    c->sr1 |= ADDR | (read ? 0 : TXE), c->sr2 |= read ? 0 : TRA, c->count = 0;
    if (read) c->sr2 &= ~(uint32_t)TRA;
}

static void fired(void *self, int arg) {
    (void)arg;
    Peripheral *p = self;
    I2c *c = p->state;
    enum Phase phase = c->phase;
    if (phase == STARTING) {
        if (!(c->sr2 & BUSY)) c->began = p->rig->now, c->bytes = 0;
        c->cr1 &= ~(uint32_t)START, c->sr1 |= SB, c->sr1 &= ~(uint32_t)(BTF | TXE), c->sr2 |= MSL | BUSY, c->phase = HELD;
    } else if (phase == ADDRESSING) addressed(p);
    else if (phase == SENDING) sent_byte(p);
    else if (phase == RECEIVING) got_byte(p);
    else if (phase == DMA_RECEIVING) got_all(p);
    else if (phase == STOPPING) release(p);
    raise_lines(p);
}

static void init(Peripheral *p) { p->event = fw_event(p->rig, fired, p, 0); }

static void reset(Peripheral *p) { ((I2c *)p->state)->trise = 2; }

static uint32_t reg_read(Peripheral *p, uint32_t offset) {
    I2c *c = p->state;
    uint32_t v = 0;
    switch (offset) {
    case CR1: return c->cr1;
    case CR2: return c->cr2;
    case OAR1: return c->oar1;
    case OAR2: return c->oar2;
    case CCR: return c->ccr;
    case TRISE: return c->trise;
    case SR1: return c->sr1_read = 1, c->sr1;
    case SR2:
        v = c->sr2;
        if (c->sr1 & ADDR && c->sr1_read) {     /* read SR1, read SR2: the address phase is over */
            c->sr1 &= ~(uint32_t)ADDR;
            if (!(c->sr2 & TRA)) receive_next(p);
        }
        break;
    case DR:
        v = c->data, c->sr1 &= ~(uint32_t)(RXNE | BTF);
        if (c->full) {
            c->data = c->shift, c->full = 0, c->sr1 |= RXNE;
            if (c->count != 255 && c->phase == HELD) receive_next(p);
        }
        break;
    default: return 0;
    }
    c->sr1_read = 0;
    raise_lines(p);
    return v;
}

static void write_data(Peripheral *p, uint8_t v) {
    I2c *c = p->state;
    if (c->sr1 & SB) {
        c->address = v, c->sr1 &= ~(uint32_t)SB;
        ns stretch = (ns)(p->rig->bus[p->bus].i2c->stretch_us * 1e3 * fw_uniform(&p->rig->bus[p->bus].i2c->rng));
        enter_phase(p, ADDRESSING, 9);
        p->rig->at[p->event] += stretch, p->rig->next = p->rig->now;
    } else if (c->sr2 & TRA && c->phase == HELD) {
        c->shift = v, c->sr1 &= ~(uint32_t)BTF;
        enter_phase(p, SENDING, 9);
    } else if (c->sr2 & TRA) c->data = v, c->has_data = 1, c->sr1 &= ~(uint32_t)TXE;
}

static void write_control(Peripheral *p, uint32_t v) {
    I2c *c = p->state;
    if (v & SWRST || (c->cr1 & PE && !(v & PE))) {      /* reset, or switched off: the bus is let go */
        fw_i2c_stop(p->rig, p->bus);
        c->sr1 = c->sr2 = c->full = c->has_data = c->nacked = 0, c->phase = NOTHING;
        p->rig->at[p->event] = NEVER;
        c->cr1 = v & ~(uint32_t)(START | STOP);
        return;
    }
    c->cr1 = v;
    if (!(v & PE)) return;
    int between = c->phase == HELD || c->phase == NOTHING;
    if (v & STOP && between && c->sr2 & MSL) enter_phase(p, STOPPING, 1);
    else if (v & STOP && !(c->sr2 & MSL)) c->cr1 &= ~(uint32_t)STOP;
    else if (v & START && between && c->phase != STOPPING) enter_phase(p, STARTING, 1);
}

static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    I2c *c = p->state;
    switch (offset) {
    case CR1: write_control(p, v); break;
    case CR2: c->cr2 = v; break;
    case OAR1: c->oar1 = v; break;
    case OAR2: c->oar2 = v; break;
    case CCR: c->ccr = v; break;
    case TRISE: c->trise = v; break;
    case DR: write_data(p, (uint8_t)v); break;
    case SR1: c->sr1 &= v | 0xFF; break;        /* errors are cleared by writing 0 */
    default: break;
    }
    raise_lines(p);
}

const PeripheralType STM32_I2C = {"stm32-i2c", sizeof(I2c), init, reset, reg_read, reg_write};
