"""Deterministic players of fixed strength: `alphabeta:N`, alpha-beta search to a depth of N plies.

Unfinished positions of Oware are valued by the score, those of Reversi, Gomoku and Connect Four by published
evaluations.  Small boards can be searched to the end (`best_move`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.kernels import alphabeta as kernels
from alphago.arena.kernels.alphabeta import POINT, WIN
from alphago.arena.kernels.evaluations import FARTHEST, SQUARES
from alphago.arena.players import Player
from alphago.env.game import GameEnv
from alphago.env.games import is_packaged
from alphago.env.position import Position
from alphago.system.validation import check_int, checks_keywords

DEPTH = 8  # the depth of "alphabeta" without a number
MOST_DEPTH = 200
MOST_ENTRIES = 2**20  # the transposition table's greatest length
NO_ACTION = -1
NODES_BEFORE_PAUSE = 1 << 19  # nodes per call of the kernel, well below a second; Ctrl-C takes effect between two calls


class AlphaBetaSettings(NamedTuple):
    """Settings of an alpha-beta player.

    Attributes:
        depth: plies to look ahead.
    """

    depth: int

    @property
    def name(self) -> str:
        """The player's name: 'alphabeta:8'."""
        return f"alphabeta:{self.depth}"


class BestMove(NamedTuple):
    """The result of an alpha-beta search.

    Attributes:
        action: the best move.
        value: the value of the position, from the view of the player to move.  Above WIN / 2 this player wins for
            certain, below -WIN / 2 the other one.
        depth: the depth of the last iteration, in plies.
        nodes: number of positions visited, in all iterations.
        is_exact: whether every line was followed to the end of the game, so that a deeper search cannot change the
            result.
    """

    action: int
    value: int
    depth: int
    nodes: int
    is_exact: bool

    @property
    def outcome(self) -> int | None:
        """The outcome of best play for the player to move: 1 win, 0 draw, -1 loss; None if unknown."""
        # A finished game has a value near WIN or -WIN; an evaluation is always much closer to 0 than WIN // 2.
        if abs(self.value) > WIN // 2:
            return 1 if self.value > 0 else -1
        return 0 if self.is_exact else None

    @property
    def margin(self) -> int | None:
        """The final margin of best play for the player to move; None if unknown."""
        if not self.is_exact:
            return None
        sign = int(np.sign(self.value))
        # The kernel's `final_value` is WIN - plies + margin * POINT for a win, and minus that for a loss.  With half a
        # POINT added, the division rounds to whole points, which removes the plies.  After a draw `sign` is 0.
        return sign * ((abs(self.value) - WIN + POINT // 2) // POINT)


class Stack(NamedTuple):
    """The state of a search of depth D (alphago.arena.kernels.alphabeta): the line of play that it is following.

    Arrays [D + 1] have one entry per ply from the root on.
    """

    rows: np.ndarray  # int64 [D + 1, words], the positions as rows of the game's batch
    mask: np.ndarray  # bool [A], scratch
    scores: np.ndarray  # int64 [D + 1, A], the order in which actions are tried, greatest first
    alpha: np.ndarray  # int64 [D + 1], the lower end of the node's window; smaller values may be only bounds
    beta: np.ndarray  # int64 [D + 1], the upper end; greater values may be only bounds
    best: np.ndarray  # int64 [D + 1], the best value so far
    current: np.ndarray  # int64 [D + 1], the action being searched
    best_action: np.ndarray  # int64 [D + 1], the action with the best value
    progress: np.ndarray  # int64 [4], indexed by AT, ENTERING, NODES and CUT_OFF of the kernels


class AlphaBetaSearch:
    """Alpha-beta search with iterative deepening and a transposition table, one position at a time.

    Results depend only on the position and the depth.

    Args:
        depth: plies to look ahead at most.

    Raises:
        ValueError: for a game without an evaluation.
    """

    def __init__(self, env: GameEnv, depth: int) -> None:
        check_game_has_evaluation(env)
        self.depth = check_int("depth", depth, 1, MOST_DEPTH)
        row_words: int = env.new_batch(1).rows.shape[1]  # type: ignore[attr-defined]
        self._search, make_preferences = SEARCHES[env.name]
        self._preferences = make_preferences(env)  # by which actions are ordered that no search has preferred yet
        self._history = np.zeros((2, env.action_space), np.int64)  # by mover: how often each action was the best one
        entries = min(MOST_ENTRIES, 2 ** (12 + self.depth))  # deeper searches visit more positions
        self._table = np.zeros((entries, 3), np.int64)  # the transposition table: KEY, VALUE and NOTE of the kernels
        self._number = 0  # of the latest search; entries of the table that belong to other searches are ignored
        by_ply = {name: np.zeros(depth + 1, np.int64) for name in ("alpha", "beta", "best", "current", "best_action")}
        self._stack = Stack(
            rows=np.zeros((depth + 1, row_words), np.int64),
            mask=np.zeros(env.action_space, np.bool_),
            scores=np.zeros((depth + 1, env.action_space), np.int64),
            progress=np.zeros(4, np.int64),  # AT, ENTERING, NODES and CUT_OFF of the kernels
            **by_ply,
        )

    def find(self, row: np.ndarray, *, until_decided: bool = False) -> BestMove:
        """Return the best move of a position that is not over.

        Args:
            row: int64 [words], the position as a row of the game's batch.
            until_decided: whether to stop as soon as the winner is certain, although another move might win by more.
        """
        self._number += 1
        self._history[:] = self._preferences  # the same for both movers; the search then adds to it
        stack, nodes = self._stack, 0
        for depth in range(1, self.depth + 1):
            stack.rows[0] = row
            stack.alpha[0], stack.beta[0] = -kernels.INFINITE, kernels.INFINITE
            stack.progress[:] = 0
            stack.progress[kernels.ENTERING] = 1  # the root is a new node
            while not self._search(depth, self._number, stack, self._table, self._history, NODES_BEFORE_PAUSE):
                pass  # the search has paused, and is continued; Ctrl-C takes effect here
            nodes += int(stack.progress[kernels.NODES])
            is_exact = bool(stack.progress[kernels.CUT_OFF] == 0)
            move = BestMove(int(stack.best_action[0]), int(stack.best[0]), depth, nodes=nodes, is_exact=is_exact)
            if is_exact or (until_decided and move.outcome in (1, -1)):
                break
        return move


class AlphaBetaPlayer(Player):
    """A player that plays the best move of alpha-beta search; it is deterministic and ignores `by_chance`.

    In a game without an evaluation, undecided positions have the value 0 (`look_ahead`).  So the player wins as soon as
    it can within its depth, and loses as late as it can.

    Args:
        games: number of games that it plays at once.
    """

    batch: Any  # the batches of games with an evaluation have rows

    def __init__(self, env: GameEnv, settings: AlphaBetaSettings, games: int) -> None:
        super().__init__(env.new_batch(games))
        self.depth = settings.depth
        self.search = AlphaBetaSearch(env, settings.depth) if has_evaluation(env) else None

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return the best action in each of these games, int32 [n]; `by_chance` and `chance` are ignored."""
        legal = self.batch.legal_mask(games, np.empty((len(games), self.batch.env.action_space), np.bool_))
        actions = legal.argmax(axis=1).astype(np.int32)
        for i in np.flatnonzero(legal.sum(axis=1) > 1):  # a single legal action needs no search
            if self.search is None:  # the game has no evaluation
                _, actions[i] = look_ahead(self.batch.position(int(games[i])), self.depth)
            else:
                actions[i] = self.search.find(self.batch.rows[games[i]], until_decided=True).action
        return actions


def look_ahead(position: Position, depth: int, low: float = -np.inf, high: float = np.inf) -> tuple[float, int]:
    """Return a position's value, from Black's view, and the best action of the player to move.

    A game that ends with d plies left of `depth` has the value of its result times 1 + d, so that early ends count
    more.  An undecided position at the end of the depth has the value 0.  Moves are tried in an order that depends only
    on how many are legal, and the first of equally good ones is the best action.

    Args:
        depth: plies to look ahead.
        low, high: in Black's view; a value between them is exact, a value beyond them is a bound (alpha-beta, Knuth and
            Moore 1975).

    Returns:
        The action is NO_ACTION if the game is over or `depth` is 0.
    """
    if position.is_over:
        return position.result * (1 + depth), NO_ACTION
    if depth == 0:
        return 0.0, NO_ACTION
    side = position.to_play
    best_value, best_action = -side * np.inf, NO_ACTION  # in Black's view, as all values here
    actions = np.flatnonzero(position.legal_mask)
    shuffled = np.random.default_rng(len(actions)).permutation(actions)  # else equal moves would go to one corner
    for action in shuffled:
        value, _ = look_ahead(position.play(int(action)), depth - 1, low, high)
        if side * value > side * best_value:  # White prefers small values
            best_value, best_action = value, int(action)
        if side == 1:
            low = max(low, best_value)
        else:
            high = min(high, best_value)
        if low >= high:
            break
    return best_value, best_action


@checks_keywords()
def best_move(position: Position, depth: int | None = None) -> BestMove:
    """Return the best move of a position of Oware, Reversi, Gomoku or Connect Four by alpha-beta search.

    Args:
        depth: plies to look ahead; None to search to the end of the game, which solves small boards, so that `outcome`
            and `margin` of the result are known.

    Raises:
        ValueError: for another game, and for a game that is over.
    """
    if position.is_over:
        raise ValueError(f"position must not be over, got {position.describe()}")
    depth = min(MOST_DEPTH, position.env.max_moves) if depth is None else depth
    batch: Any = position.batch
    return AlphaBetaSearch(position.env, depth).find(batch.rows[0])


def alphabeta(depth: int = DEPTH) -> AlphaBetaSettings:
    """Return the settings of "alphabeta:N", which looks N plies ahead."""
    return AlphaBetaSettings(check_int("alphabeta's depth", depth, 1, MOST_DEPTH))


def has_evaluation(env: GameEnv) -> bool:
    """Return whether alpha-beta search has an evaluation for the game."""
    return env.name in SEARCHES and is_packaged(type(env))


def check_game_has_evaluation(env: GameEnv) -> None:
    """Raise ValueError unless alpha-beta search has an evaluation for the game."""
    if not has_evaluation(env):
        raise ValueError(f"env must be {', '.join(SEARCHES)} for alpha-beta search, got {env}: uct:N plays any game")


# --- preferences: int64 [A], by which actions are ordered at first, greatest first -----------------------


def middle_preferences(env: GameEnv) -> np.ndarray:
    """Return minus twice the distance of each action from the board's middle, int64 [A].

    An action is a point, or a column of the board.  The distance of a point is the greater of its distances in rows and
    in columns.
    """
    height, width = env.plane_shape if env.actions_are_points else (1, env.action_space)
    row_distances = np.abs(2 * np.arange(height) - (height - 1))  # doubled, to be integers
    column_distances = np.abs(2 * np.arange(width) - (width - 1))
    return -np.maximum(row_distances[:, None], column_distances[None, :]).ravel().astype(np.int64)


def square_preferences(env: GameEnv) -> np.ndarray:
    """Return the weight of each square of Reversi (SQUARES), then 0 for the pass, int64 [A]."""
    # For each row, and each column: its distance from the nearer edge, at most FARTHEST.
    from_edge = np.minimum(np.minimum(np.arange(env.N), np.arange(env.N)[::-1]), FARTHEST)
    weights_by_distances = np.reshape(SQUARES, (FARTHEST + 1, FARTHEST + 1))
    weights = weights_by_distances[from_edge[:, None], from_edge[None, :]]
    return np.append(weights.ravel(), 0).astype(np.int64)


# By game: the compiled search, and the function that returns the preferences.
SEARCHES: dict[str, tuple[Callable[..., bool], Callable[[GameEnv], np.ndarray]]] = {
    "connect-four": (kernels.search_connect_four, middle_preferences),
    "gomoku": (kernels.search_gomoku, middle_preferences),
    "oware": (kernels.search_oware, lambda env: np.zeros(env.action_space, np.int64)),
    "reversi": (kernels.search_reversi, square_preferences),
}
