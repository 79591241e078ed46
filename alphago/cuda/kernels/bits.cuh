// 64-bit hashes and random numbers as in system/kernels/hashing.py, and the bits of words.

#pragma once
#include "loops.cuh"

// Products and sums that wrap around at 64 bits, as with Python's `wrap`; in C++ signed numbers must not overflow.
BOTH Long wrapped_product(Long a, Long b) { return (Long)((unsigned long long)a * (unsigned long long)b); }

BOTH Long wrapped_sum(Long a, Long b) { return (Long)((unsigned long long)a + (unsigned long long)b); }

// Scrambles the 64 bits of x.
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

typedef unsigned long long Bits;

// The number of 1 bits.
__device__ inline int count_bits(int bits) { return __popc((unsigned int)bits); }
__device__ inline int count_bits(Bits bits) { return __popcll(bits); }

// The index of the lowest 1 bit; there must be one.
__device__ inline int lowest_bit(int bits) { return __ffs(bits) - 1; }
__device__ inline int lowest_bit(Bits bits) { return __ffsll((Long)bits) - 1; }
