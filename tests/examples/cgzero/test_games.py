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
from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.search import Search
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.call.plan import seeded
from alphago.training.cgzero.lineup import BEST, RECENT, SECOND, CGZeroGames, LineupSeating, Shares, draw_roles
from alphago.training.seating import Moves, Players
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.source import Company
from tests.training.test_group import SEARCH, OneMove, assert_same_games, play_all, source

GO = GoEnv(3, komi=0.5)
QUIET = Puct(dirichlet_weight=0.0)
GUMBEL = Gumbel(considered=4)
LINEUP: dict[str, Any] = {"seating": CGZeroGames()}


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
    env: GameEnv, evaluators: tuple[Evaluator, ...], shares: tuple[float, ...], count: int = 12, **settings: Any
) -> list[GameRecord]:
    usual = {"opening_plies": 0, "groups": 2, "readouts": 6, "temperature_plies": 0, **LINEUP}
    given = SelfPlaySettings(**{**usual, **settings}).filled(min(64, count), 2)
    with Workers(2) as workers:
        source = SelfPlay(env, given, range(count), workers, seed=4)
        source.players = Players(evaluators, shares)
        source.begin(None)
        source.go_on()
        return source.take()


class TestRoles:
    def test_shares(self) -> None:
        """A tenth of the games against a recent network: that of a generation, not one that moves at random."""
        drawn = [draw_roles((0.3, 0.6, 0.1), np.random.default_rng([7, number])) for number in range(20_000)]
        often = Counter(drawn)
        assert set(often) == {
            (BEST, BEST),
            (BEST, SECOND),
            (SECOND, BEST),
            (BEST, RECENT),
            (RECENT, BEST),
            (SECOND, RECENT),
            (RECENT, SECOND),
        }
        expected = {(BEST, BEST): 0.3, (BEST, SECOND): 0.3, (SECOND, BEST): 0.3}
        for roles, count in often.items():  # five standard deviations are 0.017
            assert count / 20_000 == pytest.approx(expected.get(roles, 0.025), abs=0.02)

    def test_who_learns(self) -> None:
        seating = LineupSeating(CGZeroGames(), GO, 3)
        seating.use((HashEvaluator(),) * 3, Shares(0.2, 0.3, 0.5))
        for slot, role in enumerate((BEST, SECOND, RECENT)):
            seating.restore(slot, {"roles": [role, BEST]})
        nothing: dict[str, Any] = dict.fromkeys(Moves._fields)
        moves = Moves(**nothing | {"games": np.arange(3), "movers": np.ones(3, np.int8), "weights": np.ones(3)})
        assert not seating.alter(moves, []).any()
        assert moves.weights.tolist() == [1, 1, 0]

    def test_one_network_plays_alone(self) -> None:
        def new() -> LineupSeating:
            return LineupSeating(CGZeroGames(), GO, 3)

        seating = new()
        seating.use((HashEvaluator(),), ())
        generator = np.random.default_rng(0)
        before = generator.bit_generator.state
        seating.begin(1, generator)
        assert generator.bit_generator.state == before  # a game without champions is as it always was
        assert seating.state(1) == {}
        seating.use((HashEvaluator(),) * 3, (0.0, 0.0, 1.0))
        seating.begin(1, generator)
        assert RECENT in seating.state(1)["roles"]
        again = new()
        again.use((HashEvaluator(),) * 3, (0.0, 0.0, 1.0))
        again.restore(1, seating.state(1))
        assert again.roles.tolist() == seating.roles.tolist()
        seating.use((HashEvaluator(),), ())  # champions were taken off: the best goes on alone
        assert not seating.roles.any()


def test_on_a_device(device: str) -> None:
    """Networks take turns on the same boards there; what is published later goes into their evaluators."""
    played = []
    for where in ("cpu", device):
        with Workers(2) as workers:
            settings = SelfPlaySettings(readouts=4, opening_plies=0, **LINEUP).filled(6, 2)
            source = SelfPlay(GO, settings, range(12), workers, seed=3, device=where)
            before = None
            for seed in (7, 0):
                company = Company((net_of(seed + 1), net_of(seed + 2)), Shares(0.2, 0.4, 0.4))
                source.publish(net_of(seed), "float32", company=company)
                assert where == "cpu" or before in (None, source.players.evaluators)
                before = source.players.evaluators
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
        search = Puct(dirichlet_weight=0.0, leaves=leaves)
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
        settings: dict[str, Any] = {"search": GUMBEL, "games_in_flight": 4, "temperature_plies": None}
        whole = games_of(GO, evaluators, shares, **settings, readouts=4)
        assert any((record.weights == 0).any() for record in whole)
        given = SelfPlaySettings(opening_plies=0, groups=2, readouts=4, **LINEUP, **settings)
        given = given.filled(4, 2)
        finished: list[GameRecord] = []
        with Workers(2) as workers:

            def new() -> SelfPlay:
                made = SelfPlay(GO, given, range(12), workers, seed=4)
                made.players = Players(evaluators, shares)
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


class TestRandomMoves:
    """A few first moves at random; they and all before them are not trained on."""

    ENV = GoEnv(5, komi=0.5, max_moves=20)

    def games(self, count: int = 200, **settings: Any) -> list[GameRecord]:
        given = {"random_move_share": 0.2, "random_move_plies": 6} | settings
        random = CGZeroGames(**{name: given.pop(name) for name in ("random_move_share", "random_move_plies")})
        return play_all(source(self.ENV, count, readouts=2, seating=random, **given), OneMove())

    def test_what_is_before_them_is_dropped(self) -> None:
        """Weights are 0 up to the last random move, which is among the first six, and 1 from there on."""
        ends = []
        for record in self.games():
            dropped = int((record.weights == 0).sum())
            assert not record.weights[:dropped].any()
            assert (record.weights[dropped:] == 1).all()
            assert dropped <= 6
            ends.append(dropped)
        undisturbed = ends.count(0) / len(ends)
        assert 0.8**6 - 0.15 < undisturbed < 0.8**6 + 0.15
        assert len(set(ends)) == 7

    def test_they_are_any_legal_move_but_rash_passes(self) -> None:
        """OneMove's search plays one of the first points."""
        records = self.games(random_move_share=1.0, random_move_plies=1)
        first = np.bincount([record.moves[0] for record in records], minlength=26)
        assert first[25] == 0
        assert (first[:25] > 0).sum() > 20
        assert all(record.weights[0] == 0 and record.weights[1:].all() for record in records)

    def test_their_searches_are_told(self) -> None:
        """Values and policies are the search's: what later moves learn may depend on them."""
        for record in self.games(20, random_move_share=1.0, random_move_plies=2, search=SEARCH):
            assert (record.policies[:2].sum(axis=1) > 0).all()

    def test_without_them_games_are_as_ever(self) -> None:
        """No random number is drawn for them."""
        for other in ({"random_move_share": 0.0}, {"random_move_plies": 0}):
            assert_same_games(self.games(9, **other), play_all(source(self.ENV, 9, readouts=2), OneMove()))

    def test_in_pieces_the_same_games(self) -> None:
        """Also the weights, which tell what was dropped."""
        settings: dict[str, Any] = {"readouts": 2, "games_in_flight": 5, "seating": CGZeroGames(0.3)}
        finished: list[GameRecord] = []
        with Workers(2) as workers:
            games = source(self.ENV, 11, workers, **settings)
            games.players = Players((HashEvaluator(),))
            while len(finished) < 11:
                games.begin(3)
                while not games.go_on(until=0.0):
                    again = source(self.ENV, 11, workers, **settings)
                    again.players = Players((HashEvaluator(),))
                    again.restore(*games.state())
                    games = again
                finished += games.take()
            whole = source(self.ENV, 11, workers, **settings).play_all(HashEvaluator())
        finished.sort(key=lambda record: record.seed or (0, 0))
        assert_same_games(finished, whole)
        assert all(np.array_equal(one.weights, two.weights) for one, two in zip(finished, whole, strict=True))
        assert any((record.weights == 0).any() for record in whole)

    def test_opening_moves_do_not_count_twice(self) -> None:
        """Moves that the policy draws are dropped anyway, and are not random ones."""
        records = self.games(30, opening_plies=100.0, random_move_share=1.0, random_move_plies=30)
        assert all(not record.weights.any() for record in records)
