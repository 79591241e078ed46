"""Tensors as the bytes of a safetensors file."""

from collections.abc import Mapping

import torch
from safetensors.numpy import save as bytes_of_arrays
from safetensors.torch import save as bytes_of_tensors


def tensors_to_bytes(tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> bytes:
    """Return the contents of a safetensors file.

    `safetensors.torch.save` is used only for dtypes that NumPy does not have.  It makes a ctypes type for each new size
    of a tensor, and Python keeps these types, so the memory of a process that saves tensors of many sizes would grow.

    Args:
        tensors: by name; contiguous, on the CPU, no two of them in the same memory.
        header: texts by name.
    """
    try:
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError:
        return bytes_of_tensors(dict(tensors), dict(header))
    return bytes_of_arrays(arrays, dict(header))
