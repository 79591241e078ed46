"""How busy the GPU is: what the driver says, and what is told where there is none."""

import threading
from contextlib import closing
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from alphago.training.watch.gpu_meter import GpuMeter, read_driver


def nvml(percent: int = 40, refused: str = "") -> Mock:
    """The driver's library, as far as it is asked; a function that is refused returns an error's number."""

    def rates(_: Any, out: Any) -> int:
        out[0] = percent
        return 999 if refused == "rates" else 0

    init, handle = (Mock(return_value=999 if refused == name else 0) for name in ("init", "handle"))
    return Mock(nvmlInit_v2=init, nvmlDeviceGetHandleByUUID=handle, nvmlDeviceGetUtilizationRates=rates)


def test_what_the_driver_says() -> None:
    for percent, busy in ((40, 0.4), (100, 1.0)):
        library = nvml(percent)
        assert read_driver("GPU-12", library)() == busy  # type: ignore[misc]
        assert library.nvmlDeviceGetHandleByUUID.call_args.args[0] == b"GPU-12"


def test_a_driver_that_does_not_tell() -> None:
    for library in (nvml(refused="init"), nvml(refused="handle"), "libnothing.so.77"):
        assert read_driver("GPU-12", library) is None
    assert read_driver("GPU-12", nvml(refused="rates"))() is None  # type: ignore[misc]


def test_the_mean_since_the_last_call() -> None:
    readings, over = iter([0.2, 0.4, None]), threading.Event()

    def read() -> float | None:
        reading = next(readings)
        if reading is None:
            over.set()
        return reading

    with closing(GpuMeter(read, every=0.001)) as meter:
        assert meter.busy() is None  # begins
        assert over.wait(30)
        assert meter.busy() == pytest.approx(0.3)
        assert meter.busy() is None


@pytest.mark.skipif(torch.cuda.is_initialized(), reason="this process uses a GPU")
def test_no_gpu_is_used() -> None:
    with closing(GpuMeter()) as meter:
        assert meter.busy() is None


@pytest.mark.gpu
def test_a_gpu_at_work() -> None:
    ones = torch.ones(8192, 8192, device="cuda")
    with closing(GpuMeter()) as meter:
        meter.busy()
        end = threading.Event()
        threading.Timer(3, end.set).start()
        while not end.is_set():
            ones @ ones
            torch.cuda.synchronize()
        assert 0.5 < (meter.busy() or 0) <= 1.0
