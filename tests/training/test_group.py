"""Self-play: the same seed gives the same games, and what a record says is what happened."""

import threading

import numpy as np
import pytest

from alphago.env.game import GameBatch, GameEnv
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.threads import Workers
from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.training.group import Group, SelfPlaySettings, divergence
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import SelfPlay, selfplay
from examples.tic_tac_toe import TicTacToeEnv
from tests.eyes import own_eyes
from tests.mcts.games import CountingEnv

GO, TIC_TAC_TOE = GoEnv(3, komi=0.5), TicTacToeEnv()
SEARCH, GUMBEL = SearchSettings(), SearchSettings(gumbel=True, considered=4)
both_searches = pytest.mark.parametrize("search", [SEARCH, GUMBEL], ids=["PUCT", "Gumbel"])


def play(env: GameEnv, games: int, evaluator=None, readouts: int = 12, **settings) -> list[GameRecord]:
    return selfplay(env, evaluator or HashEvaluator(), readouts, games, **{"search": SEARCH, **settings})


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

    def test_fewer_games_are_the_first_of_more(self) -> None:
        assert_same_games(play(GO, 3, groups=1), play(GO, 8, groups=2)[:3])

    def test_another_seed_gives_other_games(self) -> None:
        one, other = play(GO, 4, seed=1), play(GO, 4, seed=2)
        assert [record.moves.tolist() for record in one] != [record.moves.tolist() for record in other]
        assert [record.seed for record in other] == [(2, number) for number in range(4)]

    def test_games_of_one_run_differ(self) -> None:
        assert len({tuple(record.moves) for record in play(GO, 12)}) > 5

    def test_room_for_more_games_later(self) -> None:
        """The same games, of which there are so many side by side."""
        settings = SelfPlaySettings(readouts=12, games_in_flight=5, groups=2, search=GUMBEL)
        games = SelfPlay(GO, settings, range(9), seed=0)
        side_by_side, finished = [], []
        with Workers(2) as workers:
            for room in (1, 1, 2, 4, 4, 9, 9, *[5] * 100):
                games.begin(HashEvaluator(), 2, side_by_side=room)
                side_by_side.append(sum(builder is not None for group in games.groups for builder in group.builders))
                games.go_on(workers)
                finished += games.take()
        assert side_by_side[:7] == [2, 2, 2, 4, 4, 5, 5]
        assert side_by_side[-1] == 0
        assert_same_games(sorted(finished, key=lambda record: record.seed or (0, 0)), play(GO, 9, search=GUMBEL))

    def test_in_pieces_the_same_numbers_in_order(self) -> None:
        """`run` may stop after some moves; unfinished games go on in the next call."""
        settings = SelfPlaySettings(readouts=8, games_in_flight=5, groups=2, search=SEARCH)
        games = SelfPlay(GO, settings, range(11), seed=3)
        finished: list[GameRecord] = []
        with Workers(2) as workers:
            for _ in range(200):
                part = games.run(workers, HashEvaluator(), plies=3)
                assert [r.seed[1] for r in part] == sorted(r.seed[1] for r in part)
                finished += part
                if len(finished) == 11:
                    break
            assert games.run(workers, HashEvaluator(), plies=3) == []
        assert sorted(record.seed[1] for record in finished) == list(range(11))
        assert games.moves == sum(len(record) for record in finished)


class TestRecords:
    @both_searches
    @pytest.mark.parametrize("env", [GO, TIC_TAC_TOE, CountingEnv(9)], ids=str)
    def test_they_replay(self, env: GameEnv, search: SearchSettings) -> None:
        for record in play(env, 12, resign_threshold=-1.0, search=search):
            position = env.position()
            for ply, action in enumerate(record.moves):
                mask = position.legal_mask
                policy = record.policies[ply] / POLICY_SCALE
                assert policy.sum() == pytest.approx(1, abs=1e-3)
                assert not policy[~mask].any()
                assert policy[action] > 0 or search.gumbel  # which may play an action it all but rules out
                assert record.legal_counts[ply] == mask.sum()
                assert record.movers[ply] == position.to_play
                assert -1 <= record.values[ply] <= 1
                position = position.play(int(action))
            assert position.is_over
            assert record.outcome == position.result
            assert record.score == position.score()
            assert not record.resigned
            assert (record.weights == 1).all()

    def test_the_policy_is_what_the_search_visited(self) -> None:
        """Readouts are added to the tree that was kept, so shares are not multiples of 1 / readouts."""
        (record,) = play(GO, 1, readouts=40)
        shares = record.policies[0] / POLICY_SCALE * 40
        assert shares == pytest.approx(np.round(shares), abs=0.01)

    @pytest.mark.parametrize(("games", "flight"), [(1, 64), (5, 2), (17, 16)])
    def test_num_games_is_exact(self, games: int, flight: int) -> None:
        records = play(TIC_TAC_TOE, games, readouts=4, games_in_flight=flight, groups=2)
        assert [record.seed for record in records] == [(0, number) for number in range(games)]

    def test_temperature(self) -> None:
        """No chance but the noise: with neither all games are the same."""
        quiet = SearchSettings(dirichlet_weight=0.0)
        same = play(TIC_TAC_TOE, 6, temperature_plies=0, search=quiet)
        differ = play(TIC_TAC_TOE, 6, temperature_plies=9, search=quiet)
        assert len({tuple(record.moves) for record in same}) <= 3  # ties among the most visited
        assert len({tuple(record.moves) for record in differ}) == 6


class Certain(UniformEvaluator):
    """Black always thinks that it has won."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        values[:] = batch.to_play(slots, np.empty(len(slots), np.int8)) * 0.9


class SparesEyes(Certain):
    """Hardly ever fills an own eye, so that something comes to live."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        eyes = own_eyes(batch.rows[slots], batch.env.N)  # type: ignore[attr-defined]
        priors[:, :-1] *= np.where(eyes, np.float32(1e-9), np.float32(1))
        priors /= priors.sum(axis=1, keepdims=True)


class TestDecidedGames:
    """Once one side has been sure for six plies, most moves have few readouts and are not trained on."""

    def play(self, decided_value: float) -> SelfPlay:
        settings = SelfPlaySettings(
            readouts=6, decided_value=decided_value, resign_threshold=-1.0, groups=2, search=GUMBEL
        )
        return SelfPlay(GoEnv(5), settings, range(200), seed=1)

    def test_a_tenth_of_the_moves_is_searched_in_full(self) -> None:
        games = self.play(0.3)
        with Workers(2) as workers:
            records = games.run(workers, Certain())
        early, late = (
            np.concatenate([record.weights[part] for record in records]) for part in (slice(6), slice(6, 15))
        )
        assert (early == 1).all()
        assert set(late) == {0, 1}
        assert 0.08 < late.mean() < 0.12
        full = sum(int(record.weights.sum()) for record in records)
        assert games.readouts_done == 6 * full + 4 * (games.moves - full) + games.moves

    def test_none_is_where_nobody_is_as_sure(self) -> None:
        games = self.play(1.0)
        with Workers(2) as workers:
            assert all((record.weights == 1).all() for record in games.run(workers, Certain()))


def test_drawn_openings_are_legal_and_pass_only_where_nothing_else_is() -> None:
    env = GoEnv(3)
    group = Group(env, SelfPlaySettings(opening_plies=100.0, search=GUMBEL), 4, 0, range(4))
    group.use(UniformEvaluator())
    priors = np.zeros((4, 10), np.float32)
    for row, legal in zip(priors, ([1, 2, 5, 9], [4, 9], [0, 4, 8], [9]), strict=True):
        row[legal] = 1 / len(legal)
    drawn = [group.draw(np.arange(4), priors.copy()).tolist() for _ in range(50)]
    first, second, third, fourth = (set(moves) for moves in zip(*drawn, strict=True))
    assert (first, second, third, fourth) == ({1, 2, 5}, {4}, {0, 4, 8}, {9})


class TestSettledGames:
    """Where nothing can change the result, most games end; the others go on, so that passing is learned."""

    ENV = GoEnv(4, komi=0.5, first_pass=12, max_moves=60)  # always time to take what is dead

    def play(self, played_out_share: float) -> list[GameRecord]:
        settings = SelfPlaySettings(
            readouts=2, decided_value=0.5, played_out_share=played_out_share, resign_threshold=-1.0, search=GUMBEL
        )
        with Workers(2) as workers:
            return SelfPlay(self.ENV, settings, range(200), seed=1).run(workers, SparesEyes())

    def is_settled(self, record: GameRecord) -> bool:
        last = record.position(self.ENV)
        assert isinstance(last, GoPosition)
        return not last.is_over and bool(last.pass_alive.all())

    def test_they_end(self) -> None:
        records = self.play(0.0)
        settled = [record for record in records if self.is_settled(record)]
        assert len(settled) > 20
        for record in settled:
            last = record.position(self.ENV)
            assert isinstance(last, GoPosition)
            assert record.score == last.pass_alive.sum() - 0.5
            assert record.outcome == np.sign(record.score)
            before = record.position(self.ENV, len(record) - 1)
            assert isinstance(before, GoPosition)
            assert not before.pass_alive.all()
        assert all(record.position(self.ENV).is_over for record in records if not self.is_settled(record))

    def test_a_share_is_played_out(self) -> None:
        assert not any(map(self.is_settled, self.play(1.0)))
        assert 0.3 < sum(map(self.is_settled, self.play(0.5))) / sum(map(self.is_settled, self.play(0.0))) < 0.7

    def test_memory_knows_whose_each_point_was(self) -> None:
        record = next(record for record in self.play(0.0) if self.is_settled(record))
        memory = ReplayMemory(self.ENV)
        memory.add([record])
        last = record.position(self.ENV)
        assert isinstance(last, GoPosition)
        assert np.array_equal(memory.entries[0].ownership, last.pass_alive.ravel())


class OneMove(UniformEvaluator):
    """Sure of the first legal action."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        first = (priors > 0).argmax(axis=1)
        priors *= np.float32(0.01)
        priors[np.arange(len(slots)), first] += np.float32(0.99)


class TestOpenings:
    """A few first moves, on average, without a search."""

    ENV = GoEnv(5, komi=0.5, max_moves=20)

    def openings(self, search: SearchSettings = GUMBEL) -> list[GameRecord]:
        settings = SelfPlaySettings(readouts=2, opening_plies=3.0, search=search)
        with Workers(2) as workers:
            return SelfPlay(self.ENV, settings, range(300), seed=1).run(workers, OneMove())

    def first_moves(self, records: list[GameRecord]) -> np.ndarray:
        """How often each action opens a game, in shares, among games that a drawn move opens."""
        moves = [record.moves[0] for record in records if record.weights[0] == 0]
        assert 150 < len(moves) < 280  # e^(-1/3) of 300 are 215
        return np.bincount(moves, minlength=26) / len(moves)

    def test_by_the_policy(self) -> None:
        assert self.first_moves(self.openings())[0] > 0.97

    def test_by_the_policy_without_the_searchs_noise(self) -> None:
        assert self.first_moves(self.openings(SearchSettings(dirichlet_weight=1.0)))[0] > 0.97

    def test_nobody_trains_on_them(self) -> None:
        records = self.openings()
        unsearched = [int((record.weights == 0).sum()) for record in records]
        assert 2.0 < np.mean(unsearched) < 3.0  # the mean of whole parts: 1 / (e^(1/3) - 1) = 2.5
        for record in records:
            assert not record.policies[record.weights == 0].any()


class TestSurprise:
    def test_divergence(self) -> None:
        policies = np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0], [0.2, 0.3, 0.5]], np.float32)
        priors = np.array([[0.25, 0.5, 0.25], [0.125, 0.875, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], np.float32)
        assert divergence(policies, priors) == pytest.approx([np.log(2) / 2, np.log(8), 0, 0])

    @both_searches
    def test_records_tell_it(self, search: SearchSettings) -> None:
        """From the network's policy to the search's; moves without a search surprise nobody."""
        settings = SelfPlaySettings(readouts=12, opening_plies=2.0, search=search)
        with Workers(1) as workers:
            records = SelfPlay(GO, settings, range(8), seed=1).run(workers, UniformEvaluator())
        for record in records:
            policies, counts = record.policies / POLICY_SCALE, record.legal_counts
            searched = record.weights > 0
            entropies = np.array([-(p[p > 0] * np.log(p[p > 0])).sum() for p in policies])
            assert record.surprises[searched] == pytest.approx((np.log(counts) - entropies)[searched], abs=1e-3)
            assert not record.surprises[~searched].any()
        assert any((record.weights == 0).any() for record in records)


class Gloomy(UniformEvaluator):
    """Black always thinks that it has lost, White that it has won."""

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        super().evaluate(batch, slots, priors, values)
        values[:] = -batch.to_play(slots, np.empty(len(slots), np.int8)) * 0.99


class TestResignation:
    def test_the_other_side_wins(self) -> None:
        records = play(GoEnv(3), 20, Gloomy(), resign_threshold=-0.9, no_resign_share=0.0)
        for record in records:
            assert record.resigned
            assert record.outcome == record.score == -1
            assert record.result_string == "W+R"
            assert len(record) == 0  # at its first move

    def test_later_in_the_game(self) -> None:
        class GloomyLater(Gloomy):
            def evaluate(self, batch, slots, priors, values) -> None:
                super().evaluate(batch, slots, priors, values)
                planes = batch.planes(slots, np.empty((len(slots), 2, 3, 3), np.float32))
                values[planes.sum(axis=(1, 2, 3)) < 3] = 0

        for record in play(TIC_TAC_TOE, 6, GloomyLater(), resign_threshold=-0.9, no_resign_share=0.0):
            assert record.resigned
            assert record.outcome == -1
            assert len(record) in (2, 4)
            end = record.position(TIC_TAC_TOE)
            assert end.to_play == 1
            assert not end.is_over

    def test_never(self) -> None:
        for record in play(GoEnv(3), 6, Gloomy(), no_resign_share=0.0):  # None is the default
            assert not record.resigned
            assert record.position(GoEnv(3)).is_over

    def test_the_share_of_games_that_nobody_resigns(self) -> None:
        records = play(GoEnv(3), 120, Gloomy(), readouts=2, resign_threshold=-0.9, no_resign_share=0.3)
        played_out = sum(not record.resigned for record in records)
        assert 20 < played_out < 55
        assert all(
            not record.resigned
            for record in play(GoEnv(3), 10, Gloomy(), 2, resign_threshold=-0.9, no_resign_share=1.0)
        )


class TestErrors:
    @pytest.mark.parametrize("groups", [1, 2, 3])
    def test_an_evaluators_error_surfaces_and_no_thread_is_left(self, groups: int) -> None:
        calls = []

        class Fails(HashEvaluator):
            def evaluate(self, batch, slots, priors, values) -> None:
                calls.append(1)
                if len(calls) == 20:
                    raise RuntimeError("the network is gone")
                super().evaluate(batch, slots, priors, values)

        threads = threading.active_count()
        with pytest.raises(RuntimeError, match="the network is gone"):
            play(GoEnv(5), 200, Fails(), groups=groups)
        assert threading.active_count() == threads
        assert len(calls) < 200  # the other threads stopped too

    def test_values_that_are_no_numbers(self) -> None:
        class NotANumber(HashEvaluator):
            def evaluate(self, batch, slots, priors, values) -> None:
                super().evaluate(batch, slots, priors, values)
                values[:] = np.nan

        with pytest.raises(ValueError, match="NotANumber gave no usable evaluation"):
            play(GO, 2, NotANumber())

    def test_stop_ends_at_the_next_move(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stop = threading.Event()
        games = SelfPlay(GO, SelfPlaySettings(readouts=4, games_in_flight=4, groups=2, search=SEARCH), range(1000), 0)
        heard: list[int] = []

        one_move = Group.step

        def step(group: Group) -> bool:
            goes_on = one_move(group)
            heard.append(group.moves)
            if len(heard) == 10:
                stop.set()
            return goes_on

        monkeypatch.setattr(Group, "step", step)
        with Workers(2) as workers:
            finished = games.run(workers, HashEvaluator(), stop=stop)
        assert len(finished) < 50
        assert 10 <= len(heard) <= 12

    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({"readouts": 0}, "readouts must be an integer >= 1, got 0"),
            ({"games_in_flight": 0}, "games_in_flight must be an integer >= 1, got 0"),
            ({"groups": 0}, "groups must be an integer >= 1, got 0"),
            ({"resign_threshold": -2}, "resign_threshold is -1 to 1, got -2"),
            ({"no_resign_share": 1.5}, "no_resign_share is 0 to 1, got 1.5"),
        ],
    )
    def test_settings_out_of_range(self, settings: dict, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            play(GO, 1, **settings)

    def test_an_unknown_setting_names_near_misses(self) -> None:
        with pytest.raises(TypeError, match="selfplay has no keyword 'games_in_fight': did you mean games_in_flight"):
            play(GO, 1, games_in_fight=3)
        with pytest.raises(TypeError, match="selfplay has no keyword 'xyz': there are env, nn, readouts"):
            play(GO, 1, xyz=3)

    def test_num_games(self) -> None:
        with pytest.raises(ValueError, match="num_games must be an integer >= 1, got 0"):
            play(GO, 0)

    def test_a_seed_that_no_file_can_keep_is_refused_before_a_game_begins(self) -> None:
        class Unasked(HashEvaluator):
            def evaluate(self, batch, slots, priors, values) -> None:
                raise AssertionError("a game was searched")

        with pytest.raises(ValueError, match=r"a game's seed is two numbers from 0 to 2\^63 - 1, got"):
            play(GO, 2, Unasked(), seed=2**63)
