"""Plain data and arrays as bytes without code."""

import io
import json
from typing import Any

import numpy as np

from alphago.system.npz import read_npz


def pack(plain: object, arrays: dict[str, np.ndarray]) -> bytes:
    """Return data for JSON, and arrays by name, as bytes."""
    out = io.BytesIO()
    np.savez(out, **{"": np.frombuffer(json.dumps(plain).encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def unpack(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return both arguments of `pack`."""
    arrays = read_npz(data)
    return json.loads(arrays.pop("").tobytes()), arrays
