"""Every game of the package goes all the way: contract, learning, saving, matches, the terminal, the command line."""

import copy
import pickle
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest

from alphago import GameEnv, evaluate, load_model, play, selfplay, train
from alphago.cli import main
from alphago.env.games import GAMES, make_game
from alphago.mcts.evaluator import UniformEvaluator
from alphago.records.record import load_records, records_to_bytes
from alphago.ui.terminal.terminal_game import COUNT_PROMPT

SIZES = {"go": 4, "gomoku": 5, "reversi": 4}  # smaller than usual, for a test
ENVS = [make_game(name, SIZES.get(name)) for name in GAMES]
games = pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)


def others(*gate: str) -> pytest.MarkDecorator:
    """All games but Go, whose learning has tests of its own; those that are not named are slow."""
    marks = {env.name: () if env.name in gate else pytest.mark.slow for env in ENVS[1:]}
    envs = [pytest.param(env, marks=marks[env.name]) for env in ENVS[1:]]
    return pytest.mark.parametrize("env", envs, ids=lambda env: env.name)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@games
def test_positions_are_copied_and_pickled(env: GameEnv) -> None:
    position = env.position()
    for _ in range(4):
        position = position.play(int(np.flatnonzero(position.legal_mask)[0]))
    for twin in (copy.deepcopy(position), pickle.loads(pickle.dumps(position))):
        assert np.array_equal(twin.planes(), position.planes())
        move = int(np.flatnonzero(position.legal_mask)[-1])
        assert np.array_equal(twin.play(move).planes(), position.play(move).planes())


@others("gomoku", "reversi")
def test_learns_saves_and_plays(env: GameEnv) -> None:
    """A run of a few seconds; its file tells the game, and its records are the games that were played."""
    small = {"tower_height": 1, "channels": 8, "start_training_after": 20, "batch_size": 16}
    net = train(env, num_games=4, readouts=4, **small, folder="run", reports=[])
    again = load_model("run")
    assert again.env == env
    for old, new in zip(net.parameters(), again.parameters(), strict=True):
        assert np.array_equal(old.detach().numpy(), new.detach().numpy())
    result = evaluate(env, again, "random", num_games=2, readouts=4)
    assert len(result.games) == 2
    (record,) = selfplay(env, again, 4, seed=0)
    Path("games.npz").write_bytes(records_to_bytes([record]))
    (read,) = load_records("games.npz")
    assert read.moves.tolist() == record.moves.tolist()
    end = read.position(env)
    assert end.is_over
    assert end.outcome == record.outcome


@games
def test_at_the_terminal(env: GameEnv) -> None:
    """Whatever is legal is typed until stones are counted; a board is shown after each move, and who won in the end."""
    shown: list[str] = []

    def answer(prompt: str) -> str:
        return next(agreed if prompt == COUNT_PROMPT else typed)

    texts = [env.to_text(action) for action in range(env.action_space)]
    typed = chain(["help", "hint", "score", texts[0], "undo"], texts * env.max_moves, repeat("quit"))
    agreed = chain(["alive"], repeat(""))
    position = play(env, UniformEvaluator(), 2, read=answer, write=shown.append)
    assert position.is_over
    first, second = env.board_view.sides
    winner = {1: f"{first} wins.", -1: f"{second} wins.", 0: "nobody wins."}[int(position.result)]
    assert any(text.endswith(winner) for text in shown)
    assert shown[1] == str(env.position())
    assert "\n" in shown[1]
    assert str(position) in shown


@others("gomoku")
def test_command_line(env: GameEnv, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    size = ["--board-size", str(env.N)] if env.name in SIZES else []
    small = ["--games", "4", "--readouts", "2", "--tower-height", "1", "--channels", "8"]
    assert main(["train", "--game", env.name, *size, *small, "--folder", "run"]) == 0
    assert load_model("run").env.name == env.name
    assert main(["evaluate", "run@2", "random", "--games", "2", "--folder", "out"]) == 0
    assert "run@2 - random" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    assert main(["play", "run", "--readouts", "2"]) == 0
    assert "You left the game after 0 moves." in capsys.readouterr().out
