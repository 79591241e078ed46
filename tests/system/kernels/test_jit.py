"""What the decorators overwrite in numba is there: private members, which a new version may rename."""

import inspect
from collections.abc import Callable

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from alphago.system.kernels import jit
from alphago.system.kernels.cache import KernelCache

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs numba's compiler")


@needs_compiler
def test_members_that_are_overwritten() -> None:
    plain = numba.njit(lambda x: x)
    for name in ("_cache", "_compile_for_args", "_insert", "get_call_template"):
        assert hasattr(plain, name), name
    made = jit.part(test_members_that_are_overwritten)
    assert type(made._cache) is KernelCache
    assert "_cache.load_overload" in inspect.getsource(Dispatcher)  # numba asks the cache that is there
    assert "_cache.save_overload" in inspect.getsource(Dispatcher)


@jit.inlined
def scaled(array, factor):
    return (array * factor)[0]


@jit.inlined
def mistyped(array, factor):
    return array.nothing * factor


@jit.kernel
def calls_scaled(array, factor):
    return scaled(array, factor)


@jit.kernel
def calls_mistyped(array, factor):
    return mistyped(array, factor)


@jit.kernel
def misspelt(array, factor):
    return arrow[0] * factor  # noqa: F821


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "place", "reason"),
    [
        (calls_scaled, r"scaled \(test_jit.py, line \d+\)", "it allocates memory, which kernels do not: no array"),
        (calls_mistyped, r"mistyped \(test_jit.py, line \d+\)", "Unknown attribute 'nothing' of type"),
        (misspelt, r"misspelt \(test_jit.py\)", "NameError: name 'arrow' is not defined$"),
    ],
)
def test_an_error_in_a_kernel_is_told_in_a_sentence(kernel: Callable[..., object], place: str, reason: str) -> None:
    with pytest.raises(jit.KernelError, match=f"the kernel {place} cannot be compiled for ndarray, float: {reason}"):
        kernel(np.ones(3), 2.0)
