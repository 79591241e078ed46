"""The search rule of docs/search_rule.md: in self-play, in matches, and by its name on the shell."""

import sys
from pathlib import Path

import numpy as np
import pytest
from widening import Widening

from alphago import GoEnv, MCTSPlayer, NeuralNet, cli, evaluate, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search_specs import SEARCHES

FILE = Path(__file__).parents[2] / "examples" / "widening.py"


def test_a_node_tries_as_many_actions_as_its_visits_allow() -> None:
    env = TicTacToeEnv()
    for width, most in ((1.0, 5), (0.25, 2), (9.0, 9)):  # sqrt(25) actions, once it has 25 visits
        player = MCTSPlayer(env, HashEvaluator(), 25, settings=Widening(width=width))
        player.suggest_move()
        assert np.count_nonzero(player.visits()) == most
    records = selfplay(env, HashEvaluator(), 8, search=Widening(), num_games=4, seed=0)
    assert len({tuple(record.moves) for record in records}) > 1  # noise and drawn moves vary the games
    match = evaluate(env, HashEvaluator(), "random", 20, 60, search=(Widening(leaves=1), "puct"))
    assert match.wins > match.losses


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A small network's file; what a command imports and registers is forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "widening", raising=False)
    monkeypatch.setitem(SEARCHES, "widening:Widening", Widening)
    NeuralNet(GoEnv(5), tower_height=0, channels=4).save("net.safetensors")
    return "net.safetensors"


def test_a_rule_is_named_on_the_shell(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", f"{shell}@2,{FILE}:Widening", f"{shell}@2", "--games", "2", "--folder", "match"]) == 0
    assert f"{shell}@2,widening:Widening" in capfd.readouterr().out
    assert '"widening:Widening": "' in Path("match/evaluation.json").read_text()  # the hash of its file
    run = ["selfplay", shell, "--games", "1", "--readouts", "2", "--folder", "games"]
    assert cli.main([*run, f"--search={FILE}:Widening"]) == 0
    assert cli.main([*run, "--search", "widening:Widening", "--explore=-1"]) == 2
    assert "--explore must be" in capfd.readouterr().err
