/* The reference firmware as a Linux program: SocketCAN, i2c-dev, a serial port and POSIX threads, nothing else.

   It knows nothing of a simulation and runs unchanged on a computer with can0 to can3, /dev/i2c-1 and /dev/ttyAMA0. The
   arithmetic and the frames are those of the microcontroller (control.c). Names of another board: robot_daemon I2C SERIAL. */
#define _GNU_SOURCE
#include "control.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { IMU = 0x6A, WHO_AM_I = 0x0F, CTRL1_XL = 0x10, CTRL2_G = 0x11, CTRL3_C = 0x12, OUTX_L_G = 0x22 };
#define COMMAND (3 + 2 * NJ)
#define TELEMETRY (2 + 4 + 4 * (7 + 3 * NJ) + 1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* guards all that follows */
static Attitude attitude;
static float rates[3], target[NJ];
static Joint joints[NJ];
static uint32_t imu_stamp, target_stamp, estop;
static int heard[NJ];
static int buses[LEGS], i2c, host;

static uint32_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)(t.tv_sec * 1000000ull + (uint64_t)t.tv_nsec / 1000);
}

static void next_period(struct timespec *t, long ns) {
    t->tv_nsec += ns;
    while (t->tv_nsec >= 1000000000) t->tv_nsec -= 1000000000, t->tv_sec++;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, t, NULL) == EINTR) {}
}

/* ---- IMU, 500 Hz ---- */

static int transfer(uint8_t *out, int writes, uint8_t *in, int reads) {
    struct i2c_msg m[2] = {{IMU, 0, (uint16_t)writes, out}, {IMU, I2C_M_RD, (uint16_t)reads, in}};
    struct i2c_rdwr_ioctl_data both = {m, reads ? 2 : 1};
    return ioctl(i2c, I2C_RDWR, &both) < 0 ? -1 : 0;
}

static void write_register(uint8_t r, uint8_t v) {
    uint8_t out[2] = {r, v};
    for (int attempt = 0; attempt < 5 && transfer(out, 2, NULL, 0); attempt++) usleep(1000);
}

static void *imu_thread(void *unused) {
    uint8_t r = WHO_AM_I, id = 0, raw[12];
    for (int attempt = 0; attempt < 20 && (transfer(&r, 1, &id, 1) || id != 0x6C); attempt++) usleep(2000);
    write_register(CTRL3_C, 0x44);
    write_register(CTRL1_XL, 0x78), write_register(CTRL2_G, 0x78);
    usleep(3000);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    attitude_start(&attitude);
    uint32_t last = now_us();
    for (;;) {
        r = OUTX_L_G;
        if (!transfer(&r, 1, raw, 12)) {
            int16_t v[6];
            memcpy(v, raw, 12);
            pthread_mutex_lock(&lock);
            uint32_t now = now_us();
            attitude_update(&attitude, v, v + 3, (float)(now - last) * 1e-6f);
            for (int k = 0; k < 3; k++) rates[k] = v[k] * (35e-3f * 0.01745329f);
            imu_stamp = last = now;
            pthread_mutex_unlock(&lock);
        }
        next_period(&t, 2000000);
    }
    return unused;
}

/* ---- motors: replies as they come, commands at 500 Hz ---- */

static void *reply_thread(void *unused) {
    struct pollfd fds[LEGS];
    for (int i = 0; i < LEGS; i++) fds[i] = (struct pollfd){buses[i], POLLIN, 0};
    for (;;) {
        if (poll(fds, LEGS, 100) <= 0) continue;
        for (int i = 0; i < LEGS; i++) {
            struct can_frame f;
            if (!(fds[i].revents & POLLIN) || read(buses[i], &f, sizeof f) != sizeof f || f.can_dlc < 6) continue;
            int id;
            Joint j;
            unpack_reply(f.data, &id, &j);
            j.stamp = now_us();
            if (id < 1 || id > NJ) continue;
            pthread_mutex_lock(&lock);
            joints[id - 1] = j, heard[id - 1] = 1;
            pthread_mutex_unlock(&lock);
        }
    }
    return unused;
}

static void send_telemetry(void) {
    uint8_t out[TELEMETRY] = {0x5A};
    float values[7 + 3 * NJ];
    uint32_t now = now_us();
    pthread_mutex_lock(&lock);
    out[1] = (uint8_t)estop;
    memcpy(values, &attitude, 16), memcpy(values + 4, rates, 12);
    for (int i = 0; i < NJ; i++)
        values[7 + i] = joints[i].position, values[7 + NJ + i] = joints[i].velocity, values[7 + 2 * NJ + i] = joints[i].torque;
    pthread_mutex_unlock(&lock);
    memcpy(out + 2, &now, 4), memcpy(out + 6, values, sizeof values);
    for (int i = 0; i < TELEMETRY - 1; i++) out[TELEMETRY - 1] += out[i];
    if (host >= 0 && write(host, out, sizeof out) < 0) perror("telemetry");
}

static void *control_thread(void *unused) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (int step = 1;; step++) {
        Joint j[NJ];
        float gravity[3], turning[3], wanted[NJ], level[LEGS], torque[NJ];
        int known[NJ], stopped;
        pthread_mutex_lock(&lock);
        Attitude a = attitude;
        memcpy(j, joints, sizeof j), memcpy(turning, rates, sizeof turning);
        memcpy(wanted, target, sizeof wanted), memcpy(known, heard, sizeof known);
        stopped = estop != 0;
        pthread_mutex_unlock(&lock);
        attitude_gravity(&a, gravity);
        levelling(gravity, turning, level);
        joint_torques(level, j, wanted, torque);
        for (int i = 0; i < NJ; i++) {
            struct can_frame f = {.can_id = (canid_t)(i + 1), .can_dlc = 8};
            if (stopped) pack_command(f.data, 0, 0, 0, 2.0f, 0);
            else pack_command(f.data, 0, 0, 0, 0, known[i] ? torque[i] : 0);
            if (write(buses[i / 3], &f, sizeof f) != sizeof f && errno != ENOBUFS) perror("CAN write");
        }
        if (step % 10 == 0) send_telemetry();
        next_period(&t, 2000000);
    }
    return unused;
}

/* ---- host, and who watches over all ---- */

static void *host_thread(void *unused) {
    uint8_t line[COMMAND], byte;
    int filled = 0;
    while (host >= 0) {
        if (read(host, &byte, 1) != 1) continue;
        if (!filled && byte != 0xA5) continue;
        line[filled++] = byte;
        if (filled < COMMAND) continue;
        filled = 0;
        uint8_t sum = 0;
        for (int i = 0; i < COMMAND - 1; i++) sum += line[i];
        if (sum != line[COMMAND - 1]) continue;
        pthread_mutex_lock(&lock);
        for (int i = 0; i < NJ; i++) target[i] = (int16_t)(line[2 + 2 * i] | line[3 + 2 * i] << 8) * 1e-4f;
        target_stamp = now_us();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void watch(void) {
    struct timespec t;
    usleep(150000);
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (;;) {
        pthread_mutex_lock(&lock);
        uint32_t now = now_us(), bad = 0;
        for (int i = 0; i < NJ; i++)
            if ((int32_t)(now - joints[i].stamp) > SILENCE_US) bad |= 1;
        if ((int32_t)(now - imu_stamp) > SILENCE_US) bad |= 2;
        if (host >= 0 && (int32_t)(now - target_stamp) > SILENCE_US) bad |= 4;
        if (bad & ~estop) fprintf(stderr, "robot_daemon: emergency stop, cause %u\n", bad);
        estop |= bad;
        pthread_mutex_unlock(&lock);
        next_period(&t, 10000000);
    }
}

static int open_bus(int number) {
    char name[IFNAMSIZ];
    snprintf(name, sizeof name, "can%d", number);
    int s = socket(PF_CAN, SOCK_RAW, CAN_RAW);
    struct ifreq r = {0};
    memcpy(r.ifr_name, name, sizeof name);
    struct sockaddr_can a = {.can_family = AF_CAN};
    if (s < 0 || ioctl(s, SIOCGIFINDEX, &r)) { perror(name); exit(1); }
    a.can_ifindex = r.ifr_ifindex;
    if (bind(s, (struct sockaddr *)&a, sizeof a)) { perror(name); exit(1); }
    return s;
}

static void start(void *(*run)(void *), int priority) {     /* real-time priority, if that is allowed */
    pthread_t thread;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&a, SCHED_FIFO);
    pthread_attr_setschedparam(&a, &(struct sched_param){.sched_priority = priority});
    if (pthread_create(&thread, &a, run, NULL) && pthread_create(&thread, NULL, run, NULL)) { perror("thread"); exit(1); }
}

int main(int argc, char **argv) {
    const char *bus = argc > 1 ? argv[1] : "/dev/i2c-1", *port = argc > 2 ? argv[2] : "/dev/ttyAMA0";
    for (int i = 0; i < LEGS; i++) buses[i] = open_bus(i);
    if ((i2c = open(bus, O_RDWR)) < 0) { perror(bus); return 1; }
    struct termios t;
    if ((host = open(port, O_RDWR | O_NOCTTY)) < 0) perror(port);   /* without a host it holds its pose */
    else if (!tcgetattr(host, &t)) {
        cfmakeraw(&t), cfsetspeed(&t, B921600);
        t.c_cc[VMIN] = 1, t.c_cc[VTIME] = 0;
        tcsetattr(host, TCSANOW, &t);
    }
    imu_stamp = target_stamp = now_us();
    for (int i = 0; i < NJ; i++) joints[i].stamp = now_us();
    attitude_start(&attitude);
    start(imu_thread, 80), start(reply_thread, 70), start(control_thread, 60), start(host_thread, 50);
    watch();
}
