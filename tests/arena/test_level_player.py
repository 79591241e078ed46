"""Matches of players at levels."""

import numpy as np
import pytest

from alphago.arena.entrant import Entrant
from alphago.arena.match import play_match
from alphago.arena.match_games import MatchGame, MatchPlan
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from tests.eyes import own_eyes


@pytest.mark.parametrize("env", [GoEnv(5), ConnectFourEnv()], ids=str)
def test_games_are_legal_and_fill_no_eyes(env: GameEnv) -> None:
    entrants = Entrant(HashEvaluator(), level=2), Entrant(HashEvaluator(), level=8)
    games: list[MatchGame] = []
    play_match(env.match_variant(), entrants, MatchPlan(6, 0, 0, 1, 1), range(6), games.append, cores=1)
    assert len({game.moves for game in games}) == 6
    for game in games if env.name == "go" else ():
        end = env.match_variant().position().after(game.moves)
        for before, action in end.turns():
            eyes = own_eyes(before.batch.rows, env.N)[0]
            assert action == env.pass_action or not eyes[action]
        assert end.is_over


def test_the_same_seed_gives_the_same_games() -> None:
    games: list[list[MatchGame]] = [[], []]
    for own in games:
        entrants = Entrant(HashEvaluator(), level=2), Entrant(HashEvaluator(), 4)
        play_match(GoEnv(4).match_variant(), entrants, MatchPlan(4, 0, 0, 1, 1), range(4), own.append, cores=1)
    first, second = (sorted(game.moves for game in own) for own in games)
    assert first == second
    assert np.isfinite([game.outcome for game in games[0]]).all()
