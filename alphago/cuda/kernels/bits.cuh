// Numbers: 64-bit hashes and chance as in system/kernels/hashing.py, bits of a board row, and short floats.

#pragma once

#define BOTH __host__ __device__ inline

// What a kernel does for its share of `count` items, whatever the size of the grid.
#define EACH(i, count)                                                              \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x, each = (count); i < each; \
         i += (Long)gridDim.x * blockDim.x)

// The same over `count` items of so many parts each: `i` is the item. Threads side by side do the same part of
// different items, so that they take the same branches.
#define EACH_PART(i, part, count, parts)    \
    EACH(share, (count) * (Long)(parts))    \
        for (Long i = share % (count), part = share / (count), once = 1; once; once = 0)

// The same where LANES threads side by side do an item together, so that they reach into memory side by side.
#define EACH_LANE(i, lane, count)    \
    EACH(share, (count) * LANES)     \
        for (Long i = share / LANES, lane = share % LANES, once = 1; once; once = 0)

typedef long long Long;

// Signed numbers may not overflow in C++; these products do, as Python's `wrap` says.
BOTH Long wrapped_product(Long a, Long b) { return (Long)((unsigned long long)a * (unsigned long long)b); }

BOTH Long mix(Long x) {
    x = wrapped_product(x ^ (x >> 30), FIRST_FACTOR);
    x = wrapped_product(x ^ (x >> 27), SECOND_FACTOR);
    return x ^ (x >> 31);
}

// Advances the stream (splitmix64) and returns 32 random bits.
BOTH Long next_random(Long* state) {
    *state = (Long)((unsigned long long)*state + (unsigned long long)GOLDEN);
    return (mix(*state) >> 16) & 0xFFFFFFFFLL;
}

// The number of ones, and the place of the lowest one in bits that are not all 0.
__device__ inline int count_bits(int bits) { return __popc((unsigned int)bits); }
__device__ inline int lowest_bit(int bits) { return __ffs(bits) - 1; }

// The bits of 16-bit floats, for networks that compute with them.
struct Half {
    unsigned short bits;
};
struct Bfloat {
    unsigned short bits;
};

BOTH unsigned int float_bits(float value) {
    union {
        float value;
        unsigned int bits;
    } both;
    both.value = value;
    return both.bits;
}

// Rounds to the nearest, ties to even: a number of planes, which is 0 or from 2^-14 to 1000 in size.
template <typename T>
BOTH T rounded(float value);

template <>
BOTH float rounded<float>(float value) {
    return value;
}

template <>
BOTH Bfloat rounded<Bfloat>(float value) {
    unsigned int bits = float_bits(value);
    return Bfloat{(unsigned short)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

template <>
BOTH Half rounded<Half>(float value) {
    unsigned int bits = float_bits(value);
    unsigned int sign = (bits >> 16) & 0x8000, size = bits & 0x7FFFFFFF;
    if (size == 0) return Half{(unsigned short)sign};
    // 112 is the difference of the exponents' offsets.
    return Half{(unsigned short)(sign | ((size - (112u << 23) + 0xFFF + ((size >> 13) & 1)) >> 13))};
}
