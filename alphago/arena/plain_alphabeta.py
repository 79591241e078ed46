"""`alphabeta:N` in games that have no evaluation: the player sees who wins within N plies, and nothing else."""

import numpy as np

from alphago.arena.alphabeta import AlphaBetaSettings
from alphago.env.game import GameEnv
from alphago.env.position import Position

NO_ACTION = -1


class PlainAlphaBetaPlayer:
    """A player that wins as soon as it can within its depth, and loses as late as it can.

    Undecided positions have the value 0.  Moves are tried in an order that depends only on the number of legal moves,
    and the first of equal moves is played, so the player is deterministic and ignores `by_chance`.
    """

    def __init__(self, env: GameEnv, settings: AlphaBetaSettings, games: int) -> None:
        self.batch = env.new_batch(games)
        self.depth = settings.depth

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        positions = [self.batch.env.position_of(self.batch, int(game)) for game in games]
        return np.array([best_action(position, self.depth) for position in positions], np.int32)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


def best_action(position: Position, depth: int) -> int:
    """Return the best action of a position that is not over, looking `depth` plies ahead."""
    return search(position, depth, -np.inf, np.inf)[1]


def search(position: Position, depth: int, low: float, high: float) -> tuple[float, int]:
    """Return a position's value, from Black's view, and its best action (NO_ACTION if it is not searched).

    depth: plies to look ahead.  low, high: a value between them is exact; a value beyond them is a bound (alpha-beta,
        Knuth and Moore 1975).
    The value is the result times (1 + d) if the game ends with d plies left of `depth`, so that early ends count more,
    and 0 for an undecided position.
    """
    if position.is_over:
        return position.result * (1 + depth), NO_ACTION
    if depth == 0:
        return 0.0, NO_ACTION
    side = position.to_play
    best_value, best = -np.inf, NO_ACTION  # the value is from the mover's view
    actions = np.flatnonzero(position.legal_mask)
    shuffled = np.random.default_rng(len(actions)).permutation(actions)  # else equal moves would go to one corner
    for action in shuffled:
        value = side * search(position.play(int(action)), depth - 1, low, high)[0]
        if value > best_value:
            best_value, best = value, int(action)
        if side == 1:
            low = max(low, best_value)
        else:
            high = min(high, -best_value)
        if low >= high:
            break
    return side * best_value, best
