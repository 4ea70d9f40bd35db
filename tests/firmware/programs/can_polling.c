/* Filters, priorities, loop-back, FIFO overrun of the CAN controller, by polling. */
#include "start.h"
#define CAN 0x40006400u
static void send(int box, uint32_t id, uint32_t low, int n) {
    uint32_t m = CAN + 0x180 + 16 * box;
    REG(m + 4) = n, REG(m + 8) = low, REG(m + 12) = 0, REG(m) = id << 21 | 1;
}
static void start(uint32_t btr) {
    REG(CAN) = 1;
    while (!(REG(CAN + 4) & 1)) {}
    REG(CAN + 0x1C) = btr;
    REG(CAN + 0x200) = 1;
    REG(CAN + 0x20C) = 3, REG(CAN + 0x204) = 2;                     /* bank 0: 32-bit mask; bank 1: 32-bit list */
    REG(CAN + 0x240) = 0x100u << 21, REG(CAN + 0x244) = 0x700u << 21;
    REG(CAN + 0x248) = 0x41u << 21, REG(CAN + 0x24C) = 0x42u << 21;
    REG(CAN + 0x214) = 2, REG(CAN + 0x21C) = 3;                     /* bank 1 fills FIFO 1 */
    REG(CAN + 0x200) = 0;
    REG(CAN) = 0;
    while (REG(CAN + 4) & 1) {}
}
int main(void) {
    start_usart();
    start(2u | 10u << 16 | 1u << 20 | 3u << 30);                    /* silent loop-back */
    send(0, 0x123, 0x11223344, 4), send(1, 0x223, 1, 1);
    number(REG(CAN + 0x0C) & 3), number(REG(CAN + 0x10) & 3), number(REG(CAN + 0x1B0) >> 21), number(REG(CAN + 0x1B4) & 15);
    number(REG(CAN + 0x1B8) == 0x11223344), number(REG(CAN + 8) >> 26);
    for (int i = 0; i < 4; i++) send(0, 0x100 + i, i, 1);
    number(REG(CAN + 0x0C));
    REG(CAN + 0x0C) = 1 << 5, REG(CAN + 0x0C) = 1 << 4;
    number(REG(CAN + 0x0C)), number(REG(CAN + 0x1B0) >> 21);
    put('\n');
    start(2u | 10u << 16 | 1u << 20);                               /* on the bus: ask two motors, hear them in FIFO 1 */
    send(0, 2, 0, 8), send(1, 1, 0, 8);
    while ((REG(CAN + 0x10) & 3) < 2) {}
    number(REG(CAN + 0x1C0) >> 21), number(REG(CAN + 0x1C4) & 15);
    REG(CAN + 0x10) = 1 << 5;
    number(REG(CAN + 0x1C0) >> 21), number(REG(CAN + 8) & 0x303);
    put('\n');
    start(5u | 10u << 16 | 1u << 20);                               /* half the bus's rate: errors until bus-off */
    send(0, 1, 0, 8);
    while (!(REG(CAN + 0x18) & 4)) {}
    number(REG(CAN + 0x18) & 7);
    print("off\n");
    for (;;) __asm volatile("wfi");
}
