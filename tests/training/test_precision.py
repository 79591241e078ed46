"""Whether a run learns in bfloat16, by the kind of processor and the size of its network."""

from dataclasses import replace

import pytest

from alphago import GoEnv, NeuralNet
from alphago.nn.inference import hardware
from alphago.training.learner import choose_bfloat16
from alphago.training.settings.learning_settings import LearningSettings

INTEL, AMD = "Intel(R) Xeon(R)", "AMD EPYC"


@pytest.mark.parametrize(
    ("processor", "instructions", "size", "bfloat16"),
    [
        (INTEL, {"amx_tile", "avx512_bf16"}, (4, 32), True),
        (INTEL, {"amx_tile", "avx512_bf16"}, (2, 16), False),
        (INTEL, {"avx512_bf16"}, (4, 32), False),
        (AMD, {"avx512_bf16"}, (4, 32), True),
        (AMD, {"avx512_bf16"}, (2, 16), False),
        (AMD, {"avx512_vnni"}, (4, 32), False),
    ],
)
def test_by_the_kind_of_processor(
    monkeypatch: pytest.MonkeyPatch, processor: str, instructions: set[str], size: tuple[int, int], bfloat16: bool
) -> None:
    """What is given stays."""
    monkeypatch.setattr(hardware, "processor", lambda: processor)
    monkeypatch.setattr(hardware, "cpu_has", lambda *names: bool(set(names) & instructions))
    net, settings = NeuralNet(GoEnv(5), tower_height=size[0], channels=size[1]), LearningSettings()
    assert choose_bfloat16(settings, net).bfloat16 is bfloat16
    given = replace(settings, bfloat16=not bfloat16)
    assert choose_bfloat16(given, net) == given
