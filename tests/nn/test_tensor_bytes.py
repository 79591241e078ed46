"""The bytes of tensors: as the library reads them, and without a type for each size."""

import ctypes

import pytest
import torch
from safetensors.torch import load

from alphago.nn.tensor_bytes import tensors_to_bytes

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_they_are_read_again(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape).to(dtype)
    data = tensors_to_bytes({"a": tensor}, {"text": "ü"})
    read = load(data)["a"]
    assert (read.dtype, read.shape) == (dtype, tensor.shape)
    assert torch.equal(read, tensor)
    assert b'"text"' in data


def test_a_new_size_leaves_nothing_behind() -> None:
    before = len(ctypes.Array.__subclasses__())
    for size in range(4001, 4021):
        tensors_to_bytes({"a": torch.zeros(size)}, {})
    assert len(ctypes.Array.__subclasses__()) < before + 20
