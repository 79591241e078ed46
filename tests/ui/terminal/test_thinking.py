"""How long the engine thinks, and what it says meanwhile."""

import itertools

import pytest

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.player import MCTSPlayer
from alphago.ui.terminal.thinking import WAVE, Limit, Thought, think


@pytest.fixture
def player() -> MCTSPlayer:
    return MCTSPlayer(GoEnv(5), HashEvaluator(), two_player_mode=True)


class TestLimit:
    def test_readouts(self, player: MCTSPlayer) -> None:
        told: list[int] = []
        thought = think(player, Limit(40), lambda readouts, _: told.append(readouts))
        assert told == [WAVE, 2 * WAVE, 40]
        assert player.root_visits == 41
        assert thought.action == player.visits().argmax()
        assert thought.value == player.root_value

    @pytest.mark.parametrize(("readouts", "waves"), [(None, 5), (1000, 5), (20, 2)])
    def test_seconds(self, player: MCTSPlayer, readouts: int | None, waves: int) -> None:
        """A clock that goes on by a second at each look; the search may end by itself before."""
        seconds = itertools.count()
        told: list[int] = []
        limit = Limit(readouts, 6)
        think(player, limit, lambda done, _: told.append(done), lambda: float(next(seconds)))
        assert len(told) == waves

    def test_the_network_alone(self, player: MCTSPlayer) -> None:
        """Its most probable legal action and its own value; nothing is searched."""
        thought = think(player, Limit(0), lambda *_: pytest.fail("nothing is searched"))
        assert player.root_visits == 1
        assert thought.action == player.search.priors(player.search.batch.env.N * [0])[0].argmax()
        assert thought.line == player.env.to_text(thought.action)
        player.play_move(thought.action)
        assert think(player, Limit(0), print).action != thought.action

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
            Limit(*limit)


def test_the_line_is_what_was_searched(player: MCTSPlayer) -> None:
    """It begins with the move, and each further one is the most visited reply."""
    thought = think(player, Limit(400), lambda *_: None)
    words = thought.line.split()
    assert words[0] == player.env.to_text(thought.action)
    assert len(words) > 2
    player.play_move(thought.action)
    assert player.env.to_text(int(player.visits().argmax())) == words[1]


def test_a_move_that_was_not_searched(player: MCTSPlayer) -> None:
    assert player.analysis().line_text(3) == "D5"


@pytest.mark.parametrize(("value", "text"), [(0.5, "75 %"), (-1.0, "0 %"), (1.0, "100 %")])
def test_win_rate(value: float, text: str) -> None:
    assert Thought(0, value, "").win_rate == text
