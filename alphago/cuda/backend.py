"""`find_backend`: return the backend with a name."""

from alphago.cuda.contract import Backend


def find_backend(device: str) -> Backend:
    """Return the backend named "cuda" or "host".

    Raises:
        BackendMissing: if it cannot be used on this machine.
        ValueError: for other names.
    """
    if device == "cuda":
        from alphago.cuda.device import Device  # a backend is imported only for use: this one needs CuPy

        return Device()
    if device == "host":
        from alphago.cuda.host import Host

        return Host()
    raise ValueError(f"device must be 'cuda' or 'host' to run kernels there, got {device!r}")
