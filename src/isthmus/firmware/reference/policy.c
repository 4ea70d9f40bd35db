/* A small network in single precision: what gravity and rates say about the length of each leg. */
#include "state.h"
#include "policy_weights.h"

static float squash(float x) {                          /* tanh by a rational function, within 0.024 of it */
    if (x > 3.0f) return 1.0f;
    if (x < -3.0f) return -1.0f;
    float s = x * x;
    return x * (27.0f + s) / (27.0f + 9.0f * s);
}

void policy(const float gravity[3], const float turning[3], float out[LEGS]) {
    float in[6] = {gravity[0], gravity[1], gravity[2], turning[0], turning[1], turning[2]}, hidden[HIDDEN];
    for (int i = 0; i < HIDDEN; i++) {
        float sum = BIAS1[i];
        for (int k = 0; k < 6; k++) sum += WEIGHT1[i][k] * in[k];
        hidden[i] = squash(sum);
    }
    for (int leg = 0; leg < LEGS; leg++) {
        float sum = BIAS2[leg];
        for (int i = 0; i < HIDDEN; i++) sum += WEIGHT2[leg][i] * hidden[i];
        out[leg] = sum;
    }
}
