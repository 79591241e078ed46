"""Pictures of networks: their parts from the planes to what they predict, repeated blocks joined."""

from typing import Any

import pytest

from alphago import GoEnv, NeuralNet
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.net_picture import Box, join_repeats
from tests.drawing.reading import texts

GO = GoEnv(5)


def told(net: NeuralNet) -> str:
    return " ".join(texts(net.svg()))


def test_the_default_network() -> None:
    net = NeuralNet(GO, tower_height=3, channels=8)
    text = told(net)
    parts = f"""GoEnv(5): {net.num_parameters:,} parameters/planes [16, 5, 5]/3×3 convolution to 8 channels, batch norm/
residual block/residual block that sees the whole board/residual block/features [8, 5, 5]/
policy head/PointPolicy/policy [26]/value head/ForecastValue/score and ownership"""
    place = 0
    for part in parts.replace("\n", "").split("/"):
        place = text.index(part, place) + len(part)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"tower_height": 19, "channels": 8, "size_free": False}, "19 × residual block"),
        ({"tower_height": 20, "channels": 8}, "10 × (residual block, residual block that sees the whole board)"),
        ({"base_net": ResidualTower(16, 8, 4, block="plain")}, "4 × plain block"),
        ({"base_net": ResidualTower(16, 8, 4, block="preactivation")}, "4 × preactivation block"),
        ({"base_net": DenseBase(16, (5, 5), (32, 16))}, "dense layer to 32"),
        ({"base_net": DenseBase(16, (5, 5), (32, 16))}, "FlatPolicy"),
        ({"tower_height": 0, "channels": 8}, "features [8, 5, 5]"),
    ],
)
def test_other_networks(options: dict[str, Any], part: str) -> None:
    assert part in told(NeuralNet(GO, **options))


def test_repeated_boxes() -> None:
    repeats = {"": "", "a": "1a", "aaa": "3a", "abab": "1a 1b 1a 1b", "abbb": "1a 3b"}
    for names, expected in (repeats | {"ababab": "3(a, b)", "xabababy": "1x 3(a, b) 1y"}).items():
        boxes = join_repeats([Box(name) for name in names])
        assert " ".join(f"{box.times}{box.title}" for box in boxes) == expected
