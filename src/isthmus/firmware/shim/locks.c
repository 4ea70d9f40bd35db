/* Mutexes, condition variables, semaphores, read-write locks, spin locks, barriers, and the futexes with which C++
 * (std::future, std::atomic::wait) and Rust wait without them.
 *
 * A lock that is free is taken by the real function. A thread that would have to wait gives the baton away instead. */
#include "shim.h"
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>

static ns_t on_clock(clockid_t clock, const struct timespec *t) {
    struct timespec zero;
    clock_gettime(clock, &zero);    /* the shim's own: every clock runs at the same rate from its own start */
    return shim_now + from_timespec(t) - from_timespec(&zero);
}

static int lock(pthread_mutex_t *m, ns_t until) {
    if ((m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && m->__data.__owner == (int)SYSTEM(SYS_gettid)) return EDEADLK;
    int error;
    while ((error = REAL(pthread_mutex_trylock)(m)) == EBUSY)
        if (!shim_wait(until, m, NULL, 0)) return ETIMEDOUT;
    return error;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m) {
    return shim_mine() ? lock(m, NEVER) : REAL(pthread_mutex_lock)(m);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m) {
    int error = REAL(pthread_mutex_trylock)(m);
    if (error == EBUSY && shim_mine()) shim_spinning();
    return error;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) {
    return shim_mine() ? lock(m, on_clock(CLOCK_REALTIME, t)) : REAL(pthread_mutex_timedlock)(m, t);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *t) {
    return shim_mine() ? lock(m, on_clock(clock, t)) : REAL(pthread_mutex_clocklock)(m, clock, t);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m) {
    int error = REAL(pthread_mutex_unlock)(m);
    if (!error && shim_mine()) wake_one(m);
    return error;
}

/* A condition variable is ours from end to end: the real functions never see it. An initialised one holds its clock;
 * PTHREAD_COND_INITIALIZER is all zeros, which is CLOCK_REALTIME. */
EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes) {
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) pthread_condattr_getclock(attributes, &clock);
    memset(c, 0, sizeof *c);
    memcpy(c, &clock, sizeof clock);
    return 0;
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c) { (void)c; return 0; }

static int await(pthread_cond_t *c, pthread_mutex_t *m, ns_t until) {
    pthread_testcancel();
    int error = pthread_mutex_unlock(m);
    if (error) return error;
    bool woken = shim_wait(until, c, NULL, 0);
    error = lock(m, NEVER);
    pthread_testcancel();
    return error ? error : woken ? 0 : ETIMEDOUT;
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    if (!shim_mine()) return EINVAL;
    return await(c, m, NEVER);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
    clockid_t clock;
    memcpy(&clock, c, sizeof clock);
    if (!shim_mine() || t->tv_nsec < 0 || t->tv_nsec >= SECOND) return EINVAL;
    return await(c, m, on_clock(clock, t));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *t) {
    if (!shim_mine() || t->tv_nsec < 0 || t->tv_nsec >= SECOND) return EINVAL;
    return await(c, m, on_clock(clock, t));
}

EXPORT int pthread_cond_signal(pthread_cond_t *c) {
    if (shim_mine()) wake_one(c);
    return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c) {
    if (shim_mine()) wake_all(c);
    return 0;
}

static int sem_until(sem_t *s, ns_t until) {
    while (REAL(sem_trywait)(s)) {
        if (errno != EAGAIN) return -1;
        pthread_testcancel();
        if (!shim_wait(until, s, NULL, 0)) return (int)refuse(ETIMEDOUT);
    }
    return 0;
}

EXPORT int sem_wait(sem_t *s) { return shim_mine() ? sem_until(s, NEVER) : REAL(sem_wait)(s); }

EXPORT int sem_timedwait(sem_t *s, const struct timespec *t) {
    return shim_mine() ? sem_until(s, on_clock(CLOCK_REALTIME, t)) : REAL(sem_timedwait)(s, t);
}

EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *t) {
    return shim_mine() ? sem_until(s, on_clock(clock, t)) : REAL(sem_clockwait)(s, clock, t);
}

EXPORT int sem_trywait(sem_t *s) {
    int error = REAL(sem_trywait)(s);
    if (error && shim_mine()) { shim_spinning(); errno = EAGAIN; }
    return error;
}

EXPORT int sem_post(sem_t *s) {
    int error = REAL(sem_post)(s);
    if (!error && shim_mine()) wake_one(s);
    return error;
}

static int rwlock(pthread_rwlock_t *l, int (*try)(pthread_rwlock_t *), ns_t until) {
    int error;
    while ((error = try(l)) == EBUSY)
        if (!shim_wait(until, l, NULL, 0)) return ETIMEDOUT;
    return error;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    return shim_mine() ? rwlock(l, REAL(pthread_rwlock_tryrdlock), NEVER) : REAL(pthread_rwlock_rdlock)(l);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    return shim_mine() ? rwlock(l, REAL(pthread_rwlock_trywrlock), NEVER) : REAL(pthread_rwlock_wrlock)(l);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    int error = REAL(pthread_rwlock_unlock)(l);
    if (!error && shim_mine()) wake_all(l);
    return error;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *l) {
    if (!shim_mine()) return REAL(pthread_spin_lock)(l);
    while (REAL(pthread_spin_trylock)(l)) shim_wait(NEVER, (const void *)l, NULL, 0);
    return 0;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *l) {
    int error = REAL(pthread_spin_unlock)(l);
    if (shim_mine()) wake_all((const void *)l);
    return error;
}

typedef struct { unsigned needed, arrived, round; } Barrier;

EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned count) {
    (void)attributes;
    if (!count) return EINVAL;
    *(Barrier *)b = (Barrier){.needed = count};
    return 0;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *b) { (void)b; return 0; }

EXPORT int pthread_barrier_wait(pthread_barrier_t *opaque) {
    Barrier *b = (Barrier *)opaque;
    if (!shim_mine()) return EINVAL;
    unsigned round = b->round;
    if (++b->arrived == b->needed) {
        b->arrived = 0;
        b->round++;
        wake_all(b);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (b->round == round) shim_wait(NEVER, b, NULL, 0);
    return 0;
}

static long futex_wait(const uint32_t *word, int operation, uint32_t value, const struct timespec *t) {
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) { shim_spinning(); return refuse(EAGAIN); }
    ns_t until = NEVER;             /* FUTEX_WAIT takes a span, FUTEX_WAIT_BITSET a moment */
    if (t && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT) until = shim_now + from_timespec(t);
    else if (t) until = on_clock(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, t);
    return shim_wait(until, word, NULL, 0) ? 0 : refuse(ETIMEDOUT);
}

static long futex_wake(const uint32_t *word, int most) {
    long woken = 0;
    while (woken < most && wake_one(word)) woken++;
    return woken;
}

EXPORT long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number != SYS_futex || !shim_mine()) return SYSTEM(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const uint32_t *word = (const uint32_t *)a[0];
    int operation = (int)a[1];
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return futex_wait(word, operation, (uint32_t)a[2], (const struct timespec *)a[3]);
    case FUTEX_WAKE: return futex_wake(word, (int)a[2]);
    case FUTEX_WAKE_BITSET: return futex_wake(word, INT_MAX);   /* a wake-up too many is allowed */
    default:
        say_once("of futexes only waiting and waking are simulated");
        return refuse(ENOSYS);
    }
}
