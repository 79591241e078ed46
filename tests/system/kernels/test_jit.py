"""What the decorators overwrite in numba is there: private members, which a new version may rename."""

import inspect

import numba
import pytest
from numba.core.compiler import CompileResult
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


@needs_compiler
def test_members_that_are_called() -> None:
    for name in ("_rebuild", "_reduce"):
        assert callable(getattr(CompileResult, name)), name
    compiled = numba.njit("int64(int64)")(lambda x: x).overloads
    (result,) = compiled.values()
    assert result._asdict()["library"].has_dynamic_globals is False
    assert result.codegen.magic_tuple()
