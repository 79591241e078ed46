// Batch norm, addition and relu of training on bfloat16 features, forward and backward, in few passes over memory.
//
// Features are channels-last: `rows` points of C channels.  A thread reads PIECE channels of a point at a time, 16 bytes;
// a point has `pieces` = C / PIECE of them.  Sums over points are made in three steps: by a thread, by a block, and over
// the blocks; their order does not depend on time, so that a step is the same whenever it is repeated.

#include "planes.cuh"

struct Numbers {
    float of[PIECE];
};

BOTH float as_float(unsigned int bits) {
    union {
        unsigned int bits;
        float value;
    } both;
    both.bits = bits;
    return both.value;
}

// Rounds to bfloat16, ties to even; NaN stays NaN.
BOTH unsigned int narrow(float value) {
    unsigned int bits = float_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FC0u;
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

BOTH void widen_word(int word, float* two) {
    two[0] = as_float((unsigned int)word << 16);
    two[1] = as_float((unsigned int)word & 0xFFFF0000u);
}

BOTH int narrow_word(const float* two) { return (int)(narrow(two[0]) | (narrow(two[1]) << 16)); }

BOTH Numbers widened(const int4& bits) {
    Numbers numbers;
    widen_word(bits.x, numbers.of);
    widen_word(bits.y, numbers.of + 2);
    widen_word(bits.z, numbers.of + 4);
    widen_word(bits.w, numbers.of + 6);
    return numbers;
}

BOTH int4 narrowed(const Numbers& numbers) {
    int4 bits;
    bits.x = narrow_word(numbers.of);
    bits.y = narrow_word(numbers.of + 2);
    bits.z = narrow_word(numbers.of + 4);
    bits.w = narrow_word(numbers.of + 6);
    return bits;
}

// The numbers of a piece in an array with one for each channel.
BOTH Numbers of_piece(const float* channels, int piece) {
    Numbers numbers;
    for (int i = 0; i < PIECE; i++) numbers.of[i] = channels[piece * PIECE + i];
    return numbers;
}

// What a relu lets pass of a gradient; of NaN, nothing.
BOTH float passed(float gradient, float out) { return out > 0 ? gradient : 0; }

BOTH float relu(float value) { return value <= 0 ? 0 : value; }  // NaN stays NaN

// Adds up the threads' two sums of a block for each channel: `partial` is [2 C] of this block.
#define SUM_OF_BLOCK(scratch, lanes, pieces, partial)                                                  \
    meet();                                                                                            \
    TOGETHER(c, 2 * (pieces) * PIECE) {                                                                \
        int which = c / ((pieces) * PIECE), piece = c % ((pieces) * PIECE) / PIECE, i = c % PIECE;     \
        float total = 0;                                                                               \
        for (int lane = 0; lane < (lanes); lane++)                                                     \
            total += scratch[(which * PIECE + i) * THREADS + lane * (pieces) + piece];                 \
        (partial)[c] = total;                                                                          \
    }                                                                                                  \
    meet();

// Sums and sums of squares of each channel: partials float [blocks, 2, C].  A block has `lanes` rows at a time.
KERNEL norm_sums(const int4* x, Long rows, Long pieces, Long lanes, Long blocks, float* partials) {
    SHARED float scratch[2 * PIECE * THREADS];
    EACH_BLOCK(block, blocks) {
        TOGETHER(member, lanes * pieces) {
            Numbers sums = {}, squares = {};
            FOUR_AT_ONCE
            for (Long row = block * lanes + member / pieces; row < rows; row += blocks * lanes) {
                Numbers value = widened(x[row * pieces + member % pieces]);
                for (int i = 0; i < PIECE; i++) {
                    sums.of[i] += value.of[i];
                    squares.of[i] += value.of[i] * value.of[i];
                }
            }
            for (int i = 0; i < PIECE; i++) {
                scratch[i * THREADS + member] = sums.of[i];
                scratch[(PIECE + i) * THREADS + member] = squares.of[i];
            }
        }
        SUM_OF_BLOCK(scratch, (int)lanes, (int)pieces, partials + block * 2 * pieces * PIECE)
    }
}

// The sum of a channel over all blocks, for which the threads of a block work together; `which` of the two sums.
__device__ inline double sum_of_blocks(const float* partials, Long blocks, int channels, int which, int c, double* scratch) {
    double part = 0;
    for (Long block = MEMBER; block < blocks; block += MEMBERS) part += partials[(block * 2 + which) * channels + c];
    scratch[MEMBER] = part;
    for (int half = (int)MEMBERS / 2; half > 0; half /= 2) {  // the number of threads is a power of 2
        meet();
        if ((int)MEMBER < half) scratch[MEMBER] += scratch[MEMBER + half];
    }
    meet();
    double total = scratch[0];
    meet();
    return total;
}

// From the sums: each channel's mean, 1 / deviation, scale and shift, [4, C]; running statistics move (Ioffe & Szegedy
// 2015, algorithm 1).
KERNEL norm_statistics(const float* partials, Long blocks, Long rows, Long channels, const float* weight, const float* bias,
                       double epsilon, double momentum, float* statistics, float* running_mean, float* running_variance) {
    SHARED double scratch[THREADS];
    EACH_BLOCK(c, channels) {
        double mean = sum_of_blocks(partials, blocks, (int)channels, 0, (int)c, scratch) / rows;
        double variance = sum_of_blocks(partials, blocks, (int)channels, 1, (int)c, scratch) / rows - mean * mean;
        if (variance < 0) variance = 0;
        if (MEMBER == 0) {
            double inverse = 1 / sqrt(variance + epsilon);
            statistics[c] = (float)mean;
            statistics[channels + c] = (float)inverse;
            statistics[2 * channels + c] = (float)(weight[c] * inverse);
            statistics[3 * channels + c] = (float)(bias[c] - mean * weight[c] * inverse);
            running_mean[c] += (float)(momentum * (mean - running_mean[c]));
            double unbiased = variance * rows / (rows > 1 ? rows - 1 : 1);
            running_variance[c] += (float)(momentum * (unbiased - running_variance[c]));
        }
    }
}

template <bool HAS_ADDED>
__device__ inline void apply(const int4* x, const int4* added, Long rows, Long pieces, Long lanes, const float* statistics,
                             int4* out) {
    EACH(share, lanes * pieces) {
        int piece = (int)(share % pieces);
        Numbers scale = of_piece(statistics + 2 * pieces * PIECE, piece);
        Numbers shift = of_piece(statistics + 3 * pieces * PIECE, piece);
        FOUR_AT_ONCE
        for (Long row = share / pieces; row < rows; row += lanes) {
            Numbers value = widened(x[row * pieces + piece]), other = {};
            if (HAS_ADDED) other = widened(added[row * pieces + piece]);
            for (int i = 0; i < PIECE; i++) value.of[i] = relu(value.of[i] * scale.of[i] + shift.of[i] + other.of[i]);
            out[row * pieces + piece] = narrowed(value);
        }
    }
}

// out = relu(norm(x)), and out = relu(norm(x) + added); `lanes` rows at a time.
KERNEL norm_relu(const int4* x, const int4* added, Long rows, Long pieces, Long lanes, const float* statistics, int4* out) {
    apply<false>(x, added, rows, pieces, lanes, statistics, out);
}

KERNEL norm_add_relu(const int4* x, const int4* added, Long rows, Long pieces, Long lanes, const float* statistics,
                     int4* out) {
    apply<true>(x, added, rows, pieces, lanes, statistics, out);
}

// For each channel, the sums of the gradient that the relu passes, and of its products with x - mean.
KERNEL gradient_sums(const int4* gradient, const int4* out, const int4* x, Long rows, Long pieces, Long lanes, Long blocks,
                     const float* statistics, float* partials) {
    SHARED float scratch[2 * PIECE * THREADS];
    EACH_BLOCK(block, blocks) {
        TOGETHER(member, lanes * pieces) {
            int piece = (int)(member % pieces);
            Numbers mean = of_piece(statistics, piece), sums = {}, products = {};
            FOUR_AT_ONCE
            for (Long row = block * lanes + member / pieces; row < rows; row += blocks * lanes) {
                Long at = row * pieces + piece;
                Numbers slope = widened(gradient[at]), result = widened(out[at]), value = widened(x[at]);
                for (int i = 0; i < PIECE; i++) {
                    float through = passed(slope.of[i], result.of[i]);
                    sums.of[i] += through;
                    products.of[i] += through * (value.of[i] - mean.of[i]);
                }
            }
            for (int i = 0; i < PIECE; i++) {
                scratch[i * THREADS + member] = sums.of[i];
                scratch[(PIECE + i) * THREADS + member] = products.of[i];
            }
        }
        SUM_OF_BLOCK(scratch, (int)lanes, (int)pieces, partials + block * 2 * pieces * PIECE)
    }
}

// From these sums: the gradients of the norm's scale and bias, and the numbers with which that of x is linear in what the
// relu passes and in x, [3, C] (Ioffe & Szegedy 2015, section 3).
KERNEL gradient_factors(const float* partials, Long blocks, Long rows, Long channels, const float* weight,
                        const float* statistics, float* weight_gradient, float* bias_gradient, float* factors) {
    SHARED double scratch[THREADS];
    EACH_BLOCK(c, channels) {
        double sum = sum_of_blocks(partials, blocks, (int)channels, 0, (int)c, scratch);
        double product = sum_of_blocks(partials, blocks, (int)channels, 1, (int)c, scratch);
        if (MEMBER == 0) {
            double mean = statistics[c], inverse = statistics[channels + c];
            double scale = weight[c] * inverse, slope = -scale * inverse * inverse * product / rows;
            weight_gradient[c] = (float)(product * inverse);
            bias_gradient[c] = (float)sum;
            factors[c] = (float)scale;
            factors[channels + c] = (float)slope;
            factors[2 * channels + c] = (float)(-scale * sum / rows - slope * mean);
        }
    }
}

template <bool HAS_ADDED>
__device__ inline void backward(const int4* gradient, const int4* out, const int4* x, Long rows, Long pieces, Long lanes,
                                const float* factors, int4* x_gradient, int4* added_gradient) {
    EACH(share, lanes * pieces) {
        int piece = (int)(share % pieces);
        Numbers scale = of_piece(factors, piece), slope = of_piece(factors + pieces * PIECE, piece);
        Numbers shift = of_piece(factors + 2 * pieces * PIECE, piece);
        FOUR_AT_ONCE
        for (Long row = share / pieces; row < rows; row += lanes) {
            Long at = row * pieces + piece;
            Numbers through = widened(gradient[at]), result = widened(out[at]), value = widened(x[at]);
            for (int i = 0; i < PIECE; i++) {
                through.of[i] = passed(through.of[i], result.of[i]);
                value.of[i] = scale.of[i] * through.of[i] + slope.of[i] * value.of[i] + shift.of[i];
            }
            x_gradient[at] = narrowed(value);
            if (HAS_ADDED) added_gradient[at] = narrowed(through);
        }
    }
}

// The gradients of x and of `added`, from that of out.
KERNEL norm_relu_backward(const int4* gradient, const int4* out, const int4* x, Long rows, Long pieces, Long lanes,
                          const float* factors, int4* x_gradient, int4* added_gradient) {
    backward<false>(gradient, out, x, rows, pieces, lanes, factors, x_gradient, added_gradient);
}

KERNEL norm_add_relu_backward(const int4* gradient, const int4* out, const int4* x, Long rows, Long pieces, Long lanes,
                              const float* factors, int4* x_gradient, int4* added_gradient) {
    backward<true>(gradient, out, x, rows, pieces, lanes, factors, x_gradient, added_gradient);
}
