/* The baton: which thread of the program runs, and when virtual time moves. */
#include "shim.h"
#include "wires.h"
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>

enum { FREE, READY, WAITING, FINISHED };
typedef struct {
    int state, priority;
    uint64_t since;                 /* order in which threads became ready or began to wait */
    ns_t wake;
    bool timed_out;
    const void *object;
    struct pollfd *fds;
    int count;
    uint32_t baton;
    pthread_t handle;
    void *(*run)(void *);
    void *argument;
} Thread;

#define MAX_THREADS 256
#define POLLS 200                   /* polls of a clock or a lock at one instant before time passes */
static Thread threads[MAX_THREADS];
static int thread_count;
static __thread int self = -1;
static uint64_t order;
static int polls;
static pthread_key_t departure;
int shim_on;
ns_t shim_now;

bool shim_mine(void) { return shim_on && self >= 0; }

ns_t from_timespec(const struct timespec *t) { return t->tv_sec * SECOND + t->tv_nsec; }

static void hand_over(Thread *t) {
    __atomic_store_n(&t->baton, 1, __ATOMIC_RELEASE);
    SYSTEM(SYS_futex, &t->baton, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_baton(Thread *t) {
    while (!__atomic_exchange_n(&t->baton, 0, __ATOMIC_ACQUIRE))
        SYSTEM(SYS_futex, &t->baton, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void make_ready(Thread *t, bool timed_out) {
    t->state = READY;
    t->timed_out = timed_out;
    t->since = ++order;
}

static void check_descriptors(void) {
    for (int i = 0; i < thread_count; i++) {
        Thread *t = &threads[i];
        if (t->state == WAITING && t->count && fds_ready(t->fds, t->count)) make_ready(t, false);
    }
}

static Thread *next_ready(void) {
    Thread *best = NULL;
    for (int i = 0; i < thread_count; i++) {
        Thread *t = &threads[i];
        if (t->state != READY) continue;
        if (!best || t->priority > best->priority || (t->priority == best->priority && t->since < best->since)) best = t;
    }
    return best;
}

/* Every thread waits: go to the next moment at which something happens. */
static void advance(void) {
    ns_t next = wires_next();
    ns_t timer = timers_next();
    if (timer < next) next = timer;
    for (int i = 0; i < thread_count; i++)
        if (threads[i].state == WAITING && threads[i].wake < next) next = threads[i].wake;
    if (next > shim_now) { shim_now = next; polls = 0; }
    wires_run(shim_now);
    for (int i = 0; i < thread_count; i++)
        if (threads[i].state == WAITING && threads[i].wake <= shim_now) make_ready(&threads[i], true);
}

static Thread *choose(void) {
    for (;;) {
        check_descriptors();
        Thread *t = next_ready();
        if (t) return t;
        advance();
    }
}

static void switch_thread(void) {
    Thread *mine = &threads[self], *t = choose();
    if (t == mine) return;
    hand_over(t);
    await_baton(mine);
}

bool shim_wait(ns_t until, const void *object, struct pollfd *fds, int count) {
    Thread *t = &threads[self];
    t->state = WAITING;
    t->since = ++order;
    t->wake = until;
    t->object = object;
    t->fds = fds;
    t->count = count;
    switch_thread();
    t->object = NULL;
    t->count = 0;
    return !t->timed_out;
}

void wake_all(const void *object) {
    for (int i = 0; i < thread_count; i++)
        if (threads[i].state == WAITING && threads[i].object == object) make_ready(&threads[i], false);
}

bool wake_one(const void *object) {
    Thread *best = NULL;
    for (int i = 0; i < thread_count; i++) {
        Thread *t = &threads[i];
        if (t->state != WAITING || t->object != object) continue;
        if (!best || t->priority > best->priority || (t->priority == best->priority && t->since < best->since)) best = t;
    }
    if (best) make_ready(best, false);
    return best != NULL;
}

void shim_yield(void) {
    make_ready(&threads[self], false);
    switch_thread();
}

void shim_spinning(void) {
    if (++polls > POLLS) shim_wait(shim_now + 10000, NULL, NULL, 0);
}

/* ---- threads of the program ---- */

static void *begin(void *argument) {
    Thread *t = argument;
    self = (int)(t - threads);
    await_baton(t);
    pthread_setspecific(departure, (void *)1);
    return t->run(t->argument);
}

/* Runs when a thread ends, however it ends. The destructors of the program's own keys may take locks, so the baton is
 * kept until the last round of them. */
static void depart(void *round) {
    if ((intptr_t)round < 3) { pthread_setspecific(departure, (void *)((intptr_t)round + 1)); return; }
    Thread *t = &threads[self];
    t->state = FINISHED;
    wake_all(t);
    self = -1;
    hand_over(choose());
}

void scheduler_start(void) {
    pthread_key_create(&departure, depart);
    self = 0;
    thread_count = 1;
    threads[0] = (Thread){.state = READY, .handle = pthread_self()};
    pthread_setspecific(departure, (void *)1);
    shim_on = 1;
}

static Thread *thread_of(pthread_t handle) {
    for (int i = thread_count - 1; i >= 0; i--)
        if (threads[i].state != FREE && pthread_equal(threads[i].handle, handle)) return &threads[i];
    return NULL;
}

EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    if (!shim_mine()) return REAL(pthread_create)(handle, attributes, run, argument);
    int k = 0;
    while (k < thread_count && threads[k].state != FREE) k++;
    if (k == MAX_THREADS) return EAGAIN;
    Thread *t = &threads[k];
    *t = (Thread){.run = run, .argument = argument};
    pthread_attr_t plain;
    if (attributes) {               /* real-time priorities are kept in mind here and not asked of the system */
        int policy = SCHED_OTHER, detached;
        struct sched_param p;
        size_t stack = 0;
        pthread_attr_getschedpolicy(attributes, &policy);
        pthread_attr_getschedparam(attributes, &p);
        if (policy != SCHED_OTHER) t->priority = p.sched_priority;
        pthread_attr_init(&plain);
        if (!pthread_attr_getstacksize(attributes, &stack) && stack) pthread_attr_setstacksize(&plain, stack);
        if (!pthread_attr_getdetachstate(attributes, &detached)) pthread_attr_setdetachstate(&plain, detached);
    }
    int error = REAL(pthread_create)(&t->handle, attributes ? &plain : NULL, begin, t);
    if (attributes) pthread_attr_destroy(&plain);
    if (error) return error;
    if (k == thread_count) thread_count++;
    make_ready(t, false);
    *handle = t->handle;
    return 0;
}

static int join(pthread_t handle, void **result, ns_t until) {
    Thread *t = thread_of(handle);
    while (t && t->state != FINISHED)
        if (!shim_wait(until, t, NULL, 0)) return ETIMEDOUT;
    int error = REAL(pthread_join)(handle, result);
    if (!error && t) t->state = FREE;
    return error;
}

EXPORT int pthread_join(pthread_t handle, void **result) {
    return shim_mine() ? join(handle, result, NEVER) : REAL(pthread_join)(handle, result);
}

EXPORT int pthread_tryjoin_np(pthread_t handle, void **result) {
    if (!shim_mine()) return REAL(pthread_tryjoin_np)(handle, result);
    Thread *t = thread_of(handle);
    return t && t->state != FINISHED ? EBUSY : join(handle, result, NEVER);
}

EXPORT int pthread_cancel(pthread_t handle) {
    int error = REAL(pthread_cancel)(handle);
    if (!shim_mine() || error) return error;
    Thread *t = thread_of(handle);
    if (t && t->state == WAITING) make_ready(t, false);
    return 0;
}

EXPORT int sched_yield(void) {
    if (!shim_mine()) return REAL(sched_yield)();
    shim_spinning();
    shim_yield();
    return 0;
}

EXPORT int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param *p) {
    if (!shim_mine()) return REAL(pthread_setschedparam)(handle, policy, p);
    Thread *t = thread_of(handle);
    if (t) t->priority = policy == SCHED_OTHER ? 0 : p->sched_priority;
    return t ? 0 : ESRCH;
}

EXPORT int pthread_setschedprio(pthread_t handle, int priority) {
    Thread *t = shim_mine() ? thread_of(handle) : NULL;
    if (t) t->priority = priority;
    return t ? 0 : ESRCH;
}

EXPORT int sched_setscheduler(pid_t pid, int policy, const struct sched_param *p) {
    if (!shim_mine()) return REAL(sched_setscheduler)(pid, policy, p);
    threads[self].priority = policy == SCHED_OTHER ? 0 : p->sched_priority;
    return 0;
}

EXPORT int thrd_create(thrd_t *handle, thrd_start_t run, void *argument) {
    if (!shim_mine()) return REAL(thrd_create)(handle, run, argument);
    say_once("threads of C11 (thrd_create) are not simulated: use pthread_create");
    return thrd_error;
}
