"""The one meaning of `device=`: where boards stand and where their network is computed."""

import contextlib
import re
from collections.abc import Iterator

import torch

from alphago.cuda.contract import BackendMissing
from alphago.env.devices import choose_device
from alphago.env.game import GameEnv

# What torch calls the places that alphago.cuda knows; "host" is its kernels' build for the CPU, meant for tests.
TORCH_NAMES = {"cpu": "cpu", "host": "cpu", "cuda": "cuda"}


def find_device(env: GameEnv, device: str) -> str:
    """Where a game is played and a network for it computed: "cpu", "cuda" or "host".

    device: one of these; or "auto", the GPU where there is one that torch and CuPy can use and the game has kernels
        for it, else the CPU.
    Raises ValueError for another name and for a game without kernels, BackendMissing where there is no GPU to use.
    """
    if torch.cuda.is_available():
        return choose_device(env, device)
    if device == "cuda":
        raise BackendMissing("no CUDA device can be used: torch finds none, or was built without CUDA")
    return choose_device(env, "cpu" if device == "auto" else device)


def torch_device(device: str) -> torch.device:
    """Where torch computes for boards on "cpu", "cuda" or "host"."""
    return torch.device(TORCH_NAMES[device])


def is_out_of_memory(error: BaseException) -> bool:
    """Whether torch, or a library under it, says that there is no room on the GPU."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and bool(re.search("out of memory|ALLOC_FAILED", str(error)))


@contextlib.contextmanager
def memory_told() -> Iterator[None]:
    """Makes of torch's error in the block, where there is no room on the GPU, a MemoryError of one sentence."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        asked = re.search(r"Tried to allocate ([\d.]+ \w+)", str(error))
        what = asked[1] if asked else "what is wanted"
        raise MemoryError(f"{what} does not fit into the memory that is left on the GPU") from error
