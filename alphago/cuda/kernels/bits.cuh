// Numbers: 64-bit hashes and chance as in system/kernels/hashing.py, and bits of words.

#pragma once
#include "loops.cuh"

// Signed numbers may not overflow in C++; these do, as Python's `wrap` says.
BOTH Long wrapped_product(Long a, Long b) { return (Long)((unsigned long long)a * (unsigned long long)b); }

BOTH Long wrapped_sum(Long a, Long b) { return (Long)((unsigned long long)a + (unsigned long long)b); }

BOTH Long mix(Long x) {
    x = wrapped_product(x ^ (x >> 30), FIRST_FACTOR);
    x = wrapped_product(x ^ (x >> 27), SECOND_FACTOR);
    return x ^ (x >> 31);
}

// Advances the stream (splitmix64) and returns 32 random bits.
BOTH Long next_random(Long* state) {
    *state = wrapped_sum(*state, GOLDEN);
    return (mix(*state) >> 16) & 0xFFFFFFFFLL;
}

// The number of ones, and the place of the lowest one in bits that are not all 0.
__device__ inline int count_bits(int bits) { return __popc((unsigned int)bits); }
__device__ inline int lowest_bit(int bits) { return __ffs(bits) - 1; }

// The same of 64 bits.
typedef unsigned long long Bits;
__device__ inline int count_bits(Bits bits) { return __popcll(bits); }
__device__ inline int lowest_bit(Bits bits) { return __ffsll((Long)bits) - 1; }
