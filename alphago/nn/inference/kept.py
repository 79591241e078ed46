"""Evaluators kept with their network: making one takes seconds (calibration, compilation), the next request nothing."""

import hashlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import nn

KEPT = 4  # evaluators per network (boards, rules, dtypes, devices); the oldest is dropped first

Kept = TypeVar("Kept")

_LOCK = threading.RLock()
_EVALUATORS: WeakKeyDictionary[nn.Module, dict[Hashable, tuple[str, Any]]] = WeakKeyDictionary()


def kept(parts: tuple[nn.Module, ...], key: Hashable, make: Callable[[], Kept]) -> Kept:
    """Return what `make` returned earlier for these parts and this key, if the parts have not changed; else call it.

    It is kept as long as the first part exists.  Several threads may call at once: one of them makes it for all.
    """
    with _LOCK:
        found, now = _EVALUATORS.setdefault(parts[0], {}), state_digest(parts)
        before, evaluator = found.pop(key, ("", None))
        if before != now:
            evaluator = make()
        found[key] = now, evaluator
        for oldest in list(found)[:-KEPT]:
            del found[oldest]
        return evaluator


def state_digest(parts: tuple[nn.Module, ...]) -> str:
    """Return a digest of all that modules compute with: weights and buffers, bit for bit, and other attributes.

    It reads all numbers, a millisecond per megabyte, because torch does not notice changes by `tensor.data` or through
    a NumPy view.  Objects other than tensors and arrays count by their `repr`; hooks do not count.
    """
    digest = hashlib.sha256()
    for number, part in enumerate(parts):
        for path, module in part.named_modules(prefix=str(number)):
            digest.update(f"{path} {type(module).__qualname__}".encode())
            for name, value in attributes(module).items():
                digest.update(f" {name} ".encode())
                digest.update(as_bytes(value))
    return digest.hexdigest()


def attributes(module: nn.Module) -> dict[str, Any]:
    """Return a module's own tensors and other attributes, without its mode and its submodules."""
    tensors = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
    others = {name: value for name, value in vars(module).items() if name[0] != "_" and name != "training"}
    return tensors | others


def as_bytes(value: Any) -> bytes:
    """Return a tensor's or array's numbers, shape and dtype as bytes; for other objects their `repr`."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().contiguous()
        header, value = f"{value.dtype} {list(value.shape)}", value.reshape(-1).view(torch.uint8).numpy()
    elif isinstance(value, np.ndarray) and value.dtype != object:
        header = f"{value.dtype} {value.shape}"
    else:
        return repr(value).encode()
    return header.encode() + value.tobytes()
