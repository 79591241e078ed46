"""bfloat16 numbers in kernels: the upper halves of float32's bits, as uint16, which is how NumPy can hold them."""

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

if numba.config.DISABLE_JIT:

    def widen(bits):
        return np.array(np.uint32(bits) << np.uint32(16), np.uint32).view(np.float32)[()]

    def narrow(number):
        return round_off(np.array(number, np.float32).view(np.uint32)[()])

    def round_off(bits):
        with np.errstate(over="ignore"):
            return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))

else:

    @intrinsic
    def widen(typing_context, bits):
        """The float32 that the bits (uint16) of a bfloat16 stand for."""

        def generate(context, builder, signature, arguments):
            word = builder.shl(builder.zext(arguments[0], ir.IntType(32)), ir.Constant(ir.IntType(32), 16))
            return builder.bitcast(word, ir.FloatType())

        return types.float32(types.uint16), generate

    @intrinsic
    def narrow(typing_context, number):
        """The bits (uint16) of the bfloat16 nearest to a float32, of two the even one; NaN stays NaN."""

        def generate(context, builder, signature, arguments):
            kind = ir.IntType(32)
            word = builder.bitcast(arguments[0], kind)
            odd = builder.and_(builder.lshr(word, ir.Constant(kind, 16)), ir.Constant(kind, 1))
            rounded = builder.add(builder.add(word, ir.Constant(kind, 0x7FFF)), odd)
            return builder.trunc(builder.lshr(rounded, ir.Constant(kind, 16)), ir.IntType(16))

        return types.uint16(types.float32), generate
