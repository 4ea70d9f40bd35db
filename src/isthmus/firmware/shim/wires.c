/* Builds the buses and devices from the script in the shared page, and steps the physics in the other process. */
#include "wires.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

Shared *shared;
Rig *rig;
Wire can_wires[MAX_BUSES], i2c_wires[MAX_BUSES];
int can_count, i2c_count;
char serial_path[64];
static int simulator = -1;
#define DRAIN 100000000LL           /* time for that, ns */
static ns_t next_step;              /* world time */

static void fail(const char *what) {
    fprintf(stderr, "isthmus: %s\n", what);
    _exit(120);
}

static int bus_named(const char *name) {
    for (int i = 0; i < can_count; i++) if (!strcmp(can_wires[i].name, name)) return can_wires[i].rig_bus;
    for (int i = 0; i < i2c_count; i++) if (!strcmp(i2c_wires[i].name, name)) return i2c_wires[i].rig_bus;
    return -1;
}

/* A device of the user's own, compiled: it finds our functions because they are preloaded. */
static int add_from_file(const char *file, const char *name, int bus, int address, int joint) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int (*add)(Rig *, const char *, int, int, int) = library ? (__typeof__(add))dlsym(library, "add_device") : NULL;
    return add ? add(rig, name, bus, address, joint) : -1;
}

static void build_line(const char *line) {
    char kind[32], name[64], bus[64], file[1024];
    double a, b, c;
    if (sscanf(line, "can %31s %lf", name, &a) == 2 && can_count < MAX_BUSES) {
        Wire *w = &can_wires[can_count++];
        snprintf(w->name, sizeof w->name, "%.31s", name);
        w->rig_bus = fw_rig_add_can(rig, name, a);
    } else if (sscanf(line, "i2c %31s %lf", name, &a) == 2 && i2c_count < MAX_BUSES) {
        Wire *w = &i2c_wires[i2c_count++];
        snprintf(w->name, sizeof w->name, "%.31s", name);
        w->rig_bus = fw_rig_add_i2c(rig, name, a);
    } else if (sscanf(line, "lsm6dsox %63s %63s %lf", name, bus, &a) == 3) {
        if (fw_rig_add_lsm6dsox(rig, name, bus_named(bus), (int)a) < 0) fail(line);
    } else if (sscanf(line, "mit-motor %63s %63s %lf %lf %lf", name, bus, &a, &b, &c) == 5) {
        if (fw_rig_add_mit_motor(rig, name, bus_named(bus), (uint32_t)a, (uint32_t)b, (int)c) < 0) fail(line);
    } else if (sscanf(line, "file %63s %63s %lf %lf %1023[^\n]", name, bus, &a, &b, file) == 5) {
        if (add_from_file(file, name, bus_named(bus), (int)a, (int)b) < 0) fail(line);
    } else if (sscanf(line, "set %63s %lf", name, &a) == 2) {
        if (fw_set(rig, name, a)) fail(line);
    } else if (sscanf(line, "serial %63s", name) == 1) {
        snprintf(serial_path, sizeof serial_path, "%s", name);
    } else if (sscanf(line, "%31s", kind) == 1) fail(line);
}

static void build(void) {
    rig = fw_rig_new((int)shared->joints);
    if (!rig) fail("no memory for the simulated buses");
    char *script = strdup(shared->script), *rest = NULL;
    for (char *line = strtok_r(script, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) build_line(line);
    free(script);
    fw_rig_reset(rig, shared->seed);
    if (shared->trace_capacity) fw_trace(rig, shared->ring, shared->trace_capacity);
    can_attach();
}

static void sense(void) {
    const double *s = shared->sensors;
    int64_t j = shared->joints;
    fw_rig_sense(rig, s, s + j, s + 2 * j, s + 2 * j + 3);
}

/* Tell the simulator and wait for its answer. False: it has gone. */
static bool exchange(void) {
    char byte = 1;
    ssize_t n;
    while ((n = SYSTEM(SYS_sendto, simulator, &byte, 1, MSG_NOSIGNAL, NULL, 0)) < 0 && errno == EINTR) {}
    if (n != 1) return false;
    while ((n = SYSTEM(SYS_read, simulator, &byte, 1)) < 0 && errno == EINTR) {}
    return n == 1;
}

static void publish(void) {
    fw_rig_torques(rig, shared->torques);
    fw_rig_joints(rig, shared->asked, shared->command_age, shared->sample_age, shared->max_gap);
    for (int i = 0; i < can_count + i2c_count; i++) {
        int64_t *c = &shared->bus_counters[3 * i];
        fw_bus_counters(rig, i, c, c + 1, c + 2);
    }
    shared->now = fw_rig_now(rig);
    shared->trace_count = shared->trace_capacity ? fw_trace_count(rig) : 0;
}

static void step_physics(void) {
    publish();
    if (!exchange()) {
        fflush(NULL);               /* the simulation is over: what the program printed is still wanted */
        _exit(0);
    }
    sense();
    shared->host_out_count = 0;
    if (shared->host_in_count > 0) serial_arrived(shared->host_in, (int)shared->host_in_count);
    shared->host_in_count = 0;
    next_step += shared->step_ns;
}

ns_t wires_next(void) {
    ns_t next = fw_rig_next(rig);
    return (next < next_step ? next : next_step) + shared->start_ns;
}

void wires_run(ns_t now) {
    ns_t world = now - shared->start_ns;
    if (world > fw_rig_now(rig) || fw_rig_next(rig) <= world) fw_rig_advance(rig, world);
    if (next_step <= world) step_physics();
}

/* The child has neither buses nor simulated time, and does not outlive the simulation. */
static void after_fork(void) {
    shim_on = 0;
    REAL(close)(simulator);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void before_fork(void) {
    if (shim_mine()) say_once("the program forked, and the child has no simulated buses: run it in the foreground");
}

/* ISTHMUS_SHIM is "MEMORY,SOCKET", two descriptors that the simulator handed down. Programs that this one starts
 * run without the shim: the buses belong to one process. */
__attribute__((constructor)) static void attach(void) {
    const char *where = getenv("ISTHMUS_SHIM");
    int memory;
    if (!where || sscanf(where, "%d,%d", &memory, &simulator) != 2) return;
    unsetenv("ISTHMUS_SHIM");
    unsetenv("LD_PRELOAD");
    struct stat s;
    if (fstat(memory, &s) || (size_t)s.st_size < sizeof(Shared)) fail("the page shared with the simulator is too small");
    shared = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared == MAP_FAILED || shared->version != SHARED_VERSION) fail("the page shared with the simulator is of another version");
    REAL(fcntl)(simulator, F_SETFD, FD_CLOEXEC);
    REAL(close)(memory);
    build();
    shim_now = shared->start_ns;
    next_step = shared->step_ns;
    sense();
    pthread_atfork(before_fork, NULL, after_fork);
    scheduler_start();
}

/* The kernel sends what a program has queued before it ended. */
__attribute__((destructor)) static void drain(void) {
    if (!shim_mine()) return;
    ns_t until = shim_now + DRAIN;
    while (can_waiting() && shim_now < until) {
        shim_now = wires_next();
        wires_run(shim_now);
    }
    publish();
}
