"""Moves that win at once: the search tries nothing else where there is one, as if the network had said so."""

from dataclasses import replace

import numpy as np
import pytest

import alphago
from alphago import GameBatch, GameEnv, Gumbel, MCTSPlayer, NeuralNet, Puct, SearchSettings
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import Evaluator, HashEvaluator
from alphago.mcts.questions import Limit
from alphago.mcts.search import Forbidden
from alphago.mcts.warm_up import PlainGame
from tests.mcts.trees import ONE, assert_same, random_position, run, search_from

TIC_TAC_TOE = alphago.GomokuEnv(3, 3)


class Told(Evaluator):
    """The evaluations of HashEvaluator, but those of a win where a legal move, tried on a copy, wins at once."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        HashEvaluator().evaluate(batch, slots, priors, values)
        for i, slot in enumerate(slots.tolist()):
            position = batch.env.position_of(batch, slot)
            for action in np.flatnonzero(position.legal_mask).tolist():
                after = position.play(action)
                if after.is_over and after.result == position.to_play:
                    priors[i], values[i] = np.arange(priors.shape[1]) == action, 1
                    break


GAMES = [TIC_TAC_TOE, PlainGame(), alphago.GomokuEnv(6, 4, 5), alphago.ConnectFourEnv(), alphago.OwareEnv()]
GAMES += [alphago.ReversiEnv(4), alphago.ReversiEnv(10)]


@pytest.mark.parametrize("settings", [Puct(), Puct(leaves=4), Gumbel(), Gumbel(leaves=2)], ids=str)
@pytest.mark.parametrize("env", GAMES, ids=repr)
def test_as_if_the_network_had_said_so(env: GameEnv, settings: SearchSettings) -> None:
    """Every node has the same visits and value as in a search without this option that is told by its evaluator."""
    random = np.random.default_rng(4)
    positions = [random_position(env, plies, random) for plies in (0, env.max_moves // 2, env.max_moves)]
    blind = replace(settings, decisive_moves=False)
    ours, theirs = search_from(positions, HashEvaluator(), settings), search_from(positions, Told(), blind)
    assert np.array_equal(run(ours, 80), run(theirs, 80))
    assert_same(ours, theirs)
    without = search_from(positions, HashEvaluator(), blind)
    run(without, 80)
    assert not np.array_equal(without.tree.value, ours.tree.value)


def test_the_root_too_and_a_player_who_must_not() -> None:
    """Black wins with C1, and so would White."""
    winning, win = TIC_TAC_TOE.position().after(["A1", "A2", "B1", "B2"]), TIC_TAC_TOE.from_text("C1")
    player = MCTSPlayer(TIC_TAC_TOE, HashEvaluator(), 30, two_player_mode=True)
    player.initialize_game(winning)
    assert (player.suggest_move(), player.root_value) == (win, 1)
    with Analyst(NeuralNet(TIC_TAC_TOE, tower_height=0)) as analyst:
        assert analyst.ask(winning, limit=Limit(0), level=10).last().action == win
        without = analyst.ask(winning, limit=Limit(30), level=10, avoid=[Forbidden(1, frozenset([win]))]).last()
    assert without.action != win
    assert (without.found.value[0] < 1, without.found.visits[0, win]) == (True, 0)


def test_graded_games_and_go_do_not_look() -> None:
    for env in (alphago.OwareEnv(rules="cgzero"), alphago.GoEnv(5), TicTacToeEnv()):
        assert not env.has_decisive_moves
        assert run(search_from([env.position()], HashEvaluator(), Puct()), 20).sum() == 20
    with pytest.raises(NotImplementedError, match="GoBatch must have decisive_moves, since GoEnv"):
        alphago.GoEnv(5).new_batch(1).decisive_moves(ONE, np.empty(1, np.int32))
