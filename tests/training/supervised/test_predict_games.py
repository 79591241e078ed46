"""`predict_games` takes a network wherever it is kept."""

from pathlib import Path

import pytest

from alphago import load_model, predict_games
from alphago.nn.export import export_model


def test_a_name_is_a_network(tmp_path: Path) -> None:
    net = load_model("7x7")
    for one in ("7x7", net):
        with pytest.raises(ValueError, match="records must be at least"):
            predict_games(one, [])
    assert (
        export_model("7x7", tmp_path / "a.w32", positions=2).files
        == export_model(net, tmp_path / "a.w32", positions=2).files
    )
