"""How busy the GPU is: what the driver says, and what is told where there is none."""

import threading
from contextlib import closing
from typing import Any

import pytest
import torch

from alphago.training.watch.gpu_meter import GpuMeter, read_driver


class Nvml:
    """The driver's library, as far as it is asked."""

    def __init__(self, percent: int = 40, refused: str = "") -> None:
        self.percent, self.refused, self.asked = percent, refused, b""

    def answer(self, function: str) -> int:
        return 999 if function == self.refused else 0

    def nvmlInit_v2(self) -> int:
        return self.answer("init")

    def nvmlDeviceGetHandleByUUID(self, name: bytes, handle: Any) -> int:
        self.asked = name
        return self.answer("handle")

    def nvmlDeviceGetUtilizationRates(self, handle: Any, out: Any) -> int:
        out[0] = self.percent
        return self.answer("rates")


def test_what_the_driver_says() -> None:
    nvml = Nvml()
    read = read_driver("GPU-12", nvml)
    assert nvml.asked == b"GPU-12"
    assert read is not None
    assert read() == 0.4
    nvml.percent = 100
    assert read() == 1.0


def test_a_driver_that_does_not_tell() -> None:
    for library in (Nvml(refused="init"), Nvml(refused="handle"), "libnothing.so.77"):
        assert read_driver("GPU-12", library) is None
    read = read_driver("GPU-12", Nvml(refused="rates"))
    assert read is not None
    assert read() is None


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
        busy = meter.busy()
        assert busy is not None
        assert 0.5 < busy <= 1.0
