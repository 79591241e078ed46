"""Alpha-beta players: the same values as plain minimax, forced wins, solved boards, and their place in matches."""

import numpy as np
import pytest
from go_variants import TwoStonesGoEnv
from plain_connect_four import PlainConnectFourEnv

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, Position, ReversiEnv, evaluate
from alphago.arena.alphabeta import AlphaBetaPlayer, AlphaBetaSearch, AlphaBetaSettings, best_move, look_ahead
from alphago.arena.entrant import find_player, resolve_player
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.naive.minimax import minimax
from tests.random_games import going_on


@pytest.mark.parametrize(
    ("env", "plies", "depth"),
    [
        (OwareEnv(), (0, 30, 90), 3),
        (OwareEnv(40), (36, 38, 39), 5),  # the limit of plies within reach
        (ReversiEnv(), (0, 57), 2),
        (ReversiEnv(6), (5, 24, 27, 29), 3),
        (ReversiEnv(4), (2, 6, 8), 4),
        (GomokuEnv(4, 3), (9,), 3),
        (GomokuEnv(6, 4, planes=3), (12, 22), 2),
        (ConnectFourEnv(), (9, 30), 3),
    ],
    ids=repr,
)
def test_every_depth_agrees_with_minimax(env: GameEnv, plies: tuple[int, ...], depth: int) -> None:
    """The value is the same, and the move one of those that have it."""
    for seed, ply in enumerate(plies):
        position = going_on(env, seed, ply)
        for plain_depth in range(1, depth + 1):
            value, actions = minimax(position, plain_depth)
            found = best_move(position, plain_depth)
            assert found.value == value, f"{found} in {position.describe()}"
            assert found.action in actions


@pytest.mark.parametrize(("env", "margin"), [(ReversiEnv(4), -8), (GomokuEnv(3, 3, planes=3), 0)], ids=repr)
def test_solved_boards(env: GameEnv, margin: int) -> None:
    found = best_move(env.position())
    assert (found.outcome, found.margin, found.is_exact) == (np.sign(margin), margin, True)


class TestPlayer:
    def test_its_moves_follow_from_the_position(self) -> None:
        """Whatever it searched before, and whatever chance it is offered."""
        env, random = ReversiEnv(6), np.random.default_rng(1)
        player, moves = AlphaBetaPlayer(env, AlphaBetaSettings(4), 2), []
        positions = [going_on(env, ply, ply) for ply in (9, 4)]
        for slot, position in enumerate(positions):
            player.batch.copy(np.zeros(1, np.int64), np.array([slot]), of=position.batch)
        for games in ([0, 1], [1, 0], [0], [1]):
            chosen = player.choose(np.array(games), random.random(len(games)) < 0.5, random.random(len(games)))
            moves += list(zip(games, chosen.tolist(), strict=True))
        assert len(set(moves)) == 2

    @pytest.mark.parametrize("nodes", [1, 7])
    def test_a_search_may_pause_anywhere(self, nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
        row = going_on(ReversiEnv(6), 1, 6).batch.rows[0]
        whole = AlphaBetaSearch(ReversiEnv(6), 5).find(row)
        monkeypatch.setattr("alphago.arena.alphabeta.NODES_BEFORE_PAUSE", nodes)
        assert AlphaBetaSearch(ReversiEnv(6), 5).find(row) == whole

    def test_an_only_move_needs_no_search(self) -> None:
        start = OwareEnv().position(houses=[0, 0, 0, 0, 0, 3, 1, 1, 1, 1, 0, 0], margin=1)
        player = AlphaBetaPlayer(start.env, AlphaBetaSettings(200), 1)
        player.batch.copy(np.zeros(1, np.int64), np.zeros(1, np.int64), of=start.batch)
        assert player.choose(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1)).tolist() == [5]


class TestNames:
    def test_depths(self) -> None:
        assert find_player("alphabeta:12") == AlphaBetaSettings(12)
        assert find_player("alphabeta").name == "alphabeta:8"
        assert resolve_player("alphabeta:3", OwareEnv()) == AlphaBetaSettings(3)

    @pytest.mark.parametrize("env", [GoEnv(5), TicTacToeEnv(), PlainConnectFourEnv()], ids=repr)
    def test_games_without_an_evaluation(self, env: GameEnv) -> None:
        sentence = "env must be connect-four, gomoku, oware, reversi for alpha-beta search, got"
        with pytest.raises(ValueError, match=sentence):
            best_move(env.position())
        if isinstance(env, GoEnv):  # no line of it ends within reach
            with pytest.raises(ValueError, match=sentence):
                resolve_player("alphabeta:4", env)

    def test_a_game_that_is_over(self) -> None:
        with pytest.raises(ValueError, match="position must not be over, got"):
            best_move(OwareEnv().position(houses=[1] + [0] * 11, margin=47 - 2 * 3))


def outcome(position: Position, depth: int) -> float:
    """Black's result of best play, sooner results farther from 0; 0 where depth ends."""
    if position.is_over or depth == 0:
        return position.result * (1 + depth) if position.is_over else 0.0
    values = [outcome(position.play(int(action)), depth - 1) for action in np.flatnonzero(position.legal_mask)]
    return max(values) if position.to_play == 1 else min(values)


@pytest.mark.parametrize(
    ("env", "plies", "depth"),
    [(TicTacToeEnv(), 3, 6), (PlainConnectFourEnv(), 24, 2), (TwoStonesGoEnv(3), 10, 3)],
    ids=repr,
)
def test_agrees_with_minimax(env: GameEnv, plies: int, depth: int) -> None:
    decided = 0
    for seed in range(4):
        position = going_on(env, seed, plies)
        best = outcome(position, depth)
        assert outcome(position.play(look_ahead(position, depth)[1]), depth - 1) == best
        decided += best != 0
    assert decided


def test_an_anchor_of_a_game_of_ones_own() -> None:
    """It sees a win and a threat of three in a line, and plays the same again."""
    assert evaluate(TicTacToeEnv(), "alphabeta:2", "random", 10, random_opening=1).wins >= 8
    assert evaluate(TicTacToeEnv(), "alphabeta:2", "alphabeta:2", 2).distinct == 1
