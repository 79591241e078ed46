"""Norms of training on a GPU: the host build of their kernels, and with -m gpu the GPU, against torch in float64."""

from pathlib import Path

import pytest
import torch
from torch import nn

from alphago.cuda.host import compile_library
from alphago.nn import device_norm, passes
from alphago.nn.inference.hardware import torch_device
from tests.devices import DEVICES, needs_compiler
from tests.nn.test_passes import assert_nan_stays, assert_norms, boards, usual_norm

# Boards, channels, side: one block and several, rows that no block's lanes divide, the most channels.
SHAPES = [(1, 8, 3), (7, 32, 7), (33, 24, 9), (2, 96, 19), (1, 2048, 2)]

on_devices = pytest.mark.parametrize("device", DEVICES)


@pytest.mark.slow
@needs_compiler
def test_the_source_compiles_without_warnings(tmp_path: Path) -> None:
    compile_library(device_norm.PROGRAM.host_text, tmp_path / "strict.so", ("-Wall", "-Wextra", "-Werror"))


def normed(norm: nn.BatchNorm2d, features: torch.Tensor, added: torch.Tensor | None) -> torch.Tensor:
    """Return the kernels' result; on a GPU `passes` chooses them."""
    if features.is_cuda:
        return passes.norm_relu(norm, features, added)
    return device_norm.DeviceNormRelu.apply(features, added, norm.weight, norm.bias, norm)


@on_devices
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("with_added", [False, True])
def test_results_and_gradients(device: str, shape: tuple[int, int, int], with_added: bool) -> None:
    assert_norms(normed, shape, with_added, "DeviceNormRelu", str(torch_device(device)))


@on_devices
def test_a_step_repeats(device: str) -> None:
    """Sums are in one order, whatever the threads do."""
    where = torch_device(device)
    outputs = []
    for _ in range(3):
        features, norm = boards((64, 32, 9)).to(where).requires_grad_(), usual_norm(32).to(where)
        normed(norm, features, None).square().sum().backward()
        outputs.append((features.grad, norm.weight.grad, norm.running_var))
    for other in outputs[1:]:
        assert all(torch.equal(mine, first) for mine, first in zip(other, outputs[0], strict=True))


@on_devices
def test_a_nan_is_not_lost(device: str) -> None:
    assert_nan_stays(normed, str(torch_device(device)))


@on_devices
def test_what_the_kernels_cannot_read_is_torchs(device: str) -> None:
    features = boards((4, 8, 5)).to(torch_device(device))
    assert device_norm.suits_device(features) is features.is_cuda
    others = [features.float(), features.contiguous(), boards((4, 6, 5)).to(features.device), features[:0], features[0]]
    assert not any(device_norm.suits_device(other) for other in others)
