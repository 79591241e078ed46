// Python's arithmetic, for C++ that is made from Python's text: see python_text.py.

#pragma once
#include "loops.cuh"

// Of the functions of a whole module; those that are named are BOTH. NVRTC would inline all calls of these too, for which
// it takes six times as long.
#define PART __host__ __device__ __noinline__

namespace python {

template <class A, class B>
BOTH auto min(A a, B b) {
    return b < a ? b : a;
}

template <class A, class B>
BOTH auto max(A a, B b) {
    return a < b ? b : a;
}

template <class A>
BOTH auto abs(A a) {
    return a < 0 ? -a : a;
}

// Divides integers and rounds down.
template <class A, class B>
BOTH auto floor_divide(A a, B b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// The remainder, which has the sign of b.
template <class A, class B>
BOTH auto modulo(A a, B b) {
    return a - floor_divide(a, b) * b;
}

}  // namespace python
