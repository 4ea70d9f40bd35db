/* Descriptors: which are simulated, and read, write, ioctl, close and their kin for both sorts. */
#include "wires.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

static Object *objects[MAX_FD];

Object *object_of(int fd) { return shim_mine() && fd >= 0 && fd < MAX_FD ? objects[fd] : NULL; }

ssize_t refuse(int error) { errno = error; return -1; }

void say_once(const char *sentence) {
    if (!shared->said[0]) snprintf(shared->said, sizeof shared->said, "%s", sentence);
}

/* The number comes from the system, so that it is never that of another descriptor. */
int object_new(int kind, int flags) {
    int fd = REAL(open)("/dev/null", O_RDWR | (flags & O_CLOEXEC));
    if (fd < 0) return -1;
    Object *o = fd < MAX_FD ? calloc(1, sizeof *o) : NULL;
    if (!o) { REAL(close)(fd); return (int)refuse(EMFILE); }
    o->kind = kind;
    o->users = 1;
    o->nonblocking = !!(flags & O_NONBLOCK);
    objects[fd] = o;
    return fd;
}

static void drop(int fd) {
    Object *o = objects[fd];
    objects[fd] = NULL;
    if (--o->users) return;
    epoll_forget(o);
    if (o->kind == KIND_CAN) can_close(o);
    if (o->kind == KIND_TIMER) timer_close(o);
    if (o->kind == KIND_EPOLL) epoll_close(o);
    free(o);
}

EXPORT int close(int fd) {
    if (object_of(fd)) drop(fd);
    return REAL(close)(fd);
}

static int copied(int from, int to) {
    Object *o = object_of(from);
    if (to < 0 || !shim_mine()) return to;
    if (to < MAX_FD && objects[to] && to != from) drop(to);
    if (o && to < MAX_FD && to != from) { objects[to] = o; o->users++; }
    return to;
}

EXPORT int dup(int fd) { return copied(fd, REAL(dup)(fd)); }
EXPORT int dup2(int fd, int to) { return copied(fd, REAL(dup2)(fd, to)); }
EXPORT int dup3(int fd, int to, int flags) { return copied(fd, REAL(dup3)(fd, to, flags)); }

static int control(int fd, int command, void *argument) {
    Object *o = object_of(fd);
    if (o && command == F_GETFL) return O_RDWR | (o->nonblocking ? O_NONBLOCK : 0);
    if (o && command == F_SETFL) { o->nonblocking = !!((intptr_t)argument & O_NONBLOCK); return 0; }
    int result = REAL(fcntl)(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}

#define LAST(type, name, before) \
    va_list rest_; va_start(rest_, before); type name = va_arg(rest_, type); va_end(rest_)

EXPORT int fcntl(int fd, int command, ...) { LAST(void *, argument, command); return control(fd, command, argument); }
EXPORT int fcntl64(int fd, int command, ...) { LAST(void *, argument, command); return control(fd, command, argument); }

/* The simulated device of that path: a descriptor, -1 with errno, or -2 if the path is not one of ours. */
static int open_device(const char *path, int flags) {
    if (!shim_mine() || !path) return -2;
    int bus = i2c_adapter(path), kind = KIND_I2C;
    if (bus == -1) { bus = serial_port(path); kind = KIND_SERIAL; }
    if (bus == -1) return -2;
    if (bus == -2) return (int)refuse(ENOENT);
    int fd = object_new(kind, flags);
    if (fd >= 0) objects[fd]->bus = bus;
    return fd;
}

static int open_any(int folder, const char *path, int flags, int mode) {
    int fd = open_device(path, flags);
    return fd == -2 ? (int)SYSTEM(SYS_openat, folder, path, flags, mode) : fd;
}

EXPORT int open(const char *path, int flags, ...) { LAST(int, mode, flags); return open_any(AT_FDCWD, path, flags, mode); }
EXPORT int open64(const char *path, int flags, ...) { LAST(int, mode, flags); return open_any(AT_FDCWD, path, flags, mode); }
EXPORT int openat(int folder, const char *path, int flags, ...) { LAST(int, mode, flags); return open_any(folder, path, flags, mode); }
EXPORT int openat64(int folder, const char *path, int flags, ...) { LAST(int, mode, flags); return open_any(folder, path, flags, mode); }
EXPORT int __open_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
EXPORT int __open64_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
EXPORT int access(const char *path, int mode) {
    if (!shim_mine()) return REAL(access)(path, mode);
    int bus = i2c_adapter(path) == -1 ? serial_port(path) : i2c_adapter(path);
    return bus == -1 ? REAL(access)(path, mode) : bus == -2 ? (int)refuse(ENOENT) : 0;
}

short object_events(Object *o) {
    switch (o->kind) {
    case KIND_CAN: return can_events(o);
    case KIND_TIMER: return timer_events(o);
    case KIND_EPOLL: return epoll_events(o);
    case KIND_SERIAL: return serial_events(o);
    default: return POLLIN | POLLOUT;
    }
}

int fds_ready(struct pollfd *fds, int count) {
    struct pollfd others[count > 0 ? count : 1];
    int place[count > 0 ? count : 1], outside = 0, ready = 0;
    for (int i = 0; i < count; i++) {
        Object *o = fds[i].fd >= 0 && fds[i].fd < MAX_FD ? objects[fds[i].fd] : NULL;
        fds[i].revents = 0;
        if (o) ready += (fds[i].revents = object_events(o) & fds[i].events) != 0;
        else if (fds[i].fd >= 0) { place[outside] = i; others[outside++] = fds[i]; }
    }
    if (!outside || SYSTEM(SYS_poll, others, outside, 0) <= 0) return ready;
    for (int k = 0; k < outside; k++) {
        fds[place[k]].revents = others[k].revents;
        ready += others[k].revents != 0;
    }
    return ready;
}

/* A descriptor of the system that another thread may have to serve first: give the baton away until it is ready. */
static void await_outside(int fd, short events, int flags) {
    struct pollfd p = {.fd = fd, .events = events};
    if (!shim_mine() || fds_ready(&p, 1) || (flags & MSG_DONTWAIT)) return;
    int mode = REAL(fcntl)(fd, F_GETFL);
    if (mode < 0 || (mode & O_NONBLOCK)) { shim_spinning(); return; }
    struct timeval limit = {0};
    socklen_t size = sizeof limit;
    int option = events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
    bool limited = !REAL(getsockopt)(fd, SOL_SOCKET, option, &limit, &size) && (limit.tv_sec || limit.tv_usec);
    pthread_testcancel();
    shim_wait(limited ? shim_now + limit.tv_sec * SECOND + limit.tv_usec * 1000LL : NEVER, NULL, &p, 1);
    pthread_testcancel();
}

static ssize_t read_object(Object *o, void *data, size_t size) {
    switch (o->kind) {
    case KIND_CAN: return can_read(o, data, size, false, NULL, NULL);
    case KIND_I2C: return i2c_bytes(o, data, size, true);
    case KIND_TIMER: return timer_read(o, data, size);
    case KIND_SERIAL: return serial_read(o, data, size);
    default: return refuse(EINVAL);
    }
}

EXPORT ssize_t read(int fd, void *data, size_t size) {
    Object *o = object_of(fd);
    if (o) return read_object(o, data, size);
    await_outside(fd, POLLIN, 0);
    return REAL(read)(fd, data, size);
}

EXPORT ssize_t __read_chk(int fd, void *data, size_t size, size_t room) { (void)room; return read(fd, data, size); }

EXPORT ssize_t write(int fd, const void *data, size_t size) {
    Object *o = object_of(fd);
    if (!o) { await_outside(fd, POLLOUT, 0); return REAL(write)(fd, data, size); }
    if (o->kind == KIND_CAN) return can_write(o, data, size, o->bus);
    if (o->kind == KIND_I2C) return i2c_bytes(o, (void *)data, size, false);
    if (o->kind == KIND_SERIAL) return serial_write(o, data, size);
    return refuse(EINVAL);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!object_of(fd)) { await_outside(fd, POLLOUT, 0); return REAL(writev)(fd, parts, count); }
    uint8_t whole[4096];
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        if (n + parts[i].iov_len > sizeof whole) return refuse(EINVAL);
        memcpy(whole + n, parts[i].iov_base, parts[i].iov_len);
        n += parts[i].iov_len;
    }
    return write(fd, whole, n);
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count) {
    if (!object_of(fd)) { await_outside(fd, POLLIN, 0); return REAL(readv)(fd, parts, count); }
    uint8_t whole[4096];
    size_t room = 0, given = 0;
    for (int i = 0; i < count; i++) room += parts[i].iov_len;
    ssize_t n = read(fd, whole, room < sizeof whole ? room : sizeof whole);
    for (int i = 0; i < count && n > 0 && given < (size_t)n; i++) {
        size_t part = parts[i].iov_len < (size_t)n - given ? parts[i].iov_len : (size_t)n - given;
        memcpy(parts[i].iov_base, whole + given, part);
        given += part;
    }
    return n;
}

static int device_ioctl(int fd, unsigned long request, void *argument) {
    Object *o = object_of(fd);
    if (o && request == FIONBIO) { o->nonblocking = *(int *)argument != 0; return 0; }
    if (o && o->kind == KIND_CAN) return can_ioctl(o, request, argument);
    if (o && o->kind == KIND_I2C) return i2c_ioctl(o, request, argument);
    if (o && o->kind == KIND_SERIAL) return serial_ioctl(o, request, argument);
    return o ? (int)refuse(ENOTTY) : REAL(ioctl)(fd, request, argument);
}

EXPORT int ioctl(int fd, unsigned long request, ...) { LAST(void *, argument, request); return device_ioctl(fd, request, argument); }

#define AWAITED(type, name, parameters, arguments, events, flags) \
    EXPORT type name parameters { await_outside(fd, events, flags); return REAL(name) arguments; }
AWAITED(int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), POLLIN, 0)
AWAITED(int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags), POLLIN, 0)

void shim_await_socket(int fd, short events, int flags) { await_outside(fd, events, flags); }
