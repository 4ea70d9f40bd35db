/* Preloaded into a Linux program: SocketCAN, i2c-dev, serial port and clocks of a simulated robot.
 *
 * One thread of the program runs at a time: it holds the baton. Only that thread touches the state declared here, so
 * nothing needs a lock. Virtual time stands still while a thread runs and moves when every thread waits. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../native/fw.h"

#define EXPORT __attribute__((visibility("default")))
/* The function of that name that the program would have called without the shim. */
#define REAL(name) \
    ({ static __typeof__(&name) found_; \
       if (!found_) found_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
       found_; })

/* The system's own call: a program's `syscall` is ours, for the futexes of libraries. */
#define SYSTEM(...) REAL(syscall)(__VA_ARGS__)

typedef ns ns_t;
#define SECOND 1000000000LL
#define MAX_FD 4096

/* ---- scheduler.c ---- */
extern int shim_on;                 /* 0: every call goes to the real function */
extern ns_t shim_now;               /* CLOCK_MONOTONIC of the program */
bool shim_mine(void);               /* the calling thread is one of those the scheduler runs */
void scheduler_start(void);
/* Wait until `until`, until `wake_all(object)`, or until one of `fds` is ready. Returns false on a timeout. */
bool shim_wait(ns_t until, const void *object, struct pollfd *fds, int count);
void wake_all(const void *object);
bool wake_one(const void *object);  /* the one of highest priority, then the one that has waited longest */
void shim_yield(void);
void shim_spinning(void);           /* the program polls without sleeping: after many polls let time pass */
ns_t from_timespec(const struct timespec *t);

/* ---- descriptors.c ---- */
enum { KIND_CAN = 1, KIND_I2C, KIND_TIMER, KIND_EPOLL, KIND_SERIAL };
struct CanSocket; struct Timer; struct Epoll;
typedef struct {
    int kind, users, nonblocking;
    int bus;                        /* CAN interface (-1: all of them), I2C adapter or serial port */
    int address;                    /* I2C_SLAVE */
    uint64_t arrivals;              /* counts what has become readable, for edge-triggered epoll */
    struct CanSocket *can;
    struct Timer *timer;
    struct Epoll *epoll;
} Object;
Object *object_of(int fd);          /* NULL: a descriptor of the system */
int object_new(int kind, int flags);
short object_events(Object *o);     /* POLLIN | POLLOUT as far as they hold now */
int fds_ready(struct pollfd *fds, int count);  /* like poll with no timeout, simulated descriptors included */
ssize_t refuse(int error);          /* errno = error, -1 */
void say_once(const char *sentence);

/* ---- can.c ---- */
void can_open(Object *o);
void can_close(Object *o);
short can_events(Object *o);
ssize_t can_read(Object *o, void *data, size_t size, bool dont_wait, ns_t *stamp, int *bus);
ssize_t can_write(Object *o, const void *data, size_t size, int bus);
int can_ioctl(Object *o, unsigned long request, void *argument);
int interface_index(const char *name);   /* 0: there is none */

/* ---- i2c.c ---- */
int i2c_adapter(const char *path);       /* -1: not an adapter's path; -2: an adapter the board does not have */
int i2c_ioctl(Object *o, unsigned long request, void *argument);
ssize_t i2c_bytes(Object *o, void *data, size_t size, bool reading);

/* ---- serial.c ---- */
int serial_port(const char *path);
short serial_events(Object *o);
ssize_t serial_read(Object *o, void *data, size_t size);
ssize_t serial_write(Object *o, const void *data, size_t size);
int serial_ioctl(Object *o, unsigned long request, void *argument);

/* ---- clocks.c ---- */
void timer_close(Object *o);
short timer_events(Object *o);
ssize_t timer_read(Object *o, void *data, size_t size);
ns_t timers_next(void);

/* ---- waiting.c ---- */
void epoll_close(Object *o);
void epoll_forget(Object *o);
short epoll_events(Object *o);
