"""Go in plain Python, slow and obvious: what the kernels have to agree with."""

from typing import Any

import numpy as np

from alphago.env import symmetry
from alphago.env.game import GameEnv
from alphago.env.symmetry import Symmetries

BLACK, WHITE, EMPTY = 1, -1, 0
LETTERS = "ABCDEFGHJKLMNOPQRST"

Board = tuple[int, ...]  # a colour per point, row by row from the top


def neighbours(point: int, size: int) -> list[int]:
    row, column = divmod(point, size)
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * size + c for r, c in near if 0 <= r < size and 0 <= c < size]


def chain(board: Board, point: int, size: int) -> tuple[set[int], set[int]]:
    """The points of one colour that hang together with `point`, and all points around them."""
    inside, around, todo = {point}, set(), [point]
    while todo:
        for near in neighbours(todo.pop(), size):
            if board[near] != board[point]:
                around.add(near)
            elif near not in inside:
                inside.add(near)
                todo.append(near)
    return inside, around


def has_liberty(board: Board, stones: set[int], around: set[int]) -> bool:
    return any(board[point] == EMPTY for point in around)


def board_after(board: Board, point: int, colour: int, size: int) -> Board | None:
    """The board with a stone placed and what it takes removed; None if the stone itself has no liberty."""
    cells = list(board)
    cells[point] = colour
    placed = tuple(cells)
    for near in neighbours(point, size):
        if placed[near] == -colour:
            stones, around = chain(placed, near, size)
            if not has_liberty(placed, stones, around):
                for stone in stones:
                    cells[stone] = EMPTY
    result = tuple(cells)
    return result if has_liberty(result, *chain(result, point, size)) else None


def area(board: Board, size: int) -> int:
    """Black's points minus White's: stones, and empty regions beside one colour only."""
    total = sum(board)
    seen: set[int] = set()
    for point in range(size * size):
        if board[point] == EMPTY and point not in seen:
            region, around = chain(board, point, size)
            seen |= region
            colours = {board[near] for near in around}
            if len(colours) == 1:
                total += len(region) * colours.pop()
    return total


class NaiveGo:
    """One Go position; `boards` holds every board since the start, one per ply."""

    def __init__(self, env: "NaiveGoEnv", stones: Any = None, to_play: Any = BLACK, komi: float | None = None) -> None:
        self.env = env
        board = [EMPTY] * env.N**2 if stones is None else np.asarray(stones).ravel().tolist()
        self.boards: list[Board] = [tuple(board)]
        self.seen: set[Board] = {self.boards[0]}
        self.to_play = {"black": BLACK, "white": WHITE}.get(to_play, to_play)
        self.komi = env.komi if komi is None else komi
        self.moves: list[int] = []
        for point, colour in enumerate(board):
            if colour != EMPTY and not has_liberty(self.board, *chain(self.board, point, env.N)):
                raise ValueError(f"the chain at {env.to_text(point)} has no liberty")

    @property
    def board(self) -> Board:
        return self.boards[-1]

    def play(self, action: int) -> None:
        board = self.board
        if action != self.env.pass_action:
            assert self.is_legal(action)
            board = board_after(board, action, self.to_play, self.env.N)
            self.seen.add(board)
        self.boards.append(board)
        self.moves.append(action)
        self.to_play = -self.to_play

    def is_legal(self, action: int) -> bool:
        if action == self.env.pass_action:
            others = range(self.env.pass_action)
            return len(self.moves) >= self.env.first_pass or not any(self.is_legal(point) for point in others)
        if self.board[action] != EMPTY:
            return False
        after = board_after(self.board, action, self.to_play, self.env.N)
        return after is not None and after not in self.seen

    def legal_mask(self) -> np.ndarray:
        going = not self.is_over()
        return np.array([going and self.is_legal(action) for action in range(self.env.action_space)])

    def is_over(self) -> bool:
        passed = [action == self.env.pass_action for action in self.moves]
        return passed[-2:] == [True, True] or len(self.moves) >= self.env.max_moves

    def score(self) -> float:
        return (area(self.board, self.env.N) - self.komi) * self.to_play

    def outcome(self) -> float:
        score = self.score()
        return 1.0 if score > 0 else -1.0 if score < 0 else 0.0

    def planes(self) -> np.ndarray:
        size = self.env.N
        planes = np.zeros((self.env.planes, size, size), np.float32)
        for age, board in enumerate(self.boards[::-1][: self.env.history]):
            stones = np.array(board).reshape(size, size)
            planes[2 * age] = stones == self.to_play
            planes[2 * age + 1] = stones == -self.to_play
        planes[-1] = self.to_play == BLACK
        return planes

    def copy(self) -> "NaiveGo":
        twin = NaiveGo.__new__(NaiveGo)
        twin.env, twin.to_play, twin.komi = self.env, self.to_play, self.komi
        twin.boards, twin.seen, twin.moves = list(self.boards), set(self.seen), list(self.moves)
        return twin


class NaiveGoEnv(GameEnv):
    """The description of `NaiveGo`, with GoEnv's arguments."""

    name = "go"

    def __init__(
        self,
        board_size: int,
        *,
        komi: float | None = None,
        planes: int = 17,
        max_moves: int | None = None,
        first_pass: int = 0,
    ) -> None:
        self.first_pass = first_pass
        self.N = board_size
        self.planes = planes
        self.history = planes // 2
        self.plane_shape = (board_size, board_size)
        self.action_space = board_size**2 + 1
        self.pass_action = board_size**2
        self.max_moves = 7 * board_size**2 // 5 if max_moves is None else max_moves
        self.komi = (9.0 if board_size == 7 else 7.5) if komi is None else komi

    @property
    def config(self) -> dict[str, Any]:
        return {"board_size": self.N, "komi": self.komi, "planes": self.planes, "max_moves": self.max_moves}

    @property
    def symmetries(self) -> Symmetries:
        return symmetry.square(self.N, extra_actions=1)

    def new(self, **setup: Any) -> NaiveGo:
        return NaiveGo(self, **setup)

    def to_text(self, action: int) -> str:
        if action == self.pass_action:
            return "pass"
        return f"{LETTERS[action % self.N]}{self.N - action // self.N}"

    def from_text(self, text: str) -> int:
        return [self.to_text(action).upper() for action in range(self.action_space)].index(text.upper())
