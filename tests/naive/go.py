"""Go in plain Python, slow and obvious: what the kernels have to agree with."""

from functools import cache, lru_cache
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from tests.naive.plain import NaiveState, with_states

BLACK, WHITE, EMPTY = 1, -1, 0
# The planes of `NaiveGo.rule_planes` that each named set has; those of "katago" are its own.
SETS = {"rules": [*range(16)], "turns": [*range(18)], "katago": [*range(30)]}

Board = tuple[int, ...]  # a colour per point, row by row from the top


@cache
def neighbours(point: int, size: int) -> tuple[int, ...]:
    row, column = divmod(point, size)
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return tuple(r * size + c for r, c in near if 0 <= r < size and 0 <= c < size)


def chain(board: Board, point: int, size: int) -> tuple[set[int], set[int]]:
    """Return the points of one colour that hang together with `point`, and all points around them."""
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


@lru_cache(maxsize=10_000)
def board_after(board: Board, point: int, colour: int, size: int) -> Board:
    """Return the board with a stone placed and what has no liberty removed, enemies before own stones."""
    cells = list(board)
    cells[point] = colour
    placed = tuple(cells)
    for near in neighbours(point, size):
        if placed[near] == -colour:
            stones, around = chain(placed, near, size)
            if not has_liberty(placed, stones, around):
                for stone in stones:
                    cells[stone] = EMPTY
    stones, around = chain(tuple(cells), point, size)
    if not has_liberty(tuple(cells), stones, around):
        for stone in stones:
            cells[stone] = EMPTY
    return tuple(cells)


@lru_cache(maxsize=1_000)
def owners(board: Board, size: int) -> Board:
    """Return whose area each point is in: stones, and empty regions beside one colour only."""
    owner = list(board)
    seen: set[int] = set()
    for point in range(size * size):
        if board[point] == EMPTY and point not in seen:
            region, around = chain(board, point, size)
            seen |= region
            colours = {board[near] for near in around}
            for inside in region if len(colours) == 1 else ():
                owner[inside] = board[min(around)]
    return tuple(owner)


def area(board: Board, size: int) -> int:
    """Return Black's points minus White's."""
    return sum(owners(board, size))


def is_own_eye(board: Board, point: int, colour: int, size: int) -> bool:
    """Return whether an empty point has the colour's stones on all sides, and enough of its corners (libego's rule).

    Of the four corners inside the board the enemy may hold one, of the two or one on the edge none.
    """
    row, column = divmod(point, size)
    corners = [(row - 1, column - 1), (row - 1, column + 1), (row + 1, column - 1), (row + 1, column + 1)]
    inside = [r * size + c for r, c in corners if 0 <= r < size and 0 <= c < size]
    enemies = sum(board[corner] == -colour for corner in inside)
    surrounded = all(board[near] == colour for near in neighbours(point, size))
    return board[point] == EMPTY and surrounded and enemies <= (1 if len(inside) == 4 else 0)


@lru_cache(maxsize=1_000)
def pass_alive(board: Board, colour: int, size: int, suicide: bool = False) -> set[int]:
    """Return Benson's pass-alive stones of a colour, and the points of the regions that are vital to them.

    Where suicide is allowed all points of a vital region are beside the chain, else all empty ones.
    """
    stones = [point for point in range(size * size) if board[point] == colour]
    chains = {frozenset(chain(board, point, size)[0]) for point in stones}
    others = tuple(colour if board[point] == colour else 9 for point in range(size * size))  # 9: anything else
    regions = {frozenset(chain(others, point, size)[0]) for point in range(size * size) if others[point] == 9}

    def beside(points: frozenset[int]) -> set[int]:
        return {near for point in points for near in neighbours(point, size)}

    def vital(region: frozenset[int], to: frozenset[int]) -> bool:
        return {point for point in region if suicide or board[point] == EMPTY} <= beside(to)

    while True:
        alive = {c for c in chains if sum(vital(region, c) for region in regions) >= 2}
        struck_out = set().union(*(chains - alive))
        kept = {region for region in regions if not beside(region) & struck_out}
        if alive == chains and kept == regions:
            break
        chains, regions = alive, kept
        if not chains:
            return set()
    inside = {region for region in regions if any(vital(region, c) for c in chains)}
    return set().union(*chains, *inside)


class NaiveGo(NaiveState):
    """One Go position; `boards` holds every board since the start, one per ply."""

    def __init__(self, env: GoEnv, stones: Any = None, to_play: Any = BLACK, komi: float | None = None) -> None:
        self.env = env
        board = [EMPTY] * env.N**2 if stones is None else np.asarray(stones).ravel().tolist()
        self.boards: list[Board] = [tuple(board)]
        self.to_play = {"black": BLACK, "white": WHITE}.get(to_play, to_play)
        self.komi = env.komi if komi is None else komi
        self.moves: list[int] = []
        self.seen: set[Board | tuple[Board, int]] = {self.superko_key(self.board, self.to_play)}
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
        self.boards.append(board)
        self.moves.append(action)
        self.to_play = -self.to_play
        self.seen.add(self.superko_key(board, self.to_play))

    def superko_key(self, board: Board, mover: int) -> Board | tuple[Board, int]:
        """Return what superko compares."""
        return (board, mover) if self.env.ko == "situational" else board

    def is_suicide(self, action: int) -> bool:
        return board_after(self.board, action, self.to_play, self.env.N)[action] == EMPTY

    def is_repetition(self, action: int) -> bool:
        after = board_after(self.board, action, self.to_play, self.env.N)
        if after == self.board:
            return True
        if self.env.ko == "simple":
            return self.boards[-2:-1] == [after]
        return self.superko_key(after, -self.to_play) in self.seen

    def is_legal(self, action: int) -> bool:
        """Return whether the rules allow a point."""
        if self.board[action] != EMPTY or (self.is_suicide(action) and not self.env.suicide):
            return False
        return not self.is_repetition(action)

    def legal_mask(self) -> np.ndarray:
        if self.is_over():
            return np.zeros(self.env.action_space, np.bool_)
        points = [self.is_legal(point) for point in range(self.env.pass_action)]
        return np.array([*points, len(self.moves) >= self.env.first_pass or not any(points)])

    def is_over(self) -> bool:
        passed = [action == self.env.pass_action for action in self.moves]
        two_passes = passed[-2:] == [True, True] and self.env.turns is None
        return two_passes or len(self.moves) >= self.env.max_moves

    def score(self) -> float:
        return (area(self.board, self.env.N) - self.komi) * self.to_play

    def outcome(self) -> float:
        score = self.score()
        return 1.0 if score > 0 else -1.0 if score < 0 else 0.0

    def ownership(self) -> np.ndarray:
        return np.array(owners(self.board, self.env.N), np.int8) * self.to_play

    def rule_planes(self) -> np.ndarray:
        """Return all rule planes from the mover's view."""
        size = self.env.N
        points = range(size * size)
        planes = np.zeros((18, size * size), np.float32)
        owner = owners(self.board, size)
        liberties: dict[int, int] = {}  # of each stone's chain
        for point in points:
            colour = self.board[point] * self.to_play
            if colour == EMPTY:
                planes[5, point] = not self.is_legal(point)
                planes[16, point] = not self.is_legal(point) and (self.env.suicide or not self.is_suicide(point))
                planes[9, point] = owner[point] == self.to_play
                planes[10, point] = owner[point] == -self.to_play
            else:
                planes[0 if colour == 1 else 1, point] = 1
                if point not in liberties:
                    stones, around = chain(self.board, point, size)
                    liberties |= dict.fromkeys(stones, sum(self.board[near] == EMPTY for near in around))
                planes[1 + min(liberties[point], 3), point] = 1
        for age, action in enumerate(self.moves[::-1][:3]):
            if action != self.env.pass_action:
                planes[6 + age, action] = 1
        planes[11] = 1
        planes[12] = self.moves[-1:] == [self.env.pass_action]
        planes[13] = -self.komi * self.to_play / 10
        planes[14] = min(max(self.score() / 10, -3), 3)
        planes[15] = np.sign(self.score())
        planes[17] = min((self.env.max_moves - len(self.moves)) / (2 * size * size), 1)
        return planes.reshape(18, size, size)

    def planes(self) -> np.ndarray:
        size = self.env.N
        if self.env.plane_set == "katago":
            from tests.naive.go_katago import katago_planes  # it needs this file

            return katago_planes(self)
        if isinstance(self.env.plane_set, str):
            return self.rule_planes()[SETS[self.env.plane_set]]
        planes = np.zeros((self.env.planes, size, size), np.float32)
        for age, board in enumerate(self.boards[::-1][: self.env.history]):
            stones = np.array(board).reshape(size, size)
            planes[2 * age] = stones == self.to_play
            planes[2 * age + 1] = stones == -self.to_play
        planes[-1] = self.to_play == BLACK
        return planes


def naive_go(size: int, **options: Any) -> Any:
    """Return Go by `NaiveGo`; options: GoEnv's."""
    return with_states(GoEnv(size, **options), NaiveGo)


def random_board(size: int, shares: list[float], random: np.random.Generator) -> np.ndarray:
    """Return White, empty and black points at random in these shares, all chains with a liberty: int8 [N, N]."""
    board: Board = tuple(random.choice([-1, 0, 1], size * size, p=shares).tolist())
    dead = {p for p in range(size * size) if board[p] and not has_liberty(board, *chain(board, p, size))}
    cells = [0 if point in dead else colour for point, colour in enumerate(board)]
    return np.array(cells, np.int8).reshape(size, size)
