"""Games of two networks: who is at which side, whose moves are learned from, and that neither sees the other's tree."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import Evaluator, HashEvaluator, UniformEvaluator
from alphago.mcts.search import Search, SearchSettings
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.group import SelfPlay
from alphago.training.lineup import BEST, BEST_ALONE, RECENT, SECOND, Lineup, Seats, Shares, draw_roles, learns
from alphago.training.runs.resume import seeded
from alphago.training.settings import SelfPlaySettings

GO = GoEnv(3, komi=0.5)
QUIET = SearchSettings(dirichlet_weight=0.0)
GUMBEL = SearchSettings(gumbel=True, considered=4)


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


def net_of(seed: int) -> NeuralNet:
    with seeded(seed):
        return NeuralNet(GO, tower_height=1, channels=8).eval()


def games_of(
    env: GameEnv, evaluators: tuple[Evaluator, ...], shares: Shares, count: int = 12, **settings: Any
) -> list[GameRecord]:
    given = SelfPlaySettings(**{"opening_plies": 0, "groups": 2, "readouts": 6, "temperature_plies": 0, **settings})
    with Workers(2) as workers:
        source = SelfPlay(env, given, range(count), workers, seed=4)
        source.others, source.shares = evaluators[1:], shares
        return source.play_all(evaluators[0])


class TestRoles:
    def test_shares(self) -> None:
        """A tenth of the games against a recent network: that of a generation, not one that moves at random."""
        drawn = [draw_roles((0.3, 0.6, 0.1), np.random.default_rng([7, number])) for number in range(20_000)]
        often = Counter(drawn)
        assert set(often) == {
            (BEST, BEST), (BEST, SECOND), (SECOND, BEST), (BEST, RECENT), (RECENT, BEST), (SECOND, RECENT),
            (RECENT, SECOND),
        }  # fmt: skip
        expected = {(BEST, BEST): 0.3, (BEST, SECOND): 0.3, (SECOND, BEST): 0.3}
        for roles, count in often.items():  # five standard deviations are 0.017
            assert count / 20_000 == pytest.approx(expected.get(roles, 0.025), abs=0.02)

    def test_who_learns(self) -> None:
        assert learns(np.array([BEST, SECOND, RECENT])).tolist() == [True, True, False]

    def test_one_network_plays_alone(self) -> None:
        seats = Seats(3)
        seats.use((HashEvaluator(),), BEST_ALONE)
        generator = np.random.default_rng(0)
        before = generator.bit_generator.state
        seats.begin(1, generator)
        assert generator.bit_generator.state == before  # a game without champions is as it always was
        assert seats.state(1) == {}
        seats.use((HashEvaluator(),) * 3, (0.0, 0.0, 1.0))
        seats.begin(1, generator)
        assert RECENT in seats.state(1)["roles"]
        again = Seats(3)
        again.use((HashEvaluator(),) * 3, (0.0, 0.0, 1.0))
        again.restore(1, seats.state(1))
        assert again.roles.tolist() == seats.roles.tolist()
        seats.use((HashEvaluator(),), BEST_ALONE)  # champions were taken off: the best goes on alone
        assert not seats.roles.any()


def test_on_a_device(device: str) -> None:
    """Networks take turns on the same boards there; what is published later goes into their evaluators."""
    played = []
    for where in ("cpu", device):
        with Workers(2) as workers:
            settings = SelfPlaySettings(groups=2, games_in_flight=6, readouts=4, opening_plies=0)
            source = SelfPlay(GO, settings, range(12), workers, seed=3, device=where)
            before = None
            for seed in (7, 0):
                lineup = Lineup(net_of(seed + 1), net_of(seed + 2), (0.2, 0.4, 0.4))
                source.publish(net_of(seed), "float32", lineup=lineup)
                assert where == "cpu" or before in (None, source.others)
                before = source.others
            source.begin(None)
            source.go_on()
            played.append(source.take())
    weights = [[record.weights.mean() for record in records] for records in played]
    assert min(weights[0]) < 1 == max(weights[0])
    same = [np.array_equal(one.moves, two.moves) for one, two in zip(*played, strict=True)]
    assert np.mean(same) >= {"host": 0.75, "cuda": 0.5}[device]  # sums may decide between moves as good as equal


class TestGames:
    def test_each_side_moves_by_its_own_network(self) -> None:
        """And only the champion's positions are learned from."""
        evaluators = (Sure(last=False), Sure(last=False), Sure(last=True))
        env = TicTacToeEnv()
        records = games_of(env, evaluators, (0.0, 0.0, 1.0), search=QUIET, readouts=1)
        colours = Counter[int]()
        for record in records:
            position, recent = env.position(), set()
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

    def test_two_champions_both_learn(self) -> None:
        nets = Sure(last=False), Sure(last=True), Sure(last=False)
        records = games_of(TicTacToeEnv(), nets, (0.0, 1.0, 0.0), search=QUIET, readouts=1)
        assert all(record.weights.all() for record in records)
        assert {int(record.moves[0]) for record in records} == {0, 8}  # either may begin

    @pytest.mark.parametrize("leaves", [1, 2])
    def test_neither_uses_the_others_tree(self, leaves: int) -> None:
        """Every search has the result of one that begins with its own network and an empty tree."""
        env, nets = TicTacToeEnv(), (HashEvaluator(), UniformEvaluator())
        search = SearchSettings(dirichlet_weight=0.0, leaves=leaves)
        records = games_of(env, (nets[0], nets[1], nets[1]), (0.0, 1.0, 0.0), search=search)
        fresh = Search(env, nets[0], 1, search)
        zero = np.zeros(1, np.int64)
        first = set()
        for record in records:
            by_network = []
            for net in nets:
                found = []
                for ply in range(len(record)):
                    fresh.batch.copy(zero, zero, of=record.position(env, ply).batch)
                    fresh.evaluator = net
                    fresh.forget(zero)
                    fresh.run(np.array([6], np.int32))
                    found.append(fresh.policies(zero)[0])
                by_network.append(np.stack(found))
            policies = record.policies / np.float32(65535)
            matches = []
            for start in (0, 1):
                turns = (np.arange(len(record)) + start) % 2
                expected = np.where(turns[:, None] == 0, by_network[0], by_network[1])
                matches.append(np.allclose(policies, expected, atol=1e-4))
            assert any(matches)
            first.update(np.flatnonzero(matches).tolist())
        assert first == {0, 1}

    def test_in_pieces_the_same_games(self) -> None:
        """From a state between any two moves."""
        evaluators = (HashEvaluator(), UniformEvaluator(), Sure(last=True))
        shares = (0.3, 0.3, 0.4)
        settings: dict[str, Any] = {"search": GUMBEL, "games_in_flight": 4}
        whole = games_of(GO, evaluators, shares, **settings, readouts=4)
        assert any((record.weights == 0).any() for record in whole)
        given = SelfPlaySettings(opening_plies=0, groups=2, readouts=4, temperature_plies=0, **settings)
        finished: list[GameRecord] = []
        with Workers(2) as workers:

            def new() -> SelfPlay:
                made = SelfPlay(GO, given, range(12), workers, seed=4)
                made.evaluator, made.others, made.shares = evaluators[0], evaluators[1:], shares
                return made

            source = new()
            while len(finished) < 12:
                source.begin(1)
                again = new()
                again.restore(*source.state())
                source = again
                source.go_on()
                finished += source.take()
        finished.sort(key=lambda record: record.seed or (0, 0))
        for one, two in zip(whole, finished, strict=True):
            assert np.array_equal(one.moves, two.moves)
            assert np.array_equal(one.weights, two.weights)
