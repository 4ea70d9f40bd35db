/* STM32F4 DMA streams. A stream serves the peripheral whose data register its PAR names; the channel number is not
   looked at. Memory to memory is done at once. No double buffer, no FIFO thresholds. */
#include "board.h"
#include <string.h>

typedef struct { uint32_t cr, ndtr, par, m0ar, m1ar, fcr, loaded, done; } Stream;
typedef struct { Stream stream[8]; uint32_t flags[2]; } Dma;
static const int SHIFT[4] = {0, 6, 16, 22};
enum { TC = 1u << 5, HT = 1u << 4, TE = 1u << 3 };

static void raise_lines(Peripheral *p, int i) {
    Dma *d = p->state;
    uint32_t f = d->flags[i >> 2] >> SHIFT[i & 3], cr = d->stream[i].cr;
    board_line(p->board, p->irq[i], (f & TC && cr & 1 << 4) || (f & HT && cr & 1 << 3) || (f & TE && cr & 1 << 2));
}

static void flag(Peripheral *p, int i, uint32_t bits) {
    ((Dma *)p->state)->flags[i >> 2] |= bits << SHIFT[i & 3];
    raise_lines(p, i);
}

static void move(Peripheral *p, int i) {        /* one unit between the peripheral and memory */
    Stream *s = &((Dma *)p->state)->stream[i];
    uint32_t size = 1u << (s->cr >> 13 & 3), memory = s->m0ar + (s->cr & 1 << 10 ? s->done * size : 0);
    uint8_t *m = board_bytes(p->board, memory, size);
    if (!m) {
        s->cr &= ~1u;
        return flag(p, i, TE);
    }
    uint32_t v = 0;
    if ((s->cr >> 6 & 3) == 0) v = peripheral_read(p->board, s->par), memcpy(m, &v, size);
    else memcpy(&v, m, size), peripheral_write(p->board, s->par, v);
    s->done++, s->ndtr--;
    if (s->ndtr == s->loaded / 2) flag(p, i, HT);
    if (s->ndtr) return;
    if (s->cr & 1 << 8) s->ndtr = s->loaded, s->done = 0;
    else s->cr &= ~1u;
    flag(p, i, TC);
}

static Stream *serving(Board *b, uint32_t address, int to_memory, Peripheral **owner, int *index) {
    for (int k = 0; k < b->peripherals; k++) {
        Peripheral *p = &b->peripheral[k];
        for (int i = 0; i < 8 && p->type == &STM32_DMA; i++) {
            Stream *s = &((Dma *)p->state)->stream[i];
            if (s->cr & 1 && s->par == address && (s->cr >> 6 & 3) == (to_memory ? 0u : 1u) && s->ndtr)
                return *owner = p, *index = i, s;
        }
    }
    return 0;
}

int dma_left(Board *b, uint32_t address, int to_memory) {
    Peripheral *p;
    int i;
    Stream *s = serving(b, address, to_memory, &p, &i);
    return s ? (int)s->ndtr : -1;
}

int dma_request(Board *b, uint32_t address, int to_memory) {
    Peripheral *p;
    int i;
    Stream *s = serving(b, address, to_memory, &p, &i);
    if (!s) return -1;
    int left = (int)s->ndtr - 1;
    move(p, i);
    return left;
}

static void copy(Peripheral *p, int i) {
    Stream *s = &((Dma *)p->state)->stream[i];
    uint32_t bytes = s->ndtr << (s->cr >> 11 & 3);
    uint8_t *from = board_bytes(p->board, s->par, bytes), *to = board_bytes(p->board, s->m0ar, bytes);
    if (from && to) memmove(to, from, bytes);
    s->cr &= ~1u, s->ndtr = 0;
    flag(p, i, from && to ? TC : TE);
}

static uint32_t reg_read(Peripheral *p, uint32_t offset) {
    Dma *d = p->state;
    if (offset < 8) return d->flags[offset / 4];
    if (offset < 0x10 || offset >= 0xD0) return 0;
    uint32_t values[6], i = (offset - 0x10) / 0x18;
    memcpy(values, &d->stream[i], sizeof values);
    return values[(offset - 0x10) % 0x18 / 4];
}

static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Dma *d = p->state;
    if (offset == 8 || offset == 12) {
        d->flags[(offset - 8) / 4] &= ~v;
        for (int i = 0; i < 4; i++) raise_lines(p, i + (offset == 12 ? 4 : 0));
    }
    if (offset < 0x10 || offset >= 0xD0) return;
    int i = (offset - 0x10) / 0x18, field = (offset - 0x10) % 0x18 / 4, was_on = d->stream[i].cr & 1;
    ((uint32_t *)&d->stream[i])[field] = field == 1 ? v & 0xFFFF : v;
    Stream *s = &d->stream[i];
    if (field == 0 && v & 1 && !was_on) {
        s->loaded = s->ndtr, s->done = 0;
        if ((s->cr >> 6 & 3) == 2) copy(p, i);
        else
            for (int k = 0; k < p->board->peripherals; k++) {   /* a request may be waiting */
                Peripheral *other = &p->board->peripheral[k];
                if (s->par - other->at < other->size && other->type == &STM32_USART) other->type->write(other, 0x7C, 0);
            }
    }
    if (field == 0) raise_lines(p, i);
}

const PeripheralType STM32_DMA = {"stm32-dma", sizeof(Dma), 0, 0, reg_read, reg_write};
