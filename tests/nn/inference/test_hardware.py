"""Which device and dtype a network is computed in, by what the machine has."""

import pytest
import torch
from plain_connect_four import PlainConnectFourEnv

from alphago import GoEnv, NeuralNet
from alphago.cuda.contract import BackendMissing
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.hardware import choose_dtype

EVERY = {"avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile", "amx_int8"}


@pytest.mark.parametrize(
    ("instructions", "onednn", "dtype"),
    [
        ({"avx512_vnni", "avx512_bf16"}, "", torch.int8),
        ({"avx_vnni"}, "", torch.int8),
        ({"avx512_vnni", "amx_tile"}, "", torch.bfloat16),
        ({"avx512_bf16"}, "", torch.bfloat16),
        (set(), "", torch.float32),
        (EVERY, "DEFAULT", torch.bfloat16),
        (EVERY, "AVX512_CORE_AMX", torch.bfloat16),
        (EVERY, "avx512_core_bf16", torch.int8),
        (EVERY, "AVX512_CORE_VNNI", torch.int8),
        (EVERY, "AVX2_VNNI", torch.int8),
        (EVERY, "AVX512_CORE", torch.float32),
        (EVERY, "AVX2", torch.float32),
    ],
)
@pytest.mark.parametrize("release", ["now", "before"])
def test_the_fastest_dtype_of_a_processor(
    instructions: set[str], onednn: str, dtype: torch.dtype, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its instructions those that oneDNN may use."""
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", onednn)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(instructions, True), raising=False)
    if release == "before":  # which does not know the second row's
        for name in ("avx512_bf16", "amx_tile", "vnni"):
            has = bool({name, f"avx512_{name}"} & instructions)
            monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda has=has: has, raising=False)
        monkeypatch.delattr(torch.cpu, "get_capabilities")
        dtype = torch.float32 if instructions == {"avx_vnni"} else dtype
    assert choose_dtype(None) == dtype
    if dtype is not torch.int8:  # bfloat16 where there are instructions for it, otherwise float32
        assert choose_dtype("bfloat16") == dtype
        assert choose_dtype("bfloat16", torch.device("cpu")) == torch.bfloat16  # the GPU's forms, computed on the CPU


def test_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    net = NeuralNet(GoEnv(5), tower_height=1, channels=4)
    assert isinstance(net.evaluator(device="auto"), NetEvaluator)
    with pytest.raises(BackendMissing, match="no CUDA device can be used: torch finds none"):
        net.evaluator(device="cuda")
    with pytest.raises(ValueError, match=r"device .* got 'tpu'"):
        net.evaluator(device="tpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    other = NeuralNet(PlainConnectFourEnv(), tower_height=1, channels=4)
    assert isinstance(other.evaluator(device="auto"), NetEvaluator)
    with pytest.raises(ValueError, match="has no CUDA kernels"):
        other.evaluator(device="cuda")
