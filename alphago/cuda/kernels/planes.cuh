// A network's input as kernels write it: float32, float16 or bfloat16, with any steps between planes and points.

#pragma once
#include "loops.cuh"

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

// Rounds to the nearest, ties to even: a number of planes, up to 1000 in size; as Half those below 2^-14 become 0.
template <typename T>
BOTH T rounded(float value);

template <>
BOTH float rounded<float>(float value) {
    return value;
}

template <>
BOTH Bfloat rounded<Bfloat>(float value) {
    unsigned int bits = float_bits(value);
    unsigned int is_odd = (bits >> 16) & 1;  // the lowest bit that is kept
    return Bfloat{(unsigned short)((bits + 0x7FFF + is_odd) >> 16)};
}

template <>
BOTH Half rounded<Half>(float value) {
    unsigned int bits = float_bits(value);
    unsigned int sign = (bits >> 16) & 0x8000, size = bits & 0x7FFFFFFF;
    if (size < (113u << 23)) return Half{(unsigned short)sign};
    unsigned int is_odd = (size >> 13) & 1;  // the lowest bit that is kept
    // 112 is the difference of the exponents' offsets.
    return Half{(unsigned short)(sign | ((size - (112u << 23) + 0xFFF + is_odd) >> 13))};
}

// One position's planes in the network's tensor, of so many points: numbers of type T, `plane` and `point` steps apart.
template <typename T>
struct Planes {
    T* out;
    Long plane, point, points;

    BOTH void set(int place, int i, float value) const { out[place * plane + i * point] = rounded<T>(value); }
};
