/* A CAN wire: arbitration by identifier, time on the wire, and what can go wrong on it. */
#include "fw.h"
#include <stdlib.h>
#include <string.h>

#define ERROR_BITS 23.0                         /* an error frame and the pause behind it */

double can_frame_bits(const CanFrame *f) {      /* with the mean number of stuff bits */
    double data = f->rtr ? 0 : 8.0 * (f->dlc > 8 ? 8 : f->dlc), head = f->ext ? 67 : 47;
    return head + data + (head - 13 + data) / 10;
}

static void deliver(CanBus *b, const CanFrame *frame, int from, ns sampled) {
    int joint = from >= 0 ? b->nodes[from].joint : -1;
    for (int i = 0; i < b->count; i++) {
        CanNode *node = &b->nodes[i];
        if (i == from) continue;
        if (node->firmware) {
            if (joint >= 0 && sampled >= 0) b->rig->delivered[joint] = sampled;
            int index = 0;
            while (index < b->rig->buses && b->rig->bus[index].can != b) index++;
            fw_trace_add(b->rig, T_CAN_DELIVERED, index, b->rig->now, frame->id, sampled);
        }
        node->receive(node->self, frame, sampled);
    }
}

static int index_of(CanBus *b) {
    for (int i = 0; i < b->rig->buses; i++)
        if (b->rig->bus[i].can == b) return i;
    return -1;
}

void can_kick(CanBus *b) {
    if (b->busy) return;
    CanFrame best, one;
    int winner = -1, handle = -1;
    for (int i = 0; i < b->count; i++) {
        int h = b->nodes[i].offer(b->nodes[i].self, &one);
        uint64_t key = (uint64_t)(one.ext ? one.id : one.id << 18) << 1 | one.ext;
        uint64_t least = winner < 0 ? ~0ull : (uint64_t)(best.ext ? best.id : best.id << 18) << 1 | best.ext;
        if (h >= 0 && key < least) best = one, winner = i, handle = h;
    }
    if (winner < 0) return;
    Rig *rig = b->rig;
    b->busy = 1, b->winner = winner, b->handle = handle, b->frame = best;
    b->sampled = -1;
    if (b->nodes[winner].joint >= 0) memcpy(&b->sampled, b->nodes[winner].self, sizeof b->sampled);
    b->failing = fw_within(rig->now, b->off_from, b->off_to) || fw_chance(&b->rng, b->error);
    double bits = b->failing ? ERROR_BITS : can_frame_bits(&best);
    ns lasts = (ns)(bits / b->bitrate * 1e9);
    b->busy_ns += lasts;
    fw_trace_add(rig, b->failing ? T_CAN_ERROR : T_CAN_FRAME, index_of(b), rig->now,
                 (int64_t)best.id | (int64_t)winner << 32, lasts);
    fw_at(rig, b->event, rig->now + lasts);
}

static void release(void *self, int arg) {      /* frames that were held back and are due now */
    (void)arg;
    CanBus *b = self;
    ns next = NEVER;
    for (int i = 0; i < b->nheld;) {
        if (b->held[i].due <= b->rig->now) {
            HeldFrame h = b->held[i];
            memmove(&b->held[i], &b->held[i + 1], sizeof(HeldFrame) * (--b->nheld - i));
            deliver(b, &h.frame, h.from, h.sampled);
        } else {
            if (b->held[i].due < next) next = b->held[i].due;
            i++;
        }
    }
    if (next != NEVER) fw_at(b->rig, b->hold_event, next);
}

static void sent(void *self, int arg) {
    (void)arg;
    CanBus *b = self;
    CanFrame frame = b->frame;
    int from = b->winner, failed = b->failing;
    ns sampled = b->sampled;
    b->busy = 0;
    if (failed) b->errors++;
    else b->frames++;
    b->nodes[from].done(b->nodes[from].self, b->handle, !failed);
    if (!failed && fw_chance(&b->rng, b->loss)) b->lost++, failed = 1;
    if (!failed) {
        if (fw_chance(&b->rng, b->corrupt) && frame.dlc) {
            int bit = (int)(fw_uniform(&b->rng) * 8 * frame.dlc);
            frame.data[bit >> 3] ^= 1u << (bit & 7);
        }
        double hold = b->delay_ms + (b->jitter_ms > 0 ? b->jitter_ms * fw_uniform(&b->rng) : 0);
        if (fw_chance(&b->rng, b->reorder)) hold += b->reorder_ms;
        if (hold > 0 && b->nheld < MAX_HELD) {
            b->held[b->nheld++] = (HeldFrame){frame, from, b->rig->now + fw_ms(hold), sampled};
            if (b->held[b->nheld - 1].due < b->rig->at[b->hold_event])
                fw_at(b->rig, b->hold_event, b->held[b->nheld - 1].due);
        } else deliver(b, &frame, from, sampled);
    }
    can_kick(b);
}

void can_reset(CanBus *b, uint64_t seed) {
    b->busy = b->nheld = 0;
    b->frames = b->busy_ns = b->errors = b->lost = 0;
    fw_seed(&b->rng, seed, 10 + index_of(b));
}

int fw_rig_add_can(Rig *rig, const char *name, double bitrate) {
    if (rig->buses == MAX_BUSES) return -1;
    CanBus *b = calloc(1, sizeof *b);
    if (!b) return -1;
    strncpy(b->name, name, NAME - 1);
    b->rig = rig, b->bitrate = bitrate;
    b->event = fw_event(rig, sent, b, 0), b->hold_event = fw_event(rig, release, b, 0);
    rig->bus[rig->buses].can = b;
    fw_knob(rig, name, "loss", &b->loss, 0), fw_knob(rig, name, "corrupt", &b->corrupt, 0);
    fw_knob(rig, name, "delay_ms", &b->delay_ms, 0), fw_knob(rig, name, "jitter_ms", &b->jitter_ms, 0);
    fw_knob(rig, name, "reorder", &b->reorder, 0), fw_knob(rig, name, "reorder_ms", &b->reorder_ms, 1);
    fw_knob(rig, name, "off_from", &b->off_from, 1e9), fw_knob(rig, name, "off_to", &b->off_to, 1e9);
    fw_knob(rig, name, "error", &b->error, 0);
    return rig->buses++;
}

static int attach(CanBus *b, CanNode node) {
    if (b->count == MAX_NODES) return -1;
    b->nodes[b->count] = node;
    return b->count++;
}

int can_attach_device(CanBus *b, CanOffer offer, CanDone done, CanReceive receive, void *self, int joint) {
    return attach(b, (CanNode){offer, done, receive, self, 0, joint});
}

int fw_can_attach(Rig *rig, int bus, CanOffer offer, CanDone done, CanReceive receive, void *self) {
    if (bus < 0 || bus >= rig->buses || !rig->bus[bus].can) return -1;
    return attach(rig->bus[bus].can, (CanNode){offer, done, receive, self, 1, -1});
}

void fw_can_kick(Rig *rig, int bus) { can_kick(rig->bus[bus].can); }

/* --- a port: a node with queues, for programs that are not emulated --- */
#define QUEUE 64
typedef struct { Rig *rig; int bus; CanFrame out[QUEUE], in[4 * QUEUE]; ns at[4 * QUEUE]; int nout, nin; } Port;

static int port_offer(void *self, CanFrame *out) {
    Port *p = self;
    if (!p->nout) return -1;
    *out = p->out[0];
    return 0;
}

static void port_done(void *self, int handle, int ok) {
    (void)handle;
    Port *p = self;
    if (ok && p->nout) memmove(p->out, p->out + 1, sizeof(CanFrame) * --p->nout);
}

static void port_receive(void *self, const CanFrame *frame, ns sampled) {
    (void)sampled;
    Port *p = self;
    if (p->nin < 4 * QUEUE) p->at[p->nin] = p->rig->now, p->in[p->nin++] = *frame;
}

int fw_can_port(Rig *rig, int bus) {
    if (rig->nports == MAX_BUSES) return -1;
    Port *p = calloc(1, sizeof *p);
    if (!p) return -1;
    p->rig = rig, p->bus = bus;
    if (fw_can_attach(rig, bus, port_offer, port_done, port_receive, p) < 0) return free(p), -1;
    rig->ports[rig->nports] = p;
    return rig->nports++;
}

int fw_can_send(Rig *rig, int port, const CanFrame *frame) {
    Port *p = rig->ports[port];
    if (p->nout == QUEUE) return -1;
    p->out[p->nout++] = *frame;
    can_kick(rig->bus[p->bus].can);
    return 0;
}

int fw_can_recv(Rig *rig, int port, CanFrame *frame, ns *at) {
    Port *p = rig->ports[port];
    if (!p->nin) return 0;
    *frame = p->in[0], *at = p->at[0];
    p->nin--;
    memmove(p->in, p->in + 1, sizeof(CanFrame) * p->nin);
    memmove(p->at, p->at + 1, sizeof(ns) * p->nin);
    return 1;
}
