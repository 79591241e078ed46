"""The dtypes that a run computes in, by the kind of processor."""

from dataclasses import replace

import pytest

from alphago import GoEnv, NeuralNet
from alphago.nn.inference import hardware
from alphago.training.learner import choose_bfloat16
from alphago.training.settings.learning_settings import LearningSettings

SETTINGS = LearningSettings(batch_size=8)

# Kinds of processors, by their instructions: AMX; AVX-512 with bfloat16 and with 8-bit integers; AVX2.
AMX = ("amx_tile", "amx_int8", "avx512_bf16", "avx512_vnni")
BF16 = ("avx512_bf16", "avx512_vnni")
VNNI = ("avx512_vnni",)


@pytest.mark.parametrize(
    ("processor", "instructions", "size", "bfloat16", "dtype"),
    [
        ("Intel(R) Xeon(R)", AMX, (4, 32), True, "bfloat16"),
        ("Intel(R) Xeon(R)", AMX, (2, 16), False, "bfloat16"),
        ("Intel(R) Xeon(R)", BF16, (4, 32), False, "int8"),
        ("AMD EPYC", BF16, (4, 32), True, "int8"),
        ("AMD EPYC", BF16, (2, 16), False, "int8"),
        ("AMD EPYC", VNNI, (4, 32), False, "int8"),
        ("Intel(R) Xeon(R)", ("avx512_bf16",), (4, 32), False, "bfloat16"),
        ("AMD EPYC", (), (4, 32), False, "float32"),
    ],
)
def test_by_the_kind_of_processor(
    monkeypatch: pytest.MonkeyPatch,
    processor: str,
    instructions: tuple[str, ...],
    size: tuple[int, int],
    bfloat16: bool,
    dtype: str,
) -> None:
    """And by the size of the network; what is given stays."""
    monkeypatch.setattr(hardware, "processor", lambda: processor)
    monkeypatch.setattr(hardware, "cpu_has", lambda *names: bool(set(names) & set(instructions)))
    net = NeuralNet(GoEnv(5), tower_height=size[0], channels=size[1])
    assert choose_bfloat16(SETTINGS, net).bfloat16 is bfloat16
    assert hardware.dtype_name(hardware.choose_dtype(None)) == dtype
    given = replace(SETTINGS, bfloat16=not bfloat16)
    assert choose_bfloat16(given, net) == given
