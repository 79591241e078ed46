"""Measure how busy the GPU is, several times a second, with NVML, a library of the GPU's driver."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any, Self

import torch

LIBRARY = "libnvidia-ml.so.1"
SUCCESS = 0
EVERY = 0.2  # seconds; the driver averages over periods of 1/6 to 1 s

Read = Callable[[], float | None]  # returns the GPU's utilization in the driver's last period, 0 .. 1; None: unknown


class GpuMeter:
    """A thread that measures how busy torch's current GPU is, until `close`.

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
                self._read = read_driver(device_name())
            if self._read is not None:
                self._thread = threading.Thread(target=self._poll, args=(self._read,), daemon=True)
                self._thread.start()
            return None
        count = len(self._readings)
        readings = self._readings[:count]
        del self._readings[:count]  # the other thread may have appended to the list meanwhile
        return sum(readings) / count if count else None

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def device_name() -> str:
    """Return the UUID by which NVML knows torch's current GPU; CUDA's device numbers can differ from NVML's."""
    return f"GPU-{torch.cuda.get_device_properties(torch.cuda.current_device()).uuid}"


class Utilization(ctypes.Structure):
    """NVML's nvmlUtilization_t: the percentages of the last period in which a kernel ran, and memory was accessed."""

    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


def read_driver(device: str, library: Any = LIBRARY) -> Read:
    """Return a function that reads how busy a GPU is from its driver.

    The function returns the utilization, 0 .. 1, or None if the driver's library is missing or fails.

    device: the GPU's UUID, from `device_name`.  library: NVML as a ctypes library, or the name of its file.
    """
    try:
        nvml = ctypes.CDLL(library) if isinstance(library, str) else library
    except OSError:
        return lambda: None
    handle = ctypes.c_void_p()
    utilization = Utilization()
    has_begun = nvml.nvmlInit_v2() == SUCCESS
    has_handle = has_begun and nvml.nvmlDeviceGetHandleByUUID(device.encode(), ctypes.byref(handle)) == SUCCESS

    def read() -> float | None:
        if not has_handle:
            return None
        if nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(utilization)) != SUCCESS:
            return None
        return utilization.gpu / 100

    return read
