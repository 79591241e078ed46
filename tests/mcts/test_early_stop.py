"""A search that is wanted for its best action alone ends as soon as that is certain, and never with another action."""

import numpy as np
import pytest

from alphago import GameEnv, GoEnv, Gumbel, MCTSPlayer, Puct, SearchSettings
from alphago.arena.players import SearchPlayer
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import Search
from tests.mcts.games import CountingEnv
from tests.mcts.trees import ONE, improved, random_position, search_from

GAMES = 40
ALL = np.arange(GAMES)
SETTINGS: list[SearchSettings] = [Puct(), Puct(leaves=4), Puct(leaves=8, virtual_loss=3)]
SETTINGS += [Puct(parent_value_weight=0.0, c_puct=3.0), Gumbel(considered=4)]


def searched_before(env: GameEnv, settings: SearchSettings) -> Search:
    """Random positions with a tree kept from a search of the move before, each its own."""
    random = np.random.default_rng(6)
    positions = [random_position(env, int(random.integers(0, 8)), random) for _ in range(GAMES)]
    search = search_from(positions, HashEvaluator(), settings)
    if settings.keeps_trees:
        search.run(random.integers(0, 60, GAMES).astype(np.int32))
        visits = search.visits(ALL)
        moved = visits.any(axis=1)
        search.advance(ALL[moved], visits[moved].argmax(axis=1).astype(np.int32))
    return search


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("env", [GoEnv(5), TicTacToeEnv(), CountingEnv(12)], ids=str)
def test_it_chooses_what_the_whole_search_would(env: GameEnv, settings: SearchSettings) -> None:
    random = np.random.default_rng(7)
    short, whole = (searched_before(env, settings) for _ in range(2))
    games = ALL[~short.batch.is_over(ALL, np.empty(GAMES, np.bool_))]
    readouts = np.zeros(GAMES, np.int32)
    readouts[games] = random.integers(1, 120, len(games))
    if isinstance(settings, Gumbel):
        short.rule.noise[:] = whole.rule.noise[:] = random.gumbel(size=short.rule.noise.shape)
    short.run(readouts, np.ones(GAMES, np.bool_))
    whole.run(readouts)
    for chance in (0.0, 0.5, 0.99):
        chances = np.zeros(len(games), np.bool_), np.full(len(games), chance)
        chosen = [search.rule.choose(search.tree, games, *chances) for search in (short, whole)]
        assert chosen[0].tolist() == chosen[1].tolist()
    done, planned = (search.visits(games).sum() for search in (short, whole))
    assert done < planned or isinstance(settings, Gumbel)
    assert np.isfinite(short.root_values(games)).all()


def test_a_lead_as_large_as_the_budget_is_not_enough() -> None:
    """The other action could draw level, and equals are drawn."""
    search = search_from([GoEnv(3).position()], HashEvaluator(), Puct())
    search.run(np.array([50], np.int32))
    first, second = np.sort(search.visits(ONE)[0])[[-1, -2]]
    lead = int(first - second)
    assert lead > 0
    assert search.rule.settled(search.tree, np.array([lead - 1])).tolist() == [True]
    assert search.rule.settled(search.tree, np.array([lead])).tolist() == [False]


@pytest.mark.parametrize("settings", [Gumbel(), Puct()], ids=str)
def test_the_only_legal_action_needs_no_search(settings: SearchSettings) -> None:
    env = CountingEnv(12)
    position = env.position(pile=1)
    search = search_from([position, env.position()], HashEvaluator(), settings)
    search.run(np.array([50, 50], np.int32), np.ones(2, np.bool_))
    forced, free = search.visits(np.arange(2)).sum(axis=1)
    assert forced <= 1 < 20 < free
    if isinstance(settings, Gumbel):
        assert free == 50  # two candidates are compared to the last readout
        assert improved(search, ONE)[1] == [0]


def test_moves_that_are_drawn_are_searched_in_full() -> None:
    """Of games side by side, those that draw a move in proportion to its visits want all visits."""
    env = CountingEnv(30)
    player = SearchPlayer(env, HashEvaluator(), 4, 400, Puct())
    player.choose(np.arange(4), np.array([True, False, True, False]), np.zeros(4))
    drawn, best, *others = player.search.visits(np.arange(4)).sum(axis=1).tolist()
    assert best < drawn == 400
    assert others == [drawn, best]


def test_players_stop_early_in_two_player_mode_only() -> None:
    """Else the visits are a target that somebody may learn from."""
    for two_player_mode in (True, False):
        player = MCTSPlayer(CountingEnv(30), HashEvaluator(), 400, two_player_mode, seed=0)
        player.suggest_move()
        assert (player.visits().sum() < 400) == two_player_mode
        player.tree_search(400)
        assert player.visits().sum() >= 400
