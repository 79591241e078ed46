"""Questions to the analyst: the arrays of `analyze`, trees that go on, ends at once, and clients beside each other."""

import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pytest

from alphago import Analysis, ConnectFourEnv, GoEnv, Gumbel, IllegalMove, MCTSPlayer, NeuralNet, Position, Puct, analyze
from alphago.mcts.analysis_result import ARRAYS
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.opponent import OpponentStrength
from alphago.mcts.puct import PuctRule
from alphago.mcts.questions import LONG, Answer, Limit
from alphago.mcts.search import Forbidden
from tests import diagrams
from tests.mcts.trees import Counting
from tests.ui.own_games import OwnedByBlack

GO = GoEnv(5, komi=0.5)
ENDLESS = Limit(None, 3600.0)


@pytest.fixture(scope="module")
def net() -> NeuralNet:
    """A network that forecasts score and ownership."""
    return NeuralNet(GoEnv(5), tower_height=1, channels=8).eval()


def same(one: Analysis, other: Analysis) -> None:
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        if first is not None:
            np.testing.assert_array_equal(first, second, err_msg=name)


class TestArrays:
    @pytest.mark.parametrize("readouts", [1, 20, 200, LONG + 200])
    @pytest.mark.parametrize("settings", [None, "gumbel", Puct(c_puct=3.0, leaves=3)])
    def test_those_of_analyze(self, readouts: int, settings) -> None:
        """A long question has a search of its own, a short one shares one."""
        position = GO.position().after(["C3", "D3"])
        with Analyst(OwnedByBlack(), settings=settings) as analyst:
            one = analyst.ask(position, limit=Limit(readouts)).last().found
        same(one, analyze(position, OwnedByBlack(), readouts, settings=settings, threads=1))
        assert one.positions == (position,)

    def test_the_network_alone(self, net: NeuralNet) -> None:
        position = GoEnv(5).position()
        with Analyst(net) as analyst:
            answer = analyst.ask(position, limit=Limit(0)).last()
        alone = analyze(position, net, 0)
        np.testing.assert_array_equal(answer.found.prior, alone.prior)
        np.testing.assert_allclose(answer.found.raw_ownership, alone.raw_ownership, atol=0.5 / 127)  # kept in a byte
        assert (answer.readouts, answer.found.visits.sum()) == (0, 0)

    def test_many_positions_side_by_side_are_as_each_alone(self) -> None:
        positions = [GO.position(), *(GO.position().play(action) for action in range(25))]
        counts = [30 + 7 * i for i in range(len(positions))]
        with Analyst(OwnedByBlack(), threads=2, slots=5) as analyst:
            together = [
                analyst.ask(board, limit=Limit(count), reuse=False)
                for board, count in zip(positions, counts, strict=True)
            ]
            for question, position, count in zip(together, positions, counts, strict=True):
                same(question.last().found, analyze(position, OwnedByBlack(), count, threads=1))

    def test_options(self, net: NeuralNet) -> None:
        position = GoEnv(5).position().play("C3")
        rules = [Forbidden(-1, frozenset([0, 1]))]
        with Analyst(net, symmetries=True) as analyst:
            one = analyst.ask(position, limit=Limit(60), avoid=rules, plies=2, move_ownership=True).last().found
        other = analyze(position, net, 60, avoid=[0, 1], plies=2, move_ownership=True, symmetries=True, threads=1)
        same(one, other)

    def test_a_finished_game(self, net: NeuralNet) -> None:
        over = GoEnv(5).position().after(["pass", "pass"])
        with Analyst(net) as analyst:
            answer = analyst.ask(over, limit=Limit(50), level=10).last()
        same(answer.found, analyze(over, net, 50, threads=1))
        assert answer.action is None

    @pytest.mark.parametrize("env", [ConnectFourEnv(), GO], ids=lambda env: env.name)
    def test_every_game_by_its_moves(self, env) -> None:
        with Analyst(HashEvaluator()) as analyst:
            one = analyst.ask(env, env.action_names[:2], Limit(40)).last().found
            with pytest.raises(IllegalMove):
                analyst.ask(env, ["nowhere"])
        same(one, analyze(env.position().after(env.action_names[:2]), HashEvaluator(), 40, threads=1))


class TestTrees:
    def test_a_search_goes_on(self) -> None:
        evaluator = Counting()
        with Analyst(evaluator, settings=Puct(leaves=2)) as analyst:
            first = analyst.ask(GO, (), Limit(40)).last()
            before = sum(evaluator.sizes)
            longer = analyst.ask(GO, (), Limit(64)).last()
            again = analyst.ask(GO, (), Limit(30)).last()
        assert (first.readouts, longer.readouts, again.readouts) == (40, 24, 0)
        assert sum(evaluator.sizes) == before + 24
        same(longer.found, analyze(GO.position(), HashEvaluator(), 64, settings=Puct(leaves=2), threads=1))
        same(again.found, longer.found)

    def test_a_reply_an_undo_and_a_variation_find_their_trees(self) -> None:
        evaluator = Counting()
        with Analyst(evaluator, settings=Puct(leaves=1)) as analyst:
            start = analyst.ask(GO, (), Limit(200)).last().found
            best, *_, other = (move for move in start.moves() if move.visits > 8)
            for move in (best, other):
                below = analyst.ask(GO, [move.action], Limit(0)).last()
                assert (below.readouts, below.found.root_visits[0]) == (0, move.visits)
            reply = best.line[:2]
            assert analyst.ask(GO, reply, Limit(0)).last().found.root_visits[0] == best.line_visits[1]
            before = sum(evaluator.sizes)
            same(analyst.ask(GO, (), Limit(200)).last().found, start)
            assert sum(evaluator.sizes) == before
            analyst.forget()
            assert analyst.ask(GO, [best.action], Limit(0)).last().found.root_visits[0] == 1

    def test_it_begins_anew_where_it_must(self) -> None:
        with Analyst(HashEvaluator()) as analyst:
            analyst.ask(GO, ["C3"], Limit(60)).last()
            rules = (Forbidden(-1, frozenset([3])),)
            others = [GO.position(komi=5.5).play("C3"), GO.position().play("C3").give_turn(1), GO.position().play("C2")]
            for position in others:
                assert analyst.ask(position, limit=Limit(10)).last().readouts == 10
            assert analyst.ask(GO, ["C3"], Limit(10), avoid=rules).last().readouts == 10
            assert analyst.ask(GO, ["C3"], Limit(10), avoid=rules).last().readouts == 0
            assert analyst.ask(GO, ["C3"], Limit(10), reuse=False).last().readouts == 10

    def test_readouts_may_be_added(self) -> None:
        with Analyst(HashEvaluator()) as analyst:
            analyst.ask(GO, (), Limit(40)).last()
            added = analyst.ask(GO, (), Limit(40, added=True)).last()
        assert (added.readouts, added.found.root_visits[0]) == (40, 81)

    def test_a_rule_of_ones_own_prepares_each_search(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[list[int]] = []
        monkeypatch.setattr(PuctRule, "begin_move", lambda rule, games, plies: told.append(plies.tolist()))
        monkeypatch.setattr(PuctRule, "prepare", lambda rule, tree, games, readouts: told.append(readouts.tolist()))
        with Analyst(HashEvaluator(), settings=Puct()) as analyst:
            analyst.ask(GO, ["C3"], Limit(20)).last()
            with pytest.raises(ValueError, match="readouts must be limited in the search Puct, got None"):
                analyst.ask(GO, (), ENDLESS)
            assert analyst.ask(GO, (), ENDLESS, level=1).last().found is not None  # a level has readouts of its own
        assert told[:2] == [[1], [20]]

    def test_gumbel_starts_from_the_root(self) -> None:
        with Analyst(HashEvaluator(), settings=Gumbel()) as analyst:
            one, other = (analyst.ask(GO, (), Limit(32)).last().found for _ in range(2))
        same(one, other)


class TestMoves:
    def test_full_strength(self) -> None:
        player = MCTSPlayer(GO, HashEvaluator(), 80, two_player_mode=True)
        with Analyst(HashEvaluator(), settings=Puct(leaves=8)) as analyst:
            answer = analyst.ask(GO, (), Limit(80, certain=True), level=10).last()
            alone = analyst.ask(GO, ["C3"], Limit(0), level=10, reuse=False).last()
        assert answer.action == player.suggest_move()
        assert alone.action == alone.found.best()

    def test_gumbel_plays_the_best(self) -> None:
        """The last two candidates have equal visits."""
        with Analyst(HashEvaluator(), settings="gumbel") as analyst:
            answer = analyst.ask(GO, ["C3"], Limit(32), level=10).last()
        assert answer.action == answer.found.best() == answer.found.leading[0]

    def test_a_search_ends_when_its_move_is_certain(self) -> None:
        with Analyst(HashEvaluator()) as analyst:
            answer = analyst.ask(GO, ["C3"], Limit(4000, certain=True), level=10).last()
        most, second = np.sort(answer.found.visits[0])[:-3:-1]
        assert answer.readouts < 4000
        assert most >= second + 4000 - answer.readouts
        assert answer.action == answer.found.best()

    def test_a_level_is_that_of_a_player(self, net: NeuralNet) -> None:
        position = GoEnv(5).position().after(["C3", "C2"])
        player = MCTSPlayer(GoEnv(5), net, level=3, seed=7)
        player.initialize_game(position)
        with Analyst(net, settings=Puct(leaves=8), seed=7) as analyst:
            answer = analyst.ask(position, level=3).last()
        assert answer.action == player.suggest_move()

    @pytest.mark.parametrize("level", [2, 10])
    def test_no_move_to_avoid_is_played(self, level: int) -> None:
        """A pass would win at once, and the likeliest move A1 fills an own eye."""
        start = diagrams.position(". X . .\n. X . .\nX X . .\n. X . .", env=GoEnv(4, komi=0), komi=0)
        policy = np.eye(17)[12] + 0.01  # A1
        rules = [Forbidden(1, frozenset(range(17)) - {3, 12})]  # all but A1 and D4
        with Analyst(lambda _: (policy, 0.9)) as analyst:
            position = start.give_turn(-1).play("pass")
            answer = analyst.ask(position, limit=Limit(40), avoid=rules, level=level).last()
        assert answer.action in (3, 12)

    def test_even_says_how_strong_the_other_side_is(self, net: NeuralNet) -> None:
        position = GoEnv(5).position().after(["C3", "C2", "A1"])
        with Analyst(net) as analyst:
            answer = analyst.ask(position, level="even").last()
            (stop := threading.Event()).set()
            assert analyst.ask(position, limit=Limit(until=stop), level="even").last().action is None
        assert answer.opponent.moves == 2
        assert position.legal_mask[answer.action]


class TestClients:
    def test_answers_grow_until_it_is_told_to_stop(self) -> None:
        with Analyst(HashEvaluator()) as analyst:
            question = analyst.ask(GO, (), ENDLESS, every=0.01)
            visits = []
            for answer in question:
                visits.append(answer.found.root_visits[0])
                if len(visits) == 3:
                    question.stop()
        assert visits == sorted(visits)
        assert answer.is_last
        assert question.last().found.root_visits[0] == visits[-1]

    def test_who_is_slow_gets_the_newest_answer(self) -> None:
        with Analyst(HashEvaluator()) as analyst:
            question = analyst.ask(GO, (), Limit(400), every=0.0001)
            question.wait()
        assert [answer.is_last for answer in question] == [True]

    def test_many_long_questions_end_at_once(self) -> None:
        told: list[Answer] = []
        with Analyst(HashEvaluator(), threads=2) as analyst:
            questions = [analyst.ask(GO, [action], ENDLESS, tell=told.append) for action in range(20)]
            begun = analyst.ask(GO, ["C3", "B2"], Limit(64)).last()  # beside them
            for question in questions:
                question.stop()
        assert begun.readouts == 64
        assert len(told) == 20
        assert all(answer.is_last for answer in told)

    def test_what_waits_ends_without_an_analysis(self) -> None:
        with Analyst(HashEvaluator(), threads=1, slots=1) as analyst:
            busy = analyst.ask(GO, (), ENDLESS)
            waiting = analyst.ask(GO, ["C3"], Limit(10))
            waiting.stop()
            assert waiting.last() == Answer(waiting.position, None, is_last=True)
            busy.stop()
            assert busy.last().is_last

    def test_what_is_stopped_while_another_begins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """To begin may take seconds at the level "even", which estimates the other side's strength."""
        asked = threading.Event()
        with Analyst(HashEvaluator(), threads=1) as analyst:
            usual = analyst.estimate

            def estimate(position: Position, seconds: float) -> OpponentStrength:
                assert asked.wait(60)
                for question in questions[1:]:
                    question.stop()
                return usual(position, seconds)

            monkeypatch.setattr(analyst, "estimate", estimate)
            questions = analyst.ask_all([GO.position()] * 3, Limit(10), beside=3, level="even")
            asked.set()
            assert [question.last().analysis is None for question in questions] == [False, True, True]

    def test_close_ends_what_runs(self) -> None:
        analyst = Analyst(HashEvaluator())
        question = analyst.ask(GO, (), ENDLESS)
        analyst.close()
        assert question.last().is_last
        with pytest.raises(RuntimeError, match="it was closed"):
            analyst.ask(GO)

    def test_time_and_a_full_tree_end_a_search(self) -> None:
        begin = time.monotonic()
        with Analyst(HashEvaluator(), threads=1, tree_bytes=200_000) as analyst:
            full = analyst.ask(GO, ["C3"], ENDLESS).last()
            complete = analyst.ask(GoEnv(5, max_moves=2), ["C3"], Limit(None, 0.02)).last()  # few leaves
            assert analyst.ask(GO, (), Limit(None, 0.02)).last().readouts > 0
        assert complete.readouts < 1_000_000
        assert full.readouts < 200_000 // 100
        assert time.monotonic() - begin < 60

    def test_few_kinds_of_searches_are_kept(self) -> None:
        games = [GoEnv(5, ko=ko) for ko in ("simple", "positional", "simple")]  # of one kind each
        with Analyst(HashEvaluator(), threads=1, kinds=1) as analyst:
            found = [analyst.ask(game, (), Limit(20), reuse=False).last() for game in games]
            assert ([answer.readouts for answer in found], len(analyst._shared)) == ([20] * 3, 1)

    def test_errors_are_the_clients(self, capsys: pytest.CaptureFixture[str]) -> None:
        def broken(position: Position):
            raise RuntimeError("a broken network")

        with Analyst(broken) as analyst, pytest.raises(RuntimeError, match="a broken network"):
            analyst.ask(GO, (), Limit(4)).last()
        assert "Traceback" in capsys.readouterr().err
        with Analyst(HashEvaluator(), threads=1) as analyst:
            other = analyst.ask(GO, (), Limit(400))
            analyst.ask(GO, (), Limit(200), tell=lambda answer: 1 / 0).wait()
            assert other.last().readouts == 400
        assert "ZeroDivisionError" in capsys.readouterr().err
        nothing = (Forbidden(1, frozenset(range(26))),)
        with Analyst(HashEvaluator()) as analyst:
            with pytest.raises(ValueError, match="a legal move must be left to search"):
                analyst.ask(GO, (), Limit(4), avoid=nothing)
            with pytest.raises(ValueError, match="level must be a number from 1 to 10"):
                analyst.ask(GO, (), level=11)
            with pytest.raises(ValueError, match="every must be a number > 0"):
                analyst.ask(GO, (), every=-1.0)

    def test_questions_share_batches(self) -> None:
        all_asked = threading.Event()

        class Waiting(Counting):
            def evaluate(self, *arguments: Any) -> None:
                assert all_asked.wait(60)
                super().evaluate(*arguments)

        evaluator = Waiting()
        with Analyst(evaluator, settings=Puct(leaves=1), threads=1, slots=6) as analyst:
            questions = [analyst.ask(GO, [action], Limit(20)) for action in range(6)]
            all_asked.set()
            assert [question.last().readouts for question in questions] == [20] * 6
        assert max(evaluator.sizes) >= 5  # the first question may have begun alone

    def test_urgent_questions_begin_first(self) -> None:
        entered, go_on, order = threading.Event(), threading.Event(), []

        def network(position: Position):
            entered.set()
            assert go_on.wait(60)
            return np.where(position.legal_mask, 1.0, 0.0), 0.0

        with Analyst(network, threads=1, slots=1) as analyst:
            analyst.ask(GO, ["A1"], Limit(1))
            assert entered.wait(60)
            for number in range(4):
                tell = partial(lambda number, answer: order.append(number), number)
                analyst.ask(GO, [number], Limit(1), priority=number // 2, tell=tell)
            go_on.set()
            analyst.close(wait=True)
        assert order == [2, 3, 0, 1]
