"""Convert plain data and arrays to bytes without code, and back."""

import io
import json
from typing import Any

import numpy as np

from alphago.system.npz import read_npz


def pack(plain: object, arrays: dict[str, np.ndarray]) -> bytes:
    """Convert plain data, which JSON can hold, and arrays by name to bytes."""
    out = io.BytesIO()
    np.savez(out, **{"": np.frombuffer(json.dumps(plain).encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def unpack(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the two arguments of `pack` from its result."""
    arrays = read_npz(data)
    return json.loads(arrays.pop("").tobytes()), arrays
