"""CGZero's choice of a move: any whose mean value + ln(visits + 3) is within a band of the best one's."""

import math

import numpy as np
import pytest

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.kernels.puct import near_best
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.search import Search, SearchSettings
from alphago.training.selfplay import selfplay
from tests.mcts.trees import children, random_position, run, search_from

EVENLY = (np.arange(400) + 0.5) / 400


def scores(search: Search, game: int) -> dict[int, float]:
    """Of each visited action, in plain Python."""
    tree, found = search.tree, {}
    for action, child in children(tree, game, ROOT).items():
        visits = int(tree.visits[game, child])
        if visits:
            found[action] = float(tree.value_sum[game, child]) / visits + math.log(visits + 3)
    return found


def good(search: Search, game: int, share: float) -> list[int]:
    own = scores(search, game)
    return sorted(action for action, score in own.items() if score >= share * max(own.values()))


@pytest.mark.parametrize("share", [0.0, 0.8, 0.95, 0.98, 1.0])
@pytest.mark.parametrize("env", [OwareEnv(rules="cgzero"), GoEnv(4)], ids=str)
def test_by_the_formula(env: GameEnv, share: float) -> None:
    random = np.random.default_rng(3)
    positions = [random_position(env, plies, random) for plies in (0, 2, 6, 9)]
    search = search_from(positions, HashEvaluator(), SearchSettings(parent_value_weight=0.0, c_puct=2.0))
    run(search, [1, 17, 60, 200])
    out = np.full((4, env.action_space), 7, np.float32)
    near_best(search.tree, np.arange(4), share, out)
    for game in range(4):
        assert np.flatnonzero(out[game]).tolist() == good(search, game, share)
        assert set(out[game]) <= {0, 1}
    if share == 0:
        assert np.array_equal(out > 0, search.visits(np.arange(4)) > 0)


def test_each_good_one_is_as_likely_as_another() -> None:
    """Early and late, with and without chance; what is learned are visits."""
    settings = SearchSettings(near_best=0.7, c_puct=2.0)
    search = search_from([OwareEnv().position()], HashEvaluator(), settings)
    run(search, 100)
    wanted, visits = good(search, 0, 0.7), search.visits(np.zeros(1, np.int64))
    assert 1 < len(wanted) < 6
    games = np.zeros(len(EVENLY), np.int64)
    for by_chance in (False, True):
        actions = search.choose(games, np.full(len(games), by_chance), EVENLY)
        counts = np.bincount(actions, minlength=6)
        assert np.flatnonzero(counts).tolist() == wanted
        assert counts[wanted] == pytest.approx(400 / len(wanted), abs=1)
    policies, _ = search.selfplay_moves(games[:1], np.ones(1, np.bool_), [np.random.default_rng(0)])
    assert policies == pytest.approx(visits / visits.sum())


def test_a_lead_in_visits_ends_no_search() -> None:
    """Values may still bring another action near the best; only a single legal move is certain."""
    for share, certain in ((None, True), (0.95, False)):
        search = search_from([GoEnv(3).position()], HashEvaluator(), SearchSettings(near_best=share))
        visits = np.sort(run(search, 60)[0])
        assert visits[-1] > visits[-2]
        assert search.rule.settled(search.tree, np.zeros(1, np.int32))[0] == certain
    only = OwareEnv().position(houses=[0, 0, 0, 0, 0, 1, 4, 4, 4, 4, 4, 4], margin=1)
    search = search_from([only], HashEvaluator(), SearchSettings(near_best=0.95))
    run(search, 5)
    assert search.rule.settled(search.tree, np.ones(1, np.int32))[0]


def test_players_and_self_play_take_it() -> None:
    env, settings = OwareEnv(rules="cgzero"), SearchSettings(near_best=0.0)
    player = MCTSPlayer(env, HashEvaluator(), 60, two_player_mode=True, settings=settings, seed=0)
    player.suggest_move()
    assert {player.pick_move() for _ in range(80)} == set(range(6))
    records = selfplay(env, HashEvaluator(), 12, 4, search=settings, opening_plies=0, temperature_plies=0, seed=0)
    assert len({tuple(record.moves[:4]) for record in records}) == 4


@pytest.mark.parametrize("share", [-0.1, 1.1, "much"])
def test_impossible_shares(share: float) -> None:
    with pytest.raises(ValueError, match="near_best must be a number from 0 to 1, got"):
        SearchSettings(near_best=share)
