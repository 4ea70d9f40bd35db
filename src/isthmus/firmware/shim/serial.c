/* The host link: one serial port, whose other end is the process that runs the simulation. */
#include "wires.h"
#include <sys/ioctl.h>
#include <termios.h>

static uint8_t bytes[8192];
static int first, waiting;
static struct termios settings;
static uint64_t arrivals;

int serial_port(const char *path) { return serial_path[0] && !strcmp(path, serial_path) ? 0 : -1; }

void serial_arrived(const uint8_t *data, int count) {
    for (int i = 0; i < count && waiting < (int)sizeof bytes; i++) bytes[(first + waiting++) % (int)sizeof bytes] = data[i];
    arrivals++;
}

short serial_events(Object *o) {
    o->arrivals = arrivals;
    return (waiting ? POLLIN | POLLRDNORM : 0) | POLLOUT | POLLWRNORM;
}

ssize_t serial_read(Object *o, void *data, size_t size) {
    bool canonical = settings.c_lflag & ICANON;
    ns_t until = !canonical && !settings.c_cc[VMIN] ? shim_now + settings.c_cc[VTIME] * 100000000LL : NEVER;
    while (!waiting) {
        if (o->nonblocking) { shim_spinning(); return refuse(EAGAIN); }
        pthread_testcancel();
        if (shim_now >= until) return 0;
        shim_wait(until < shim_now + 1000000 ? until : shim_now + 1000000, NULL, NULL, 0);
    }
    size_t n = 0;
    for (; n < size && waiting; n++, waiting--) { ((uint8_t *)data)[n] = bytes[first]; first = (first + 1) % (int)sizeof bytes; }
    return (ssize_t)n;
}

ssize_t serial_write(Object *o, const void *data, size_t size) {
    (void)o;
    size_t room = sizeof shared->host_out - (size_t)shared->host_out_count;
    size_t n = size < room ? size : room;
    memcpy(shared->host_out + shared->host_out_count, data, n);
    shared->host_out_count += (int64_t)n;
    return n || !size ? (ssize_t)n : refuse(EAGAIN);
}

int serial_ioctl(Object *o, unsigned long request, void *argument) {
    (void)o;
    if (request == FIONREAD) *(int *)argument = waiting;
    return request == FIONREAD || request == TIOCMGET || request == TIOCMSET || request == TIOCEXCL ? 0 : (int)refuse(ENOTTY);
}

static bool ours(int fd) { Object *o = object_of(fd); return o && o->kind == KIND_SERIAL; }

EXPORT int tcgetattr(int fd, struct termios *t) { if (!ours(fd)) return REAL(tcgetattr)(fd, t); *t = settings; return 0; }
EXPORT int tcsetattr(int fd, int when, const struct termios *t) {
    if (!ours(fd)) return REAL(tcsetattr)(fd, when, t);
    settings = *t;
    return 0;
}
EXPORT int tcflush(int fd, int queue) {
    if (!ours(fd)) return REAL(tcflush)(fd, queue);
    if (queue != TCOFLUSH) waiting = 0;
    return 0;
}
EXPORT int tcdrain(int fd) { return ours(fd) ? 0 : REAL(tcdrain)(fd); }
EXPORT int isatty(int fd) { return ours(fd) ? 1 : REAL(isatty)(fd); }
