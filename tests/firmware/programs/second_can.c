/* CAN2 of an STM32F4 has no filters of its own: those from CAN2SB on of CAN1 decide for it, the others for CAN1. */
#include "start.h"
#define CAN1 0x40006400u
#define CAN2 0x40006800u
static void begin(uint32_t can) {
    REG(can) = 1;
    while (!(REG(can + 4) & 1)) {}
    REG(can + 0x1C) = 0x001A0002;                       /* 42 MHz / 3 / 14 */
}
static void command(uint32_t can, uint32_t id) {
    REG(can + 0x184) = 8, REG(can + 0x188) = 0xF07FFF7F, REG(can + 0x18C) = 0xFF070000;
    REG(can + 0x180) = id << 21 | 1;
}
int main(void) {
    start_usart();
    begin(CAN1), begin(CAN2);
    REG(CAN1 + 0x200) = 10 << 8 | 1;                    /* ten banks for CAN1 */
    REG(CAN1 + 0x20C) = 1 | 1 << 10;
    REG(CAN1 + 0x240) = 0x41u << 21, REG(CAN1 + 0x244) = 0x7FFu << 21;          /* CAN1: id 0x41 alone */
    REG(CAN1 + 0x240 + 80) = 0, REG(CAN1 + 0x244 + 80) = 0;                     /* CAN2: everything */
    REG(CAN1 + 0x21C) = 1 | 1 << 10, REG(CAN1 + 0x200) = 10 << 8;
    REG(CAN1) = 0, REG(CAN2) = 0;
    command(CAN1, 1), command(CAN1 + 16, 2), command(CAN2, 3);
    for (volatile int i = 0; i < 60000; i++) {}
    number(REG(CAN1 + 0xC) & 3), number(REG(CAN1 + 0x1B0) >> 21), number(REG(CAN2 + 0xC) & 3), number(REG(CAN2 + 0x1B0) >> 21);
    put('\n');
    for (;;) __asm volatile("wfi");
}
