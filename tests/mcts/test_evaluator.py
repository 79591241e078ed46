"""What may be given where a search takes a network: names and paths too, and functions whose answers are checked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv, MCTSPlayer, NeuralNet, load_model
from alphago.mcts.evaluator import as_evaluator, as_network

GO = GoEnv(5)


def legal(count: int = 26) -> np.ndarray:
    return np.ones(count) / count


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, r"must return \(policy, value\), got None"),
        ((legal(25), 0.0), "policy must be 26 real numbers, .* got 25 of float64"),
        ((legal() * 1j, 0.0), "policy must be 26 real numbers, .* got 26 of complex128"),
        ((np.full(26, -np.inf), 0.0), "policy must be finite numbers >= 0, .* got numbers from -inf"),
        ((legal() - 0.5, 0.0), "policy must be finite numbers >= 0"),
        ((np.zeros(26), 0.0), "one of them above 0, got numbers from 0 to 0"),
        ((legal(), 7), "value must be a number from -1 to 1, got 7"),
        ((legal(), 2**70), "value must be a number from -1 to 1"),
        ((legal(), np.nan), "value must be a number from -1 to 1, got nan"),
        ((legal(), None), "value must be a number from -1 to 1, got None"),
    ],
    ids=str,
)
def test_what_a_function_may_not_answer(answer: Any, sentence: str) -> None:
    player = MCTSPlayer(GO, lambda position: answer)
    with pytest.raises((TypeError, ValueError), match=sentence):
        player.tree_search(8)


def test_what_a_function_may_answer() -> None:
    """Weights that do not sum to 1, of one kind or another, and a mass on illegal actions alone."""
    occupied = np.eye(26, dtype=int)[12]
    for policy in (np.arange(26), legal()[None], legal().tolist(), occupied):
        player = MCTSPlayer(GO, lambda position, policy=policy: (policy, np.float32([[0.25]])))
        player.play_move(12)
        player.tree_search(8)
        assert player.root_visits == 9


@pytest.mark.parametrize("network", [7, None, (1, 2)], ids=str)
def test_what_is_no_network(network: Any) -> None:
    with pytest.raises(TypeError, match=r"a NeuralNet, an evaluator, a function on positions, or a name, .* got"):
        as_evaluator(network)


class TestNames:
    def test_a_player_takes_a_name_a_file_and_a_folder(self, tmp_path: Path) -> None:
        NeuralNet(GO, tower_height=0, channels=4).save(tmp_path / "weights.safetensors")
        for name in (tmp_path, str(tmp_path), tmp_path / "weights.safetensors"):
            assert MCTSPlayer(GO, name).network.env == GO
        player = MCTSPlayer(GoEnv(7), "7x7", resign_threshold=None)
        assert player.network.resign_threshold == load_model("7x7").resign_threshold

    def test_on_another_board(self) -> None:
        assert as_network("7x7", GO).env == GO
