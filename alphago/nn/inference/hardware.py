"""This machine's hardware for networks: its devices, their fastest dtypes, and a description for reports."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from alphago.cuda.contract import BackendMissing
from alphago.env.devices import choose_device
from alphago.env.game import GameEnv
from alphago.system.cores import available_cores

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.int8}
LEAST_FOR_BFLOAT16 = 20_000  # weights; a network with fewer of them takes as long in float32
LIBRARIES = ("torch", "numba", "numpy", "openvino", "cupy-cuda12x", "cupy-cuda13x")  # for the description


# --- devices ---------------------------------------------------------------------------------------


def find_device(env: GameEnv, device: str) -> str:
    """Return the device for a game's boards and networks: "cpu", "cuda" or "host".

    Args:
        device: one of these names; or "auto" for the GPU if torch and CuPy can use one and the game has CUDA kernels,
            otherwise for the CPU.  "host" runs the CUDA kernels on the CPU, for tests.

    Raises:
        ValueError: for another name or for a device without kernels of the game.
        BackendMissing: for "cuda" if there is no usable GPU.
    """
    if torch.cuda.is_available():
        return choose_device(env, device)
    if device == "cuda":
        raise BackendMissing("no CUDA device can be used: torch finds none, or was built without CUDA")
    return choose_device(env, "cpu" if device == "auto" else device)


def why_not_gpu(env: GameEnv) -> str:
    """Return why "auto" chooses the CPU for a game although torch finds a GPU; "" in all other cases."""
    if torch.cuda.is_available() and env.has_device_kernels:
        try:
            choose_device(env, "cuda")
        except (BackendMissing, MemoryError) as error:
            return str(error)
    return ""


def torch_device(device: str) -> torch.device:
    """Return torch's device for the device "cpu", "cuda" or "host"."""
    return torch.device("cuda" if device == "cuda" else "cpu")  # "host" is the kernels' build for the CPU, for tests


# --- dtypes ----------------------------------------------------------------------------------------


def choose_dtype(dtype: str | None, device: torch.device | None = None) -> torch.dtype:
    """Return the torch dtype with the name `dtype`, or for None the fastest one.

    The fastest is int8 on a CPU with VNNI but without AMX, otherwise `fastest_float(device)`.  (With AMX, bfloat16 is
    about as fast as int8 and more precise.)

    For each kind of device, one name stands for `fastest_float(device)`.  On this CPU it is "bfloat16": without
    instructions for bfloat16, OpenVINO would compute in float32 anyway, and torch more slowly than in float32.  On a
    device of torch's it is "int8", since only OpenVINO computes in int8.

    Args:
        device: a device of torch's; None for this CPU, where OpenVINO or torch computes.

    Raises:
        ValueError: for an unknown name.
    """
    if dtype is None:
        int8_is_fastest = device is None and has_int8_products() and not cpu_has("amx_tile")
        return torch.int8 if int8_is_fastest else fastest_float(device)
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be {', '.join(map(repr, DTYPES))} or None, got {dtype!r}")
    stands_for_fastest = "bfloat16" if device is None else "int8"
    return fastest_float(device) if dtype == stands_for_fastest else DTYPES[dtype]


def fastest_float(device: torch.device | None = None) -> torch.dtype:
    """Return the fastest floating-point dtype of a device; device: None for this CPU."""
    return torch.bfloat16 if has_native_bfloat16(device) else torch.float32


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a torch dtype: "float32", "bfloat16" or "int8"."""
    return str(dtype).removeprefix("torch.")


def has_native_bfloat16(device: torch.device | None = None) -> bool:
    """Return whether a device (None: this CPU) has instructions for bfloat16; without them float32 is faster."""
    if device is not None and device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return cpu_has("amx_tile", "avx512_bf16")


def trains_in_bfloat16(weights: int, device: torch.device | None = None) -> bool:
    """Return whether gradient steps are faster in bfloat16 than in float32.

    A rule decides, not a measurement, so that the same call always computes the same on a machine.  A CPU is faster in
    bfloat16 if it has AMX, or if it is an AMD processor with AVX-512's bfloat16 instructions.  An Intel processor
    without AMX loses more time by conversions than it gains.  Small networks are faster in float32, since their steps
    are mostly passes over memory.  docs/design/networks.md has the measurements.

    Args:
        weights: the network's number of weights.
        device: None for this CPU.
    """
    if device is not None and device.type == "cuda":
        return has_native_bfloat16(device)
    fast = cpu_has("amx_tile") or (cpu_has("avx512_bf16") and processor().startswith("AMD"))
    return fast and weights >= LEAST_FOR_BFLOAT16


def has_int8_products() -> bool:
    """Return whether this CPU has instructions (VNNI) that multiply and add 8-bit integers without overflow."""
    return cpu_has("avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8")


def cpu_has(*instructions: str) -> bool:
    """Return whether this CPU has any of these instruction sets, given by torch's names.

    Instruction sets that the environment variable ONEDNN_MAX_CPU_ISA forbids do not count, since torch and OpenVINO
    compute with oneDNN.  Old versions of torch, without `get_capabilities`, know only three of the names.
    """
    allowed = [name for name in instructions if onednn_allows(name)]
    if hasattr(torch.cpu, "get_capabilities"):
        return any(torch.cpu.get_capabilities().get(name, False) for name in allowed)
    old_names = {"avx512_bf16": "avx512_bf16", "amx_tile": "amx_tile", "avx512_vnni": "vnni"}
    tests = [getattr(torch.cpu, f"_is_{old_names[name]}_supported", None) for name in allowed if name in old_names]
    return any(test() for test in tests if test is not None)


def onednn_allows(instruction: str) -> bool:
    """Return whether the environment variable ONEDNN_MAX_CPU_ISA, such as AVX512_CORE_VNNI, allows an instruction."""
    highest = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper()  # the name of the highest level that is allowed
    if highest in ("", "ALL", "DEFAULT"):
        return True
    # Each word stands for a level of instructions above AVX-512, the lowest first; torch's names of instructions and
    # oneDNN's names of levels contain the word.  A level allows its own instructions and those of all levels before it.
    levels = ("VNNI", "BF16", "FP16", "AVX10", "AMX")
    needed = next(number for number, level in enumerate(levels) if level in instruction.upper())
    return any(level in highest for level in levels[needed:])


# --- description -----------------------------------------------------------------------------------


def describe_machine() -> dict[str, dict[str, object]]:
    """Return facts about this machine as plain data, by section and name; None for a library that is not installed."""
    return {
        "versions": {"python": platform.python_version(), **{name: installed_version(name) for name in LIBRARIES}},
        "machine": {
            "system": platform.platform(),
            "processor": processor(),
            "cores": available_cores(),
            "cores of the machine": os.cpu_count(),
            "torch threads": torch.get_num_threads(),
            "bfloat16 on the CPU": has_native_bfloat16(),
            "int8 on the CPU": has_int8_products(),
            "AMX on the CPU": cpu_has("amx_tile"),
            "CUDA devices": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        },
    }


def installed_version(library: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """Return the processor's name; on Linux with family and model, since a name such as AMD EPYC is that of many."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    # The cores' facts are equal, so that it does not matter that the last core's remain.
    facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if "model name" not in facts:
        return platform.processor() or platform.machine()
    kind = ", ".join(f"{name} {facts[name]}" for name in ("cpu family", "model") if name in facts)
    return f"{facts['model name']} ({kind})" if kind else facts["model name"]
