"""Measure how busy the GPU is, several times a second, with NVML, a library of the GPU's driver."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import torch

LIBRARY = "libnvidia-ml.so.1"
EVERY = 0.2  # seconds; the driver averages over periods of 1/6 to 1 s

Read = Callable[[], float | None]  # returns the GPU's utilization in the driver's last period, 0 .. 1; None: unknown


class GpuMeter:
    """A thread that measures how busy torch's current GPU is, until `close`.

    Args:
        read: returns the GPU's utilization, 0 .. 1 (see `Read`); None to ask the driver, as soon as torch uses a GPU.
        every: seconds between two readings.
    """

    def __init__(self, read: Read | None = None, every: float = EVERY) -> None:
        self._read = read
        self._every = every
        self._readings: list[float] = []
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def busy(self) -> float | None:
        """Return the share of the time since the last call, 0 .. 1, in which the GPU worked for any process.

        The first call starts the measurement and returns None.  Also returns None if torch uses no GPU or its driver
        gives no reading.
        """
        if self._thread is None:
            if self._read is None and torch.cuda.is_initialized():
                uuid = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
                self._read = read_driver(f"GPU-{uuid}")
            if self._read is not None:
                self._thread = threading.Thread(target=self._poll, args=(self._read,), daemon=True)
                self._thread.start()
            return None
        readings = self._readings.copy()
        del self._readings[: len(readings)]  # not all, since the other thread may have appended to the list meanwhile
        return sum(readings) / len(readings) if readings else None

    def _poll(self, read: Read) -> None:
        """Take readings until `close`; this is the work of the thread."""
        while not self._closed.wait(self._every):
            reading = read()
            if reading is None:
                return  # a driver that has failed does not recover
            self._readings.append(reading)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()


def read_driver(device: str, library: Any = LIBRARY) -> Read | None:
    """Return a function that reads how busy a GPU is from its driver; None if there is no NVML or it has no such GPU.

    Args:
        device: the GPU's UUID; CUDA's device numbers can differ from NVML's.
        library: NVML as a ctypes library, or the name of its file.
    """
    try:
        nvml = ctypes.CDLL(library) if isinstance(library, str) else library
    except OSError:
        return None
    handle = ctypes.c_void_p()
    percent = (ctypes.c_uint * 2)()  # shares of the last period in which a kernel ran, and in which memory was accessed
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByUUID(device.encode(), ctypes.byref(handle)):  # 0: success
        return None
    # The call fills `percent` and returns a code, which is not 0 if it fails.
    return lambda: None if nvml.nvmlDeviceGetUtilizationRates(handle, percent) else percent[0] / 100
