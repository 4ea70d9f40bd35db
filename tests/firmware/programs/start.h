/* A vector table, registers and printing, for small programs that are written as a vendor's library would. */
#include <stdint.h>
#include <string.h>
#define REG(a) (*(volatile uint32_t *)(a))
extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
int main(void);
void systick_handler(void) __attribute__((weak));
void tim_handler(void) __attribute__((weak));
void can_handler(void) __attribute__((weak));
void svc_handler(void) __attribute__((weak));
void reset_handler(void) {
    memcpy(&_sdata, &_sidata, (char *)&_edata - (char *)&_sdata);
    memset(&_sbss, 0, (char *)&_ebss - (char *)&_sbss);
    REG(0xE000ED88) |= 0xF << 20;
    main();
    for (;;) {}
}
typedef void (*Vector)(void);
__attribute__((section(".vectors"), used)) const Vector vectors[16 + 40] = {
    [0] = (Vector)&_estack, [1] = reset_handler, [11] = svc_handler, [15] = systick_handler, [16 + 20] = can_handler, [16 + 28] = tim_handler};
#define USART 0x40011000u
static void put(char c) {
    while (!(REG(USART) & 1 << 7)) {}
    REG(USART + 4) = c;
}
__attribute__((unused)) static void print(const char *s) { while (*s) put(*s++); }
__attribute__((unused)) static void number(uint32_t v) {
    char t[11];
    int n = 0;
    do t[n++] = '0' + v % 10; while (v /= 10);
    while (n) put(t[--n]);
    put(' ');
}
static void start_usart(void) {
    REG(USART + 8) = 91;
    REG(USART + 12) = 1 << 13 | 1 << 3 | 1 << 2;
}
