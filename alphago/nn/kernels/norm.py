"""Elementwise operations of training, each in as few passes over memory as possible.

Features are channels-last and flat, float32 [n * C], where n is the number of points of all boards.  Element i belongs
to channel i mod C.  A tile, float32 [ROWS * C], has a number for each channel, repeated for ROWS points; element i of
the features goes with element i mod (ROWS * C) of the tile.  So the inner loops are long and need no index of a
channel, and the compiler vectorises them.
"""

import math

import numpy as np

from alphago.system.kernels.jit import kernel

ROWS = 16


@kernel
def add_moments(x, sums, squares):
    """Add the features x to the tile `sums`, and their squares to the tile `squares`.

    Args:
        x: [n * C].
        sums, squares: float32 [ROWS * C], added to.  See the module for features and tiles.
    """
    tile = len(sums)
    for begin in range(0, len(x), tile):
        part = x[begin : min(begin + tile, len(x))]
        for k in range(len(part)):
            value = part[k]
            sums[k] += value
            squares[k] += value * value


@kernel
def fold(tile, channels, c):
    """Return the sum of a tile's elements for channel `c`, in float64; channels: the number of channels."""
    total = 0.0
    for k in range(c, len(tile), channels):
        total += tile[k]
    return total


@kernel
def scale_to_norm(x, weight, bias, epsilon, tiles, mean, deviation):
    """Compute the statistics of a batch norm, and for each channel the scale and shift that apply the norm.

    Args:
        x: [n * C], the features.
        weight, bias: float32 [C], the batch norm's parameters.
        epsilon: added to the variance.
        tiles: float32 [2, ROWS * C], overwritten with a tile of scales and a tile of shifts: norm(x) = scale * x +
            shift.
        mean, deviation: float64 [C], overwritten with each channel's mean and sqrt(variance + epsilon).
    """
    channels = len(weight)
    sums, squares = tiles[0], tiles[1]
    for k in range(len(sums)):
        sums[k] = squares[k] = np.float32(0)
    add_moments(x, sums, squares)
    count = len(x) // channels
    for c in range(channels):
        mean[c] = fold(sums, channels, c) / count
        variance = fold(squares, channels, c) / count - mean[c] * mean[c]
        is_nan = variance != variance  # for NaN, `max` may return 0
        deviation[c] = variance if is_nan else math.sqrt(max(variance, 0.0) + epsilon)
    scales, shifts = tiles[0], tiles[1]  # in place of the sums
    for k in range(len(scales)):
        c = k % channels
        scale = weight[c] / deviation[c]
        scales[k] = np.float32(scale)
        shifts[k] = np.float32(bias[c] - mean[c] * scale)


@kernel
def move_statistics(mean, deviation, count, epsilon, momentum, running_mean, running_variance):
    """Move a batch norm's running statistics towards those of a batch.

    Args:
        mean, deviation: float64 [C], from `scale_to_norm`.
        count: number of points in the batch.
        epsilon, momentum: the batch norm's constants.
        running_mean, running_variance: float32 [C], updated; the variance is the unbiased one.
    """
    for c in range(len(mean)):
        variance = (deviation[c] * deviation[c] - epsilon) * count / max(count - 1, 1)
        running_mean[c] += np.float32(momentum * (mean[c] - running_mean[c]))
        running_variance[c] += np.float32(momentum * (variance - running_variance[c]))


@kernel
def norm_relu(x, tiles, out):
    """Compute out = relu(norm(x)); NaN stays NaN.

    Args:
        x: [n * C], the features.
        tiles: float32 [2, ROWS * C], scales and shifts from `scale_to_norm`.
        out: [n * C], overwritten.
    """
    tile = tiles.shape[1]
    scale, shift = tiles[0], tiles[1]
    for begin in range(0, len(x), tile):
        end = min(begin + tile, len(x))
        part, target = x[begin:end], out[begin:end]
        for k in range(len(part)):
            value = part[k] * scale[k] + shift[k]
            target[k] = np.float32(0) if value <= np.float32(0) else value


@kernel
def norm_add_relu(x, added, tiles, out):
    """Compute out = relu(norm(x) + added); NaN stays NaN.

    Args:
        x, added: [n * C], features.
        tiles: float32 [2, ROWS * C], scales and shifts from `scale_to_norm`.
        out: [n * C], overwritten.
    """
    tile = tiles.shape[1]
    scale, shift = tiles[0], tiles[1]
    for begin in range(0, len(x), tile):
        end = min(begin + tile, len(x))
        part, addend, target = x[begin:end], added[begin:end], out[begin:end]
        for k in range(len(part)):
            value = part[k] * scale[k] + shift[k] + addend[k]
            target[k] = np.float32(0) if value <= np.float32(0) else value


@kernel
def relu_backward(gradient, out, x, passed, sums, products):
    """Compute the gradient of a relu's input, passed = gradient if out > 0 else 0, and add it up.

    Args:
        gradient: of the relu's output.
        out: the relu's output.
        x: the input of the norm before it.
        passed: overwritten.  All are [n * C].
        sums, products: tiles, float32 [ROWS * C]; `passed` is added to the first, passed * x to the second.
    """
    tile = len(sums)
    for begin in range(0, len(x), tile):
        end = min(begin + tile, len(x))
        gradient_part, out_part, x_part, target = gradient[begin:end], out[begin:end], x[begin:end], passed[begin:end]
        for k in range(len(x_part)):
            value = np.float32(0) if out_part[k] <= 0 else gradient_part[k]
            target[k] = value
            sums[k] += value
            products[k] += value * x_part[k]


@kernel
def norm_backward(gradient, x, out, weight, mean, deviation, tiles, passed, dx, dweight, dbias):
    """Compute the gradients of out = relu(norm(x) + added).

    Args:
        gradient: [n * C], the gradient of `out`.
        x, out: [n * C], input and output of the forward pass.
        weight: float32 [C], the norm's scale.
        mean, deviation: float64 [C], from `scale_to_norm`.
        tiles: float32 [3, ROWS * C], scratch memory.
        passed, dx: [n * C], overwritten with the gradients of `added` and `x`.
        dweight, dbias: float32 [C], overwritten with the gradients of the norm's scale and bias.
    """
    channels = len(weight)
    sums, products = tiles[0], tiles[1]
    for k in range(len(sums)):
        sums[k] = products[k] = np.float32(0)
    relu_backward(gradient, out, x, passed, sums, products)
    count = len(x) // channels
    for c in range(channels):
        total = fold(sums, channels, c)
        dbias[c] = np.float32(total)
        dweight[c] = np.float32((fold(products, channels, c) - mean[c] * total) / deviation[c])
    # With normed = (x - mean) / deviation, each channel has
    #     dx = weight / deviation * (passed - dbias / count - normed * dweight / count),
    # that is, dx = factor * passed + slope * x + shift.
    factors, slopes, shifts = tiles[0], tiles[1], tiles[2]  # the first two in place of the sums
    for k in range(len(factors)):
        c = k % channels
        factor = weight[c] / deviation[c]
        slope = -factor / deviation[c] * dweight[c] / count
        factors[k] = np.float32(factor)
        slopes[k] = np.float32(slope)
        shifts[k] = np.float32(-factor * dbias[c] / count - slope * mean[c])
    combine(passed, x, factors, slopes, shifts, dx)


@kernel
def combine(gradient, x, factor, slope, shift, out):
    """Compute out = factor * gradient + slope * x + shift.

    Args:
        gradient, x: [n * C].
        factor, slope, shift: tiles, float32 [ROWS * C].
        out: [n * C], overwritten.
    """
    tile = len(factor)
    for begin in range(0, len(x), tile):
        end = min(begin + tile, len(x))
        gradient_part, x_part, target = gradient[begin:end], x[begin:end], out[begin:end]
        for k in range(len(target)):
            target[k] = factor[k] * gradient_part[k] + slope[k] * x_part[k] + shift[k]
