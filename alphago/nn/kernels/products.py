"""Products of many small matrices, whose sums stay in registers.

A kernel can call these between its own steps, without Python and its lock.  For matrices of 32 to 96 columns, as
Winograd's convolutions need them, they are about as fast as a library's, which copies its inputs first, and faster
beside other programs (docs/experiments/37).
"""

from typing import Any

import numba
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils, types
from numba.extending import intrinsic

from alphago.nn.kernels import vectors
from alphago.nn.kernels.vectors import LANES
from alphago.system.kernels.jit import kernel

# With AVX-512, 32 registers hold LANES numbers each: the sums of 6 x 4 vectors, 4 factors and a number's copies.  Other
# processors, and one for which NUMBA_CPU_NAME lets numba compile, need several registers for a vector.
HAS_WIDE_REGISTERS = numba.config.CPU_NAME is None and bool(get_host_cpu_features().get("avx512f", False))


def multiply_block(rows: int, columns: int) -> Any:
    """Return a function for kernels that computes a block of the product of matrices a and b.

    rows: the block's rows.  columns: its columns, in vectors of LANES.

    The function's arguments: a, index of the block's first element in it, distances of its rows and of its columns; b,
    index of the block's first element, distance of its rows; the product, index of the block's first element, distance
    of its rows; the number of products in a sum; whether to add to what is there.
    """

    @intrinsic
    def apply(typing, a, a_first, a_row, a_column, b, b_first, b_row, out, first, row, depth, add):
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            """Emit the loop over the depth, and the stores of the sums."""
            _, a_first, a_row, a_column, _, b_first, b_row, _, first, row, depth, add = arguments
            from_a, from_b, to = (
                builder.gep(vectors.data_of(context, builder, signature.args[i], arguments[i]), [begin])
                for i, begin in ((0, a_first), (4, b_first), (7, first))
            )
            sums = [[cgutils.alloca_once(builder, vectors.VECTOR) for _ in range(columns)] for _ in range(rows)]
            targets = [
                [vectors.move(builder, to, (row, r), (first.type(LANES), c)) for c in range(columns)]
                for r in range(rows)
            ]
            with builder.if_else(add) as (is_added, is_new):
                with is_added:
                    for r in range(rows):
                        for c in range(columns):
                            builder.store(vectors.load(builder, targets[r][c]), sums[r][c])
                with is_new:
                    for r in range(rows):
                        for c in range(columns):
                            builder.store(vectors.constant(0), sums[r][c])
            with cgutils.for_range(builder, depth) as loop:
                place = builder.gep(from_b, [builder.mul(loop.index, b_row)])
                factors = [
                    vectors.load(builder, vectors.move(builder, place, (first.type(LANES), c))) for c in range(columns)
                ]
                place = builder.gep(from_a, [builder.mul(loop.index, a_column)])
                for r in range(rows):
                    copies = vectors.splat(builder, builder.load(vectors.move(builder, place, (a_row, r))))
                    for factor, total in zip(factors, sums[r], strict=True):
                        builder.store(vectors.add_product(builder, builder.load(total), copies, factor), total)
            for r in range(rows):
                for c in range(columns):
                    vectors.store(builder, builder.load(sums[r][c]), targets[r][c])
            return context.get_dummy_value()

        word = types.intp
        return types.void(a, word, word, word, b, word, word, out, word, word, word, types.boolean), generate

    return apply


if not numba.config.DISABLE_JIT:
    six_by_four, one_by_four = multiply_block(6, 4), multiply_block(1, 4)
    six_by_two, one_by_two = multiply_block(6, 2), multiply_block(1, 2)
    six_by_one, one_by_one = multiply_block(6, 1), multiply_block(1, 1)


@kernel
def multiply_planes(a, a_row, a_step, b, out, elements, rows, depth, columns, add):
    """Compute the product of matrices a [rows, depth] and b [depth, columns] for each element of a window.

    a: float32; row r and column k of a matrix are at r * a_row + k * a_step.
    b: float32 [elements * depth * columns].
    out: float32 [elements * rows * columns], overwritten, or added to if `add`.
    columns: a multiple of LANES.
    """
    for e in range(elements):
        from_a, from_b, to = e * rows * depth, e * depth * columns, e * rows * columns
        c = 0
        while c < columns:
            vectors = 1
            if HAS_WIDE_REGISTERS:
                vectors = 4 if columns - c >= 4 * LANES else 2 if columns - c >= 2 * LANES else 1
            r = 0
            while r < rows:
                x, y, z = from_a + r * a_row, from_b + c, to + r * columns + c
                is_whole = rows - r >= 6
                if vectors == 4 and is_whole:
                    six_by_four(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                elif vectors == 4:
                    one_by_four(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                elif vectors == 2 and is_whole:
                    six_by_two(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                elif vectors == 2:
                    one_by_two(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                elif is_whole:
                    six_by_one(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                else:
                    one_by_one(a, x, a_row, a_step, b, y, columns, out, z, columns, depth, add)
                r += 6 if is_whole else 1
            c += vectors * LANES
