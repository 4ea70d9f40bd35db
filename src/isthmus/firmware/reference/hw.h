/* Registers of an STM32F4-like microcontroller with four CAN controllers. */
#pragma once
#include <stdint.h>
#define REG(a) (*(volatile uint32_t *)(a))
#define BYTE(a) (*(volatile uint8_t *)(a))

#define TIM2 0x40000000u            /* 32 bits, counts microseconds */
#define IWDG 0x40003000u
#define I2C1 0x40005400u
#define USART1 0x40011000u
#define RCC 0x40023800u
#define DMA1 0x40026000u
#define DMA2 0x40026400u
#define SYSTICK 0xE000E010u
#define NVIC 0xE000E100u
#define SCB 0xE000ED00u

enum { TIM_CR1 = 0x00, TIM_EGR = 0x14, TIM_CNT = 0x24, TIM_PSC = 0x28, TIM_ARR = 0x2C };
enum { I2C_CR1 = 0x00, I2C_CR2 = 0x04, I2C_DR = 0x10, I2C_SR1 = 0x14, I2C_SR2 = 0x18, I2C_CCR = 0x1C, I2C_TRISE = 0x20 };
enum { CAN_MCR = 0x00, CAN_MSR = 0x04, CAN_TSR = 0x08, CAN_RF0R = 0x0C, CAN_IER = 0x14, CAN_ESR = 0x18, CAN_BTR = 0x1C };
enum { CAN_TX = 0x180, CAN_RX = 0x1B0, CAN_FMR = 0x200, CAN_FS1R = 0x20C, CAN_FA1R = 0x21C, CAN_BANK0 = 0x240 };
enum { USART_SR = 0x00, USART_DR = 0x04, USART_BRR = 0x08, USART_CR1 = 0x0C, USART_CR3 = 0x14 };
enum { IRQ_DMA1_0 = 11, IRQ_I2C_EV = 31, IRQ_I2C_ER = 32, IRQ_USART1 = 37, IRQ_DMA2_7 = 70 };
enum { IRQ_CAN1_RX0 = 20, IRQ_CAN2_RX0 = 64, IRQ_CAN3_RX0 = 75, IRQ_CAN4_RX0 = 93 };

static inline uint32_t mask(void) {
    uint32_t was;
    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(was)::"memory");
    return was;
}
static inline void unmask(uint32_t was) { __asm volatile("msr primask, %0" ::"r"(was) : "memory"); }
static inline uint32_t now_us(void) { return REG(TIM2 + TIM_CNT); }
static inline void irq_on(int irq, uint8_t priority) {
    BYTE(NVIC + 0x300 + irq) = priority;
    REG(NVIC + 4 * (irq >> 5)) = 1u << (irq & 31);
}
