"""Games of two networks, and random moves: whose moves are played and learned; neither sees the other's tree."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from games import BEST, RECENT, SECOND, CGZeroGames, CGZeroSelfPlay, Others, Shares, draw_roles

from alphago import GameBatch, GameEnv, GameRecord, GoEnv, Gumbel, Puct
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import Evaluator, HashEvaluator, UniformEvaluator
from alphago.mcts.search import Search
from alphago.nn.threads import Workers
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings

GO, SMALL_GO, TIC_TAC_TOE = GoEnv(3, komi=0.5), GoEnv(5, komi=0.5, max_moves=20), TicTacToeEnv()
QUIET = Puct(dirichlet_weight=0.0)


class Sure(UniformEvaluator):
    """Sure of the first legal action, or of the last."""

    def __init__(self, last: bool) -> None:
        self.last = last

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        legal = priors > 0
        best = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1) if self.last else legal.argmax(axis=1)
        priors *= np.float32(0.001)
        priors[np.arange(len(slots)), best] += np.float32(0.999)


def play(
    env: GameEnv,
    evaluators: tuple[Evaluator, ...],
    shares: Shares | None = None,
    games: CGZeroGames | None = None,
    *,
    count: int = 12,
    plies: int | None = None,
    **settings: Any,
) -> list[GameRecord]:
    """CGZero's games, or usual ones where `games` is None, of the best network or of three.

    plies: in pieces of so many moves, each by a source made anew.
    """
    usual = {"opening_plies": 0, "groups": 2, "readouts": 2, "search": Gumbel(considered=4), "games_in_flight": 5}
    given = SelfPlaySettings(**{**usual, **settings}).completed(5, 2)
    source = SelfPlay if games is None else partial(CGZeroSelfPlay, games)

    def new() -> SelfPlay:
        made = source(env, given, range(count), workers, seed=4)
        made.evaluator = evaluators[0]
        if shares is not None:
            made.others = Others(evaluators[1:], shares)
        return made

    with Workers(2) as workers:
        playing, finished = new(), []
        while len(finished) < count:
            playing.begin(plies)
            playing.advance()
            finished += playing.take()
            again = new()
            again.restore(*playing.state())
            playing = again
    return sorted(finished, key=lambda record: record.seed)


def same(one: list[GameRecord], two: list[GameRecord]) -> bool:
    pairs = list(zip(one, two, strict=True))
    return all(np.array_equal(a.moves, b.moves) and np.array_equal(a.weights, b.weights) for a, b in pairs)


def test_shares_of_roles() -> None:
    """A tenth of the games is against a recent network."""
    drawn = [draw_roles((0.3, 0.6, 0.1), np.random.default_rng([7, number])) for number in range(20_000)]
    expected = {(BEST, BEST): 0.3, (BEST, SECOND): 0.3, (SECOND, BEST): 0.3}
    expected |= dict.fromkeys([(BEST, RECENT), (RECENT, BEST), (SECOND, RECENT), (RECENT, SECOND)], 0.025)
    often = Counter(drawn)
    assert often.keys() == expected.keys()
    for roles, count in often.items():  # five standard deviations are 0.017
        assert count / 20_000 == pytest.approx(expected[roles], abs=0.02)


def test_each_side_moves_by_its_own_network() -> None:
    """And only the champion's positions are learned from."""
    evaluators = (Sure(last=False), Sure(last=False), Sure(last=True))
    colours = Counter[int]()
    shares = Shares(0.0, 0.0, 1.0)
    for record in play(TIC_TAC_TOE, evaluators, shares, CGZeroGames(), search=QUIET, readouts=1, temperature_plies=0):
        position, recent = TIC_TAC_TOE.position(), set()
        for action, weight, mover in zip(record.moves, record.weights, record.movers, strict=True):
            legal = np.flatnonzero(position.legal_mask)
            if len(legal) > 1:
                assert action == (legal[0] if weight else legal[-1])
            if not weight:
                recent.add(int(mover))
            position = position.play(int(action))
        assert len(recent) == 1
        colours.update(recent)
    assert set(colours) == {1, -1}


@pytest.mark.parametrize("leaves", [1, 2])
def test_neither_uses_the_others_tree(leaves: int) -> None:
    """Every search has the result of one that begins with its own network and an empty tree; both are learned."""
    nets, search = (HashEvaluator(), UniformEvaluator()), Puct(dirichlet_weight=0.0, leaves=leaves)
    three, shares = (nets[0], nets[1], nets[1]), Shares(0.0, 1.0, 0.0)
    records = play(TIC_TAC_TOE, three, shares, CGZeroGames(), search=search, readouts=6, temperature_plies=0)
    fresh = Search(TIC_TAC_TOE, nets[0], 1, search)
    zero = np.zeros(1, np.int64)
    first = set()
    for record in records:
        assert record.weights.all()
        by_network = []
        for net in nets:
            found = []
            for ply in range(len(record)):
                fresh.batch.copy(zero, zero, of=record.position(TIC_TAC_TOE, ply).batch)
                fresh.evaluator = net
                fresh.forget(zero)
                fresh.run(np.array([6], np.int32))
                found.append(fresh.rule.policies(fresh.tree, zero)[0])
            by_network.append(np.stack(found))
        turns = np.arange(len(record))[:, None] % 2
        expected = [np.where(turns == start, by_network[0], by_network[1]) for start in (0, 1)]
        matches = [np.allclose(record.policies / np.float32(65535), policies, atol=1e-4) for policies in expected]
        assert any(matches)
        first.update(np.flatnonzero(matches).tolist())
    assert first == {0, 1}


def test_in_pieces_the_same_games() -> None:
    """From a state between any two moves: roles and weights too."""
    evaluators, games = (HashEvaluator(), UniformEvaluator(), Sure(last=True)), CGZeroGames(0.1)
    whole = play(GO, evaluators, Shares(0.3, 0.3, 0.4), games, readouts=4)
    assert any((record.weights == 0).any() for record in whole)
    assert same(play(GO, evaluators, Shares(0.3, 0.3, 0.4), games, readouts=4, plies=1), whole)


def test_what_is_before_random_moves_is_not_learned() -> None:
    """Weights are 0 up to the last random move, which is among the first six, and 1 from there on."""
    ends = []
    for record in play(SMALL_GO, (HashEvaluator(),), games=CGZeroGames(0.2, 6), count=100):
        dropped = int((record.weights == 0).sum())
        assert not record.weights[:dropped].any()
        assert (record.weights[dropped:] == 1).all()
        assert (record.policies.sum(axis=1) > 0).all()  # the searches of random moves are recorded
        ends.append(dropped)
    assert 0.8**6 - 0.15 < ends.count(0) / len(ends) < 0.8**6 + 0.15
    assert set(ends) == set(range(7))


def test_without_random_moves_and_champions_games_are_as_ever() -> None:
    """No random number is drawn for them."""
    usual = play(SMALL_GO, (HashEvaluator(),))
    for games in (CGZeroGames(), CGZeroGames(0.5, 0)):
        assert same(play(SMALL_GO, (HashEvaluator(),), games=games), usual)
