// How a kernel's work is shared out among threads: loops that take a thread's share, whatever the size of the grid.

#pragma once

#define BOTH __host__ __device__ inline
#define KERNEL extern "C" __global__ void

typedef long long Long;

// A thread does a whole item.
#define EACH(i, count)                                                              \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x, each = (count); i < each; \
         i += (Long)gridDim.x * blockDim.x)

// `count` items of so many parts each: `i` is the item. Threads side by side do parts side by side of one item, so that
// they reach into memory side by side.
#define EACH_POINT(i, part, count, parts) \
    EACH(share, (count) * (Long)(parts))  \
        for (Long i = share / (parts), part = share % (parts), once = 1; once; once = 0)

// A block of threads does a whole item together, in phases. In a phase threads side by side do parts side by side; between
// two phases the threads `meet`, after which each sees what the others wrote. For a C++ compiler a block is one thread.
#ifndef BLOCK
#define BLOCK blockIdx.x
#define BLOCKS gridDim.x
#define MEMBER threadIdx.x
#define MEMBERS blockDim.x
#define SHARED __shared__
#define FOUR_AT_ONCE _Pragma("unroll 4")  // of the turns of a loop
#endif

#define EACH_BLOCK(i, count) for (Long i = BLOCK, each = (count); i < each; i += BLOCKS)
#define TOGETHER(part, parts) for (int part = (int)MEMBER, all = (parts); part < all; part += (int)MEMBERS)

__device__ inline void meet() { __syncthreads(); }

// For kernels on n `slots` of `rows`, which have `words` words each: EACH_SLOT runs over the slots' indices i, and ROW is
// the row of slot i.
#define EACH_SLOT EACH(i, n)
#define ROW (rows + slots[i] * words)
