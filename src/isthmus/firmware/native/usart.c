/* STM32F4 USART, asynchronous. What the firmware sends is kept for the host; what the host sends arrives byte by byte.

   A DMA transfer to the transmitter reads its memory at once and ends when the last byte has left. A rate that differs
   from the host's by more than 3 % turns every byte that arrives into another. What the host sends may be kept for a
   while on its way (`delay_ms`, `jitter_ms`: a radio link, a busy host); it stays in order. */
#include "board.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SR = 0x00, DR = 0x04, BRR = 0x08, CR1 = 0x0C, CR2 = 0x10, CR3 = 0x14, POKE = 0x7C };
enum { ORE = 1 << 3, IDLE = 1 << 4, RXNE = 1 << 5, TC = 1 << 6, TXE = 1 << 7 };
enum { DMA_TO = 1 << 7, DMA_FROM = 1 << 6, USABLE = 1 << 13, RECEIVES = 1 << 2, SENDS = 1 << 3 };
#define RING 8192
#define FRAMES 256
typedef struct {
    uint32_t sr, brr, cr1, cr2, cr3;
    uint8_t received, shifting, waiting, has_waiting, is_shifting, sr_read, dma_busy;
} Usart;
typedef struct { uint8_t bytes[RING]; int head, count; } Bytes;
typedef struct { ns due; int number, left; } Frame;                 /* what the host has sent in one go */
typedef struct {                                                    /* the other end */
    Bytes in, out;
    Frame frames[FRAMES];
    int first, waiting, number;
    double lost_from, lost_to, loss, corrupt, delay_ms, jitter_ms;
    Rng rng;
    ns heard;
} Host;

static int push(Bytes *b, uint8_t byte) {
    if (b->count == RING) return 0;
    b->bytes[(b->head + b->count++) % RING] = byte;
    return 1;
}

static uint8_t pop(Bytes *b) {
    uint8_t byte = b->bytes[b->head];
    b->head = (b->head + 1) % RING, b->count--;
    return byte;
}

static double baud(Peripheral *p) {
    Usart *u = p->state;
    return u->brr ? p->clock / u->brr * (u->cr1 & 1 << 15 ? 2 : 1) : 115200;
}

static ns byte_time(Peripheral *p) { return (ns)(1e10 / baud(p)); }

static void raise_line(Peripheral *p) {
    Usart *u = p->state;
    int errs = u->sr & ORE && (u->cr1 & RXNE || u->cr3 & 1);
    board_line(p->board, p->irq[0], (u->sr & u->cr1 & (TXE | TC | RXNE | IDLE)) != 0 || errs);
}

static void dma_send(Peripheral *p) {
    Usart *u = p->state;
    int n = dma_left(p->board, p->at + DR, 0);
    if (n <= 0 || u->dma_busy || u->is_shifting || !(u->cr3 & DMA_TO)) return;
    u->dma_busy = 1, u->sr &= ~(uint32_t)(TC | TXE);
    fw_trace_add(p->rig, T_UART_TX, p->index, p->rig->now, n, n * byte_time(p));
    fw_at(p->rig, p->event2, p->rig->now + n * byte_time(p));
    while (n-- > 1) dma_request(p->board, p->at + DR, 0);       /* the last one with the last byte */
}

static void sent(void *self, int arg) {
    (void)arg;
    Peripheral *p = self;
    Usart *u = p->state;
    Host *h = p->kept;
    if (u->dma_busy) {
        dma_request(p->board, p->at + DR, 0);
        u->dma_busy = 0, u->sr |= TXE | TC;
        h->heard = p->rig->now;
    } else {
        h->heard = p->rig->now;
        push(&h->out, u->shifting);
        fw_trace_add(p->rig, T_UART_TX, p->index, p->rig->now - byte_time(p), 1, byte_time(p));
        u->is_shifting = u->has_waiting, u->shifting = u->waiting, u->has_waiting = 0;
        u->sr |= TXE;
        if (u->is_shifting) fw_at(p->rig, p->event2, p->rig->now + byte_time(p));
        else u->sr |= TC;
    }
    dma_send(p);
    raise_line(p);
}

static void arrived(void *self, int arg) {
    (void)arg;
    Peripheral *p = self;
    Usart *u = p->state;
    Host *h = p->kept;
    int hears = (u->cr1 & (USABLE | RECEIVES)) == (USABLE | RECEIVES);
    if (!h->in.count) {                         /* one character time of silence */
        if (hears) u->sr |= IDLE;
        return raise_line(p);
    }
    uint8_t byte = pop(&h->in);
    Frame *frame = &h->frames[h->first];
    int number = frame->number;
    if (--frame->left == 0) h->first = (h->first + 1) % FRAMES, h->waiting--;
    ns next = p->rig->now + byte_time(p), due = h->waiting ? h->frames[h->first].due + byte_time(p) : next;
    fw_at(p->rig, p->event, due > next ? due : next);
    if (!hears || fw_within(p->rig->now, h->lost_from, h->lost_to) || fw_chance(&h->rng, h->loss)) return;
    uint8_t sent = byte;
    if (fw_chance(&h->rng, h->corrupt)) byte ^= 1u << (int)(8 * fw_uniform(&h->rng));
    if (p->option > 0 && fabs(baud(p) / p->option - 1) > 0.03) byte ^= 0x55;
    fw_trace_add(p->rig, T_UART_RX, p->index, p->rig->now, byte, byte == sent ? number : -1);
    if (u->sr & RXNE) u->sr |= ORE;
    else u->received = byte, u->sr |= RXNE;
    if (u->cr3 & DMA_FROM) dma_request(p->board, p->at + DR, 1);
    raise_line(p);
}

static void transmit(Peripheral *p, uint8_t byte) {
    Usart *u = p->state;
    Host *h = p->kept;
    if (u->dma_busy) push(&h->out, byte);
    else if ((u->cr1 & (USABLE | SENDS)) != (USABLE | SENDS)) return;
    else if (!u->is_shifting) {
        u->is_shifting = 1, u->shifting = byte, u->sr &= ~(uint32_t)TC;
        fw_at(p->rig, p->event2, p->rig->now + byte_time(p));
    } else u->waiting = byte, u->has_waiting = 1, u->sr &= ~(uint32_t)(TXE | TC);
}

static void init(Peripheral *p) {
    p->event = fw_event(p->rig, arrived, p, 0), p->event2 = fw_event(p->rig, sent, p, 0);
    Host *h = p->kept = calloc(1, sizeof *h);
    fw_knob(p->rig, p->name, "lost_from", &h->lost_from, 1e9), fw_knob(p->rig, p->name, "lost_to", &h->lost_to, 1e9);
    fw_knob(p->rig, p->name, "loss", &h->loss, 0), fw_knob(p->rig, p->name, "corrupt", &h->corrupt, 0);
    fw_knob(p->rig, p->name, "delay_ms", &h->delay_ms, 0), fw_knob(p->rig, p->name, "jitter_ms", &h->jitter_ms, 0);
}

static void reset(Peripheral *p) {
    Host *h = p->kept;
    ((Usart *)p->state)->sr = TXE | TC;
    h->in.count = 0, h->waiting = 0;
    if (p->rig->now == 0) h->out.count = 0, h->number = 0, fw_seed(&h->rng, p->rig->seed, 300 + p->index);
}

static uint32_t reg_read(Peripheral *p, uint32_t offset) {
    Usart *u = p->state;
    if (offset == SR) return u->sr_read = 1, u->sr;
    if (offset == DR) {
        u->sr &= ~(uint32_t)(RXNE | (u->sr_read ? ORE | IDLE | 7 : 0)), u->sr_read = 0;
        raise_line(p);
        return u->received;
    }
    return offset == BRR ? u->brr : offset == CR1 ? u->cr1 : offset == CR2 ? u->cr2 : offset == CR3 ? u->cr3 : 0;
}

static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) {
    Usart *u = p->state;
    if (offset == SR) u->sr &= v | ~(uint32_t)(TC | RXNE);
    else if (offset == DR) transmit(p, (uint8_t)v);
    else if (offset == BRR) u->brr = v;
    else if (offset == CR1) u->cr1 = v;
    else if (offset == CR2) u->cr2 = v;
    else if (offset == CR3) u->cr3 = v;
    if (offset == CR3 || offset == POKE) dma_send(p);
    raise_line(p);
}

const PeripheralType STM32_USART = {"stm32-usart", sizeof(Usart), init, reset, reg_read, reg_write};

int uart_send(Board *b, int peripheral, const uint8_t *bytes, int n) {
    Peripheral *p = &b->peripheral[peripheral];
    Host *h = p->kept;
    int idle = h->in.count == 0, taken = 0;
    if (n <= 0 || h->waiting == FRAMES) return 0;
    while (taken < n && push(&h->in, bytes[taken])) taken++;
    if (!taken) return 0;
    double hold_ms = h->delay_ms + (h->jitter_ms > 0 ? h->jitter_ms * fw_uniform(&h->rng) : 0);
    Frame frame = {p->rig->now + (ns)(1e6 * hold_ms), ++h->number, taken};
    h->frames[(h->first + h->waiting++) % FRAMES] = frame;
    fw_trace_add(p->rig, T_HOST_SENT, p->index, p->rig->now, taken, frame.number);
    if (!idle || (hold_ms <= 0 && p->rig->at[p->event] < p->rig->now + byte_time(p))) return taken;    /* the line is busy */
    p->rig->at[p->event] = NEVER, fw_at(p->rig, p->event, frame.due + byte_time(p));
    return taken;
}

int uart_take(Board *b, int peripheral, uint8_t *bytes, int size) {
    Host *h = b->peripheral[peripheral].kept;
    int n = 0;
    while (n < size && h->out.count) bytes[n++] = pop(&h->out);
    return n;
}

double uart_heard(Board *b, int peripheral) { return ((Host *)b->peripheral[peripheral].kept)->heard * 1e-9; }
