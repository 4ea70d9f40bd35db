/* Uses a peripheral that is a C file, one that is a Python file, and a device that is a C file. */
#include "start.h"
int main(void) {
    start_usart();
    number(REG(0x40030000)), number(REG(0x40030000));
    REG(0x40031000) = 20;
    number(REG(0x40031004));
    print("done\n");
    for (;;) __asm volatile("wfi");
}
