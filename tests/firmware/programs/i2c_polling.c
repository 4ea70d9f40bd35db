/* Reads the IMU by polling, with the sequences that ST's library uses for one, two, three and more bytes. */
#include "start.h"
#define I2C 0x40005400u
enum { CR1 = 0, CR2 = 4, DR = 0x10, SR1 = 0x14, SR2 = 0x18, CCR = 0x1C, TRISE = 0x20 };
enum { START = 1 << 8, STOP = 1 << 9, ACK = 1 << 10, POS = 1 << 11 };
static int wait(uint32_t flag) {
    for (int i = 0; i < 100000; i++) {
        uint32_t s = REG(I2C + SR1);
        if (s & flag) return 0;
        if (s & 1 << 10) {
            REG(I2C + SR1) = ~(1u << 10);
            REG(I2C + CR1) |= STOP;
            return -1;
        }
    }
    return -2;
}
static int address(uint8_t byte) {
    REG(I2C + CR1) |= START;
    if (wait(1)) return -1;
    REG(I2C + DR) = byte;
    return wait(2);
}
static int begin(uint8_t device, uint8_t reg) {
    while (REG(I2C + SR2) & 2) {}
    REG(I2C + CR1) &= ~POS;
    REG(I2C + CR1) |= ACK;
    if (address(device << 1)) return -1;
    (void)REG(I2C + SR2);
    if (wait(1 << 7)) return -1;
    REG(I2C + DR) = reg;
    return wait(1 << 7);
}
static int read_bytes(uint8_t device, uint8_t reg, uint8_t *out, int n) {
    if (begin(device, reg) || address(device << 1 | 1)) return -1;
    if (n == 1) {
        REG(I2C + CR1) &= ~ACK;
        (void)REG(I2C + SR2);
        REG(I2C + CR1) |= STOP;
    } else if (n == 2) {
        REG(I2C + CR1) |= POS;
        (void)REG(I2C + SR2);
        REG(I2C + CR1) &= ~ACK;
    } else (void)REG(I2C + SR2);
    while (n) {
        if (n == 1) {
            if (wait(1 << 6)) return -1;
            *out++ = REG(I2C + DR), n--;
        } else if (n == 2) {
            if (wait(4)) return -1;
            REG(I2C + CR1) |= STOP;
            *out++ = REG(I2C + DR), *out++ = REG(I2C + DR), n -= 2;
        } else if (n == 3) {
            if (wait(4)) return -1;
            REG(I2C + CR1) &= ~ACK;
            *out++ = REG(I2C + DR), n--;
            if (wait(4)) return -1;
            REG(I2C + CR1) |= STOP;
            *out++ = REG(I2C + DR), *out++ = REG(I2C + DR), n -= 2;
        } else {
            if (wait(1 << 6)) return -1;
            *out++ = REG(I2C + DR), n--;
        }
    }
    return 0;
}
static int write_byte(uint8_t device, uint8_t reg, uint8_t value) {
    if (begin(device, reg)) return -1;
    REG(I2C + DR) = value;
    if (wait(4)) return -1;
    REG(I2C + CR1) |= STOP;
    return 0;
}
int main(void) {
    start_usart();
    REG(I2C + CR2) = 42, REG(I2C + CCR) = 1u << 15 | 35, REG(I2C + TRISE) = 13, REG(I2C + CR1) = 1;
    uint8_t b[12];
    for (int n = 1; n <= 4; n++) {              /* WHO_AM_I, then CTRL1_XL to CTRL3_C as they are after power-on */
        memset(b, 0xEE, sizeof b);
        number(read_bytes(0x6A, 0x0F, b, n) ? 999 : 0);
        for (int i = 0; i < 5; i++) number(b[i]);
        put('\n');
    }
    number(read_bytes(0x42, 0x0F, b, 1) ? 1 : 0);       /* nobody there */
    write_byte(0x6A, 0x10, 0x68), write_byte(0x6A, 0x11, 0x6C);
    for (volatile int i = 0; i < 200000; i++) {}
    number(read_bytes(0x6A, 0x1E, b, 1) ? 999 : b[0]);
    read_bytes(0x6A, 0x28, b, 6);
    number((uint32_t)(uint16_t)(b[4] | b[5] << 8));
    number(read_bytes(0x6A, 0x1E, b, 1) ? 999 : b[0]);
    print("done\n");
    for (;;) __asm volatile("wfi");
}
