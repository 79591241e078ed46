"""Games on this machine: the same seed gives the same games, and what a record says is what happened."""

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from alphago import GameBatch, GameEnv, GameRecord, GoEnv, Gumbel, Puct, SearchSettings, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import Evaluator, FunctionEvaluator, HashEvaluator, UniformEvaluator
from alphago.mcts.puct import PuctRule
from alphago.nn.threads import Workers
from alphago.records.record import POLICY_SCALE
from alphago.training.group import Group, draw_moves
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from tests.mcts.games import CountingEnv
from tests.networks import prefers
from tests.training.small_runs import GO, net_of

TIC_TAC_TOE = TicTacToeEnv()
SEARCH, GUMBEL = Puct(), Gumbel(considered=4)
both_searches = pytest.mark.parametrize("search", [SEARCH, GUMBEL], ids=["PUCT", "Gumbel"])


def play(env: GameEnv, games: int, evaluator=None, readouts: int = 12, **settings) -> list[GameRecord]:
    """Games without an opening, unless it is asked for."""
    usual = {"opening_plies": 0, "search": SEARCH, "seed": 0}
    return selfplay(env, evaluator or HashEvaluator(), readouts, games, device="cpu", **{**usual, **settings})


def source(env: GameEnv, games: int, workers: Workers | None = None, *, seed: int = 1, **settings: Any) -> SelfPlay:
    """Such games in two groups; `workers` if they are played by `advance`."""
    given = SelfPlaySettings(**{"opening_plies": 0, "groups": 2, "search": GUMBEL, **settings}).completed(64, 2)
    return SelfPlay(env, given, range(games), workers or Workers(2), seed=seed)


def play_all(source: SelfPlay, evaluator: Evaluator) -> list[GameRecord]:
    source.evaluator = evaluator
    with source.workers:
        return source.play_all()


def assert_same_games(one: list[GameRecord], other: list[GameRecord]) -> None:
    assert len(one) == len(other)
    for mine, right in zip(one, other, strict=True):
        assert np.array_equal(mine.moves, right.moves)
        assert np.array_equal(mine.policies, right.policies)
        assert np.array_equal(mine.values, right.values)
        assert (mine.outcome, mine.score, mine.seed) == (right.outcome, right.score, right.seed)


class TestReproducibility:
    @both_searches
    @pytest.mark.parametrize("env", [GO, TIC_TAC_TOE, CountingEnv(9)], ids=str)
    def test_games_depend_on_seed_and_number_only(self, env: GameEnv, search: SearchSettings) -> None:
        """Not on the threads that play them, nor on how many are played side by side."""
        wanted = play(env, 9, groups=1, games_in_flight=1, search=search)
        for groups, flight in ((1, 4), (2, 3), (3, 9), (2, 64), (7, 3)):
            assert_same_games(play(env, 9, groups=groups, games_in_flight=flight, search=search), wanted)

    def test_more_games_side_by_side_later(self) -> None:
        """The same games, of which there are so many side by side."""
        side_by_side, finished = [], []
        with Workers(2) as workers:
            games = source(GO, 9, workers, seed=0, readouts=12, games_in_flight=5)
            games.evaluator = HashEvaluator()
            for capacity in (1, 1, 2, 4, 4, 9, 9, *[5] * 100):
                games.begin(2, side_by_side=capacity)
                side_by_side.append(sum(len(group.builders) for group in games.groups))
                games.advance()
                finished += games.take()
        assert side_by_side[:7] == [2, 2, 2, 4, 4, 5, 5]
        assert side_by_side[-1] == 0
        assert_same_games(sorted(finished, key=lambda record: record.seed or (0, 0)), play(GO, 9, search=GUMBEL))

    def test_in_pieces_the_same_games_in_order(self) -> None:
        """Unfinished games go on in the next iteration, where a pause left them, and from a state elsewhere."""
        settings: dict[str, Any] = {"readouts": 8, "games_in_flight": 5}
        finished: list[GameRecord] = []
        with Workers(2) as workers:
            games = source(GO, 11, workers, **settings)
            games.evaluator = HashEvaluator()
            while len(finished) < 11:
                games.begin(3)
                while not games.advance(until=0.0):  # a pause after every move
                    again = source(GO, 11, workers, **settings)
                    again.evaluator = HashEvaluator()
                    again.restore(*games.state())
                    games = again
                part = games.take()
                assert [r.seed[1] for r in part] == sorted(r.seed[1] for r in part)
                finished += part
            games.begin(3)
            assert games.advance()
            assert games.take() == []
            whole = play_all(source(GO, 11, workers, **settings), HashEvaluator())
        assert_same_games(sorted(finished, key=lambda record: record.seed or (0, 0)), whole)


def test_each_call_plays_new_games() -> None:
    """Their records say the seed that gives them again, and the number."""
    first, second = (play(GO, 4, seed=None) for _ in range(2))
    assert first[0].seed is not None
    assert [record.seed for record in first] == [(first[0].seed[0], number) for number in range(4)]
    assert first[0].seed != second[0].seed
    assert [record.moves.tolist() for record in first] != [record.moves.tolist() for record in second]
    assert_same_games(play(GO, 4, seed=first[0].seed[0]), first)


def test_each_game_is_told_as_it_ends() -> None:
    """With its number, from whichever thread played it."""
    heard: dict[int, GameRecord] = {}
    records = play(TIC_TAC_TOE, 9, groups=2, on_game=heard.__setitem__)
    assert [heard[number] for number in range(9)] == records


class TestRecords:
    @both_searches
    @pytest.mark.parametrize("env", [GO, TIC_TAC_TOE, CountingEnv(9)], ids=str)
    def test_they_replay(self, env: GameEnv, search: SearchSettings) -> None:
        for record in play(env, 12, search=search):
            position = env.position()
            for ply, action in enumerate(record.moves):
                mask = position.legal_mask
                policy = record.policies[ply] / POLICY_SCALE
                assert policy.sum() == pytest.approx(1, abs=1e-3)
                assert not policy[~mask].any()
                assert policy[action] > 0 or search is GUMBEL  # which may play an action it all but rules out
                assert record.legal_counts[ply] == mask.sum()
                assert record.movers[ply] == position.to_play
                assert -1 <= record.values[ply] <= 1
                position = position.play(int(action))
            assert (position.is_over, record.outcome) == (True, position.result)
            assert record.score == position.score()
            assert not record.resigned
            assert (record.weights == 1).all()

    def test_temperature(self) -> None:
        """No chance but the noise: with neither all games are the same."""
        quiet = Puct(dirichlet_weight=0.0)
        same = play(TIC_TAC_TOE, 6, temperature_plies=0, search=quiet)
        differ = play(TIC_TAC_TOE, 6, temperature_plies=9, search=quiet)
        assert len({tuple(record.moves) for record in same}) <= 3  # ties among the most visited
        assert len({tuple(record.moves) for record in differ}) == 6


def test_drawn_openings_are_legal_and_pass_only_where_nothing_else_is() -> None:
    env = GoEnv(3)
    generators = [np.random.default_rng(number) for number in range(4)]
    legal = ([1, 2, 5, 9], [4, 9], [0, 4, 8], [9])
    priors = np.array([np.isin(np.arange(10), actions) / len(actions) for actions in legal], np.float32)
    drawn = [draw_moves(env, priors.copy(), generators).tolist() for _ in range(50)]
    assert list(map(set, zip(*drawn, strict=True))) == [{1, 2, 5}, {4}, {0, 4, 8}, {9}]


class TestOpenings:
    """A few first moves, on average, without a search."""

    def openings(self, search: SearchSettings = GUMBEL) -> list[GameRecord]:
        games = source(GoEnv(5, komi=0.5, max_moves=20), 300, readouts=2, opening_plies=3.0, search=search)
        return play_all(games, FunctionEvaluator(prefers("A5")))

    def first_moves(self, records: list[GameRecord]) -> np.ndarray:
        """How often each action opens a game, in shares, among games that a drawn move opens."""
        moves = [record.moves[0] for record in records if record.weights[0] == 0]
        assert 150 < len(moves) < 280  # e^(-1/3) of 300 are 215
        return np.bincount(moves, minlength=26) / len(moves)

    @pytest.mark.parametrize("search", [GUMBEL, Puct(dirichlet_weight=1.0)], ids=["Gumbel", "PUCT"])
    def test_by_the_policy_without_the_searchs_noise(self, search: SearchSettings) -> None:
        assert self.first_moves(self.openings(search))[0] > 0.97

    def test_nobody_trains_on_them(self) -> None:
        records = self.openings()
        unsearched = [int((record.weights == 0).sum()) for record in records]
        assert 2.0 < np.mean(unsearched) < 3.0  # the mean of whole parts: 1 / (e^(1/3) - 1) = 2.5
        for record in records:
            assert not record.policies[record.weights == 0].any()


def test_the_search_is_told_the_ply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each game's own: one that began later is at an earlier ply."""
    told: list[list[int]] = []
    monkeypatch.setattr(PuctRule, "begin_move", lambda rule, games, plies: told.append(plies.tolist()))
    settings = SelfPlaySettings(readouts=2, search=SEARCH, opening_plies=0)
    group = Group(TIC_TAC_TOE, HashEvaluator(), settings, 2, seed=0, numbers=range(2))
    group.capacity = 1
    group.use(HashEvaluator())
    for _ in range(2):
        group.step()
    group.capacity = 2
    group.use(HashEvaluator())
    group.step()
    assert told == [[0], [1], [2, 0]]


@both_searches
def test_records_tell_the_surprise(search: SearchSettings) -> None:
    """From the network's policy to the search's; a move without a search has a surprise of 0."""
    records = play_all(source(GO, 8, readouts=12, opening_plies=2.0, search=search), UniformEvaluator())
    for record in records:
        policies, searched = record.policies / POLICY_SCALE, record.weights > 0
        entropies = -(policies * np.log(np.where(policies, policies, 1))).sum(axis=1)
        expected = np.log(record.legal_counts) - entropies
        assert record.surprises[searched] == pytest.approx(expected[searched], abs=1e-3)
        assert not record.surprises[~searched].any()
    assert any((record.weights == 0).any() for record in records)


GLOOMY = prefers(value=-0.99)  # Black always thinks that it has lost, White that it has won


class TestResignation:
    def test_the_other_side_wins(self) -> None:
        for record in play(GoEnv(3), 20, GLOOMY, resign_threshold=-0.9, no_resign_share=0.0):
            assert (record.resigned, record.result_string, len(record)) == (True, "W+R", 0)  # at its first move
            assert record.outcome == record.score == -1

    def test_played_out(self) -> None:
        """What would have been resigned goes on without search to a result by the rules."""
        for record in play(TIC_TAC_TOE, 6, GLOOMY, resign_threshold=-0.9, no_resign_share=0.0, play_out=True):
            assert not record.resigned
            assert record.weights.tolist() == [1.0] + [0.0] * (len(record) - 1)
            end = record.position(TIC_TAC_TOE)
            assert (end.is_over, record.outcome) == (True, end.outcome)

    def test_the_share_of_games_that_nobody_resigns(self) -> None:
        records = play(GoEnv(3), 120, GLOOMY, readouts=2, resign_threshold=-0.9, no_resign_share=0.3)
        assert 20 < sum(not record.resigned for record in records) < 55


class Calling(HashEvaluator):
    """Calls a function before each evaluation."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__()
        self.call = call

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.call()
        super().evaluate(batch, slots, priors, values)


class TestErrors:
    @pytest.mark.parametrize("groups", [1, 2, 3])
    def test_an_evaluators_error_surfaces_and_no_thread_is_left(self, groups: int) -> None:
        calls, threads = itertools.count(), threading.active_count()

        def fail() -> None:
            if next(calls) == 20:
                raise RuntimeError("the network is gone")

        with pytest.raises(RuntimeError, match="the network is gone"):
            play(GoEnv(5), 20_000, Calling(fail), groups=groups)
        assert threading.active_count() == threads
        assert next(calls) < 20_000  # the other threads stopped too: the whole would be over 100 000

    def test_stop_ends_at_the_next_move(self) -> None:
        stop, calls = threading.Event(), itertools.count()
        with Workers(2) as workers:
            games = source(GO, 1000, workers, readouts=4, games_in_flight=4, search=SEARCH)
            games.evaluator = Calling(lambda: next(calls) == 40 and stop.set())
            games.begin(None)
            assert not games.advance(stop)
            moves = games.moves
            assert not games.advance(stop)
            assert 0 < games.moves == moves < 200


class TestDevice:
    def test_games_are_the_cpus(self, device: str) -> None:
        """In float32, of the same seeds; on a GPU sums may decide between moves that are as good as equal."""
        net, played = net_of(0), []
        for evaluator in (net.evaluator("float32", "cpu"), net.evaluator("float32", device)):
            games = source(GO, 12, readouts=8, games_in_flight=6, seed=3)
            played.append(play_all(games, evaluator))
            assert all(group.search.batch.device == evaluator.device for group in games.groups)
        same = [np.array_equal(one.moves, two.moves) for one, two in zip(*played, strict=True)]
        assert np.mean(same) >= {"host": 0.75, "cuda": 0.5}[device]

    def test_what_is_published_keeps_its_graphs(self, device: str) -> None:
        """New weights go into the evaluator that there is; on the CPU each network has its own."""
        for where, keeps in ((device, True), ("cpu", False)):
            games = SelfPlay(GO, SelfPlaySettings().completed(64, 1), range(8), Workers(1), device=where)
            evaluators, passes = [], []
            for seed in (1, 2):
                net = net_of(seed)
                with torch.no_grad():
                    net.policy.last.bias.fill_(seed)  # how much is passed tells them apart
                games.publish(net)
                evaluators.append(games.evaluator)
                priors = np.empty((1, GO.action_space), np.float32)
                evaluators[-1].evaluate(GO.new_batch(1), np.zeros(1, np.int64), priors, np.empty(1, np.float32))
                passes.append(float(priors[0, -1]))
            assert (evaluators[0] is evaluators[1]) == keeps
            assert passes[1] > passes[0]
