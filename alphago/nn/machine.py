"""What this machine has for networks and games: versions of libraries, cores, devices."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from alphago.nn.inference.dtypes import has_int8_products, has_native_bfloat16
from alphago.system.cores import available_cores

LIBRARIES = ("torch", "numba", "numpy", "openvino", "cupy-cuda12x", "cupy-cuda13x")


def describe_machine() -> dict[str, dict[str, Any]]:
    """Sections of named facts, plain data; None stands for what is not installed."""
    return {
        "versions": {
            "python": platform.python_version(),
            **{library: installed_version(library) for library in LIBRARIES},
        },
        "machine": {
            "system": platform.platform(),
            "processor": processor(),
            "cores": available_cores(),
            "cores of the machine": os.cpu_count(),
            "torch threads": torch.get_num_threads(),
            "bfloat16 on the CPU": has_native_bfloat16(),
            "int8 on the CPU": has_int8_products(),
            "CUDA devices": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        },
    }


def installed_version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
