"""The package from outside: its public names, and that nothing is imported before it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import alphago

NAMES = [
    "ConnectFourEnv", "GameBatch", "GameEnv", "GameRecord", "GoEnv", "GomokuEnv", "Gumbel", "IllegalMove",
    "MCTSPlayer", "MatchResult", "NeuralNet", "OwareEnv", "Position", "Puct", "ReplayMemory", "ReversiEnv",
    "SearchSettings", "check_game", "evaluate", "load_model", "play", "plot", "selfplay", "train", "train_on",
]  # fmt: skip


def run(program: str) -> str:
    """What a fresh Python prints."""
    root = Path(__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_public_names() -> None:
    assert set(NAMES) <= set(alphago.__all__)
    for name in alphago.__all__:
        assert getattr(alphago, name) is not None
    assert set(alphago.__all__) <= set(dir(alphago))
    assert len(dir(alphago)) == len(set(dir(alphago)))
    assert alphago.__version__


def test_names_are_what_they_are_at_home() -> None:
    from alphago.env.go import GoEnv
    from alphago.training.call.session import train

    assert alphago.GoEnv is GoEnv
    assert alphago.train is train


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'alphago' has no attribute 'Train'"):
        alphago.Train  # noqa: B018
    with pytest.raises(ImportError):
        from alphago import Chess  # noqa: F401


def test_importing_the_package_imports_next_to_nothing() -> None:
    heavy = "{'torch', 'numba', 'numpy', 'safetensors', 'tqdm'} & set(sys.modules)"
    assert run(f"import sys, alphago; dir(alphago); print({heavy})") == "set()"


def test_a_position_needs_no_torch() -> None:
    program = """
import sys
from alphago import GameEnv, GoEnv, IllegalMove, Position
position = GoEnv(9).position().play(40)
print(position.legal_mask.sum(), 'torch' in sys.modules)
"""
    assert run(program) == "81 False"


def test_a_search_needs_no_torch() -> None:
    """With an evaluator that does not."""
    program = """
import sys
from alphago import GoEnv, MCTSPlayer
player = MCTSPlayer(GoEnv(5), lambda position: ([1 / 26] * 26, 0.0), num_readouts=10)
print(player.suggest_move() in range(26), 'torch' in sys.modules)
"""
    assert run(program) == "True False"
