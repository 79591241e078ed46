"""Decorators that compile kernels, and array access without Python's rules for indices.

`kernel` compiles a function with numba, without the GIL and without reference counting.  `part` and `inlined` compile
functions that only other kernels call.  With reference counting, each array that is passed from one compiled function
to another costs an atomic increment, which made the rules of Go four times slower.  Without it, a kernel must not
allocate memory or assign to slices.

`load` and `store` are `array[i]` and `array[i] = value` for one-dimensional arrays, without support for negative
indices.  They never check bounds, except with `NUMBA_DISABLE_JIT=1`, which makes both plain Python.  `load_pair` reads
two int32 words as one int64.  Integers have 64 bits in compiled code, and any length in Python; `wrap` marks the few
places where they overflow.

Compiled code is cached in a folder whose name has a digest of all kernel sources, because the code of one file may
include inlined code of another.
"""

import hashlib
import os
import pathlib
import re
import tempfile
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import NumbaError, TypingError
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

from alphago.system.kernels.cache import KernelCache

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def cache_folder(package: pathlib.Path) -> str:
    """Return the folder of compiled kernels, whose name has a digest of all kernel sources and numba's version.

    Args:
        package: the package's folder, in which the sources are.
    """
    sources = {*package.glob("*/kernels.py"), *package.glob("*/kernels/*.py")}
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(sources):
        digest.update(path.name.encode() + path.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if numba.config.CACHE_DIR:
        return os.path.join(numba.config.CACHE_DIR, name)
    if caches.startswith("~"):  # the user has no home folder
        return os.path.join(tempfile.gettempdir(), f"alphago-{os.getuid()}-{name}")
    return os.path.join(caches, "alphago", name)


CACHE_FOLDER = cache_folder(pathlib.Path(__file__).parents[2])
NUMBA_PATH = str(pathlib.Path(numba.__file__).parent)
ALLOCATION_REASON = (
    "it allocates memory, which kernels do not: no array expressions, slices, lists or new arrays; go through the "
    "elements in a loop, and take scratch memory as an argument"
)


class KernelError(ValueError):
    """A kernel that cannot be compiled; the message names it, its file and line, and the reason."""


def kernel(function: Kernel, **options: bool) -> Kernel:
    """Compile a function with numba so that Python and other kernels can call it; see the module for restrictions.

    It is compiled when it is called, and its code is cached in files, unless the function was defined in a notebook.
    Other kernels pass every integer as an int64, also constants and int32: otherwise numba would compile `f(row, 0)`,
    `f(row, i)` and `f(row, array[i])` separately.  Python's integers are int64 for numba anyway.

    Args:
        options: further options of numba.njit.
    """
    # Without reference counting (_nrt), and with NumPy's results of a division by 0 instead of an exception.
    dispatcher = numba.njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, **options)(function)
    if numba.config.DISABLE_JIT:
        return dispatcher  # the Python function
    if os.path.isfile(function.__code__.co_filename):
        dispatcher._cache = cache = KernelCache(function, CACHE_FOLDER)
        # Before it compiles, numba looks into the cache, which then holds a lock: released after compiling.
        dispatcher.compile = cache.with_unlock(dispatcher.compile)
    compile_for_args, get_template = dispatcher._compile_for_args, dispatcher.get_call_template

    def compile_or_raise(*arguments: object, **named: object) -> object:
        """Compile as numba does, but raise a KernelError of one sentence instead of numba's error of many lines."""
        try:
            return compile_for_args(*arguments, **named)
        except NumbaError as error:
            raise_kernel_error(function, arguments, str(error))

    dispatcher._compile_for_args = compile_or_raise
    # When a kernel calls this one, numba calls `get_call_template` with the types of the arguments.
    dispatcher.get_call_template = lambda args, kws: get_template([plain_type(arg) for arg in args], kws)
    return dispatcher


def part(function: Kernel, **options: bool) -> Kernel:
    """Compile a function that only kernels call; a call from Python raises TypeError.

    Without the wrapper for calls from Python, compilation takes a sixth less time.

    Args:
        options: further options of numba.njit.
    """
    dispatcher: Any = kernel(function, no_cpython_wrapper=True, **options)
    if not numba.config.DISABLE_JIT:
        # numba would register an entry point for calls from Python, which is missing, and jump to it.  While none is
        # registered, each such call goes to `_compile_for_args`, which refuses it here.
        dispatcher._insert = lambda *signature: None
        dispatcher._compile_for_args = partial(refuse_call, function.__name__)
    return dispatcher


def inlined(function: Kernel) -> Kernel:
    """Compile a function as `part` does, and inline it into each caller.

    A call that is not inlined copies its arguments, which for a NamedTuple of arrays, such as a search tree, takes a
    kilobyte.
    """
    return part(function, forceinline=True)


def refuse_call(name: str, *arguments: object, **named: object) -> None:
    """Raise TypeError, whatever the arguments of the call; name: the function that was called."""
    raise TypeError(f"{name} is a part of kernels, which Python cannot call")


def specialise(template: Any, **kernels: Any) -> FunctionType:
    """Return a copy of the Python function `template` in which some global names have other values.

    `specialise(play_batch, play=go_play)` returns a `play_batch` that calls `go_play` where its text says `play`.  A
    kernel passed as an argument would be slower, and one in a closure could not be cached.

    Args:
        kernels: kernels and constants, by the global names that stand for them in `template`.  The first must be a
            kernel: the copy counts as a function of that kernel's file, so that its compiled code is cached there, and
            compiled again if the file changes.
    """
    first = next(iter(kernels.values()))
    global_names = {**template.__globals__, "__name__": first.__module__, **kernels}
    code = template.__code__.replace(co_filename=first.__code__.co_filename)
    return FunctionType(code, global_names, template.__name__)


def raise_kernel_error(function: Any, arguments: tuple[object, ...], text: str) -> NoReturn:
    """Raise KernelError for an error of numba.

    Args:
        function: the function that was to be compiled; the error may be in another kernel that it calls.
        arguments: the arguments of the call for which it was compiled.
        text: numba's message.
    """
    message = re.sub(r"\x1b\[\d*m", "", text)  # without colours of a terminal
    # The message tells of the innermost kernel first, and then names it, "<function go_play at 0x…>", as the one that
    # could not be called; the same follows for the kernel around it, and so on outwards.
    innermost, *_ = re.split(r"During: resolving callee type: type\(CPUDispatcher", message)
    called = re.search(r"CPUDispatcher\(<function (\w+) at", message)
    name = called[1] if called else function.__name__
    # "… at /home/me/game.py (12)"; places in numba's own files say nothing about the kernel.
    places = [(file, line) for file, line in re.findall(r" at (\S.*) \((\d+)\)", innermost) if NUMBA_PATH not in file]
    file, line = places[0] if places else (function.__code__.co_filename, "")
    where = os.path.basename(file) + (f", line {line}" if line else "")
    types_given = ", ".join(type(argument).__name__ for argument in arguments)
    reason = ALLOCATION_REASON if "NRT required" in message else first_reason(message)
    raise KernelError(f"the kernel {name} ({where}) cannot be compiled for {types_given}: {reason}") from None


def first_reason(message: str) -> str:
    """Return the first line of numba's message that is not empty and says more than that numba failed."""
    vague = re.compile(r"Failed in nopython mode|Resolution failure")
    lines = (line.strip(" -") for line in message.splitlines() if not vague.search(line))
    return next(filter(None, lines), "numba does not say why")


def plain_type(argument: types.Type) -> types.Type:
    """Return a numba type without its literal value, and int64 for narrower integer types."""
    plain: Any = unliteral(argument)
    return types.int64 if isinstance(plain, types.Integer) and plain.bitwidth < 64 else plain  # type: ignore[attr-defined]


if numba.config.DISABLE_JIT:
    # The same in plain Python, with indices checked; the docstrings are those of the compiled functions below.

    def load(array, i):
        return array[check_index(i)].item()

    def store(array, i, value):
        if array.dtype.kind == "i":
            value = np.int64(wrap(int(value))).astype(array.dtype)  # drops high bits, as compiled code does
        array[check_index(i)] = value

    def load_pair(array, i):
        return (load(array, i + 1) << 32) | (load(array, i) & 0xFFFFFFFF)

    def check_index(i):
        if i < 0:
            raise IndexError(f"a kernel used index {i}")
        return i

    def wrap(x):
        return (x + 2**63) % 2**64 - 2**63

    def count_bits(x):
        return int(x).bit_count()

    def lowest_bit(x):
        return (int(x) & -int(x)).bit_length() - 1

else:
    # An intrinsic returns its signature, written result(argument, …), and a function `generate`.  That emits the LLVM
    # code of a call, for the call's signature and its arguments as LLVM values.

    def check_array(array):
        if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
            raise TypingError(f"load and store take a contiguous 1-D array, got {array}")

    def address(context, builder, array, values):
        """Emit the address of an array's item.

        Args:
            array: the array's type.
            values: LLVM values, of which the first is the array and the second the item's index.
        """
        return builder.gep(context.make_array(array)(context, builder, values[0]).data, [values[1]])

    @intrinsic
    def load(typing_context, array, i):
        """Return `array[i]` of a contiguous 1-D array; `i` must be in 0 .. len(array) - 1, which is not checked."""
        check_array(array)

        def generate(context, builder, signature, arguments):
            value = context.unpack_value(builder, array.dtype, address(context, builder, array, arguments))
            return context.cast(builder, value, array.dtype, signature.return_type)

        # Narrow integers become int64, because numba would convert mixed widths and signs to floats.
        return_type = types.int64 if isinstance(array.dtype, types.Integer) else array.dtype
        return return_type(array, types.intp), generate

    @intrinsic
    def store(typing_context, array, i, value):
        """Set `array[i]` of a contiguous 1-D array; `i` must be in 0 .. len(array) - 1, which is not checked."""
        check_array(array)

        def generate(context, builder, signature, arguments):
            item = context.cast(builder, arguments[2], signature.args[2], array.dtype)
            context.pack_value(builder, array.dtype, item, address(context, builder, array, arguments))
            return context.get_dummy_value()  # of a function that returns nothing

        return types.void(array, types.intp, value), generate

    @intrinsic
    def load_pair(typing_context, array, i):
        """Return an int64 from the words i (low) and i + 1 (high) of an int32 array; `i` may be odd."""
        check_array(array)

        def generate(context, builder, signature, arguments):
            words = builder.bitcast(address(context, builder, array, arguments), ir.IntType(64).as_pointer())
            return builder.load(words, align=4)

        return types.int64(array, types.intp), generate

    @intrinsic
    def wrap(typing_context, x):
        """Return the low 64 bits of an integer as int64; compiled code has no others."""
        return types.int64(types.int64), lambda context, builder, signature, arguments: arguments[0]

    @intrinsic
    def count_bits(typing_context, x):
        """Return the number of 1 bits of an int64 >= 0."""
        return types.int64(types.int64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])

    @intrinsic
    def lowest_bit(typing_context, x):
        """Return the index of the lowest 1 bit of an int64 other than 0."""

        def generate(context, builder, signature, arguments):
            # True: the answer for 0 is undefined.
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.int64(types.int64), generate
