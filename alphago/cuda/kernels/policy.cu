// What a loop on the device needs beside the rules: from logits to moves, one thread per position, and symmetries.
// The package's own self-play takes torch's softmax.

#include "bits.cuh"

#define KERNEL extern "C" __global__ void

// Probabilities float [n, actions] of the actions with a set flag in `mask`; the others get 0, all where none is set.
KERNEL masked_softmax_batch(const float* logits, const bool* mask, Long n, Long actions, float* out) {
    EACH(i, n) {
        const float* logit = logits + i * actions;
        const bool* legal = mask + i * actions;
        bool any = false;
        float greatest = 0, sum = 0;
        for (Long a = 0; a < actions; a++)
            if (legal[a] && (!any || logit[a] > greatest)) {
                greatest = logit[a];
                any = true;
            }
        for (Long a = 0; a < actions; a++) {
            float share = legal[a] ? expf(logit[a] - greatest) : 0;
            out[i * actions + a] = share;
            sum += share;
        }
        for (Long a = 0; any && a < actions; a++) out[i * actions + a] /= sum;
    }
}

// The first of the greatest values of each line of float [n, actions].
KERNEL arg_max_batch(const float* values, Long n, Long actions, int* out) {
    EACH(i, n) {
        int best = 0;
        for (int a = 1; a < actions; a++)
            if (values[i * actions + a] > values[i * actions + best]) best = a;
        out[i] = best;
    }
}

// An action for each line of weights (0 or more, float [n, actions]) with a chance in proportion to its weight;
// -1 where all weigh nothing. states: Long [n], streams of random numbers, which advance.
KERNEL sample_batch(const float* weights, Long n, Long actions, Long* states, int* out) {
    EACH(i, n) {
        const float* weight = weights + i * actions;
        double sum = 0;
        for (Long a = 0; a < actions; a++) sum += weight[a];
        double left = (double)next_random(states + i) / 4294967296.0 * sum;
        int chosen = -1;
        for (int a = 0; a < actions; a++) {
            if (!(weight[a] > 0)) continue;
            chosen = a;
            if (left < weight[a]) break;
            left -= weight[a];
        }
        out[i] = chosen;
    }
}

// Turns float [n, lines, points]: after = before[table[choice]], with a table of Long [symmetries, points].
KERNEL permute_batch(const float* before, Long n, Long lines, Long points, const Long* choice, const Long* table,
                     float* out) {
    EACH(i, n * lines * points) {
        Long line = i / points;
        out[i] = before[line * points + table[choice[line / lines] * points + i % points]];
    }
}
