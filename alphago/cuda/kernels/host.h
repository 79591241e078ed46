// What a C++ compiler lacks to compile the kernels for the CPU. A kernel does the work of one CUDA thread in each call;
// `set_thread` says before the call which one. Each thread of the process has indices of its own.

#pragma once
// The functions of math.h that kernels call; WebAssembly has no math.h.
extern "C" double sqrt(double), tanh(double), exp(double);
extern "C" float logf(float);

#define __host__
#define __device__
#define __global__
#define __noinline__ inline

struct Index {
    unsigned int x;
};

static thread_local Index gridDim{1}, blockDim{1}, blockIdx{0}, threadIdx{0};

extern "C" void set_thread(unsigned int blocks, unsigned int threads, unsigned int block, unsigned int thread) {
    gridDim.x = blocks;
    blockDim.x = threads;
    blockIdx.x = block;
    threadIdx.x = thread;
}

// Threads run one after another, so none can wait for another: each is a block of its own, see loops.cuh.
#define BLOCK (blockIdx.x * blockDim.x + threadIdx.x)
#define BLOCKS (gridDim.x * blockDim.x)
#define MEMBER 0
#define MEMBERS 1
#define SHARED static thread_local
#define FOUR_AT_ONCE
inline void __syncthreads() {}
inline void atomicOr(int* word, int bits) { *word |= bits; }

struct alignas(16) int4 {
    int x, y, z, w;
};

inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
