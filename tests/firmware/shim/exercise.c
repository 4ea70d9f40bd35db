/* An ordinary Linux program that tries one part of the system at a time and prints what it saw. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <linux/futex.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static ssize_t r;                   /* what a call gave, taken before the arguments of printf are worked out */

static int64_t us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int can(const char *name) {
    int s = socket(PF_CAN, SOCK_RAW, CAN_RAW);
    struct ifreq q = {0};
    strcpy(q.ifr_name, name);
    if (ioctl(s, SIOCGIFINDEX, &q)) { perror(name); exit(3); }
    struct sockaddr_can a = {.can_family = AF_CAN, .can_ifindex = q.ifr_ifindex};
    if (bind(s, (struct sockaddr *)&a, sizeof a)) { perror("bind"); exit(3); }
    return s;
}

static void command(int s) {        /* 5 N m to motor 1 */
    struct can_frame f = {.can_id = 1, .can_dlc = 8, .data = {0x7F, 0xFF, 0x7F, 0xF0, 0, 0, 0x09, 0x36}};
    if (write(s, &f, sizeof f) != sizeof f) perror("write");
}

static void sleeps(void) {
    int64_t t = us();
    usleep(1500); printf("usleep %ld\n", (long)(us() - t)); t = us();
    nanosleep(&(struct timespec){0, 2500000}, NULL); printf("nanosleep %ld\n", (long)(us() - t)); t = us();
    sleep(2); printf("sleep %ld\n", (long)(us() - t)); t = us();
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 1;
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL); printf("absolute %ld\n", (long)(us() - t));
    struct timeval v;
    gettimeofday(&v, NULL);
    printf("same second %d\n", time(NULL) == v.tv_sec);
    t = us();
    while (us() - t < 5000) {}      /* a loop that watches the clock */
    printf("busy %d\n", us() - t < 5100);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t given;
static int value;

static void *later(void *p) {
    usleep(3000);
    pthread_mutex_lock(&lock);
    value = 7;
    pthread_cond_signal(&changed);
    usleep(1000);                   /* still holds the lock */
    pthread_mutex_unlock(&lock);
    usleep(1000);
    sem_post(&given);
    return p;
}

static void *canceled(void *p) { for (;;) sleep(1); return p; }

static void threads(void) {
    pthread_t t;
    void *result;
    sem_init(&given, 0, 0);
    int64_t start = us();
    pthread_create(&t, NULL, later, (void *)5);
    pthread_mutex_lock(&lock);
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 1000000;
    if (at.tv_nsec >= 1000000000) { at.tv_nsec -= 1000000000; at.tv_sec++; }
    r = pthread_cond_timedwait(&changed, &lock, &at);
    printf("timedwait %s %ld\n", strerror((int)r), (long)(us() - start));
    while (!value) pthread_cond_wait(&changed, &lock);
    printf("wait %d %ld\n", value, (long)(us() - start));
    pthread_mutex_unlock(&lock);
    sem_wait(&given);
    printf("sem %ld\n", (long)(us() - start));
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    r = sem_timedwait(&given, &at);
    printf("sem_timedwait %zd %s\n", r, strerror(errno));
    pthread_join(t, &result);
    printf("join %ld\n", (long)(intptr_t)result);
    pthread_condattr_t a;
    pthread_cond_t mono;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&mono, &a);
    start = us();
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += 3;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&mono, &lock, &at);
    pthread_mutex_unlock(&lock);
    printf("monotonic %ld\n", (long)(us() - start));
    pthread_create(&t, NULL, canceled, NULL);
    usleep(100);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("cancel %d\n", result == PTHREAD_CANCELED);
}

static void *high(void *p) { printf("high\n"); return p; }
static void *low(void *p) { printf("low\n"); return p; }

static void priorities(void) {      /* the thread of higher priority runs first, though it came second */
    pthread_t t[2];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&a, SCHED_FIFO);
    for (int i = 0; i < 2; i++) {
        pthread_attr_setschedparam(&a, &(struct sched_param){i ? 80 : 10});
        if (pthread_create(&t[i], &a, i ? high : low, NULL)) printf("refused\n");
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static void readiness(void) {
    int s = can("can0"), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), e = epoll_create1(0), pipes[2];
    uint64_t times;
    if (pipe(pipes)) exit(3);
    int64_t start = us();
    struct pollfd p = {s, POLLIN, 0};
    r = poll(&p, 1, 4);
    printf("poll %zd %ld\n", r, (long)(us() - start));
    command(s);
    r = poll(&p, 1, 100);
    printf("poll %zd %d\n", r, p.revents);
    struct can_frame f;
    r = read(s, &f, sizeof f);
    printf("read %zd id %x of %d\n", r, f.can_id, f.data[0]);
    command(s);
    fd_set in;
    FD_ZERO(&in);
    FD_SET(s, &in);
    struct timeval limit = {1, 0};
    printf("select %d\n", select(s + 1, &in, NULL, NULL, &limit));
    start = us();
    timerfd_settime(timer, 0, &(struct itimerspec){{0, 2000000}, {0, 5000000}}, NULL);
    struct epoll_event v = {.events = EPOLLIN, .data.fd = timer}, got[4];
    epoll_ctl(e, EPOLL_CTL_ADD, timer, &v);
    v.data.fd = s;
    epoll_ctl(e, EPOLL_CTL_ADD, s, &v);
    r = epoll_wait(e, got, 4, -1);
    printf("epoll %zd %d\n", r, got[0].data.fd == s);
    if (read(s, &f, sizeof f) < 0) perror("read");
    r = epoll_wait(e, got, 4, -1);
    printf("epoll %zd %d at %ld\n", r, got[0].data.fd == timer, (long)(us() - start));
    usleep(11000);
    r = read(timer, &times, 8);
    printf("timer %zd %d\n", r, (int)times);
    r = read(timer, &times, 8);
    printf("again %zd %s\n", r, strerror(errno));
    v.data.fd = pipes[0];
    epoll_ctl(e, EPOLL_CTL_ADD, pipes[0], &v);
    if (write(pipes[1], "x", 1) != 1) perror("pipe");
    r = epoll_wait(e, got, 4, 0);
    printf("pipe %zd %d\n", r, got[0].data.fd == pipes[0]);
}

static int counter = -1;
static void *ring(void *p) { usleep(2000); eventfd_write(counter, 3); return p; }

static void system_descriptors(void) {  /* one thread blocks on what another will write */
    counter = eventfd(0, 0);
    pthread_t t;
    eventfd_t n;
    int64_t start = us();
    pthread_create(&t, NULL, ring, NULL);
    if (read(counter, &n, 8) != 8) perror("eventfd");
    printf("eventfd %d after %ld\n", (int)n, (long)(us() - start));
    pthread_join(t, NULL);
}

static void frames(void) {
    int a = can("can0"), b = can("can0"), only = can("can0"), all = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK, CAN_RAW), on = 1;
    struct sockaddr_can any = {.can_family = AF_CAN};
    bind(all, (struct sockaddr *)&any, sizeof any);
    struct can_filter want = {0x41, CAN_SFF_MASK};
    setsockopt(only, SOL_CAN_RAW, CAN_RAW_FILTER, &want, sizeof want);
    setsockopt(b, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on);
    printf("fd frames %d\n", setsockopt(a, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on));
    struct canfd_frame wide = {.can_id = 1, .len = 12};
    r = write(a, &wide, sizeof wide);
    printf("fd write %zd %s\n", r, strerror(errno));
    command(a);
    usleep(5000);
    struct can_frame f = {0};
    struct iovec v = {&f, sizeof f};
    char room[128];
    struct sockaddr_can from;
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room, .msg_name = &from, .msg_namelen = sizeof from};
    r = recvmsg(b, &m, 0);
    printf("b %zd id %x stamped %d from %d\n", r, f.can_id, CMSG_FIRSTHDR(&m) && CMSG_FIRSTHDR(&m)->cmsg_type == SO_TIMESTAMP, from.can_ifindex);
    r = recv(b, &f, sizeof f, 0);
    printf("b %zd id %x\n", r, f.can_id);
    r = recv(only, &f, sizeof f, MSG_DONTWAIT);
    printf("only %zd id %x\n", r, f.can_id);
    r = read(a, &f, sizeof f);
    printf("a %zd id %x\n", r, f.can_id);
    socklen_t n = sizeof from;
    r = recvfrom(all, &f, sizeof f, 0, (struct sockaddr *)&from, &n);
    printf("all %zd id %x\n", r, f.can_id);
    usleep(5000);                   /* let the queue empty */
    int sent = 0;
    while (write(a, &f, sizeof f) == sizeof f) sent++;
    printf("queued %d then %s\n", sent, strerror(errno));
    struct timeval limit = {0, 3000};
    setsockopt(only, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    usleep(20000);
    while (recv(only, &f, sizeof f, MSG_DONTWAIT) > 0) {}
    int64_t start = us();
    ssize_t got = read(only, &f, sizeof f);
    printf("limit %zd %s %d\n", got, strerror(errno), us() - start == 3000);
    printf("names %d %d %s\n", (int)if_nametoindex("can0"), (int)if_nametoindex("can7"), if_indextoname(1, room));
}

static void registers(void) {
    int i2c = open("/dev/i2c-1", O_RDWR), none = open("/dev/i2c-9", O_RDWR);
    printf("none %d %s\n", none, strerror(errno));
    int64_t start = us();
    uint8_t reg = 0x0F, id = 0;
    struct i2c_msg m[2] = {{0x6A, 0, 1, &reg}, {0x6A, I2C_M_RD, 1, &id}};
    struct i2c_rdwr_ioctl_data x = {m, 2};
    r = ioctl(i2c, I2C_RDWR, &x);
    printf("rdwr %zd %02x took %d\n", r, id, us() > start);
    ioctl(i2c, I2C_SLAVE, 0x6A);
    uint8_t set[2] = {0x10, 0x40};
    printf("write %zd\n", write(i2c, set, 2));
    reg = 0x10;
    if (write(i2c, &reg, 1) != 1) perror("write");
    r = read(i2c, &id, 1);
    printf("read %zd %02x\n", r, id);
    union i2c_smbus_data d = {.block = {6}};
    struct i2c_smbus_ioctl_data s = {I2C_SMBUS_READ, 0x28, I2C_SMBUS_I2C_BLOCK_DATA, &d};
    usleep(30000);
    printf("block %d", ioctl(i2c, I2C_SMBUS, &s));
    int16_t z;
    memcpy(&z, d.block + 5, 2);
    printf(" z %d\n", z > 15000 && z < 17000);
    ioctl(i2c, I2C_SLAVE, 0x55);
    r = read(i2c, &id, 1);
    printf("nobody %zd %s\n", r, strerror(errno));
}

static void host_link(void) {
    int s = open("/dev/ttyAMA0", O_RDWR | O_NOCTTY);
    struct termios t;
    tcgetattr(s, &t);
    cfmakeraw(&t);
    tcsetattr(s, TCSANOW, &t);
    char line[64];
    for (;;) {
        ssize_t n = read(s, line, sizeof line);
        if (n > 0 && write(s, line, (size_t)n) != n) perror("write");
    }
}

static void forever(void) { for (volatile int i = 0;; i++) {} }

static void *send_signal(void *unused) { usleep(5000); kill(getpid(), SIGTERM); return NULL; }

static void signals(void) {         /* a thread that waits for the signal which ends the program */
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &s, NULL);
    r = sigtimedwait(&s, NULL, &(struct timespec){0, 3000000}); printf("none %zd %s\n", r, strerror(errno));
    int64_t t = us();
    pthread_t p;
    pthread_create(&p, NULL, send_signal, NULL);
    int number = 0;
    r = sigwait(&s, &number); printf("sigwait %zd %d after %d ms\n", r, number == SIGTERM, (int)((us() - t) / 1000));
}

static uint32_t word;
static void *wake(void *unused) {
    usleep(4000);
    word = 1;
    printf("woken %ld\n", syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    return NULL;
}

static void futexes(void) {         /* as the libraries of C++ and Rust wait */
    pthread_t p;
    pthread_create(&p, NULL, wake, NULL);
    int64_t t = us();
    while (!word) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    printf("waited %d ms\n", (int)((us() - t) / 1000)); t = us();
    r = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &(struct timespec){0, 2000000}, NULL, 0);
    printf("span %zd %s %d ms\n", r, strerror(errno), (int)((us() - t) / 1000)); t = us();
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    r = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &at, NULL, FUTEX_BITSET_MATCH_ANY);
    printf("moment %zd %s %d ms\n", r, strerror(errno), (int)((us() - t) / 1000));
}

static void batches(void) {         /* several frames a call, and a frame in parts */
    int a = can("can0"), b = can("can0");
    struct can_frame f[3] = {{.can_id = 5, .can_dlc = 1}, {.can_id = 6, .can_dlc = 1}, {.can_id = 7, .can_dlc = 1}}, g[4];
    struct iovec v[4];
    struct mmsghdr m[4] = {0};
    for (int i = 0; i < 3; i++) v[i] = (struct iovec){&f[i], sizeof f[i]}, m[i].msg_hdr.msg_iov = &v[i], m[i].msg_hdr.msg_iovlen = 1;
    r = sendmmsg(a, m, 3, 0); printf("sent %zd of %u bytes\n", r, m[2].msg_len);
    usleep(2000);
    struct iovec parts[2] = {{&g[3], 8}, {(char *)&g[3] + 8, 8}};
    r = readv(b, parts, 2); printf("parts %zd id %x\n", r, g[3].can_id);
    for (int i = 0; i < 4; i++) v[i] = (struct iovec){&g[i], sizeof g[i]}, m[i].msg_hdr.msg_iov = &v[i], m[i].msg_hdr.msg_iovlen = 1;
    r = recvmmsg(b, m, 4, MSG_DONTWAIT, NULL); printf("received %zd last %x\n", r, g[1].can_id);
    r = recvmmsg(b, m, 4, MSG_DONTWAIT, NULL); printf("none %zd %s\n", r, strerror(errno));
}

static void background(void) { if (daemon(1, 1)) perror("daemon"); sleep(1); printf("never\n"); }

static void random_trace(void) {    /* threads that wake each other: the order must repeat */
    int s = can("can0");
    for (int i = 0; i < 200; i++) { command(s); usleep(700 + 13 * (i % 7)); }
}

int main(int argc, char **argv) {
    struct { const char *name; void (*run)(void); } parts[] = {
        {"sleeps", sleeps}, {"threads", threads}, {"priorities", priorities}, {"readiness", readiness}, {"system", system_descriptors},
        {"frames", frames}, {"registers", registers}, {"host", host_link}, {"forever", forever}, {"trace", random_trace},
        {"signals", signals}, {"futexes", futexes}, {"batches", batches}, {"background", background},
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc > 1 && !strcmp(argv[1], parts[i].name)) parts[i].run();
    return 0;
}
