/* Waiting for signals. They are the system's own; only those that the program sends to itself come. */
#include "shim.h"
#include <signal.h>

#define GLANCE 1000000LL            /* ns of virtual time between two looks for a signal */

static int await_signal(const sigset_t *set, siginfo_t *info, ns_t until) {
    for (;;) {
        int found = REAL(sigtimedwait)(set, info, &(struct timespec){0, 0});
        if (found > 0 || (errno != EAGAIN && errno != EINTR)) return found;
        pthread_testcancel();
        if (shim_now >= until) { shim_spinning(); return (int)refuse(EAGAIN); }
        shim_wait(until < shim_now + GLANCE ? until : shim_now + GLANCE, NULL, NULL, 0);
        pthread_testcancel();
    }
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *t) {
    if (!shim_mine()) return REAL(sigtimedwait)(set, info, t);
    return await_signal(set, info, t ? shim_now + from_timespec(t) : NEVER);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
    return shim_mine() ? await_signal(set, info, NEVER) : REAL(sigwaitinfo)(set, info);
}

EXPORT int sigwait(const sigset_t *set, int *number) {
    if (!shim_mine()) return REAL(sigwait)(set, number);
    int found = await_signal(set, NULL, NEVER);
    if (found < 0) return errno;
    *number = found;
    return 0;
}

static int wait_for_ever(const char *name) {
    static char sentence[96];
    snprintf(sentence, sizeof sentence, "%s() does not end with a signal: use sigwait or signalfd", name);
    say_once(sentence);
    for (;;) {
        pthread_testcancel();
        shim_wait(NEVER, NULL, NULL, 0);
    }
}

EXPORT int pause(void) { return shim_mine() ? wait_for_ever("pause") : REAL(pause)(); }

EXPORT int sigsuspend(const sigset_t *mask) {
    return shim_mine() ? wait_for_ever("sigsuspend") : REAL(sigsuspend)(mask);
}
