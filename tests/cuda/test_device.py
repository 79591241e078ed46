"""The device without a device: a CuPy that says what the real one would."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import alphago.cuda.device as device
from alphago.cuda.contract import BackendMissing
from alphago.cuda.kernel_source import Program
from alphago.env.devices import choose_device
from alphago.env.go import GoEnv
from alphago.env.go_cuda import PROGRAM


class CUDARuntimeError(RuntimeError):
    """Of a call of CUDA's runtime."""


class CUDADriverError(RuntimeError):
    """Of a call of the driver, which loads kernels."""


class CompileException(Exception):
    """Of NVRTC."""


class OutOfMemoryError(MemoryError):
    """Of CuPy's pool."""


def fake_cupy(
    patch: pytest.MonkeyPatch,
    *,
    count: Callable[[], int] = lambda: 1,
    compiling: Callable[[], None] = lambda: None,
    zeros: Any = np.zeros,
) -> None:
    """Makes `import cupy` find one whose device answers so."""
    cupy = ModuleType("cupy")
    parts = {
        "cuda": SimpleNamespace(
            runtime=SimpleNamespace(getDeviceCount=count, CUDARuntimeError=CUDARuntimeError),
            driver=SimpleNamespace(CUDADriverError=CUDADriverError),
            compiler=SimpleNamespace(CompileException=CompileException),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            Stream=lambda non_blocking: SimpleNamespace(non_blocking=non_blocking),
        ),
        "RawModule": lambda **options: SimpleNamespace(compile=compiling),
        "zeros": zeros,
        "ndarray": np.ndarray,
        "asarray": np.asarray,
        "ascontiguousarray": np.ascontiguousarray,
    }
    vars(cupy).update(parts)
    patch.setitem(sys.modules, "cupy", cupy)


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (raising(CUDARuntimeError("cudaErrorNoDevice: none")), "^no CUDA device can be used: cudaErrorNoDevice: none$"),
        (lambda: 0, "^no CUDA device can be used: there is none$"),
    ],
)
def test_no_device_is_one_sentence(count: Any, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cupy(monkeypatch, count=count)
    refused(BackendMissing, sentence)


def test_kernels_that_cannot_be_compiled_or_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy is there and has a device, but fails at the first compilation."""
    missing = "CuPy failed to load libnvrtc.so.12"
    complaint = "kernels.cu(3): warning: odd\ngo.cu(7): error: expected a ;\n1 error"
    busy = "cudaErrorDevicesUnavailable: all CUDA-capable devices are busy"
    unusable = f"^NVRTC, which .*, cannot be used: {missing}$"
    problems = [
        *((kind(f"{missing}\nand says more"), unusable) for kind in (RuntimeError, OSError, ImportError)),
        (CompileException(complaint), r"^NVRTC cannot compile the kernels: go\.cu\(7\): error: expected a ;$"),
        (CUDARuntimeError(f"{busy} or unavailable"), f"^no CUDA device can be used: {busy}"),
        (CUDADriverError("CUDA_ERROR_UNSUPPORTED_PTX: so"), "device can be used: CUDA_ERROR_UNSUPPORTED_PTX"),
    ]
    for problem, sentence in problems:
        fake_cupy(monkeypatch, compiling=raising(problem))
        refused(BackendMissing, sentence)
    for kind in (CUDARuntimeError, CUDADriverError):
        fake_cupy(monkeypatch, compiling=raising(kind("ERROR: out of memory")))
        refused(MemoryError, "^the kernels do not fit into the memory that is left on the GPU: ERROR: out of memory$")


TOO_LARGE = "^954 MiB do not fit into the memory that is left on the GPU$"


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (OutOfMemoryError("Out of memory allocating 9,999 bytes"), MemoryError, TOO_LARGE),
        (CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"), MemoryError, TOO_LARGE),  # of a context, even
        (CUDARuntimeError("cudaErrorIllegalAddress: an illegal access"), CUDARuntimeError, "illegal access"),
    ],
)
def test_boards_that_do_not_fit(error: Exception, kind: type, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cupy(monkeypatch, zeros=raising(error))
    with pytest.raises(kind, match=text):
        device.Device().zeros((1000, 250_000), np.int32)


def test_arrays_that_are_there_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cupy(monkeypatch)
    there = device.Device()
    ready = np.arange(6, dtype=np.int64)
    assert there.upload(ready, np.int64) is ready
    assert there.reachable(ready) is ready
    for other, kind in ((ready, np.int32), (ready[::2], np.int64), ([1, 2], np.int64)):
        sent = there.upload(other, kind)
        assert sent.dtype == kind
        assert sent.flags.c_contiguous
        assert sent.tolist() == list(other)


def test_numbers_arrive_as_64_bits() -> None:
    for kind, values in ((np.int64, (3, True, np.bool_(True), np.int32(3))), (np.float64, (0.5, np.float64(0.5)))):
        for value in values:
            assert type(device.as_argument(value)) is kind
            assert device.as_argument(value) == value


def test_a_device_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    refused(BackendMissing, r"used through CuPy: install alphago\[cuda12\]")


def refused(kind: type[Exception], sentence: str) -> None:
    """The device raises for a program that is new to it; "auto" takes the CPU."""
    with pytest.raises(kind, match=sentence):
        device.Device().load(Program(PROGRAM.path, PROGRAM.numbers))
    assert choose_device(GoEnv(5)) == "cpu"


def test_streams_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """They go from one owner to the next, and never two have the same one."""
    fake_cupy(monkeypatch)
    monkeypatch.setattr(device, "FREE_STREAMS", [])
    place = device.Device()
    one, two = place.new_stream(), place.new_stream()
    assert one is not two
    assert one.non_blocking
    place.keep_stream(one)
    assert place.new_stream() is one
    assert all(place.new_stream() is not other for other in (one, two))
