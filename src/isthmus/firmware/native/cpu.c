/* The processor: Unicorn executes instructions; exceptions, time and waiting are done here.

   One instruction takes `cycles_per_instruction` cycles. Time is checked once a basic block, or in exact mode once an
   instruction. Inside Unicorn the processor always is in thread mode: it knows nothing of interrupts. What it does on
   its own that is made up for here: a store runs again when stopped inside a peripheral, so that stops wait for the
   next block; a return from an exception arrives as a fetch from 0xFFFFFFxx. */
#define _POSIX_C_SOURCE 200809L
#include "board.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOWHERE 0xFFFFFFFEull
#define RETURNS 0xFFFFFFE0u
#define WALL_EVERY 32

static uint32_t get(Board *b, int r) {
    uint32_t v = 0;
    uc_reg_read(b->uc, r, &v);
    return v;
}

static void set(Board *b, int r, uint32_t v) { uc_reg_write(b->uc, r, &v); }

int64_t ns_cycle(const Board *b, ns t) {
    double cycles = (double)(t - b->anchor_ns) / b->ns_per_cycle;
    int64_t c = b->anchor_cycle + (int64_t)cycles;
    while (cycle_ns(b, c) < t) c++;
    return c;
}

uint8_t *board_bytes(Board *b, uint32_t at, uint32_t size) {
    for (int i = 0; i < b->regions; i++) {
        Region *r = &b->region[i];
        if (at - r->at < r->size && size <= r->size - (at - r->at)) return r->bytes + (at - r->at);
    }
    return 0;
}

void board_halt(Board *b, enum HaltCode code, uint32_t address) {
    if (b->halt) return;
    b->halt = code, b->halt_address = address, b->halt_pc = get(b, UC_ARM_REG_PC);
    fw_trace_add(b->rig, T_FAULT, 0, b->rig->now, code, address);
    uc_emu_stop(b->uc);
}

/* --- exceptions --- */
/* Registers are read and written in batches: an exception is entered and left some ten thousand times a second. */
enum { CONTROL_AT = 8, SP_AT, D_AT, STATUS_AT = D_AT + 8, FRAME };
static int frame_registers[FRAME] = {
    UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R12, UC_ARM_REG_LR, UC_ARM_REG_PC,
    UC_ARM_REG_XPSR, UC_ARM_REG_CONTROL, UC_ARM_REG_SP, UC_ARM_REG_D0, UC_ARM_REG_D1, UC_ARM_REG_D2, UC_ARM_REG_D3,
    UC_ARM_REG_D4, UC_ARM_REG_D5, UC_ARM_REG_D6, UC_ARM_REG_D7, UC_ARM_REG_FPSCR};

static uint32_t handler_of(Board *b, int n) {
    uint8_t *entry = board_bytes(b, b->vtor + 4 * n, 4);
    uint32_t handler = 0;
    if (entry) memcpy(&handler, entry, 4);
    if (!handler || !board_bytes(b, handler & ~1u, 2)) return board_halt(b, H_VECTOR, n), 0;
    if (!(handler & 1)) return board_halt(b, H_THUMB, n), 0;
    return handler;
}

static void entered(Board *b, int n) {
    nvic_entered(b, n);
    b->exceptions++;
    fw_trace_add(b->rig, T_EXC_ENTER, n, board_ns(b), 0, 0);
}

static void enter(Board *b, int n) {
    uint32_t v[FRAME] = {0};
    uint64_t d[8];
    void *to[FRAME];
    for (int i = 0; i < FRAME; i++) to[i] = &v[i];
    for (int i = 0; i < 8; i++) to[D_AT + i] = &d[i];
    uc_reg_read_batch(b->uc, frame_registers, to, D_AT);
    uint32_t control = v[CONTROL_AT], sp = v[SP_AT], fp = control >> 2 & 1, pad = sp & 4;
    if (fp) uc_reg_read_batch(b->uc, frame_registers + D_AT, to + D_AT, FRAME - D_AT);
    sp -= pad + (fp ? 72 : 0) + 32;
    v[6] = b->pc & ~1u, v[7] = (v[7] & ~0x200u) | (pad ? 0x200 : 0);
    uint8_t *m = board_bytes(b, sp, 32 + (fp ? 72 : 0));
    if (!m || b->actives == 31) return board_halt(b, H_STACK, sp);
    uint32_t handler = handler_of(b, n);
    if (!handler) return;
    memcpy(m, v, 32);
    if (fp) memcpy(m + 32, d, 64), memcpy(m + 96, &v[STATUS_AT], 4);
    b->unprivileged[b->actives] = control & 1;
    uint32_t code = RETURNS | 1 | (fp ? 0 : 0x10) | (b->actives ? 0 : 8) | (control & 2 ? 4 : 0), plain = control & ~7u;
    int changed[3] = {UC_ARM_REG_SP, UC_ARM_REG_CONTROL, UC_ARM_REG_LR};    /* the stack pointer of before first */
    void *from[3] = {&sp, &plain, &code};
    uc_reg_write_batch(b->uc, changed, from, 3);
    b->pc = handler, b->cycle += 12;
    entered(b, n);
}

static void chain(Board *b, int n, uint32_t code) {     /* the frame stays where it is */
    uint32_t handler = handler_of(b, n), control = get(b, UC_ARM_REG_CONTROL) & ~4u;
    int changed[2] = {UC_ARM_REG_CONTROL, UC_ARM_REG_LR};
    void *from[2] = {&control, &code};
    uc_reg_write_batch(b->uc, changed, from, 2);
    b->pc = handler, b->cycle += 6;
    entered(b, n);
}

static void leave(Board *b, uint32_t code) {
    if (!b->actives) return board_halt(b, H_RETURN, code);
    fw_trace_add(b->rig, T_EXC_LEAVE, b->active[b->actives - 1], board_ns(b), 0, 0);
    nvic_left(b);
    int next = nvic_candidate(b);
    if (next) return chain(b, next, code);
    int fp = !(code & 0x10), n = fp ? FRAME : D_AT, order[FRAME];
    uint32_t v[FRAME], sp = get(b, code & 4 ? UC_ARM_REG_PSP : UC_ARM_REG_MSP);
    uint64_t d[8];
    uint8_t *m = board_bytes(b, sp, 32 + (fp ? 72 : 0));
    if (!m) return board_halt(b, H_STACK, sp);
    memcpy(v, m, 32);
    if (fp) memcpy(d, m + 32, 64), memcpy(&v[STATUS_AT], m + 96, 4);
    v[SP_AT] = sp + 32 + (fp ? 72 : 0) + (v[7] & 0x200 ? 4 : 0);
    v[CONTROL_AT] = (code & 4 ? 2 : 0) | (fp ? 4 : 0) | b->unprivileged[b->actives];
    b->pc = v[6] | 1, v[7] &= ~0x3FFu;
    void *from[FRAME];
    int k = 0;
    for (int i = CONTROL_AT; i < n; i++) order[k] = frame_registers[i], from[k++] = i >= D_AT && i < STATUS_AT ? (void *)&d[i - D_AT] : &v[i];
    for (int i = 0; i < 8; i++)
        if (i != 6) order[k] = frame_registers[i], from[k++] = &v[i];       /* PC is set by the next start */
    uc_reg_write_batch(b->uc, order, from, k);
    b->cycle += 10;
}

/* --- hooks --- */
static int instructions_in(const uint8_t *m, uint32_t size) {
    int n = 0;
    for (uint32_t i = 0; i < size; n++) {
        uint16_t half;
        memcpy(&half, m + i, 2);
        i += half >> 11 >= 29 ? 4 : 2;
    }
    return n;
}

static int block_length(const uint8_t *m, uint32_t size) {   /* 0 for `b .`, which only an interrupt leads out of */
    return size == 2 && m[0] == 0xFE && m[1] == 0xE7 ? 0 : instructions_in(m, size);
}

#define IT_STATE 0x0600FC00u                   /* of the program status register */

static __attribute__((noinline)) void block_ahead(Board *b, uint32_t address, uint32_t size) {
    if (address >= RETURNS || b->diagnosing) return;
    Region *flash = &b->region[0];
    uint32_t k = address - flash->at;
    int n;
    if (k < flash->size) {
        Block *known = &b->block[k >> 1];
        if (known->size != size) *known = (Block){(uint16_t)size, (uint16_t)block_length(flash->bytes + k, size)};
        n = known->count;
    } else {
        uint8_t *m = board_bytes(b, address, size);
        n = m ? instructions_in(m, size) : 1;
    }
    int64_t cost = (int64_t)n * b->cost256 >> 8;
    b->found = b->pending_any ? nvic_candidate(b) : 0;
    int stop = !n || b->halt || b->reset_wanted || b->cycle + cost > b->limit || b->found;
    if (stop && !(get(b, UC_ARM_REG_XPSR) & IT_STATE)) {    /* never inside an IT block: it would go on in the handler */
        b->stopped = b->known = 1;
        uc_emu_stop(b->uc);
        return;
    }
    b->cycle += cost, b->instructions += n, b->blocks++;
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t size, void *user) {
    (void)uc;
    Board *b = user;
    uint32_t k = (uint32_t)address - b->region[0].at;
    if (k < b->region[0].size && !(b->halt | b->reset_wanted | b->pending_any | b->diagnosing)) {
        Block known = b->block[k >> 1];         /* most blocks: seen before, and nothing happens before they end */
        int64_t then = b->cycle + ((int64_t)known.count * b->cost256 >> 8);
        if (known.size == size && known.count && then <= b->limit) {
            b->cycle = then, b->instructions += known.count, b->blocks++;
            return;
        }
    }
    block_ahead(b, (uint32_t)address, size);
}

static void on_code(uc_engine *uc, uint64_t address, uint32_t size, void *user) {
    (void)size;
    Board *b = user;
    if (address >= RETURNS || b->diagnosing) return;
    uint8_t *m = board_bytes(b, (uint32_t)address, 2);
    uint16_t half = 0;
    if (m) memcpy(&half, m, 2);
    int due = b->halt || b->reset_wanted || b->cycle >= b->limit || (b->pending_any && nvic_candidate(b));
    if (b->it_left > 0) b->it_left--;           /* never inside an IT block */
    else if (due) {
        b->stopped = 1;
        uc_emu_stop(uc);
        return;
    }
    if ((half & 0xFF00) == 0xBF00 && half & 15) b->it_left = 4 - __builtin_ctz(half & 15);
    b->cycle += b->cost256 >= 256 ? b->cost256 >> 8 : 1, b->instructions++;
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *user) {
    ((Board *)user)->interrupt = (int)number + 1;
    uc_emu_stop(uc);
}

/* A hook for invalid accesses would slow every store down by half: faults are found here and by their error code. */
static bool on_page(uc_engine *uc, uint64_t va, uc_mem_type type, uc_tlb_entry *out, void *user) {
    (void)uc;
    Board *b = user;
    uint32_t a = (uint32_t)va;
    out->paddr = va & ~0x3FFull, out->perms = UC_PROT_READ | UC_PROT_WRITE;
    if (a >= 0xFFFFF000u) return out->perms = UC_PROT_READ | UC_PROT_EXEC, true;
    if (b->diagnosing) return out->perms = UC_PROT_ALL, true;
    for (int i = 0; i < b->regions; i++) {
        Region *r = &b->region[i];
        if (a - r->at >= r->size) continue;     /* RAM that holds no code gets no EXEC: stores are three times as fast */
        if (!r->writable && type == UC_MEM_WRITE) return board_halt(b, H_FLASH_WRITE, a), false;
        if (!r->writable) out->perms = UC_PROT_READ | UC_PROT_EXEC;
        else if (r->runs) out->perms = UC_PROT_ALL;
        return true;
    }
    if ((a >= PERIPHERAL_BASE && a < PERIPHERAL_BASE + PERIPHERAL_SPAN) || a - 0x42000000u < PERIPHERAL_SPAN * 32 ||
        a - 0xE0000000u < 0x100000u)
        return true;
    if (type != UC_MEM_FETCH) board_halt(b, H_UNMAPPED, a);
    return false;
}

/* --- life of a board --- */
Board *board_new(Rig *rig, double clock_hz, double cycles_per_instruction, int exact) {
    Board *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    if (!b) return 0;
    memset(b, 0, sizeof *b);
    b->rig = rig, b->clock_hz = clock_hz, b->exact = exact, b->wall_end = 1e18;
    b->cost256 = (uint32_t)(cycles_per_instruction * 256);
    fw_knob(rig, "cpu", "drift", &b->drift, 0), fw_knob(rig, "cpu", "counter_offset", &b->counter_offset, 0);
    fw_knob(rig, "cpu", "brownout_from", &b->brownout_from, 1e9);
    fw_knob(rig, "cpu", "brownout_to", &b->brownout_to, 1e9);
    b->systick_event = fw_event(rig, systick_fired, b, 0);
    if (uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &b->uc)) return free(b), NULL;
    uc_ctl_set_cpu_model(b->uc, UC_CPU_ARM_CORTEX_M4);
    uc_ctl_set_tcg_buffer_size(b->uc, 8u << 20);
    return b;
}

int board_region(Board *b, uint32_t at, uint32_t size, int writable) {
    if (b->regions == MAX_REGIONS) return -1;
    Region *r = &b->region[b->regions++];
    *r = (Region){at, size, aligned_alloc(4096, size), writable, 0};
    if (!r->bytes) return -1;
    memset(r->bytes, writable ? 0 : 0xFF, size);
    return uc_mem_map_ptr(b->uc, at, size, UC_PROT_READ | (writable ? UC_PROT_WRITE : UC_PROT_EXEC), r->bytes);
}

int board_load(Board *b, uint32_t at, const uint8_t *bytes, uint32_t size) {
    uint8_t *m = board_bytes(b, at, size);
    if (!m) return -1;
    memcpy(m, bytes, size);
    return 0;
}

/* Unicorn does not know which exception is active: MRS Rd, IPSR becomes a breakpoint and a NOP, which are answered here,
   in flash or where the start-up code has copied them to. */
static void patch_ipsr(Board *b) {
    Region *flash = &b->region[0];
    for (uint32_t i = 0; i + 4 <= flash->size; i += 2) {
        uint16_t half[2];
        memcpy(half, flash->bytes + i, 4);
        if (half[0] != 0xF3EF || (half[1] & 0xF0FF) != 0x8005) continue;
        uint16_t instead[2] = {0xBEE0 | (half[1] >> 8 & 15), 0xBF00};
        memcpy(flash->bytes + i, instead, 4);
    }
}

int board_start(Board *b) {
    int e = 0;
    uc_hook h;
    if (!b->regions) return -1;
    b->block = calloc(b->region[0].size / 2 + 1, sizeof *b->block);
    b->exception_page = aligned_alloc(4096, 4096);
    for (int i = 0; i < 2048; i++) ((uint16_t *)b->exception_page)[i] = 0xBE00;
    patch_ipsr(b);
    e |= uc_mmio_map(b->uc, 0xE0000000u, 0x100000, system_read, b, system_write, b);
    e |= uc_mem_map_ptr(b->uc, 0xFFFFF000u, 4096, UC_PROT_READ | UC_PROT_EXEC, b->exception_page);
    e |= peripherals_map(b);
    if (b->exact) e |= uc_hook_add(b->uc, &h, UC_HOOK_CODE, on_code, b, 1, 0);
    else e |= uc_hook_add(b->uc, &h, UC_HOOK_BLOCK, on_block, b, 1, 0);
    e |= uc_hook_add(b->uc, &h, UC_HOOK_INTR, on_interrupt, b, 1, 0);
    e |= uc_ctl_tlb_mode(b->uc, UC_TLB_VIRTUAL);
    e |= uc_ctl_exits_enable(b->uc);            /* and there are none: a single one is looked for after every start */
    e |= uc_hook_add(b->uc, &h, UC_HOOK_TLB_FILL, on_page, b, 1, 0);
    e |= uc_context_alloc(b->uc, &b->boot);
    e |= uc_context_save(b->uc, b->boot);
    return e;
}

static void restart(Board *b, enum ResetCause cause) {
    uc_context_restore(b->uc, b->boot);
    for (int i = 0; i < b->regions; i++)        /* power lost: so is what memory held */
        if (b->region[i].writable && (cause == R_POWER || cause == R_BROWNOUT)) memset(b->region[i].bytes, 0, b->region[i].size);
    b->waiting = b->stopped = b->it_left = b->interrupt = b->reset_wanted = b->watchdog_on = 0;
    b->reset_cause = cause;
    b->reset_flags = cause == R_WATCHDOG ? 1u << 29 : cause == R_SOFTWARE ? 1u << 28 : cause == R_BROWNOUT ? 1u << 25 : 3u << 26;
    nvic_reset(b);
    peripherals_reset(b);
    uint32_t start[2] = {0, 0};
    memcpy(start, b->region[0].bytes, 8);
    set(b, UC_ARM_REG_CONTROL, 0);
    set(b, UC_ARM_REG_SP, start[0] & ~3u);
    b->pc = start[1] | 1;
    fw_trace_add(b->rig, T_RESET, 0, b->rig->now, cause, 0);
    if (!board_bytes(b, start[1] & ~1u, 2)) board_halt(b, H_VECTOR, 1);
    else if (!(start[1] & 1)) board_halt(b, H_THUMB, 1);
}

void board_reset(Board *b) {                    /* power on at the rig's time, which is zero */
    b->cycle = b->anchor_cycle = b->anchor_ns = 0;
    b->ns_per_cycle = 1e9 / (b->clock_hz * (1 + b->drift));
    b->halt = H_NONE, b->halt_pc = b->halt_address = 0, b->in_brownout = 0;
    b->instructions = b->blocks = b->starts = b->exceptions = b->accesses = 0;
    b->watchdog_resets = b->resets = b->idle_cycles = 0;
    restart(b, R_POWER);
}

void board_want_reset(Board *b, enum ResetCause cause) {
    b->reset_wanted = 1, b->reset_cause = cause;
    if (cause == R_WATCHDOG) b->watchdog_resets++, fw_trace_add(b->rig, T_WATCHDOG, 0, b->rig->now, 0, 0);
}

void board_free(Board *b) {
    if (!b) return;
    if (b->boot) uc_context_free(b->boot);
    uc_close(b->uc);
    for (int i = 0; i < b->regions; i++) free(b->region[i].bytes);
    for (int i = 0; i < b->peripherals; i++) free(b->peripheral[i].state), free(b->peripheral[i].kept);
    free(b->block), free(b->exception_page), free(b);
}

/* --- execution --- */
static int asks_ipsr(Board *b, uint32_t at) {   /* -1: no, else the register */
    uint8_t *m = board_bytes(b, at, 4);
    uint16_t half[2] = {0, 0};
    if (m) memcpy(half, m, 4);
    return (half[0] & 0xFFF0) == 0xBEE0 && half[1] == 0xBF00 ? half[0] & 15 : -1;
}

static void answer_ipsr(Board *b, uint32_t pc, int rd) {
    static const int R[13] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4,
                              UC_ARM_REG_R5, UC_ARM_REG_R6, UC_ARM_REG_R7, UC_ARM_REG_R8, UC_ARM_REG_R9,
                              UC_ARM_REG_R10, UC_ARM_REG_R11, UC_ARM_REG_R12};
    set(b, rd < 13 ? R[rd] : UC_ARM_REG_LR, b->actives ? (uint32_t)b->active[b->actives - 1] : 0);
    b->pc = (pc + 4) | 1;
}

static void after_interrupt(Board *b, int number, uint32_t pc) {
    if (pc >= RETURNS) return leave(b, pc | 1);
    if (number == 2) return enter(b, 11);
    if (number == 7) {                          /* BKPT */
        for (uint32_t at = pc; at + 2 >= pc; at -= 2)
            if (asks_ipsr(b, at) >= 0) return answer_ipsr(b, at, asks_ipsr(b, at));
        return board_halt(b, H_BREAKPOINT, pc);
    }
    board_halt(b, number == 1 ? H_UNDEFINED : H_OTHER, number);
}

static void idle_until(Board *b, int64_t cycle) {
    if (cycle <= b->cycle) return;
    fw_trace_add(b->rig, T_IDLE, 0, board_ns(b), 0, cycle_ns(b, cycle) - board_ns(b));
    b->idle_cycles += cycle - b->cycle;
    b->cycle = cycle;
}

/* `b .`: nothing but an interrupt leads out of it. Where none can and no watchdog runs, the program has ended. */
static int at_endless(Board *b, uint32_t pc) {
    uint8_t *m = board_bytes(b, pc, 2);
    uint16_t half = 0;
    if (m) memcpy(&half, m, 2);
    return half == 0xE7FE;
}

static int made_runnable(Board *b, uint32_t pc) {       /* code in RAM: from now on its stores are looked at */
    for (int i = 0; i < b->regions; i++) {
        Region *r = &b->region[i];
        if (pc - r->at >= r->size || !r->writable || r->runs) continue;
        r->runs = 1;
        return !uc_mem_protect(b->uc, r->at, r->size, UC_PROT_ALL) && !uc_ctl_flush_tlb(b->uc);
    }
    return 0;
}

/* What the last block's hook found holds for as long as nothing is pended: the processor has not run since. */
static int candidate(Board *b) { return b->known && !b->dirty ? b->found : nvic_candidate(b); }

static void after_run(Board *b, uc_err e) {
    uint32_t pc = get(b, UC_ARM_REG_PC);
    int number = b->interrupt - 1;
    b->interrupt = 0, b->pc = pc | 1;
    if (b->halt) b->halt_pc = pc;
    else if (number >= 0) after_interrupt(b, number, pc);
    else if (e && pc >= RETURNS) leave(b, pc | 1);
    else if (e && made_runnable(b, pc & ~1u)) return;
    else if (e && !board_bytes(b, pc & ~1u, 2)) board_halt(b, H_FETCH, pc);
    else if (e == UC_ERR_INSN_INVALID || e == UC_ERR_EXCEPTION) board_halt(b, H_UNDEFINED, pc);
    else if (e) board_halt(b, H_OTHER, pc);
    else if (b->stopped) {                      /* before a block that does not end before the next event */
        if (b->reset_wanted || candidate(b)) return;
        if (at_endless(b, pc)) {
            uint32_t masked = get(b, UC_ARM_REG_PRIMASK) & 1;
            if ((masked || b->actives) && !b->watchdog_on) return board_halt(b, H_ENDLESS, pc);
            idle_until(b, b->limit);
        } else if (b->cycle < b->limit) b->cycle = b->limit;
    } else {
        uint8_t *m = board_bytes(b, pc - 2, 2);
        uint16_t half = 0;
        if (m) memcpy(&half, m, 2);
        if (half == 0xBF30 || half == 0xBF20) b->waiting = 1;   /* WFI, WFE: left with PC behind it */
    }
}

static int in_brownout(Board *b, ns now) {
    if (!fw_within(now, b->brownout_from, b->brownout_to)) return b->in_brownout = 0;
    if (!b->in_brownout) {
        b->in_brownout = 1, b->resets++;
        restart(b, R_BROWNOUT);
        b->rig->next = b->rig->now;             /* find the next event anew */
    }
    return 1;
}

static bool on_invalid(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *user) {
    (void)uc, (void)type, (void)size, (void)value;
    ((Board *)user)->halt_address = (uint32_t)address;
    return false;
}

static void find_address(Board *b) {            /* the instruction again, to see which byte of the page it meant */
    uc_hook hook;
    if (uc_hook_add(b->uc, &hook, UC_HOOK_MEM_INVALID, on_invalid, b, 1, 0)) return;
    b->diagnosing = 1;
    uc_ctl_flush_tlb(b->uc);
    uc_emu_start(b->uc, b->halt_pc | 1, NOWHERE, 0, 1);
    b->diagnosing = 0;
    uc_hook_del(b->uc, hook);
    uc_ctl_flush_tlb(b->uc);
    b->interrupt = 0;
}

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int board_run(Board *b, ns end) {
    b->end = end;
    while (!b->halt) {
        ns now = board_ns(b);
        fw_rig_advance(b->rig, now);
        if (now >= end) break;
        if (++b->turns % WALL_EVERY == 0 && wall() > b->wall_end) board_halt(b, H_WALL, 0);
        if (b->reset_wanted) b->resets++, restart(b, b->reset_cause);
        b->limit_ns = b->rig->next < end ? b->rig->next : end;
        if (in_brownout(b, now)) {
            ns over = (ns)(b->brownout_to * 1e9) + 1;
            b->cycle = ns_cycle(b, over < b->limit_ns ? over : b->limit_ns);
            continue;
        }
        b->limit = ns_cycle(b, b->limit_ns);
        int n = candidate(b);
        b->known = 0;
        if (n) enter(b, n), b->waiting = 0;
        if (b->waiting && !b->pending_any) {
            idle_until(b, b->limit);
            continue;
        }
        if (b->halt) break;
        b->waiting = b->stopped = 0, b->starts++;
        after_run(b, uc_emu_start(b->uc, b->pc, NOWHERE, 0, 0));
        if (b->halt == H_UNMAPPED || b->halt == H_FLASH_WRITE) find_address(b);
    }
    return b->halt;
}

void board_wall(Board *b, double seconds) { b->wall_end = wall() + seconds; }

void board_halted(Board *b, uint32_t *out) {
    out[0] = b->halt, out[1] = b->halt_pc, out[2] = b->halt_address, out[3] = b->halt ? get(b, UC_ARM_REG_LR) : 0;
}

void board_counters(Board *b, int64_t *out) {
    int64_t all[] = {b->instructions, b->blocks, b->starts, b->exceptions, b->accesses, b->watchdog_resets,
                     b->resets, b->idle_cycles, b->cycle, b->rig->now};
    memcpy(out, all, sizeof all);
}
