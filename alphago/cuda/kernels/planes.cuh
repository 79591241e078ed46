// A network's input as kernels write it: float32 or bfloat16, with any steps between planes and points.

#pragma once
#include "loops.cuh"

// The bits of a bfloat16 number.
struct Bfloat {
    unsigned short bits;
};

// The bits of a float32.
BOTH unsigned int float_bits(float value) {
    union {
        float value;
        unsigned int bits;
    } both;
    both.value = value;
    return both.bits;
}

// Converts a number of a plane to type T, rounded to the nearest, ties to even.
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

// One position's planes in the network's tensor: numbers of type T.
template <typename T>
struct Planes {
    T* out;
    // Steps of `out` from a plane to the next, and from a point to the next; the number of points of a plane.
    Long plane_step, step, points;

    BOTH void set(int plane, int point, float x) const { out[plane * plane_step + point * step] = rounded<T>(x); }
};
