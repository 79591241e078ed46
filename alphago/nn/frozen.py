"""A network's three parts as one module that will not be trained, and what its fast forms are compared by."""

import copy
import os
import threading
from typing import TypeVar

import torch
from torch import nn

from alphago.env.game import GameEnv

Outputs = tuple[torch.Tensor, torch.Tensor]  # logits [B, action_space], values [B]
Part = TypeVar("Part", bound=nn.Module)
TRACING = threading.Lock()  # torch.fx traces one module at a time
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.int8}


class Frozen(nn.Module):
    """Base, value and policy as one function of planes [B, C, H, W]; logits and values are float32.

    heads: the type that value and policy compute in; the base has its own.
    """

    def __init__(
        self, base_net: nn.Module, value: nn.Module, policy: nn.Module, *, heads: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.base_net = base_net
        self.value = value
        self.policy = policy
        self.heads = heads

    def forward(self, planes: torch.Tensor) -> Outputs:
        features = self.base_net(planes).to(self.heads)
        return self.policy(features).float(), self.value(features).float().flatten()


def frozen_parts(base_net: nn.Module, value: nn.Module, policy: nn.Module) -> Frozen:
    """Copies of the parts, on the CPU and in float32; ValueError if their weights are not finite."""
    frozen = Frozen(*(frozen_copy(module) for module in (base_net, value, policy)))
    check_finite(frozen)
    return frozen


def frozen_copy(module: Part) -> Part:
    """A copy on the CPU, in eval mode and float32, that will not be trained."""
    return copy.deepcopy(module).cpu().float().eval().requires_grad_(False)


def check_finite(module: nn.Module) -> None:
    """ValueError if a weight or a running statistic is NaN or infinite."""
    for name, tensor in module.state_dict().items():
        if isinstance(tensor, torch.Tensor) and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the network's weights hold NaN or infinite numbers (first in {name})")


def wanted_dtype(dtype: str | None, place: torch.device | None = None) -> torch.dtype:
    """The type of that name, or for None the fastest there.

    That is int8 on a CPU that has instructions for it but no AMX, else what `quick_float` says: with AMX bfloat16 is
    about as fast as int8, and rounds less.

    place: the device of a DeviceEvaluator, which has no int8.  ValueError for other names.
    """
    if dtype is None:
        return torch.int8 if place is None and has_int8_products() and not has_amx() else quick_float(place)
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {', '.join(map(repr, DTYPES))} or None, came {dtype!r}")
    if dtype == "int8" and place is not None:
        raise ValueError(f"dtype 'int8' is for evaluators on the CPU, came with the device {place.type!r}")
    return DTYPES[dtype]


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


def example_planes(env: GameEnv) -> torch.Tensor:
    """Random zeros and ones, float32 [3, planes, height, width], the same on every call."""
    generator = torch.Generator().manual_seed(1)
    planes = torch.rand(3, env.planes, *env.plane_shape, generator=generator).round()
    return planes.contiguous(memory_format=torch.channels_last)


def agree(got: Outputs, wanted: Outputs, tolerance: float) -> bool:
    """Whether logits and values are the same but for rounding, relative to the largest."""
    for mine, right in zip(got, wanted, strict=True):
        if mine.shape != right.shape or not (mine - right).abs().max() <= tolerance * (1 + right.abs().max()):
            return False
    return True
