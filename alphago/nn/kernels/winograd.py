"""Winograd's convolutions: 3x3 filters over float32 boards, with fewer products than filters have on points.

A board is divided into tiles of tile x tile outputs, the last of a row or column perhaps over its edge.  A tile needs
(tile + 2) x (tile + 2) inputs, its window; points outside the board are 0.  With the matrices A, B and G of `matrices`,

    outputs = A^T [(G filter G^T) * (B^T window B)] A

where * multiplies element by element (Lavin & Gray 2016, "Fast Algorithms for Convolutional Neural Networks", section
4).  Over all channels, the products of an element are a product of matrices.  The gradients need the transposes of
these steps.

Boards are channels-last and flat: float32 [n * H * W * C].  Planes are float32 [(tile + 2)^2 * n * tiles * C]: a matrix
[n * tiles, C] for each element of a window.  C is a multiple of LANES.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from alphago.nn.kernels import vectors
from alphago.nn.kernels.products import multiply_planes
from alphago.nn.kernels.vectors import LANES
from alphago.system.kernels.jit import kernel, part

FILTER = 3
POINTS = (Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(-2))  # where polynomials are evaluated
# The steps of `transform_boards`.
INPUTS, OUTPUTS, OUTPUT_GRADIENTS, INPUT_GRADIENTS = range(4)


class Matrices(NamedTuple):
    """Winograd's matrices for tiles of `tile` x `tile`, with size = tile + 2.

    outputs: A^T, float64 [tile, size].  filters: G, float64 [size, 3].  inputs: B^T, float64 [size, size].
    """

    outputs: np.ndarray
    filters: np.ndarray
    inputs: np.ndarray


def matrices(tile: int) -> Matrices:
    """Return the matrices of tile x tile outputs.

    They multiply polynomials by their values at size - 1 of POINTS, and at infinity, the last row (Toom and Cook's
    method; Blahut 2010, "Fast Algorithms for Signal Processing", section 5.2).
    """
    size = tile + FILTER - 1
    points = POINTS[: size - 1]
    outputs, filters, inputs = np.zeros((tile, size)), np.zeros((size, FILTER)), np.zeros((size, size))
    for row, point in enumerate(points):
        others = [other for other in points if other != point]
        scale = prod((point - other for other in others), start=Fraction(1))
        outputs[:, row] = [float(point**power) for power in range(tile)]
        filters[row] = [float(point**power / scale) for power in range(FILTER)]
        inputs[row, : size - 1] = coefficients(others)
    outputs[-1, -1] = filters[-1, -1] = 1
    inputs[-1] = coefficients(points)
    return Matrices(outputs, filters, inputs)


def coefficients(roots: Sequence[Fraction]) -> list[float]:
    """Return the coefficients of the polynomial with these roots and the leading coefficient 1, the constant first."""
    product = [Fraction(1)]
    for root in roots:
        raised, same = [Fraction(0), *product], [*product, Fraction(0)]  # times x, times 1
        product = [high - root * low for high, low in zip(raised, same, strict=True)]
    return [float(number) for number in product]


def window_size(tile: int) -> int:
    """Return the number of rows of a tile's window."""
    return tile + FILTER - 1


def transform(matrix: np.ndarray, to_planes: bool, add: bool = False) -> Any:
    """Return a function for kernels that computes matrix . square . matrix^T for LANES channels of one tile.

    matrix: float64 [rows, columns]; a square of `columns` rows becomes one of `rows` rows.
    to_planes: whether the square is of a board and the result goes to planes; else the other way round.
    add: whether to add to what is there.

    The function's arguments: `boards`, `planes` and `spare` of `transform_boards`; index of the square's first element
    in `boards`, perhaps outside the board; its row and column; the board's height and width; the number of channels;
    index of the tile's element in the first plane; the length of a plane.
    """
    side, size = matrix.shape[::-1] if to_planes else matrix.shape  # of the square on the board, of that in the planes

    @intrinsic
    def apply(typing, boards, planes, spare, origin, row, column, height, width, channels, place, length):
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            """Emit the addresses of both squares, and the transform."""
            board, plane, unused = (
                vectors.data_of(context, builder, kind, array)
                for kind, array in zip(signature.args[:3], arguments[:3], strict=True)
            )
            origin, row, column, height, width, channels, place, length = arguments[3:]

            def within(first: Any, limit: Any) -> list[Any]:
                """Emit whether each row or column is on the board; as an unsigned number -1 is large."""
                numbers = [builder.add(first, first.type(step)) for step in range(side)]
                return [builder.icmp_unsigned("<", number, limit) for number in numbers]

            rows, columns, line = within(row, height), within(column, width), builder.mul(width, channels)
            corner = builder.gep(board, [origin])
            points = [
                [
                    builder.select(
                        builder.and_(rows[i], columns[j]),
                        vectors.move(builder, corner, (line, i), (channels, j)),
                        unused,
                    )
                    for j in range(side)
                ]
                for i in range(side)
            ]
            first = builder.gep(plane, [place])
            elements = [
                [vectors.move(builder, first, (length, i * size + j)) for j in range(size)] for i in range(size)
            ]
            sources, targets = (points, elements) if to_planes else (elements, points)
            emit_transform(builder, matrix, sources, targets, add)
            return context.get_dummy_value()

        return types.void(boards, planes, spare, *(types.intp,) * 8), generate

    return apply


def emit_transform(builder: Any, matrix: np.ndarray, sources: Any, targets: Any, add: bool) -> None:
    """Emit matrix . square . matrix^T; sources, targets: addresses of the elements of both squares."""
    square = [[vectors.load(builder, address) for address in row] for row in sources]
    half = [[vectors.combine(builder, line, list(column)) for column in zip(*square, strict=True)] for line in matrix]
    for row, addresses in zip(half, targets, strict=True):
        for line, address in zip(matrix, addresses, strict=True):
            value = vectors.combine(builder, line, row)
            if add:
                value = builder.fadd(value, vectors.load(builder, address))
            vectors.store(builder, value, address)


if not numba.config.DISABLE_JIT:
    SMALL, LARGE = matrices(3), matrices(4)
    inputs_3, inputs_4 = transform(SMALL.inputs, True), transform(LARGE.inputs, True)
    outputs_3, outputs_4 = transform(SMALL.outputs, False), transform(LARGE.outputs, False)
    output_gradients_3, output_gradients_4 = transform(SMALL.outputs.T, True), transform(LARGE.outputs.T, True)
    input_gradients_3 = transform(SMALL.inputs.T, False, add=True)
    input_gradients_4 = transform(LARGE.inputs.T, False, add=True)


@kernel
def transform_boards(step, tile, boards, height, width, channels, planes, spare):
    """Transform all tiles of boards to planes, or planes to boards.

    step: INPUTS computes planes = B^T window B from boards; OUTPUTS boards = A^T planes A; OUTPUT_GRADIENTS planes =
        A board A^T, from the gradients of outputs; INPUT_GRADIENTS adds B planes B^T, a gradient of inputs, to boards.
    tile: 3 or 4.
    boards: float32 [n * H * W * C].  planes: float32 [(tile + 2)^2 * n * tiles * C].
    spare: float32 [LANES] of 0; OUTPUTS and INPUT_GRADIENTS overwrite it.
    """
    down, across = (height + tile - 1) // tile, (width + tile - 1) // tile
    area = height * width * channels
    count = len(boards) // area
    length = count * down * across * channels
    before = 1 if step in (INPUTS, INPUT_GRADIENTS) else 0  # rows of a window before the tile's first
    for t in range(count * down * across):
        row = t // across % down * tile - before
        column = t % across * tile - before
        origin = t // (down * across) * area + (row * width + column) * channels
        for c in range(0, channels, LANES):
            at, to = origin + c, t * channels + c
            if step == INPUTS and tile == 3:
                inputs_3(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif step == INPUTS:
                inputs_4(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif step == OUTPUTS and tile == 3:
                outputs_3(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif step == OUTPUTS:
                outputs_4(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif step == OUTPUT_GRADIENTS and tile == 3:
                output_gradients_3(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif step == OUTPUT_GRADIENTS:
                output_gradients_4(boards, planes, spare, at, row, column, height, width, channels, to, length)
            elif tile == 3:
                input_gradients_3(boards, planes, spare, at, row, column, height, width, channels, to, length)
            else:
                input_gradients_4(boards, planes, spare, at, row, column, height, width, channels, to, length)


@part
def sizes(filters, height, width, inputs, tile):
    """Return the elements of a window, the number of output channels, and a board's tiles and points."""
    elements = (tile + 2) * (tile + 2)
    tiles = ((height + tile - 1) // tile) * ((width + tile - 1) // tile)
    return elements, len(filters) // (elements * inputs), tiles, height * width


@kernel
def convolve(features, height, width, filters, inputs, tile, chunk, planes, products, out):
    """Compute 3x3 convolutions of boards, with zeros at the border.

    features: float32 [n * H * W * C].  filters: float32 [(tile + 2)^2 * C * K], G filter G^T.  inputs: C.
    chunk: how many boards are computed at a time.
    planes, products: scratch memory of (tile + 2)^2 * chunk * tiles numbers for each of C and K channels, and in
        `products` for LANES more.
    out: float32 [n * H * W * K], overwritten.
    """
    elements, outputs, tiles, area = sizes(filters, height, width, inputs, tile)
    count = len(out) // (area * outputs)
    spare = products[len(products) - LANES :]
    for begin in range(0, count, chunk):
        boards = min(chunk, count - begin)
        rows = boards * tiles
        from_input, from_output = begin * area * inputs, begin * area * outputs
        data = planes[: elements * rows * inputs]
        results = products[: elements * rows * outputs]
        for k in range(LANES):
            spare[k] = np.float32(0)
        source = features[from_input : from_input + boards * area * inputs]
        transform_boards(INPUTS, tile, source, height, width, inputs, data, spare)
        multiply_planes(data, inputs, 1, filters, results, elements, rows, inputs, outputs, False)
        target = out[from_output : from_output + boards * area * outputs]
        transform_boards(OUTPUTS, tile, target, height, width, outputs, results, spare)


@kernel
def convolve_backward(
    features, height, width, filters, inputs, tile, chunk, planes, products, gradient, dfeatures, dfilters
):
    """Compute the gradients of `convolve`.

    features, height, width, inputs, tile, chunk, planes, products: as there.
    filters: float32 [(tile + 2)^2 * K * C], as there but with C and K exchanged.
    gradient: float32 [n * H * W * K], of the result.
    dfeatures: float32 [n * H * W * C], overwritten.  dfilters: float32 [(tile + 2)^2 * C * K], overwritten.
    """
    elements, outputs, tiles, area = sizes(filters, height, width, inputs, tile)
    count = len(gradient) // (area * outputs)
    spare = products[len(products) - LANES :]
    for k in range(len(dfilters)):
        dfilters[k] = np.float32(0)
    for k in range(len(dfeatures)):
        dfeatures[k] = np.float32(0)
    for begin in range(0, count, chunk):
        boards = min(chunk, count - begin)
        rows = boards * tiles
        from_input, from_output = begin * area * inputs, begin * area * outputs
        data = planes[: elements * rows * inputs]
        results = products[: elements * rows * outputs]
        for k in range(LANES):
            spare[k] = np.float32(0)
        source = features[from_input : from_input + boards * area * inputs]
        transform_boards(INPUTS, tile, source, height, width, inputs, data, spare)
        arriving = gradient[from_output : from_output + boards * area * outputs]
        transform_boards(OUTPUT_GRADIENTS, tile, arriving, height, width, outputs, results, spare)
        multiply_planes(data, 1, inputs, results, dfilters, elements, inputs, rows, outputs, True)
        multiply_planes(results, outputs, 1, filters, data, elements, rows, outputs, inputs, False)
        target = dfeatures[from_input : from_input + boards * area * inputs]
        transform_boards(INPUT_GRADIENTS, tile, target, height, width, inputs, data, spare)
