"""Tensors as the bytes of a safetensors file."""

from collections.abc import Mapping

import torch
from safetensors.numpy import save as bytes_of_arrays
from safetensors.torch import save as bytes_of_tensors


def bytes_of(tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> bytes:
    """Return the contents of a safetensors file with contiguous tensors on the CPU that share no memory, and texts.

    `safetensors.torch.save` makes a ctypes type for each new size of a tensor, which Python keeps, so that a process
    that saves tensors of ever other sizes grows.  So it is taken only for dtypes that NumPy does not have.
    """
    try:
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError:
        return bytes_of_tensors(dict(tensors), dict(header))
    return bytes_of_arrays(arrays, dict(header))
