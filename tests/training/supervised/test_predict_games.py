"""`predict_games` takes a network wherever it is kept."""

from pathlib import Path

import pytest

from alphago import GoEnv, load_model, predict_games, train_on
from alphago.nn.export import export_model


def test_a_name_is_a_network(tmp_path: Path) -> None:
    net = load_model("7x7")
    for one in ("7x7", net):
        with pytest.raises(ValueError, match="records must be at least"):
            predict_games(one, [])
    assert (
        export_model("7x7", tmp_path / "a.npz", positions=2).files
        == export_model(net, tmp_path / "a.npz", positions=2).files
    )
    with pytest.raises(TypeError, match=r"^net must be a NeuralNet, which is trained in place, such as load_model"):
        train_on("7x7", [GoEnv(7).position()], [[1]], [1])  # type: ignore[arg-type]
