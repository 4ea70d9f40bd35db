/* Host link on USART1: commands by interrupt, telemetry by DMA.

   Command: A5, mode, a 16-bit target for every joint in 1e-4 rad from the pose, checksum. Mode 1 lets the network do
   the levelling, mode 0 the plain rule. Telemetry: 5A, emergency stop, time (32 bits, us), attitude (4 floats), rates (3
   floats), positions, velocities and torques of all joints (floats), checksum. */
#include "hw.h"
#include "state.h"
#include <string.h>

#define COMMAND (3 + 2 * NJ)
#define TELEMETRY (2 + 4 + 4 * (7 + 3 * NJ) + 1)
#define STREAM (DMA2 + 0x10 + 0x18 * 7)
float target[NJ];
uint32_t target_stamp;
volatile uint32_t policy_on;
static uint8_t line[COMMAND], out[TELEMETRY];
static int filled;

void host_byte(void) {
    while (REG(USART1 + USART_SR) & 0x20) {
        uint8_t byte = REG(USART1 + USART_DR), sum = 0;
        if (filled == 0 && byte != 0xA5) continue;
        line[filled++] = byte;
        if (filled < COMMAND) continue;
        filled = 0;
        for (int i = 0; i < COMMAND - 1; i++) sum += line[i];
        if (sum != line[COMMAND - 1]) continue;
        for (int i = 0; i < NJ; i++) target[i] = (int16_t)(line[2 + 2 * i] | line[3 + 2 * i] << 8) * 1e-4f;
        policy_on = line[1] & 1, target_stamp = now_us();
    }
}

void host_sent(void) { REG(DMA2 + 0x0C) = 0x3Du << 22; }

void host_start(void) {
    target_stamp = now_us();
    REG(USART1 + USART_BRR) = 91;                       /* 84 MHz / 91: 921,600 within 0.2 % */
    REG(USART1 + USART_CR3) = 1 << 7;
    REG(USART1 + USART_CR1) = 1 << 13 | 1 << 5 | 1 << 3 | 1 << 2;
    irq_on(IRQ_USART1, 0x50), irq_on(IRQ_DMA2_7, 0x60);
}

void telemetry(void) {
    if (REG(STREAM) & 1) return;                        /* the last one is still on its way */
    float values[7 + 3 * NJ];
    uint32_t was = mask(), now = now_us();
    memcpy(values, &attitude, 16);
    memcpy(values + 4, rates, 12);
    for (int i = 0; i < NJ; i++)
        values[7 + i] = joints[i].position, values[7 + NJ + i] = joints[i].velocity, values[7 + 2 * NJ + i] = joints[i].torque;
    out[0] = 0x5A, out[1] = estop;
    unmask(was);
    memcpy(out + 2, &now, 4), memcpy(out + 6, values, sizeof values);
    uint8_t sum = 0;
    for (int i = 0; i < TELEMETRY - 1; i++) sum += out[i];
    out[TELEMETRY - 1] = sum;
    REG(STREAM + 8) = USART1 + USART_DR, REG(STREAM + 12) = (uint32_t)out, REG(STREAM + 4) = TELEMETRY;
    REG(STREAM) = 4u << 25 | 1 << 10 | 1 << 6 | 1 << 4 | 1;
}
