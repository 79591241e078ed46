"""`find_backend`: a backend by name."""

from alphago.cuda.contract import Backend


def find_backend(device: str) -> Backend:
    """Return the backend "cuda" or "host"; raise BackendMissing if it cannot be used here, ValueError for others."""
    if device == "cuda":
        from alphago.cuda.device import Device  # only now: it looks for CuPy

        return Device()
    if device == "host":
        from alphago.cuda.host import Host

        return Host()
    raise ValueError(f"device must be 'cuda' or 'host' to run kernels there, got {device!r}")
