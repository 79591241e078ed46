"""LLVM's instructions on vectors of LANES float32 numbers, for functions of kernels that compilers do not vectorise.

A function that numba's `intrinsic` makes gets its instructions from Python: here, a builder emits them one by one.
"""

from typing import Any

import numpy as np
from llvmlite import ir

LANES = 16
FLOAT_BYTES = 4
CONTRACT = ("contract",)  # a product and a sum may become one instruction, which rounds once
VECTOR = ir.VectorType(ir.FloatType(), LANES)


def constant(value: float) -> ir.Constant:
    """Return a vector of copies of a number that is known."""
    return ir.Constant(VECTOR, [float(value)] * LANES)


def splat(builder: Any, number: Any) -> Any:
    """Emit a vector of copies of a number."""
    word = ir.IntType(32)
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(word, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(word, LANES), [0] * LANES))


def data_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Emit the address of an array's first element; kind: numba's type of the array."""
    return context.make_array(kind)(context, builder, array).data


def move(builder: Any, address: Any, *steps: tuple[Any, int]) -> Any:
    """Emit an address that lies further by the sum of the steps, each a distance in numbers and how often to go it."""
    for distance, times in steps:
        address = builder.gep(address, [builder.mul(distance, ir.Constant(distance.type, times))])
    return address


def load(builder: Any, address: Any) -> Any:
    """Emit the load of LANES numbers from the address of the first."""
    return builder.load(builder.bitcast(address, VECTOR.as_pointer()), align=FLOAT_BYTES)


def store(builder: Any, vector: Any, address: Any) -> None:
    """Emit the store of LANES numbers to the address of the first."""
    builder.store(vector, builder.bitcast(address, VECTOR.as_pointer()), align=FLOAT_BYTES)


def add_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Emit total + a * b."""
    return builder.fadd(total, builder.fmul(a, b, flags=CONTRACT), flags=CONTRACT)


def combine(builder: Any, factors: np.ndarray, vectors: list[Any]) -> Any:
    """Emit the sum of known factors times vectors, without products with 0, 1 and -1; at least one factor is not 0."""
    # A sum that begins with a positive factor needs no change of sign.
    ordered = sorted(zip(factors, vectors, strict=True), key=lambda pair: pair[0] < 0)
    (factor, vector), *others = [pair for pair in ordered if pair[0] != 0]
    total = vector if factor == 1 else builder.fmul(vector, constant(factor), flags=CONTRACT)
    for factor, vector in others:
        if factor == 1:
            total = builder.fadd(total, vector, flags=CONTRACT)
        elif factor == -1:
            total = builder.fsub(total, vector, flags=CONTRACT)
        else:
            total = add_product(builder, total, vector, constant(factor))
    return total
