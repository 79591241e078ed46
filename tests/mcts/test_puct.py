"""The search kernels and the naive search grow the same trees, field by field."""

from dataclasses import asdict

import numpy as np
import pytest

from alphago import GameEnv, GoEnv, Puct, SearchSettings
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from tests.mcts.games import GAMES
from tests.mcts.trees import assert_same_tree, random_position, run, search_from
from tests.naive.puct import NaiveSearch, one_by_one

SETTINGS = [
    {},
    {"first_play_reduction": 0.0},  # AlphaGo.jl
    {"parent_value_weight": 0.0, "first_play_reduction": 0.0},  # AlphaGo Zero
    {"c_puct": 4.0, "parent_value_weight": 0.5},
    {"c_puct": 0.1},
    {"leaves": 4},
    {"leaves": 4, "parent_value_weight": 0.0, "c_puct": 1.5},
    {"first_play_reduction": 0.2, "leaves": 4, "parent_value_weight": 0.0},
    {"leaves": 8, "virtual_loss": 3},
]


def naive(position, settings: SearchSettings, evaluator=None) -> NaiveSearch:
    wanted = ("c_puct", "parent_value_weight", "first_play_reduction", "virtual_loss", "leaves")
    evaluate = one_by_one(evaluator or HashEvaluator())
    return NaiveSearch(position, evaluate, **{name: asdict(settings.completed(32, leaves=1))[name] for name in wanted})


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("env", GAMES, ids=str)
def test_same_trees(env: GameEnv, settings: dict) -> None:
    chosen = Puct(**settings)
    random = np.random.default_rng(1)
    positions = [random_position(env, plies, random) for plies in (0, 3, 9)]
    search = search_from(positions, HashEvaluator(), chosen)
    visits = run(search, [60, 45, 33])
    values = search.root_values(np.arange(3))
    for game, (position, readouts) in enumerate(zip(positions, (60, 45, 33), strict=True)):
        twin = naive(position, chosen)
        twin.run(readouts)
        assert np.array_equal(visits[game], twin.visits())
        assert visits[game].sum() == readouts
        assert values[game] == pytest.approx(twin.root_value, abs=1e-5)
        assert_same_tree(search, game, twin)


@pytest.mark.parametrize("settings", [{}, {"leaves": 4}, {"parent_value_weight": 0.0}], ids=str)
@pytest.mark.parametrize("env", GAMES, ids=str)
def test_same_trees_over_a_game(env: GameEnv, settings: dict) -> None:
    """The tree is kept from move to move; most moves are good ones, some nobody had looked at."""
    chosen = Puct(**settings)
    random = np.random.default_rng(2)
    position = env.position()
    search, twin = search_from([position], HashEvaluator(), chosen), naive(position, chosen)
    unvisited = 0
    for ply in range(10):
        visits = run(search, 25)[0]
        twin.run(25)
        assert np.array_equal(visits, twin.visits())
        assert_same_tree(search, 0, twin)
        legal = np.flatnonzero(twin.root.position.legal_mask)
        strange = legal[visits[legal] == visits[legal].min()]
        action = int(random.choice(strange) if ply % 3 == 2 else visits.argmax())
        unvisited += visits[action] == 0
        search.advance(np.zeros(1, np.int64), np.array([action], np.int32))
        twin.advance(action)
        assert_same_tree(search, 0, twin)
        if twin.root.position.is_over:
            break
        if twin.root.evaluated:
            assert search.root_values(np.zeros(1, np.int64))[0] == pytest.approx(twin.root_value, abs=1e-5)
    assert unvisited or env.action_space < 10, "every action was looked at: nothing strange was tried"


def test_equal_scores_go_to_the_lowest_action() -> None:
    env = TicTacToeEnv()
    settings = Puct(parent_value_weight=0.0, first_play_reduction=0.0)
    search = search_from([env.position()], UniformEvaluator(), settings)
    twin = naive(env.position(), settings, UniformEvaluator())
    for readouts in range(1, 12):
        visits = run(search, 1)[0]
        twin.run(1)
        assert np.array_equal(visits, twin.visits())
        if readouts <= 9:  # every square once, in order
            assert visits.tolist() == [1] * readouts + [0] * (9 - readouts)


def test_squashed_visits() -> None:
    """In the first moves of self-play alone, for the targets and for what is drawn."""
    env, games = GoEnv(3), np.arange(2)
    search = search_from([env.position()] * 2, HashEvaluator(), Puct(squash=0.5))
    visits = run(search, 60).astype(float)
    early, generators = np.array([True, False]), [np.random.default_rng(1) for _ in games]
    policies, actions = search.rule.selfplay_moves(search.tree, games, early, generators)
    expected = visits ** np.array([[0.5], [1.0]])
    assert policies == pytest.approx(expected / expected.sum(axis=1, keepdims=True))
    assert actions[1] == visits[1].argmax()
