"""Arrays of .npz files, which several threads may read."""

import io
import threading

import numpy as np

# NumPy parses the arrays' headers as Python, which before 3.11.8 fails now and then where two threads do so.
READING = threading.Lock()


def read_npz(data: bytes | memoryview) -> dict[str, np.ndarray]:
    """Return the named arrays of a .npz file; raise what NumPy raises for damaged data."""
    with READING, np.load(io.BytesIO(data), allow_pickle=False) as file:
        return dict(file)
