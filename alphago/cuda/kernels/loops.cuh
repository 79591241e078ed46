// How a kernel's work is divided among threads: each loop does one thread's part, whatever the size of the grid.

#pragma once

#define BOTH __host__ __device__ inline
#define KERNEL extern "C" __global__ void

typedef long long Long;

// For items that a thread does alone: a loop over the items i of `count` that this thread has to do.
#define EACH(i, count)                                                              \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x, each = (count); i < each; \
         i += (Long)gridDim.x * blockDim.x)

// For `count` items of `parts` parts each: a loop over the parts, each with its item i, that this thread has to do.
// Neighbouring threads do neighbouring parts of an item, so that they access neighbouring memory. The inner `for` runs
// once; it is there to declare `i` and `part`.
#define EACH_POINT(i, part, count, parts) \
    EACH(share, (count) * (Long)(parts))  \
        for (Long i = share / (parts), part = share % (parts), once = 1; once; once = 0)

// For items that the threads of a block do together, in phases: EACH_BLOCK is a loop over the block's items, and
// TOGETHER, within it, a loop over a thread's parts in one phase. Neighbouring threads do neighbouring parts. Between
// two phases the threads `meet`: after that, each sees what the others wrote. For a C++ compiler a block is one thread.
#ifndef BLOCK
#define BLOCK blockIdx.x
#define BLOCKS gridDim.x
#define MEMBER threadIdx.x
#define MEMBERS blockDim.x
#define SHARED __shared__
#define FOUR_AT_ONCE _Pragma("unroll 4")  // before a loop
#endif

#define EACH_BLOCK(i, count) for (Long i = BLOCK, each = (count); i < each; i += BLOCKS)
#define TOGETHER(part, parts) for (int part = (int)MEMBER, all = (parts); part < all; part += (int)MEMBERS)

__device__ inline void meet() { __syncthreads(); }

// For kernels with the arguments `rows`, `words` (of a row), `slots` and `n`: EACH_SLOT is a loop over the indices i of
// `slots`, one slot for each thread, and ROW is the row of slot i.
#define EACH_SLOT EACH(i, n)
#define ROW (rows + slots[i] * words)
