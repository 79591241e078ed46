"""A cache of evaluators for each network, since making one takes seconds of calibration and compilation."""

import hashlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import nn

MOST_CACHED = 4  # largest number of evaluators cached per network; the least recently used one is dropped first

Made = TypeVar("Made")

_LOCK = threading.RLock()
_EVALUATORS: WeakKeyDictionary[nn.Module, dict[Hashable, tuple[str, Any]]] = WeakKeyDictionary()


def get_or_make(net: Any, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return the cached object for the parts of a network and `key`, or call `make` and cache its result.

    `make` is called again if the parts' weights have changed.  A cached object lives as long as the network's base.
    Several threads may call this at the same time.

    Args:
        net: the NeuralNet.
        key: the other arguments that determine the object.
        make: creates the object.
    """
    with _LOCK:
        cached = _EVALUATORS.setdefault(net.base_net, {})
        digest = state_digest((net.base_net, net.value, net.policy))
        old_digest, evaluator = cached.pop(key, ("", None))  # "" differs from any digest
        if old_digest != digest:
            evaluator = make()
        cached[key] = digest, evaluator  # at the end: the dictionary's order is that of the last uses
        for oldest in list(cached)[:-MOST_CACHED]:
            del cached[oldest]
        return evaluator


def state_digest(parts: tuple[nn.Module, ...]) -> str:
    """Return a hash of modules: their weights and buffers, bit for bit, and their other attributes.

    All numbers are read, since torch does not record changes made through `tensor.data` or a NumPy view; this takes a
    millisecond per megabyte.  Of attributes other than tensors and arrays the `repr` is hashed; hooks are ignored.
    """
    digest = hashlib.sha256()
    for number, part in enumerate(parts):
        for path, module in part.named_modules(prefix=str(number)):
            digest.update(f"{path} {type(module).__qualname__}".encode())
            for name, value in attributes(module).items():
                digest.update(f" {name} ".encode())
                digest.update(as_bytes(value))
    return digest.hexdigest()


def attributes(module: nn.Module) -> dict[str, object]:
    """Return what a module's outputs in eval mode depend on: its tensors and public attributes, by name.

    Submodules are left out.  Private attributes are torch's own, such as hooks; `training` is the mode.
    """
    tensors = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
    others = {name: value for name, value in vars(module).items() if name[0] != "_" and name != "training"}
    return tensors | others


def as_bytes(value: object) -> bytes:
    """Return the dtype, shape and numbers of a tensor or array as bytes, or the `repr` of another object."""
    if isinstance(value, torch.Tensor):
        header = f"{value.dtype} {list(value.shape)}"
        numbers = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    elif isinstance(value, np.ndarray) and value.dtype != object:
        header, numbers = f"{value.dtype} {value.shape}", value
    else:
        return repr(value).encode()
    return header.encode() + numbers.tobytes()
