"""Games with stones: names of moves, and set-up boards of the small games."""

import json

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GomokuEnv, ReversiEnv, check_game
from alphago.env.board import StonesEnv
from tests.random_games import random_game

GAMES = [GomokuEnv(5, 4, 7), ReversiEnv(6), ConnectFourEnv()]
GOMOKU = GomokuEnv(5, 2, 3)
games = pytest.mark.parametrize("env", GAMES, ids=lambda env: env.name)


def after(env: GameEnv, plies: int, seed: int = 0):
    """A position of a random game that is not over."""
    position = random_game(env, seed, plies)[-1]
    assert not position.is_over
    return position


class Shapes(StonesEnv):
    """A game of which only the texts matter."""

    name, N, planes, max_moves = "shapes", 3, 2, 9
    config = {}

    def __init__(self, shape: tuple[int, int], actions: int, pass_action: int | None = None) -> None:
        self.plane_shape, self.action_space, self.pass_action = shape, actions, pass_action


@pytest.mark.parametrize(
    ("env", "names"),
    [
        (Shapes((2, 3), 6), "A2 B2 C2 A1 B1 C1"),
        (Shapes((2, 3), 7, 6), "A2 B2 C2 A1 B1 C1 pass"),
        (Shapes((2, 3), 3), "A B C"),
        (Shapes((1, 3), 3), "A1 B1 C1"),
        (Shapes((2, 3), 5), "0 1 2 3 4"),
        (Shapes((1, 30), 30), " ".join(map(str, range(30)))),  # more columns than letters
    ],
)
def test_names_follow_the_drawing(env: StonesEnv, names: str) -> None:
    assert [env.to_text(action) for action in range(env.action_space)] == names.split()
    assert [env.from_text(f" {name.lower()} ".strip()) for name in names.split()] == list(range(env.action_space))


class TestSetUps:
    @games
    def test_a_board_of_a_game(self, env: GameEnv) -> None:
        """The game goes on from it as it went on."""
        before = after(env, 6)
        again = env.position(board=before.board, to_play=before.to_play)
        assert np.array_equal(again.board, before.board)
        for action in np.flatnonzero(before.legal_mask):
            one, other = again.play(int(action)), before.play(int(action))
            assert (one.is_over, one.outcome, one.score()) == (other.is_over, other.outcome, other.score())
            assert np.array_equal(one.legal_mask, other.legal_mask)
            assert np.array_equal(one.board, other.board)
        saved = env.position(**json.loads(json.dumps(again.setup)))
        assert np.array_equal(saved.planes(), again.planes())

    @games
    def test_a_history_is_as_good_as_the_game(self, env: GameEnv) -> None:
        game = after(env, 6, seed=2)
        boards = [one.board for one in game.replay()]
        again = env.position(board=boards[-1], history=boards[2:-1])
        assert again.moves == game.moves[2:]
        assert (again.to_play, np.array_equal(again.legal_mask, game.legal_mask)) == (game.to_play, True)

    @games
    def test_the_contract_holds(self, env: GameEnv) -> None:
        setups = [{}, {"to_play": "white"}, {"board": after(env, 5).board, "to_play": 1}]
        check_game(env, games=6, setups=setups)

    def test_older_boards_are_unknown(self) -> None:
        """In Gomoku's planes, as in Go's."""
        env = GomokuEnv(5, 4, 7)
        before = after(env, 4)
        planes = env.position(board=before.board).planes()
        assert np.array_equal(planes[:2], before.planes()[:2])
        assert not planes[2:6].any()
        moved = env.position(board=before.board).play(int(np.flatnonzero(before.legal_mask)[0])).planes()
        assert np.array_equal(moved[2:4], planes[1::-1])
        assert not moved[4:6].any()

    def test_the_side_with_fewer_stones_moves(self) -> None:
        board = np.zeros((6, 7), int)
        board[5, 3] = 1
        assert ConnectFourEnv().position(board=board).to_play == -1

    def test_a_finished_game(self) -> None:
        board = np.zeros((6, 7), int)
        board[5, :4], board[4, :3] = 1, -1
        over = ConnectFourEnv().position(board=board)
        assert (over.is_over, over.result) == (True, 1)
        white = np.ones((4, 4), int) * -1
        assert (ReversiEnv(4).position(board=white).is_over, ReversiEnv(4).position(board=white).score()) == (True, -16)

    @pytest.mark.parametrize(
        ("env", "stones", "setup", "text"),
        [
            (ConnectFourEnv(), {(4, 2): 1}, {}, "board must have its stones on top .*, got nothing below C2"),
            (GOMOKU, {(0, 0): 1, (0, 1): 1, (4, 0): -1, (4, 1): -1}, {}, "board must have a line of 2 of one side"),
            (GOMOKU, {(0, 0): 1, (0, 1): 1}, {"to_play": "black"}, "to_play must be 'white' after Black has won"),
            (ReversiEnv(4), {(0, 0): 1}, {}, "board must have stones on the four points in the middle"),
            (ReversiEnv(4), {}, {"to_play": "red"}, "to_play must be 'black' or 'white'"),
        ],
    )
    def test_what_no_game_has(self, env: GameEnv, stones: dict, setup: dict, text: str) -> None:
        board = np.zeros(env.plane_shape, int)
        for point, colour in stones.items():
            board[point] = colour
        with pytest.raises(ValueError, match=text):
            env.position(**({"board": board} if stones else {}), **setup)

    def test_other_shapes_and_keywords(self) -> None:
        with pytest.raises(ValueError, match=r"board must be \[6, 7\] points of 1, -1 and 0, got \[7, 6\]"):
            ConnectFourEnv().position(board=np.zeros((7, 6)))
        with pytest.raises(TypeError, match=r"ReversiEnv\.position has no keyword 'bord': did you mean board"):
            ReversiEnv().position(bord=1)
        with pytest.raises(ValueError, match="history must be given together with the board"):
            ReversiEnv().position(history=[np.zeros((8, 8))])
