/* SocketCAN: raw sockets on the simulated CAN buses. */
#include "wires.h"
#include <linux/can.h>
#include <linux/can/error.h>

#include "sockets.h"

#define QUEUE 256                   /* frames a socket keeps, about what the default rcvbuf holds */
#define TX_QUEUE 10                 /* txqueuelen of a CAN interface */
typedef struct { CanFrame frame; uint64_t sender; bool loopback; } Outgoing;
#define ERRORS_TO_OFF 32            /* failed attempts in a row that take a controller off the bus: TEC + 8 each, off at 256 */
#define RESTART 100000000LL         /* restart-ms 100, which robots commonly set */
typedef struct { Outgoing queue[TX_QUEUE]; int count, failures; ns_t off_until; } Interface;
static Interface interfaces[MAX_BUSES];
static CanSocket *sockets;
static uint64_t serial;

int interface_index(const char *name) {
    for (int i = 0; i < can_count; i++)
        if (!strcmp(can_wires[i].name, name)) return i + 1;
    return 0;
}

bool can_waiting(void) {
    for (int i = 0; i < can_count; i++) if (interfaces[i].count) return true;
    return false;
}

bool can_queue_full(int bus) { return interfaces[bus].count == TX_QUEUE; }

static bool wanted(const CanSocket *s, canid_t id) {
    if (id & CAN_ERR_FLAG) return s->error_mask & id & CAN_ERR_MASK;
    if (!s->filtered) return true;
    for (int i = 0; i < s->filter_count; i++) {
        bool same = (id & s->filters[i].can_mask) == (s->filters[i].can_id & s->filters[i].can_mask & ~CAN_INV_FILTER);
        bool inverted = s->filters[i].can_id & CAN_INV_FILTER;
        if (same != inverted && !s->join) return true;
        if (same == inverted && s->join) return false;
    }
    return s->join && s->filter_count;
}

static void enqueue(CanSocket *s, const struct can_frame *f, int bus, bool own) {
    if ((s->object->bus >= 0 && s->object->bus != bus) || !s->bound || !wanted(s, f->can_id)) return;
    if (s->count == QUEUE) { s->dropped++; shared->frames_dropped++; return; }
    s->queue[(s->first + s->count++) % QUEUE] = (Received){.frame = *f, .at = shim_now, .bus = bus, .own = own};
    s->object->arrivals++;
}

static struct can_frame to_linux(const CanFrame *f) {
    struct can_frame c = {.can_id = f->id, .can_dlc = f->dlc};
    if (f->ext) c.can_id |= CAN_EFF_FLAG;
    if (f->rtr) c.can_id |= CAN_RTR_FLAG;
    memcpy(c.data, f->data, 8);
    return c;
}

static void report(int bus, canid_t error) {
    struct can_frame f = {.can_id = CAN_ERR_FLAG | error, .can_dlc = CAN_ERR_DLC};
    for (CanSocket *s = sockets; s; s = s->next) enqueue(s, &f, bus, false);
}

/* Bus-off as the kernel does it: what was queued is dropped, and writes go nowhere until the restart. */
static void leave_bus(Interface *i) {
    int bus = (int)(i - interfaces);
    i->count = i->failures = 0;
    i->off_until = shim_now + RESTART;
    fw_trace_add(rig, T_BUS_OFF, can_wires[bus].rig_bus, fw_rig_now(rig), 1, 0);
    report(bus, CAN_ERR_BUSOFF);
}

static bool is_off(Interface *i) {
    if (!i->off_until) return false;
    if (shim_now < i->off_until) return true;
    int bus = (int)(i - interfaces);
    i->off_until = 0;
    fw_trace_add(rig, T_BUS_OFF, can_wires[bus].rig_bus, fw_rig_now(rig), 0, 0);
    report(bus, CAN_ERR_RESTARTED);
    return false;
}

static int offer(void *self, CanFrame *out) {
    Interface *i = self;
    if (!i->count) return -1;
    *out = i->queue[0].frame;
    return 0;
}

static void sent(void *self, int handle, int ok) {
    Interface *i = self;
    (void)handle;
    if (!i->count) return;
    if (!ok) { if (++i->failures >= ERRORS_TO_OFF) leave_bus(i); return; }
    i->failures = 0;
    Outgoing done = i->queue[0];
    memmove(i->queue, i->queue + 1, sizeof i->queue[0] * (size_t)--i->count);
    shared->frames_sent++;
    if (!done.loopback) return;
    struct can_frame f = to_linux(&done.frame);
    for (CanSocket *s = sockets; s; s = s->next)
        if (s->id != done.sender || s->own) enqueue(s, &f, (int)(i - interfaces), s->id == done.sender);
}

static void received(void *self, const CanFrame *frame, ns_t sampled) {
    if (((Interface *)self)->off_until > shim_now) return;
    (void)sampled;
    struct can_frame f = to_linux(frame);
    shared->frames_received++;
    for (CanSocket *s = sockets; s; s = s->next) enqueue(s, &f, (int)((Interface *)self - interfaces), false);
}

void can_attach(void) {
    for (int i = 0; i < can_count; i++) fw_can_attach(rig, can_wires[i].rig_bus, offer, sent, received, &interfaces[i]);
}

void can_open(Object *o) {
    o->bus = -1;
    o->can = calloc(1, sizeof *o->can);
    *o->can = (CanSocket){.object = o, .loopback = 1, .id = ++serial, .next = sockets, .queue = calloc(QUEUE, sizeof(Received))};
    sockets = o->can;
}

void can_close(Object *o) {
    for (CanSocket **s = &sockets; *s; s = &(*s)->next)
        if (*s == o->can) { *s = o->can->next; break; }
    free(o->can->queue);
    free(o->can->filters);
    free(o->can);
}

short can_events(Object *o) {
    int full = o->bus >= 0 && can_queue_full(o->bus);
    return (o->can->count ? POLLIN | POLLRDNORM : 0) | (full ? 0 : POLLOUT | POLLWRNORM);
}

static bool await_frame(Object *o, bool dont_wait) {
    struct CanSocket *s = o->can;
    ns_t until = s->receive_timeout ? shim_now + s->receive_timeout : NEVER;
    while (!s->count) {
        if (dont_wait || o->nonblocking) { shim_spinning(); return s->count > 0; }
        pthread_testcancel();
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        if (!shim_wait(until, NULL, &p, 1)) return false;
        pthread_testcancel();
    }
    return true;
}

ssize_t can_take(Object *o, void *data, size_t size, bool dont_wait, bool peek, Received *out) {
    CanSocket *s = o->can;
    if (!await_frame(o, dont_wait)) return refuse(EAGAIN);
    *out = s->queue[s->first];
    if (!peek) { s->first = (s->first + 1) % QUEUE; s->count--; s->last_stamp = out->at; }
    size_t n = size < sizeof out->frame ? size : sizeof out->frame;
    memcpy(data, &out->frame, n);
    return (ssize_t)n;
}

ssize_t can_read(Object *o, void *data, size_t size, bool dont_wait, ns_t *stamp, int *bus) {
    Received r;
    ssize_t n = can_take(o, data, size, dont_wait, false, &r);
    if (n >= 0 && stamp) *stamp = r.at;
    if (n >= 0 && bus) *bus = r.bus;
    return n;
}

ssize_t can_write(Object *o, const void *data, size_t size, int bus) {
    struct can_frame f;
    if (size == CANFD_MTU) {
        say_once("CAN FD frames are not simulated: a frame of 72 bytes was refused, write struct can_frame (16 bytes)");
        return refuse(EINVAL);
    }
    if (size != CAN_MTU) return refuse(EINVAL);
    if (bus < 0) return refuse(o->can->bound ? ENXIO : ENOTCONN);
    memcpy(&f, data, sizeof f);
    if (f.can_dlc > 8) return refuse(EINVAL);
    Interface *i = &interfaces[bus];
    if (is_off(i)) return (ssize_t)size;
    if (i->count == TX_QUEUE) { shim_spinning(); return refuse(ENOBUFS); }
    Outgoing *t = &i->queue[i->count++];
    *t = (Outgoing){.sender = o->can->id, .loopback = o->can->loopback};
    t->frame.ext = !!(f.can_id & CAN_EFF_FLAG);
    t->frame.rtr = !!(f.can_id & CAN_RTR_FLAG);
    t->frame.id = f.can_id & (t->frame.ext ? CAN_EFF_MASK : CAN_SFF_MASK);
    t->frame.dlc = f.can_dlc;
    memcpy(t->frame.data, f.data, 8);
    fw_can_kick(rig, can_wires[bus].rig_bus);
    return (ssize_t)size;
}
