"""The one meaning of `device=`: where boards stand and where their network is computed."""

import torch

from alphago.cuda.backend import BackendMissing
from alphago.cuda.batch import choose_device
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
