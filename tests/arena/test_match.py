"""Matches: who has which colour, what counts, and that the same seed gives the same games."""

import shlex
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from alphago import GoEnv, MatchResult, NeuralNet, Puct, evaluate
from alphago.arena.engine import EngineError
from alphago.arena.entrant import entrant_for
from alphago.arena.match import MatchStopped
from alphago.arena.match_result import MatchGame
from alphago.arena.players import PolicyPlayer, RandomPlayer, SearchPlayer
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import FunctionEvaluator, HashEvaluator, UniformEvaluator
from tests.arena.playing import match_on, scripted
from tests.mcts.trees import Counting

GO, TIC_TAC_TOE = GoEnv(3, komi=0.5), TicTacToeEnv()


def test_a_name_may_have_its_own_readouts_and_search(tmp_path: Path) -> None:
    """As on the command line, a run's folder or a file with @."""
    NeuralNet(GO, tower_height=0, channels=4).save(tmp_path / "net.safetensors")
    path = f"{tmp_path}/net.safetensors"
    one = entrant_for(f"{path}@8,gumbel", GO, 2, "puct")
    assert (one.readouts, one.search, one.level) == (8, "gumbel", None)
    other = entrant_for(f"{path}@3", GO, 2, Puct(c_puct=3.0))
    assert (other.readouts, other.search) == (3, Puct(c_puct=3.0))
    run = tmp_path / "me@home" / "puct"  # a path that ends like a search names none
    run.mkdir(parents=True)
    NeuralNet(GO, tower_height=0, channels=4).save(run / "weights.safetensors")
    assert entrant_for(str(run), GO, 2, "gumbel").search == "gumbel"
    assert len(evaluate(GO, f"{path}@2", path, 2, readouts=0).games) == 2


class TestReproducibility:
    def test_the_seed_matters_and_the_number_of_threads_does_not(self) -> None:
        given = (GO, HashEvaluator(), "random", 10, 16)
        games = [match_on(n, *given, sampled_plies=1, seed=3).games for n in (1, 2, 3)]
        assert games[0] == games[1] == games[2]
        assert games[0] != match_on(1, *given, sampled_plies=1, seed=4).games

    def test_a_match_that_is_stopped(self) -> None:
        """It ends at the next move, and has no result."""
        stop, heard = threading.Event(), list[int]()

        def progress(number: int) -> None:
            heard.append(number)
            stop.set()

        with pytest.raises(MatchStopped, match=r"the match was stopped after [1-9]\d* of 400 games"):
            evaluate(GO, "random", "random", 400, progress=progress, stop=stop)
        assert 1 <= len(heard) < 400


class TestPlayers:
    def test_random_plays_every_legal_action(self) -> None:
        """The lowest numbered point and the pass too; an older program never chose index 0."""
        games = 600
        player = RandomPlayer(GO.new_batch(games))
        chance = np.random.default_rng(0).random(games)
        player.follow(np.arange(games), np.full(games, 4, np.int32))
        actions = player.choose(np.arange(games), np.zeros(games, np.bool_), chance)
        counts = np.bincount(actions, minlength=10)
        assert counts[4] == 0
        assert np.delete(counts, 4).min() > 30

    def test_raw_policy_by_chance_in_the_opening(self) -> None:
        player = PolicyPlayer(GoEnv(3, komi=-0.5), HashEvaluator(), 500)
        games = np.arange(500)
        chance = np.random.default_rng(0).random(500)
        drawn = player.choose(games, np.ones(500, np.bool_), chance)
        priors = np.empty((1, 10), np.float32)
        HashEvaluator().evaluate(player.batch, np.zeros(1, np.int64), priors, np.empty(1, np.float32))
        assert np.bincount(drawn, minlength=10) / 500 == pytest.approx(priors[0], abs=0.08)
        assert set(player.choose(games, np.zeros(500, np.bool_), chance)) == {int(priors[0].argmax())}

    def test_raw_policy_does_not_pass_while_it_wins_and_the_board_is_lost(self) -> None:
        policy = np.zeros(10)
        policy[[9, 0]] = 0.9, 0.1
        env = GoEnv(3, komi=8.5)
        for value, wanted in ((1.0, 0), (-1.0, 9)):
            player = PolicyPlayer(env, FunctionEvaluator(lambda position, value=value: (policy, value)), 1)
            assert player.choose(np.arange(1), np.zeros(1, np.bool_), np.zeros(1)) == wanted

    def test_a_pair_of_readouts(self) -> None:
        deep, raw = Counting(), Counting()
        evaluate(TIC_TAC_TOE, deep, raw, 1, readouts=(40, 0))
        assert sum(deep.sizes) > 40
        assert sum(raw.sizes) <= 4

    def test_search_player_keeps_its_tree_through_both_sides_moves(self) -> None:
        player = SearchPlayer(GO, HashEvaluator(), 2, 50, Puct())
        games = np.arange(2)
        actions = player.choose(games, np.zeros(2, np.bool_), np.zeros(2))
        kept = [player.search.visits(games)[game, actions[game]] for game in games]
        player.follow(games, actions)
        assert player.search.tree.visits[:, 0].tolist() == kept

    @pytest.mark.parametrize("name", ["Random", "gnuchess", "gnugo:", "gnugo:x", ""])
    def test_an_unknown_name(self, name: str) -> None:
        with pytest.raises(ValueError, match=f"no player is called {name!r}: .*players are 'random', a network's file"):
            evaluate(GO, name, "random", 2)

    def test_any_engine_by_its_command(self, tmp_path: Path) -> None:
        """One that does not take the board is an error before the match."""
        program, *arguments = scripted(tmp_path, "B2 A1").command
        command = shlex.join([program, *arguments])
        assert len(evaluate(GO, f"gtp:{command}", "random", 2).games) == 2
        with pytest.raises(EngineError, match=r"'boardsize 3' was sent, .* 'hello' is not GTP"):
            evaluate(GO, "gtp:" + shlex.join([sys.executable, "-c", "input(); print('hello')"]), "7x7", 2)


class TestArguments:
    @pytest.mark.parametrize("readouts", [-1, (5, -1), (1, 2, 3), ()])
    def test_readouts(self, readouts) -> None:
        with pytest.raises(
            ValueError, match=r"readouts must be (one value for both players or a pair|an integer >= 0), got"
        ):
            evaluate(GO, "random", "random", 2, readouts)

    def test_opening_plies(self) -> None:
        """Plies by chance: all of them, or none."""
        every = evaluate(TIC_TAC_TOE, UniformEvaluator(), UniformEvaluator(), 30, 0, opening_plies=9)
        none = evaluate(TIC_TAC_TOE, HashEvaluator(), HashEvaluator(), 30, 0, opening_plies=0)
        assert every.distinct > 25
        assert none.distinct == 1


def test_each_network_sees_its_own_planes() -> None:
    """Of one game: rules and komi are the match's."""
    seen = set()

    class Sees(UniformEvaluator):
        def __init__(self, planes: int | None) -> None:
            self.env = GoEnv(3, komi=7.5, planes=planes)

        def evaluate(self, batch, slots, priors, values) -> None:
            seen.add((self.env.planes, batch.env.planes, batch.env.komi, batch.env.max_moves))
            super().evaluate(batch, slots, priors, values)

    new, old = Sees(None), Sees(5)
    evaluate(GoEnv(3, komi=0.5, max_moves=9), new, old, 2, readouts=(0, 4))
    planes = new.env.planes
    assert seen == {(planes, planes, 0.5, 9), (5, 5, 0.5, 9)}


def test_an_error_in_one_thread_ends_the_match_at_once() -> None:
    """The other thread stops at its next move."""
    calls, stop = [], threading.Event()

    class Fails(UniformEvaluator):
        def evaluate(self, batch, slots, priors, values) -> None:
            calls.append(len(slots))
            if len(calls) == 3:
                raise RuntimeError("out of luck")
            assert len(calls) < 3 or stop.wait(60)
            super().evaluate(batch, slots, priors, values)

    threads = threading.active_count()
    with pytest.raises(RuntimeError, match="out of luck"):
        match_on(2, GoEnv(5), Fails(), "random", 20, readouts=2, stop=stop)
    assert threading.active_count() == threads
    assert len(calls) < 15  # the other thread ends the move that it was at


class TestResult:
    def test_of_games(self) -> None:
        """In any order; faults and disagreements go by the games' numbers."""
        games = [
            MatchGame(2, 0.0, (4,), 0.0, counted=True, disagreement="told otherwise"),
            MatchGame(0, 1.0, (3,), 2.5, counted=True),
            MatchGame(1, -1.0, (5,), fault="crashed"),
        ]
        match = MatchResult.of(GO, games)
        assert match.outcomes.tolist() == [1, -1, 0]
        assert match.games == ((3,), (5,), (4,))
        assert (match.forfeits, match.counted, match.disagreements) == ({1: "crashed"}, 2, {2: "told otherwise"})
        assert match.distinct == 2

    def test_result_of_a_game(self) -> None:
        points = [MatchGame(0, 1.0, (), 2.5), MatchGame(1, 1.0, (), -3.0), MatchGame(1, 0.0, (), 0.0)]
        ended = [MatchGame(0, -1.0, ()), MatchGame(1, -1.0, ()), MatchGame(1, -1.0, (), fault="crashed")]
        assert [game.result for game in points + ended] == ["B+2.5", "W+3", "draw", "W+R", "B+R", "B+F"]

    def test_text(self) -> None:
        outcomes = (1, -1, 1, 0, -1, 1)
        assert repr(MatchResult(tuple(MatchGame(i, outcome, (i,)) for i, outcome in enumerate(outcomes)))) == (
            "3 wins (2 as Black, 1 as White), 1 draws, 2 losses in 6 games (6 distinct): "
            "58.3%, 95 % interval 24.1% to 86.1%"
        )
