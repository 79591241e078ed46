"""The devices on which positions of a game can be: "cpu", "cuda", "host", and "auto"."""

from alphago.cuda.contract import BackendMissing
from alphago.env.game import GameEnv
from alphago.system.validation import check_choice

DEVICES = ("cpu", "cuda", "auto", "host")


def check_device(device: str) -> str:
    """Return a device's name unchanged; raise ValueError for an unknown one."""
    return check_choice("device", device, DEVICES)


def choose_device(env: GameEnv, device: str = "auto") -> str:
    """Return the device for positions of a game: "cpu", "cuda" or "host".

    Args:
        device: "cpu", numba's kernels; "cuda", the GPU; "host", the CUDA source compiled for the CPU, which is slower
            than numba's kernels and meant for tests; "auto", the GPU if the game has kernels for it and one can be
            used, else the CPU.

    Raises:
        ValueError: for an unknown name or a device for which the game has no kernels.
        BackendMissing: if the device cannot be used.
        MemoryError: if the device has no memory left.
    """
    check_device(device)
    if device == "cpu" or (device == "auto" and not env.has_device_kernels):
        return "cpu"
    chosen = "cuda" if device == "auto" else device
    try:
        env.new_batch(1, chosen)  # only use shows whether the device works
    except (BackendMissing, MemoryError):
        if device != "auto":
            raise
        return "cpu"
    return chosen
