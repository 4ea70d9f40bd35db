/* A series-elastic joint drive: the target arrives late, an impedance loop asks for a torque, a torque loop with a
 * current loop inside turns the motor, the motor turns the joint through a spring with play. All loops and the motor are
 * integrated in steps of h while the joint goes on at its speed. */
#include <math.h>
#include <stdint.h>

typedef struct {
    double stiffness, damping, effort;              /* impedance loop, N m / rad, N m s / rad, N m */
    double torque_gain, motor_damping;              /* torque loop: on its error, and on the spring's speed */
    double current_rate;                            /* bandwidth of the current loop, rad / s */
    double peak, stall, no_load;                    /* motor at the joint: N m, N m, rad / s */
    double inertia, coulomb, stribeck, stribeck_speed, viscous; /* of the motor at the joint */
    double spring, spring_damping, play;            /* N m / rad, N m s / rad, rad to each side */
} Joint;

#define API __attribute__((visibility("default")))
#define SMOOTH 0.02 /* rad / s over which friction changes sides */

static double clip(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static double spring_torque(const Joint *p, double twist, double speed) {
    if (twist > p->play) twist -= p->play;
    else if (twist < -p->play) twist += p->play;
    else return 0.0;
    return p->spring * twist + p->spring_damping * speed;
}

/* state: (n, joints, 3) motor angle, motor speed, motor torque. late: (n, length, joints), a ring of targets, with its
 * next slot in `slot` (n). The m robots `rows` get targets (m, joints) and are at q, qd (m, joints). Writes the mean
 * torque over all steps, and the torque at the end. */
API void drive_step(int64_t m, const int64_t *rows, int64_t joints, int64_t length, int64_t steps, double h,
                    const Joint *joint, const double *target, const double *q, const double *qd, double *state,
                    double *late, int64_t *slot, double *mean, double *last) {
    for (int64_t r = 0; r < m; r++) {
        int64_t row = rows[r];
        double *ring = late + row * length * joints;
        for (int64_t j = 0; j < joints; j++) mean[r * joints + j] = 0.0;
        for (int64_t k = 0; k < steps; k++) {
            double *now = ring + (slot[row] % length) * joints;
            double *then = ring + ((slot[row] + 1) % length) * joints;
            slot[row] = (slot[row] + 1) % length;
            for (int64_t j = 0; j < joints; j++) {
                const Joint *p = joint + j;
                double *s = state + (row * joints + j) * 3;
                int64_t at = r * joints + j;
                double speed = qd[at], angle = q[at] + speed * h * (double)k;
                now[j] = target[at];
                double asked = clip(p->stiffness * (then[j] - angle) - p->damping * speed, -p->effort, p->effort);
                double torque = spring_torque(p, s[0] - angle, s[1] - speed);
                double wanted = asked + p->torque_gain * (asked - torque) - p->motor_damping * (s[1] - speed);
                double low = fmax(p->stall * (-1 - s[1] / p->no_load), -p->peak);
                double high = fmin(p->stall * (1 - s[1] / p->no_load), p->peak);
                s[2] += (1 - exp(-p->current_rate * h)) * (clip(wanted, fmin(low, high), fmax(low, high)) - s[2]);
                double side = tanh(s[1] / SMOOTH), bell = s[1] / p->stribeck_speed;
                double rubbing = (p->coulomb + p->stribeck * exp(-bell * bell)) * side;
                /* implicit in all that is steep: friction near rest, viscous friction, spring */
                double steep = p->viscous + p->spring_damping + (p->coulomb + p->stribeck) / SMOOTH * (1 - side * side);
                s[1] += h * (s[2] - torque - rubbing - p->viscous * s[1]) / (p->inertia + h * steep + h * h * p->spring);
                s[0] += h * s[1];
                last[at] = spring_torque(p, s[0] - angle - h * speed, s[1] - speed);
                mean[at] += last[at] / (double)steps;
            }
        }
    }
}
