/* LSM6DSOX on I2C1: interrupts move a transfer along, DMA receives, a task waits for the end of it. */
#include "hw.h"
#include "kernel.h"
#include "state.h"
#include <string.h>

enum { ADDRESS = 0x6A, WHO_AM_I = 0x0F, CTRL1_XL = 0x10, CTRL2_G = 0x11, CTRL3_C = 0x12, OUTX_L_G = 0x22 };
enum { PE = 1, START = 1 << 8, STOP = 1 << 9, ACK = 1 << 10, SWRST = 1 << 15 };
enum { SB = 1, ADDR = 2, BTF = 4, AF = 1 << 10 };
enum { EVENTS = 1 << 9 | 1 << 8 | 42, DMA_ON = 1 << 11, LAST = 1 << 12 };
#define STREAM (DMA1 + 0x10)

Attitude attitude;
float rates[3];
uint32_t imu_stamp, imu_errors, imu_reads;
static uint8_t tx[2], rx[16];
static volatile int tx_left, tx_next, rx_size, reading, failed;

static void finish(int bad) {
    REG(I2C1 + I2C_CR1) = PE | STOP | ACK;
    failed = bad;
    give_signal(T_IMU);
}

void i2c_event(void) {
    uint32_t sr1 = REG(I2C1 + I2C_SR1);
    if (sr1 & SB) REG(I2C1 + I2C_DR) = ADDRESS << 1 | reading;
    else if (sr1 & ADDR) {
        if (reading) REG(I2C1 + I2C_CR2) = EVENTS | DMA_ON | LAST;
        (void)REG(I2C1 + I2C_SR2);
        if (!reading) REG(I2C1 + I2C_DR) = tx[tx_next++], tx_left--;
    } else if (sr1 & BTF && !reading) {
        if (tx_left) REG(I2C1 + I2C_DR) = tx[tx_next++], tx_left--;
        else if (rx_size) reading = 1, REG(I2C1 + I2C_CR1) = PE | START | ACK;
        else finish(0);
    } else if (sr1 & BTF) (void)REG(I2C1 + I2C_DR);
}

void i2c_error(void) {
    REG(I2C1 + I2C_SR1) = 0;
#ifdef BUG_NACK_UNHANDLED
    REG(I2C1 + I2C_CR1) = PE | STOP | ACK;              /* and whoever waits for the transfer waits for ever */
#else
    finish(1);
#endif
}

void i2c_received(void) {
    REG(DMA1 + 0x08) = 0x3D;
    REG(I2C1 + I2C_CR2) = EVENTS;
    finish(0);
}

static int transfer(int writes, int reads) {
    tx_next = 0, tx_left = writes, rx_size = reads, reading = 0;
    REG(STREAM) = 0;
    REG(STREAM + 4) = reads, REG(STREAM + 8) = I2C1 + I2C_DR, REG(STREAM + 12) = (uint32_t)rx;
    if (reads) REG(STREAM) = 1u << 25 | 1 << 10 | 1 << 4 | 1;   /* channel 1, memory increments, interrupt at the end */
    REG(I2C1 + I2C_CR1) = PE | START | ACK;
#ifdef BUG_NACK_UNHANDLED
    wait_signal(0);
#else
    if (!wait_signal(5)) {                              /* stuck: let go of the bus and set it up again */
        REG(I2C1 + I2C_CR1) = SWRST;
        imu_start();
        return -1;
    }
#endif
    return failed ? -1 : 0;
}

static void write_register(uint8_t r, uint8_t v) {
    tx[0] = r, tx[1] = v;
    for (int attempt = 0; attempt < 5 && transfer(2, 0); attempt++) sleep_until(tick + 1);
}

void imu_start(void) {
    REG(I2C1 + I2C_CR1) = 0;
    REG(I2C1 + I2C_CR2) = EVENTS;
    REG(I2C1 + I2C_CCR) = 1u << 15 | 35, REG(I2C1 + I2C_TRISE) = 13;    /* 400 kHz from 42 MHz */
    REG(I2C1 + I2C_CR1) = PE | ACK;
    irq_on(IRQ_I2C_EV, 0x30), irq_on(IRQ_I2C_ER, 0x30), irq_on(IRQ_DMA1_0, 0x30);
}

static float elapsed(uint32_t now, uint32_t last) {
#if defined(BUG_FLOAT_SECONDS)
    return (float)now * 1e-6f - (float)last * 1e-6f;    /* near the end of the counter a float knows 1/4 ms at best */
#elif defined(BUG_DT_TRUNCATION)
    return (float)((now - last) / 1000) * 1e-3f;        /* whole milliseconds */
#else
    return (float)(now - last) * 1e-6f;
#endif
}

static void use(const uint8_t *raw, uint32_t now, uint32_t last) {
    int16_t v[6];
    memcpy(v, raw, 12);
    Attitude next = attitude;
    attitude_update(&next, v, v + 3, elapsed(now, last));
    uint32_t was = mask();
    attitude = next;
    for (int k = 0; k < 3; k++) rates[k] = v[k] * (35e-3f * 0.01745329f);
    imu_stamp = now, imu_reads++;
    unmask(was);
}

void imu_task(void) {
    for (int attempt = 0; attempt < 20; attempt++) {
        tx[0] = WHO_AM_I;
        if (!transfer(1, 1) && rx[0] == 0x6C) break;
        sleep_until(tick + 2);
    }
    write_register(CTRL3_C, 0x44);                      /* both bytes of a number from one sample; addresses increment */
    write_register(CTRL1_XL, 0x78), write_register(CTRL2_G, 0x78);      /* 833 Hz, 4 g, 1000 degrees a second */
    sleep_until(tick + 3);
    attitude_start(&attitude);
    uint32_t last = now_us(), next = tick;
    for (;;) {
        next += 2;
        tx[0] = OUTX_L_G;
        int bad = transfer(1, 12);
        uint32_t now = now_us();
        if (!bad) use(rx, now, last), last = now;
        else imu_errors++;
        sleep_until(next);
    }
}
