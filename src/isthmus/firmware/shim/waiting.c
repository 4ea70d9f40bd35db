/* poll, select and epoll over simulated descriptors and those of the system. */
#include "shim.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int poll_until(struct pollfd *fds, int count, ns_t until) {
    pthread_testcancel();
    int ready = fds_ready(fds, count);
    if (ready) return ready;
    if (until <= shim_now) { shim_spinning(); return fds_ready(fds, count); }
    shim_wait(until, NULL, fds, count);
    pthread_testcancel();
    return fds_ready(fds, count);
}

static ns_t in_milliseconds(int ms) { return ms < 0 ? NEVER : shim_now + ms * 1000000LL; }

EXPORT int poll(struct pollfd *fds, nfds_t count, int ms) {
    return shim_mine() ? poll_until(fds, (int)count, in_milliseconds(ms)) : REAL(poll)(fds, count, ms);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t room) { (void)room; return poll(fds, count, ms); }

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask) {
    if (!shim_mine()) return REAL(ppoll)(fds, count, t, mask);
    return poll_until(fds, (int)count, t ? shim_now + from_timespec(t) : NEVER);
}

static int select_until(int n, fd_set *in, fd_set *out, fd_set *odd, ns_t until) {
    if (n < 0 || n > FD_SETSIZE) return (int)refuse(EINVAL);
    struct pollfd fds[n > 0 ? n : 1];
    int count = 0, ready = 0;
    for (int fd = 0; fd < n; fd++) {
        short events = (in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
            (odd && FD_ISSET(fd, odd) ? POLLPRI : 0);
        if (events) fds[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    poll_until(fds, count, until);
    if (in) FD_ZERO(in);
    if (out) FD_ZERO(out);
    if (odd) FD_ZERO(odd);
    for (int i = 0; i < count; i++) {
        struct pollfd *p = &fds[i];
        if (p->revents & POLLNVAL) return (int)refuse(EBADF);
        if (in && p->events & POLLIN && p->revents & (POLLIN | POLLHUP | POLLERR)) { FD_SET(p->fd, in); ready++; }
        if (out && p->events & POLLOUT && p->revents & (POLLOUT | POLLERR)) { FD_SET(p->fd, out); ready++; }
        if (odd && p->revents & POLLPRI) { FD_SET(p->fd, odd); ready++; }
    }
    return ready;
}

EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *t) {
    if (!shim_mine()) return REAL(select)(n, in, out, odd, t);
    ns_t until = t ? shim_now + t->tv_sec * SECOND + t->tv_usec * 1000LL : NEVER;
    int ready = select_until(n, in, out, odd, until);
    if (t) {                        /* Linux leaves what is left of the time */
        ns_t left = until > shim_now ? until - shim_now : 0;
        *t = (struct timeval){left / SECOND, left % SECOND / 1000};
    }
    return ready;
}

EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *t, const sigset_t *mask) {
    if (!shim_mine()) return REAL(pselect)(n, in, out, odd, t, mask);
    return select_until(n, in, out, odd, t ? shim_now + from_timespec(t) : NEVER);
}

/* ---- epoll ---- */

typedef struct { int fd; Object *object; struct epoll_event event; bool armed; uint64_t reported; short level; } Entry;
typedef struct Epoll { Entry *entries; int count, first; struct Epoll *after; } Epoll;
static Epoll *epolls;

static int create(int flags) {
    int fd = object_new(KIND_EPOLL, flags & EPOLL_CLOEXEC ? O_CLOEXEC : 0);
    if (fd < 0) return fd;
    Epoll *e = calloc(1, sizeof *e);
    e->after = epolls;
    object_of(fd)->epoll = epolls = e;
    return fd;
}

EXPORT int epoll_create(int size) { return shim_mine() ? create(0) : REAL(epoll_create)(size); }
EXPORT int epoll_create1(int flags) { return shim_mine() ? create(flags) : REAL(epoll_create1)(flags); }

static void erase(Epoll *e, int i) { memmove(&e->entries[i], &e->entries[i + 1], sizeof *e->entries * (size_t)(--e->count - i)); }

void epoll_forget(Object *o) {
    for (Epoll *e = epolls; e; e = e->after)
        for (int i = e->count - 1; i >= 0; i--)
            if (e->entries[i].object == o) erase(e, i);
}

void epoll_close(Object *o) {
    for (Epoll **e = &epolls; *e; e = &(*e)->after)
        if (*e == o->epoll) { *e = o->epoll->after; break; }
    free(o->epoll->entries);
    free(o->epoll);
}

EXPORT int epoll_ctl(int efd, int operation, int fd, struct epoll_event *event) {
    Object *o = object_of(efd);
    if (!o || o->kind != KIND_EPOLL) return REAL(epoll_ctl)(efd, operation, fd, event);
    Epoll *e = o->epoll;
    int i = 0;
    while (i < e->count && e->entries[i].fd != fd) i++;
    if (operation == EPOLL_CTL_ADD ? i < e->count : i == e->count) return (int)refuse(operation == EPOLL_CTL_ADD ? EEXIST : ENOENT);
    if (operation == EPOLL_CTL_DEL) { erase(e, i); return 0; }
    if (operation == EPOLL_CTL_ADD) {
        if (!object_of(fd) && REAL(fcntl)(fd, F_GETFD) < 0) return (int)refuse(EBADF);
        Entry *grown = realloc(e->entries, sizeof *grown * (size_t)(e->count + 1));
        if (!grown) return (int)refuse(ENOMEM);
        e->entries = grown;
        e->count++;
    }
    e->entries[i] = (Entry){.fd = fd, .object = object_of(fd), .event = *event, .armed = true, .reported = UINT64_MAX};
    return 0;
}

/* EPOLLIN and its kin have the values of POLLIN and its kin. An edge is an arrival since the last report. */
static short entry_events(Entry *n) {
    if (!n->armed) return 0;
    struct pollfd p = {.fd = n->fd, .events = (short)(n->event.events & 0xFFFF)};
    if (!fds_ready(&p, 1)) { n->level = 0; return 0; }
    bool old = n->event.events & EPOLLET && n->object && n->reported == n->object->arrivals && !(p.revents & ~n->level);
    return old ? 0 : p.revents;
}

short epoll_events(Object *o) {
    for (int i = 0; i < o->epoll->count; i++)
        if (entry_events(&o->epoll->entries[i])) return POLLIN | POLLRDNORM;
    return 0;
}

/* Begins after the entry that was reported last, so that a busy descriptor starves no other. */
static int collect(Epoll *e, struct epoll_event *events, int room) {
    int n = 0, start = e->count ? e->first % e->count : 0;
    for (int k = 0; k < e->count && n < room; k++) {
        Entry *entry = &e->entries[(start + k) % e->count];
        short found = entry_events(entry);
        if (!found) continue;
        events[n++] = (struct epoll_event){.events = (uint32_t)(uint16_t)found, .data = entry->event.data};
        entry->level = found;
        if (entry->object) entry->reported = entry->object->arrivals;
        if (entry->event.events & EPOLLONESHOT) entry->armed = false;
        e->first = (start + k + 1) % e->count;
    }
    return n;
}

static int epoll_until(int efd, struct epoll_event *events, int room, ns_t until) {
    Object *o = object_of(efd);
    if (!o || o->kind != KIND_EPOLL || room <= 0) return (int)refuse(EINVAL);
    struct pollfd p = {.fd = efd, .events = POLLIN};
    if (!poll_until(&p, 1, until)) return 0;
    return collect(o->epoll, events, room);
}

EXPORT int epoll_wait(int efd, struct epoll_event *events, int room, int ms) {
    return shim_mine() ? epoll_until(efd, events, room, in_milliseconds(ms)) : REAL(epoll_wait)(efd, events, room, ms);
}

EXPORT int epoll_pwait(int efd, struct epoll_event *events, int room, int ms, const sigset_t *mask) {
    return shim_mine() ? epoll_until(efd, events, room, in_milliseconds(ms)) : REAL(epoll_pwait)(efd, events, room, ms, mask);
}

EXPORT int epoll_pwait2(int efd, struct epoll_event *events, int room, const struct timespec *t, const sigset_t *mask) {
    if (!shim_mine()) return REAL(epoll_pwait2)(efd, events, room, t, mask);
    return epoll_until(efd, events, room, t ? shim_now + from_timespec(t) : NEVER);
}
