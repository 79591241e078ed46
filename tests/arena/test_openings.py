"""Random openings: enough of them for a match, in every game."""

from pathlib import Path

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.arena.entrant import Entrant
from alphago.arena.match_games import MOST_PLIES, opening_length, random_points
from alphago.arena.match_result import distinct_games
from alphago.arena.tournament import Tournament, TournamentSettings
from alphago.mcts.evaluator import HashEvaluator


@pytest.mark.parametrize(
    ("env", "plies"),
    [
        (GoEnv(19), 2),
        (GoEnv(9), 2),
        (GoEnv(7), 2),
        (GoEnv(5), 4),
        (GoEnv(3), 4),
        (GoEnv(2), 4),
        (GomokuEnv(9), 2),
        (OwareEnv(), 4),
        (ConnectFourEnv(), 4),
        (ReversiEnv(), 6),
        (ReversiEnv(6), 6),
        (GomokuEnv(3, 3), 4),
    ],
)
def test_usual_number_of_plies(env: GameEnv, plies: int) -> None:
    assert opening_length(env) == plies <= MOST_PLIES


@pytest.mark.parametrize("env", [GoEnv(7), OwareEnv(), ConnectFourEnv(), ReversiEnv(6)])
def test_openings_seldom_repeat(env: GameEnv) -> None:
    """Of a hundred openings at least eighty differ; with two plies on 6x6 Reversi there are twelve in all."""
    games, plies = np.arange(100), opening_length(env)
    board = env.new_batch(100)
    generators = [np.random.default_rng([7, number]) for number in games]
    moves = []
    for _ in range(plies):
        moves.append(random_points(board, games, generators))
        board.play(games, moves[-1])
    assert distinct_games([tuple(game) for game in np.stack(moves, axis=1).tolist()]) >= 80


def test_a_tournament_has_them(tmp_path: Path) -> None:
    """So players without chance do not repeat their games, and the folder says how many plies were drawn."""
    env = ReversiEnv(4)
    players = [Entrant(HashEvaluator(), 4), Entrant("random", 0)]
    one = Tournament(env, players, TournamentSettings(4), tmp_path / "t")
    assert one.settings.random_opening == opening_length(env)
    assert one.identity()["random_opening"] == opening_length(env)
