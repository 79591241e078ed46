"""How long a thinker thinks, where it goes with its tree, and what it plays."""

import itertools

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.mcts.analysis_search import Forbidden
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.puct import Puct
from alphago.nn.net import NeuralNet
from alphago.ui.thinker import WAVE, MoveLimit, Thinker

GO = GoEnv(5, komi=0.5)


@pytest.fixture
def player() -> MCTSPlayer:
    return MCTSPlayer(GO, HashEvaluator(), two_player_mode=True, forecasts=True)


class TestLimits:
    def test_readouts(self, player: MCTSPlayer) -> None:
        told: list[int] = []
        action = Thinker(player).choose(MoveLimit(40), told.append)
        assert told == [WAVE, 2 * WAVE, 40]
        assert player.root_visits == 41
        assert action == player.visits().argmax()

    def test_without_reports_a_search_ends_when_its_move_is_certain(self, player: MCTSPlayer) -> None:
        player.initialize_game(GO.position().after(["C3"]))
        action = Thinker(player).choose(MoveLimit(4000))
        assert action == player.visits().argmax()
        left = 4001 - player.root_visits
        most, second = np.sort(player.visits())[:-3:-1]
        assert left > 0
        assert most >= second + left

    @pytest.mark.parametrize(("readouts", "waves"), [(None, 5), (1000, 5), (20, 2)])
    @pytest.mark.parametrize("silent", [True, False])
    def test_seconds(self, player: MCTSPlayer, readouts: int | None, waves: int, silent: bool) -> None:
        """A clock that goes on by a second at each look; the search may end by itself before."""
        seconds = itertools.count()
        thinker = Thinker(player, now=lambda: float(next(seconds)))
        told: list[int] = []
        thinker.choose(MoveLimit(readouts, 6), None if silent else told.append)
        assert player.root_visits == 1 + min(waves * WAVE, readouts or 1000)
        assert len(told) == (0 if silent else waves)

    def test_the_network_alone(self, player: MCTSPlayer) -> None:
        """Its most probable legal action; nothing is searched."""
        thinker = Thinker(player)
        action = thinker.choose(MoveLimit(0), lambda _: pytest.fail("nothing is searched"))
        assert player.root_visits == 1
        assert action == thinker.best() == player.search.priors(np.zeros(1, np.int64))[0].argmax()
        player.play_move(action)
        assert thinker.choose(MoveLimit(0)) != action

    @pytest.mark.parametrize(
        ("limit", "sentence"),
        [
            ((None, None), "num_readouts or seconds must limit a move"),
            ((-1, None), "num_readouts must be an integer from 0 to 10000000, got -1"),
            ((1, 0), "seconds must be a number > 0, got 0"),
            ((1, float("nan")), "seconds must be a number > 0, got nan"),
            ((1, float("inf")), "seconds must be a number > 0, got inf"),
        ],
    )
    def test_no_limit(self, limit: tuple, sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            MoveLimit(*limit)


class TestSlices:
    def test_a_slice_ends_with_its_time_or_its_readouts(self, player: MCTSPlayer) -> None:
        seconds = itertools.count()
        thinker = Thinker(player, now=lambda: float(next(seconds)))
        assert thinker.work(1000, 3.5) == 3 * WAVE
        assert thinker.seconds == 5
        assert thinker.work(20, 1000) == 20
        assert player.root_visits == 3 * WAVE + 21

    def test_waves_grow_with_the_tree(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """8 leaves at first, and another 8 for each 400 visits, at most 32: whole blocks of a network on the CPU."""
        player = MCTSPlayer(GO, HashEvaluator(), two_player_mode=True, settings=Puct(leaves=32))
        sizes: dict[int, int] = {}
        wave = player.search.wave

        def watched(budget: np.ndarray) -> int:
            sizes[player.root_visits] = int(budget[0])
            return wave(budget)

        monkeypatch.setattr(player.search, "wave", watched)
        assert Thinker(player, wave=8).work(2500, 1000) == 2500
        last = max(sizes)
        assert all(size == min(max(8, visits // 400 * 8), 32) for visits, size in sizes.items() if visits != last)
        assert {8, 16, 24, 32} <= set(sizes.values())


class TestFollowing:
    def test_a_game_that_goes_on_keeps_its_tree(self, player: MCTSPlayer) -> None:
        thinker = Thinker(player)
        thinker.work(64, 1000)
        best = player.analysis().move(0, thinker.best(), 0)
        position = GO.position().play(best.action)
        thinker.follow(position)
        assert player.root_visits == best.visits
        thinker.follow(position)
        assert player.root_visits == best.visits
        line = best.line[1:3]
        thinker.follow(position.after(line))
        assert player.root_visits == best.line_visits[2]
        thinker.follow(position)
        assert player.root_visits == 0

    @pytest.mark.parametrize("other", [GO.position(komi=5.5), GO.position(black=[3])])
    def test_another_game_begins_anew(self, player: MCTSPlayer, other: GoPosition) -> None:
        thinker = Thinker(player)
        thinker.work(16, 1000)
        thinker.follow(other)
        assert player.root_visits == 0
        assert player.position is other

    def test_another_komi_of_the_same_board(self, player: MCTSPlayer) -> None:
        """A game with its own komi is another one for a player whose game has none of it."""
        thinker, other = Thinker(player), GO.replace(komi=7.5)
        thinker.work(16, 1000)
        thinker.follow(other.position())
        assert (player.root_visits, player.position.komi) == (0, 7.5)
        thinker.work(16, 1000)
        thinker.follow(other.position().after(["C3"]))
        assert player.root_visits > 0

    def test_forbidden_moves(self, player: MCTSPlayer) -> None:
        """A search has them until a move is played, also for the network alone."""
        thinker = Thinker(player)
        first = thinker.choose(MoveLimit(0))
        rules = [Forbidden(1, frozenset([first]))]
        thinker.follow(GO.position(), rules)
        second = thinker.choose(MoveLimit(0))
        assert second != first
        thinker.work(32, 1000)
        assert player.visits()[first] == 0
        thinker.follow(GO.position(), rules)
        assert player.root_visits == 33
        thinker.follow(GO.position())
        assert thinker.choose(MoveLimit(0)) == first

    def test_a_network_that_sees_other_planes_plays_on_the_same_board(self) -> None:
        boards = GoEnv(5, 5, komi=0.5)
        thinker = Thinker(MCTSPlayer(boards, NeuralNet(boards, tower_height=0, channels=4)))
        position = GO.position().after(["C3", "D3", "C2"])
        thinker.follow(position)
        assert thinker.player.position.env.planes == 5
        assert (thinker.player.position.moves, thinker.player.position.komi) == (position.moves, 0.5)
        thinker.work(8, 1000)
        thinker.follow(position.play(0))
        assert thinker.player.position.moves_text() == position.play(0).moves_text()


def test_the_line_is_what_was_searched(player: MCTSPlayer) -> None:
    """It begins with the move, and each further one is the most visited reply."""
    action = Thinker(player).choose(MoveLimit(400), lambda _: None)
    words = player.analysis().line_text(action).split()
    assert words[0] == player.env.to_text(action)
    assert len(words) > 2
    player.play_move(action)
    assert player.env.to_text(int(player.visits().argmax())) == words[1]


def test_a_move_that_was_not_searched(player: MCTSPlayer) -> None:
    assert player.analysis().line_text(3) == "D5"


def test_a_rate_that_the_clock_says(player: MCTSPlayer) -> None:
    seconds = itertools.count(0, 4)
    assert Thinker(player, now=lambda: float(next(seconds))).warm_up() == 2
    assert player.root_visits == 0
