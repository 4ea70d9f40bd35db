/* Vector table and reset handler. */
#include "hw.h"
#include <string.h>

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
int main(void);
void pendsv_handler(void), systick_handler(void), i2c_event(void), i2c_error(void), i2c_received(void);
void can1_rx(void), can2_rx(void), can3_rx(void), can4_rx(void), host_byte(void), host_sent(void);

void reset_handler(void) {
    memcpy(&_sdata, &_sidata, (char *)&_edata - (char *)&_sdata);
    memset(&_sbss, 0, (char *)&_ebss - (char *)&_sbss);
    REG(SCB + 0x88) |= 0xF << 20;               /* the floating-point unit */
    __asm volatile("dsb\n isb");
    main();
    for (;;) {}
}

void default_handler(void) {
    for (;;) {}
}

typedef void (*Vector)(void);
__attribute__((section(".vectors"), used)) const Vector vectors[16 + 100] = {
    [0] = (Vector)&_estack, [1] = reset_handler, [2] = default_handler, [3] = default_handler, [4] = default_handler,
    [5] = default_handler, [6] = default_handler, [11] = default_handler, [14] = pendsv_handler, [15] = systick_handler,
    [16 + IRQ_DMA1_0] = i2c_received, [16 + IRQ_I2C_EV] = i2c_event, [16 + IRQ_I2C_ER] = i2c_error,
    [16 + IRQ_USART1] = host_byte, [16 + IRQ_DMA2_7] = host_sent, [16 + IRQ_CAN1_RX0] = can1_rx,
    [16 + IRQ_CAN2_RX0] = can2_rx, [16 + IRQ_CAN3_RX0] = can3_rx, [16 + IRQ_CAN4_RX0] = can4_rx,
};
