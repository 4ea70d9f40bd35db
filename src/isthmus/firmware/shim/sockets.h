/* What a raw CAN socket holds: shared by the bus side (can.c) and the calls on sockets (sockets.c). */
#pragma once
#include "shim.h"
#include <linux/can.h>

typedef struct { struct can_frame frame; ns_t at; int bus; bool own; } Received;
typedef struct CanSocket {
    Object *object;
    int fd;
    uint64_t id;
    int bound, loopback, own, filtered, join, filter_count;
    struct can_filter *filters;
    uint32_t error_mask, dropped;
    int stamped, counts_drops;      /* SO_TIMESTAMP (1), SO_TIMESTAMPNS (2); SO_RXQ_OVFL */
    ns_t receive_timeout, last_stamp;
    Received *queue;
    int first, count;
    struct CanSocket *next;
} CanSocket;

ssize_t can_take(Object *o, void *data, size_t size, bool dont_wait, bool peek, Received *out);
void shim_await_socket(int fd, short events, int flags);
