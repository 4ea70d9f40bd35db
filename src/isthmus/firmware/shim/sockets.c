/* The calls on sockets: on simulated CAN sockets, and passed on for all others. */
#include "wires.h"
#include "sockets.h"
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

static CanSocket *can_of(int fd) {
    Object *o = object_of(fd);
    return o && o->kind == KIND_CAN ? o->can : NULL;
}

EXPORT int socket(int domain, int type, int protocol) {
    if (!shim_mine() || domain != PF_CAN) return REAL(socket)(domain, type, protocol);
    if ((type & 0xF) != SOCK_RAW || protocol != CAN_RAW) {
        say_once("of SocketCAN only raw sockets are simulated: no broadcast manager, ISO-TP or J1939");
        return (int)refuse(EPROTONOSUPPORT);
    }
    int fd = object_new(KIND_CAN, type);    /* SOCK_NONBLOCK and SOCK_CLOEXEC are O_NONBLOCK and O_CLOEXEC */
    if (fd < 0) return fd;
    can_open(object_of(fd));
    can_of(fd)->fd = fd;
    return fd;
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t size) {
    CanSocket *s = can_of(fd);
    if (!s) return REAL(bind)(fd, address, size);
    const struct sockaddr_can *a = (const void *)address;
    if (size < 8 || a->can_family != AF_CAN) return (int)refuse(EINVAL);
    if (a->can_ifindex < 0 || a->can_ifindex > can_count) return (int)refuse(ENODEV);
    s->object->bus = a->can_ifindex - 1;
    s->bound = 1;
    return 0;
}

EXPORT int getsockname(int fd, struct sockaddr *address, socklen_t *size) {
    CanSocket *s = can_of(fd);
    if (!s) return REAL(getsockname)(fd, address, size);
    struct sockaddr_can a = {.can_family = AF_CAN, .can_ifindex = s->object->bus + 1};
    memcpy(address, &a, *size < sizeof a ? *size : sizeof a);
    *size = sizeof a;
    return 0;
}

static int set_raw_option(CanSocket *s, int name, const void *value, socklen_t size) {
    int number = value && size >= 4 ? *(const int *)value : 0;
    switch (name) {
    case CAN_RAW_FILTER:
        if (size % sizeof(struct can_filter)) return (int)refuse(EINVAL);
        free(s->filters);
        s->filters = size ? malloc(size) : NULL;
        if (size) memcpy(s->filters, value, size);
        s->filter_count = (int)(size / sizeof(struct can_filter));
        s->filtered = 1;
        return 0;
    case CAN_RAW_ERR_FILTER: s->error_mask = (uint32_t)number; return 0;
    case CAN_RAW_LOOPBACK: s->loopback = number; return 0;
    case CAN_RAW_RECV_OWN_MSGS: s->own = number; return 0;
    case CAN_RAW_JOIN_FILTERS: s->join = number; return 0;
    case CAN_RAW_FD_FRAMES:
        if (!number) return 0;
        say_once("CAN FD is not simulated: CAN_RAW_FD_FRAMES was refused");
        return (int)refuse(ENOPROTOOPT);
    default: return (int)refuse(ENOPROTOOPT);
    }
}

EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    CanSocket *s = can_of(fd);
    if (!s) return REAL(setsockopt)(fd, level, name, value, size);
    if (level == SOL_CAN_RAW) return set_raw_option(s, name, value, size);
    if (level != SOL_SOCKET) return (int)refuse(ENOPROTOOPT);
    int number = size >= 4 ? *(const int *)value : 0;
    if (name == SO_TIMESTAMP) s->stamped = number ? 1 : 0;
    if (name == SO_TIMESTAMPNS) s->stamped = number ? 2 : 0;
    if (name == SO_RXQ_OVFL) s->counts_drops = number;
    if (name == SO_RCVTIMEO) {
        const struct timeval *t = value;
        s->receive_timeout = t->tv_sec * SECOND + t->tv_usec * 1000LL;
    }
    return 0;                       /* buffer sizes and the like make no difference here */
}

EXPORT int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
    CanSocket *s = can_of(fd);
    if (!s) return REAL(getsockopt)(fd, level, name, value, size);
    int number = 0;
    if (level == SOL_CAN_RAW && name == CAN_RAW_LOOPBACK) number = s->loopback;
    if (level == SOL_CAN_RAW && name == CAN_RAW_RECV_OWN_MSGS) number = s->own;
    if (level == SOL_CAN_RAW && name == CAN_RAW_ERR_FILTER) number = (int)s->error_mask;
    if (level == SOL_SOCKET && name == SO_TYPE) number = SOCK_RAW;
    if (level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF)) number = 212992;
    memset(value, 0, *size);
    memcpy(value, &number, *size < sizeof number ? *size : sizeof number);
    return 0;
}

int can_ioctl(Object *o, unsigned long request, void *argument) {
    struct ifreq *r = argument;
    if (request == SIOCGIFNAME) {
        if (r->ifr_ifindex < 1 || r->ifr_ifindex > can_count) return (int)refuse(ENODEV);
        snprintf(r->ifr_name, sizeof r->ifr_name, "%.15s", can_wires[r->ifr_ifindex - 1].name);
        return 0;
    }
    if (request == FIONREAD) { *(int *)argument = o->can->count ? (int)CAN_MTU : 0; return 0; }
    if (request == SIOCGSTAMP) {
        ns_t t = o->can->last_stamp;
        *(struct timeval *)argument = (struct timeval){t / SECOND, t % SECOND / 1000};
        return t ? 0 : (int)refuse(ENOENT);
    }
    int index = interface_index(r->ifr_name);
    if (!index) return (int)refuse(ENODEV);
    if (request == SIOCGIFINDEX) r->ifr_ifindex = index;
    else if (request == SIOCGIFMTU) r->ifr_mtu = CAN_MTU;
    else if (request == SIOCGIFFLAGS) r->ifr_flags = IFF_UP | IFF_RUNNING | IFF_NOARP;
    else return (int)refuse(ENOTTY);
    return 0;
}

EXPORT unsigned if_nametoindex(const char *name) {
    int index = shim_mine() ? interface_index(name) : 0;
    return index ? (unsigned)index : REAL(if_nametoindex)(name);
}

EXPORT char *if_indextoname(unsigned index, char name[IF_NAMESIZE]) {
    if (!shim_mine() || index < 1 || index > (unsigned)can_count) return REAL(if_indextoname)(index, name);
    snprintf(name, IF_NAMESIZE, "%.15s", can_wires[index - 1].name);
    return name;
}

static int destination(CanSocket *s, const void *address, socklen_t size) {
    const struct sockaddr_can *a = address;
    return a && size >= 8 && a->can_ifindex > 0 && a->can_ifindex <= can_count ? a->can_ifindex - 1 : s->object->bus;
}

EXPORT ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t n) {
    CanSocket *s = can_of(fd);
    if (s) return can_write(s->object, data, size, destination(s, to, n));
    shim_await_socket(fd, POLLOUT, flags);
    return REAL(sendto)(fd, data, size, flags, to, n);
}

EXPORT ssize_t send(int fd, const void *data, size_t size, int flags) {
    CanSocket *s = can_of(fd);
    if (s) return can_write(s->object, data, size, s->object->bus);
    shim_await_socket(fd, POLLOUT, flags);
    return REAL(send)(fd, data, size, flags);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
    CanSocket *s = can_of(fd);
    if (!s) { shim_await_socket(fd, POLLOUT, flags); return REAL(sendmsg)(fd, m, flags); }
    uint8_t whole[CANFD_MTU];
    size_t n = 0;
    for (size_t i = 0; i < m->msg_iovlen; i++) {
        if (n + m->msg_iov[i].iov_len > sizeof whole) return refuse(EINVAL);
        memcpy(whole + n, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
        n += m->msg_iov[i].iov_len;
    }
    return can_write(s->object, whole, n, destination(s, m->msg_name, m->msg_namelen));
}

static socklen_t source(const Received *r, void *address, socklen_t room) {
    struct sockaddr_can a = {.can_family = AF_CAN, .can_ifindex = r->bus + 1};
    memcpy(address, &a, room < sizeof a ? room : sizeof a);
    return sizeof a;
}

EXPORT ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *n) {
    CanSocket *s = can_of(fd);
    if (!s) { shim_await_socket(fd, POLLIN, flags); return REAL(recvfrom)(fd, data, size, flags, from, n); }
    Received r;
    ssize_t got = can_take(s->object, data, size, flags & MSG_DONTWAIT, flags & MSG_PEEK, &r);
    if (got >= 0 && from && n) *n = source(&r, from, *n);
    return got;
}

EXPORT ssize_t recv(int fd, void *data, size_t size, int flags) {
    if (can_of(fd)) return recvfrom(fd, data, size, flags, NULL, NULL);
    shim_await_socket(fd, POLLIN, flags);
    return REAL(recv)(fd, data, size, flags);
}

EXPORT ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags) { (void)room; return recv(fd, data, size, flags); }
EXPORT ssize_t __recvfrom_chk(int fd, void *data, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *n) {
    (void)room;
    return recvfrom(fd, data, size, flags, from, n);
}

static void add_note(struct msghdr *m, size_t *used, int type, const void *value, size_t size) {
    if (!m->msg_control || *used + CMSG_SPACE(size) > m->msg_controllen) return;
    struct cmsghdr *c = (struct cmsghdr *)((uint8_t *)m->msg_control + *used);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET, .cmsg_type = type};
    memcpy(CMSG_DATA(c), value, size);
    *used += CMSG_SPACE(size);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
    CanSocket *s = can_of(fd);
    if (!s) { shim_await_socket(fd, POLLIN, flags); return REAL(recvmsg)(fd, m, flags); }
    struct can_frame f;
    Received r;
    ssize_t n = can_take(s->object, &f, sizeof f, flags & MSG_DONTWAIT, flags & MSG_PEEK, &r);
    if (n < 0) return n;
    size_t given = 0, used = 0;
    for (size_t i = 0; i < m->msg_iovlen && given < sizeof f; i++) {
        size_t part = m->msg_iov[i].iov_len < sizeof f - given ? m->msg_iov[i].iov_len : sizeof f - given;
        memcpy(m->msg_iov[i].iov_base, (uint8_t *)&f + given, part);
        given += part;
    }
    if (m->msg_name) m->msg_namelen = source(&r, m->msg_name, m->msg_namelen);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    ns_t stamp = from_timespec(&t) - shim_now + r.at;
    struct timeval micro = {stamp / SECOND, stamp % SECOND / 1000};
    struct timespec nano = {stamp / SECOND, stamp % SECOND};
    if (s->stamped == 1) add_note(m, &used, SO_TIMESTAMP, &micro, sizeof micro);
    if (s->stamped == 2) add_note(m, &used, SO_TIMESTAMPNS, &nano, sizeof nano);
    if (s->counts_drops) add_note(m, &used, SO_RXQ_OVFL, &s->dropped, sizeof s->dropped);
    m->msg_controllen = used;
    m->msg_flags = r.own ? MSG_DONTROUTE | MSG_CONFIRM : 0;
    return (ssize_t)given;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *m, unsigned count, int flags, struct timespec *limit) {
    if (!can_of(fd)) { shim_await_socket(fd, POLLIN, flags); return REAL(recvmmsg)(fd, m, count, flags, limit); }
    ns_t until = limit ? shim_now + from_timespec(limit) : NEVER;       /* looked at after each frame, as Linux does */
    unsigned n = 0;
    while (n < count && (!n || shim_now < until)) {
        ssize_t size = recvmsg(fd, &m[n].msg_hdr, flags | (n && flags & MSG_WAITFORONE ? MSG_DONTWAIT : 0));
        if (size < 0) return n ? (int)n : -1;
        m[n++].msg_len = (unsigned)size;
    }
    return (int)n;
}

EXPORT int sendmmsg(int fd, struct mmsghdr *m, unsigned count, int flags) {
    if (!can_of(fd)) { shim_await_socket(fd, POLLOUT, flags); return REAL(sendmmsg)(fd, m, count, flags); }
    unsigned n = 0;
    while (n < count) {
        ssize_t size = sendmsg(fd, &m[n].msg_hdr, flags);
        if (size < 0) return n ? (int)n : -1;
        m[n++].msg_len = (unsigned)size;
    }
    return (int)n;
}

EXPORT int shutdown(int fd, int how) { return can_of(fd) ? (int)refuse(EOPNOTSUPP) : REAL(shutdown)(fd, how); }
