"""Devices by name: where the positions of a game are."""

from alphago.cuda.contract import BackendMissing
from alphago.env.game import GameEnv

DEVICES = ("cpu", "cuda", "auto", "host")


def check_device(device: str) -> str:
    """Return the name of a device; raise ValueError for an unknown name."""
    if device not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(map(repr, DEVICES))}, got {device!r}")
    return device


def choose_device(env: GameEnv, device: str = "auto") -> str:
    """Return the device for positions of a game: "cpu", "cuda" or "host".

    device: "cpu", numba's kernels; "cuda", the GPU; "host", the CUDA source compiled for the CPU, which is slower than
        numba's kernels and meant for tests; "auto", the GPU if the game has kernels for it and one can be used, else
        the CPU.
    Raises ValueError for another name and for a device that the game has no kernels for, BackendMissing if the device
    cannot be used, MemoryError if it has no memory left.
    """
    check_device(device)
    if device == "cpu" or (device == "auto" and not env.has_device_kernels):
        return "cpu"
    chosen = "cuda" if device == "auto" else device
    try:
        env.new_batch(1, chosen)
    except (BackendMissing, MemoryError):
        if device != "auto":
            raise
        return "cpu"
    return chosen
