/* Motors on the CAN buses, three on each: commands by mailbox, replies by interrupt into a ring that a task empties. */
#include "hw.h"
#include "kernel.h"
#include "state.h"
#include <string.h>

typedef struct { uint8_t d[8]; uint8_t bus; uint32_t stamp; } Frame;
static const uint32_t BASE[4] = {0x40006400u, 0x40006800u, 0x40006C00u, 0x40007C00u};
static const uint8_t IRQ[4] = {IRQ_CAN1_RX0, IRQ_CAN2_RX0, IRQ_CAN3_RX0, IRQ_CAN4_RX0};
#define RING 32
static Frame ring[RING];
static volatile uint32_t head, tail, count;
Joint joints[NJ];
volatile uint32_t frames_lost, frames_received;

static void received(int bus) {
    uint32_t b = BASE[bus];
    if (REG(b + CAN_RF0R) & 3) {                /* the line stays up while there are more */
        uint32_t low = REG(b + CAN_RX + 8), high = REG(b + CAN_RX + 12);
        if (count < RING) {
            Frame *f = &ring[head];
            memcpy(f->d, &low, 4), memcpy(f->d + 4, &high, 4);
            f->bus = bus, f->stamp = now_us();
            head = (head + 1) % RING, count++;
        } else frames_lost++;
        REG(b + CAN_RF0R) = 1 << 5;
    }
}

void can1_rx(void) { received(0); }
void can2_rx(void) { received(1); }
void can3_rx(void) { received(2); }
void can4_rx(void) { received(3); }

void can_start(void) {
    for (int i = 0; i < LEGS; i++) {
        uint32_t b = BASE[i];
        REG(b + CAN_MCR) = 1;
        while (!(REG(b + CAN_MSR) & 1)) {}
        REG(b + CAN_BTR) = 2u | 10u << 16 | 1u << 20;           /* 42 MHz / 3 / 14: 1 Mbit/s */
        REG(b + CAN_FMR) = 1;
        REG(b + CAN_FS1R) = 1, REG(b + CAN_BANK0) = 0, REG(b + CAN_BANK0 + 4) = 0, REG(b + CAN_FA1R) = 1;
        REG(b + CAN_FMR) = 0;
        for (int box = 0; box < 3; box++) REG(b + CAN_TX + 0x10 * box + 4) = 8;   /* always eight bytes */
        REG(b + CAN_IER) = 2;
        REG(b + CAN_MCR) = 1 << 6;                              /* recovers from bus-off by itself */
        irq_on(IRQ[i], 0x30);
    }
}

static void store(const Frame *f) {
    int id;
    Joint j;
    unpack_reply(f->d, &id, &j);
    j.stamp = f->stamp;
#ifdef BUG_ARRIVAL_ORDER
    static uint8_t turn[4];                     /* whoever answers first is taken for the first joint of the bus */
    id = 3 * f->bus + turn[f->bus] + 1, turn[f->bus] = (turn[f->bus] + 1) % 3;
#endif
    if (id < 1 || id > NJ) return;
    uint32_t was = mask();
    joints[id - 1] = j;
    unmask(was);
}

void can_task(void) {
    uint32_t next = tick;
    for (;;) {
        next++;
        while (count) {
            store(&ring[tail]);
            tail = (tail + 1) % RING;
#ifdef BUG_ISR_RACE
            count--;                            /* an interrupt between its load and its store is forgotten */
#else
            uint32_t was = mask();
            count--;
            unmask(was);
#endif
            frames_received++;
        }
        sleep_until(next);
    }
}

void can_command(int id, const uint8_t d[8]) {
    uint32_t b = BASE[(id - 1) / 3], low, high;
    int box = (id - 1) % 3;
    if (!(REG(b + CAN_TSR) & 1u << (26 + box))) REG(b + CAN_TSR) = 0x80u << (8 * box);  /* the newest command counts */
    uint32_t m = b + CAN_TX + 0x10 * box;
    memcpy(&low, d, 4), memcpy(&high, d + 4, 4);
    REG(m + 8) = low, REG(m + 12) = high;
    REG(m) = (uint32_t)id << 21 | 1;
}
