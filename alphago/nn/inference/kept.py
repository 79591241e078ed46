"""Evaluators kept with their network: making one takes seconds (calibration, compilation), asking again nothing."""

import hashlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import nn

KEPT = 4  # of one network, for other boards, rules, dtypes and devices; the oldest goes first

Kept = TypeVar("Kept")

_LOCK = threading.RLock()
_EVALUATORS: WeakKeyDictionary[nn.Module, dict[Hashable, tuple[str, Any]]] = WeakKeyDictionary()


def kept(parts: tuple[nn.Module, ...], key: Hashable, make: Callable[[], Kept]) -> Kept:
    """Return what `make` returned for these parts and this key before, if the parts are as they were; else make it.

    What is kept goes when the first part does.  Several threads may call it at once; one of them makes what all get.
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
    """Return a digest of all that modules compute with: weights and buffers, to the last bit, and further attributes.

    It reads the numbers, a millisecond for each megabyte, because torch does not count changes by `tensor.data` or
    through a NumPy view.  Objects other than tensors and arrays count by their `repr`; hooks do not count.
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
    """Return a module's own tensors and further attributes, without its mode and its submodules."""
    tensors = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
    others = {name: value for name, value in vars(module).items() if name[0] != "_" and name != "training"}
    return tensors | others


def as_bytes(value: Any) -> bytes:
    """Return the numbers of a tensor or array with their shape and dtype, and the `repr` of anything else."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().contiguous()
        header, value = f"{value.dtype} {list(value.shape)}", value.reshape(-1).view(torch.uint8).numpy()
    elif isinstance(value, np.ndarray) and value.dtype != object:
        header = f"{value.dtype} {value.shape}"
    else:
        return repr(value).encode()
    return header.encode() + value.tobytes()
