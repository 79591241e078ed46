"""What networks compute in, and what this machine's processor has instructions for."""

import os

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.int8}


def wanted_dtype(dtype: str | None, place: torch.device | None = None) -> torch.dtype:
    """The type of that name, or for None the fastest there.

    That is int8 on a CPU that has instructions for it but no AMX, else what `quick_float` says: with AMX bfloat16 is
    about as fast as int8, and rounds less.

    place: the device of a DeviceEvaluator, where int8 is what `quick_float` says.  ValueError for other names.
    """
    if dtype is None:
        return torch.int8 if place is None and has_int8_products() and not has_amx() else quick_float(place)
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {', '.join(map(repr, DTYPES))} or None, got {dtype!r}")
    return quick_float(place) if dtype == "int8" and place is not None else DTYPES[dtype]


def quick_float(place: torch.device | None = None) -> torch.dtype:
    """The fastest floating-point type of this CPU, or of another place."""
    return torch.bfloat16 if has_native_bfloat16(place) else torch.float32


def dtype_name(dtype: torch.dtype) -> str:
    """The type's name: "float32", "bfloat16" or "int8"."""
    return str(dtype).removeprefix("torch.")


def has_native_bfloat16(place: torch.device | None = None) -> bool:
    """Whether this CPU (or another place) multiplies bfloat16 itself; elsewhere it is slower than float32."""
    if place is not None and place.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return has_amx() or cpu_has("avx512_bf16")


def has_amx() -> bool:
    """Whether this CPU multiplies whole tiles of bfloat16."""
    return cpu_has("amx_tile")


def has_int8_products() -> bool:
    """Whether this CPU multiplies and adds 8-bit integers in one instruction (VNNI); others may run over 16 bits."""
    return cpu_has("avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8")


def cpu_has(*instructions: str) -> bool:
    """Whether torch finds any of these on this CPU, by its names; releases before `get_capabilities` know three.

    Not those that ONEDNN_MAX_CPU_ISA forbids to the library that torch and OpenVINO compute with.
    """
    allowed = [name for name in instructions if is_allowed(name)]
    if hasattr(torch.cpu, "get_capabilities"):
        return any(torch.cpu.get_capabilities().get(name, False) for name in allowed)
    known = {"avx512_bf16": "avx512_bf16", "amx_tile": "amx_tile", "avx512_vnni": "vnni"}
    return any(getattr(torch.cpu, f"_is_{known[name]}_supported", bool)() for name in allowed if name in known)


def is_allowed(instruction: str) -> bool:
    """Whether the environment variable ONEDNN_MAX_CPU_ISA, such as AVX512_CORE_VNNI, leaves this instruction in."""
    most = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper()
    if most in ("", "ALL", "DEFAULT"):
        return True
    levels = ("VNNI", "BF16", "FP16", "AVX10", "AMX")  # what each level's name has, of those with more than AVX-512
    least = next(number for number, level in enumerate(levels) if level in instruction.upper())
    return any(level in most for level in levels[least:])
