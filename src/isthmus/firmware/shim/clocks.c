/* Clocks, sleeping and timerfd on virtual time. Random numbers of the system come from the seed. */
#include "wires.h"
#include <stdarg.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>

#define EPOCH 1700000000LL          /* CLOCK_REALTIME when CLOCK_MONOTONIC is 0: the same in every run */

static ns_t start_of(clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_TAI: case CLOCK_REALTIME_ALARM: return EPOCH * SECOND;
    default: return 0;
    }
}

static struct timespec to_timespec(ns_t t) { return (struct timespec){t / SECOND, t % SECOND}; }

EXPORT int clock_gettime(clockid_t clock, struct timespec *t) {
    if (!shim_mine()) return REAL(clock_gettime)(clock, t);
    shim_spinning();
    *t = to_timespec(shim_now + start_of(clock));
    return 0;
}

EXPORT int timespec_get(struct timespec *t, int base) { return clock_gettime(CLOCK_REALTIME, t) ? 0 : base; }

EXPORT int gettimeofday(struct timeval *t, void *zone) {
    if (!shim_mine()) return REAL(gettimeofday)(t, zone);
    struct timespec s;
    clock_gettime(CLOCK_REALTIME, &s);
    *t = (struct timeval){s.tv_sec, s.tv_nsec / 1000};
    return 0;
}

EXPORT time_t time(time_t *t) {
    if (!shim_mine()) return REAL(time)(t);
    struct timespec s;
    clock_gettime(CLOCK_REALTIME, &s);
    if (t) *t = s.tv_sec;
    return s.tv_sec;
}

static void sleep_until(ns_t until) {
    pthread_testcancel();
    if (until <= shim_now) shim_yield();
    else shim_wait(until, NULL, NULL, 0);
    pthread_testcancel();
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
    if (!shim_mine()) return REAL(clock_nanosleep)(clock, flags, t, left);
    if (t->tv_nsec < 0 || t->tv_nsec >= SECOND || t->tv_sec < 0) return EINVAL;
    sleep_until(flags & TIMER_ABSTIME ? from_timespec(t) - start_of(clock) : shim_now + from_timespec(t));
    return 0;
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *left) {
    if (!shim_mine()) return REAL(nanosleep)(t, left);
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    return error ? (int)refuse(error) : 0;
}

EXPORT int usleep(useconds_t us) {
    if (!shim_mine()) return REAL(usleep)(us);
    sleep_until(shim_now + us * 1000LL);
    return 0;
}

EXPORT unsigned sleep(unsigned seconds) {
    if (!shim_mine()) return REAL(sleep)(seconds);
    sleep_until(shim_now + seconds * SECOND);
    return 0;
}

/* ---- timerfd ---- */

typedef struct Timer { ns_t next, interval; clockid_t clock; Object *object; struct Timer *after; } Timer;
static Timer *timers;

EXPORT int timerfd_create(int clock, int flags) {
    if (!shim_mine()) return REAL(timerfd_create)(clock, flags);
    int fd = object_new(KIND_TIMER, flags);
    if (fd < 0) return fd;
    Timer *t = calloc(1, sizeof *t);
    *t = (Timer){.next = NEVER, .clock = clock, .object = object_of(fd), .after = timers};
    t->object->timer = timers = t;
    return fd;
}

static struct itimerspec left_on(const Timer *t) {
    ns_t left = t->next == NEVER ? 0 : t->next > shim_now ? t->next - shim_now : 1;
    return (struct itimerspec){.it_value = to_timespec(left), .it_interval = to_timespec(t->interval)};
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old) {
    Object *o = object_of(fd);
    if (!o || o->kind != KIND_TIMER) return REAL(timerfd_settime)(fd, flags, new, old);
    Timer *t = o->timer;
    if (old) *old = left_on(t);
    ns_t value = from_timespec(&new->it_value);
    t->interval = from_timespec(&new->it_interval);
    t->next = !value ? NEVER : flags & TFD_TIMER_ABSTIME ? value - start_of(t->clock) : shim_now + value;
    return 0;
}

EXPORT int timerfd_gettime(int fd, struct itimerspec *now) {
    Object *o = object_of(fd);
    if (!o || o->kind != KIND_TIMER) return REAL(timerfd_gettime)(fd, now);
    *now = left_on(o->timer);
    return 0;
}

void timer_close(Object *o) {
    for (Timer **t = &timers; *t; t = &(*t)->after)
        if (*t == o->timer) { *t = o->timer->after; break; }
    free(o->timer);
}

short timer_events(Object *o) { return o->timer->next <= shim_now ? POLLIN | POLLRDNORM : 0; }

ns_t timers_next(void) {
    ns_t next = NEVER;
    for (Timer *t = timers; t; t = t->after)
        if (t->next > shim_now && t->next < next) next = t->next;
    return next;
}

ssize_t timer_read(Object *o, void *data, size_t size) {
    Timer *t = o->timer;
    if (size < 8) return refuse(EINVAL);
    while (t->next > shim_now) {
        if (o->nonblocking) { shim_spinning(); return refuse(EAGAIN); }
        sleep_until(t->next < shim_now + SECOND ? t->next : shim_now + SECOND);
    }
    uint64_t times = t->interval ? (uint64_t)((shim_now - t->next) / t->interval) + 1 : 1;
    t->next = t->interval ? t->next + (ns_t)times * t->interval : NEVER;
    memcpy(data, &times, 8);
    o->arrivals++;
    return 8;
}

/* ---- what is not simulated ---- */

EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    if (!shim_mine()) return REAL(timer_create)(clock, event, timer);
    say_once("timers that send signals (timer_create) are not simulated: use timerfd or clock_nanosleep");
    return (int)refuse(ENOTSUP);
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old) {
    if (!shim_mine()) return REAL(setitimer)(which, new, old);
    say_once("timers that send signals (setitimer) are not simulated: use timerfd or clock_nanosleep");
    return (int)refuse(ENOTSUP);
}

EXPORT unsigned alarm(unsigned seconds) {
    if (!shim_mine()) return REAL(alarm)(seconds);
    if (seconds) say_once("alarm() is not simulated: use timerfd or clock_nanosleep");
    return 0;
}

EXPORT int mlockall(int flags) { (void)flags; return 0; }

EXPORT ssize_t getrandom(void *data, size_t size, unsigned flags) {
    if (!shim_mine()) return REAL(getrandom)(data, size, flags);
    static uint64_t x;
    if (!x) x = shared->seed * 2654435761u + 88172645463325252u;
    for (size_t i = 0; i < size; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        ((uint8_t *)data)[i] = (uint8_t)(x >> 24);
    }
    return (ssize_t)size;
}
