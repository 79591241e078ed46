"""Which game a saved network is played with."""

from pathlib import Path

import pytest
from alphago.nn.saved import model_file, saved_game

from alphago.env.go import GoEnv
from alphago.nn.model_files import ModelError
from alphago.nn.net import NeuralNet, load_model
from examples.tic_tac_toe import TicTacToeEnv


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that was trained with options of self-play and boards alone as input."""
    path = tmp_path_factory.mktemp("nets") / "net.safetensors"
    env = GoEnv(5, komi=3.5, planes=5, max_moves=20, margin_weight=0.3, first_pass=9)
    NeuralNet(env, tower_height=1, channels=8).save(path)
    return path


class TestGame:
    def test_its_own(self, saved: Path) -> None:
        """Board, komi and input planes, and nothing else."""
        assert saved_game(saved) == GoEnv(5, komi=3.5, planes=5)

    def test_another_komi(self, saved: Path) -> None:
        assert saved_game(saved, komi=-0.5) == saved_game(saved, 5, -0.5) == GoEnv(5, komi=-0.5, planes=5)

    def test_another_board_has_its_usual_komi(self, saved: Path) -> None:
        assert saved_game(saved, 7) == GoEnv(7, komi=9, planes=5)
        assert saved_game(saved, 9, 6.5) == GoEnv(9, komi=6.5, planes=5)

    def test_its_rules(self, tmp_path: Path) -> None:
        path = tmp_path / "turns.safetensors"
        env = GoEnv(3, komi=0, turns=6, first_pass=12, planes="turns", ko="situational", suicide=True)
        NeuralNet(env, tower_height=1, channels=8).save(path)
        assert saved_game(path) == env.replace(first_pass=0)
        assert saved_game(path, 5) == GoEnv(5, turns=6, planes="turns", ko="situational", suicide=True)
        assert load_model(path).env == saved_game(path)

    def test_another_game(self, tmp_path: Path) -> None:
        path = tmp_path / "other.safetensors"
        NeuralNet(TicTacToeEnv(), tower_height=1, channels=8).save(path)
        with pytest.raises(
            ModelError, match=r"other\.safetensors holds a network for .*, which does not come with the package: "
        ):
            saved_game(path)


def test_model_file(tmp_path: Path) -> None:
    """A run folder stands for its latest network; any other path for itself."""
    run = tmp_path / "run"
    run.mkdir()
    assert model_file(run) == run
    (run / "weights.safetensors").write_text("")
    assert model_file(run) == run / "weights.safetensors"
    assert model_file(str(run / "none")) == run / "none"
