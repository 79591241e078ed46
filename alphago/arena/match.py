"""Matches: many games at once, colours alternating, with an interval for the win rate."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.arena.players import Player, seat
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import as_evaluator
from alphago.mcts.root import temperature_plies
from alphago.mcts.search import leaves_for
from alphago.nn.threads import Workers, available_cores, one_torch_thread


@dataclass(frozen=True)
class MatchResult:
    """What `black` made of its games against `white`; both played both colours.

    outcomes: float32 [games], the result in `black`'s view: 1, 0 or -1 (or between, where games have
        graded results).  In even games (0, 2, …) it had Black.
    games: the moves of each game, as tuples of actions.
    """

    outcomes: np.ndarray
    games: tuple[tuple[int, ...], ...]

    @property
    def wins(self) -> int:
        return int((self.outcomes > 0).sum())

    @property
    def losses(self) -> int:
        return int((self.outcomes < 0).sum())

    @property
    def draws(self) -> int:
        return int((self.outcomes == 0).sum())

    @property
    def distinct(self) -> int:
        """Games that differ in some move; repeated games prove nothing new."""
        return len(set(self.games))

    @property
    def win_rate(self) -> float:
        """Share of wins, a draw counting half."""
        return (self.wins + self.draws / 2) / len(self.outcomes)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the win rate (Wilson 1927), as if all games were independent."""
        return wilson(self.win_rate, len(self.outcomes))

    def __str__(self) -> str:
        low, high = self.interval
        as_black, as_white = int((self.outcomes[::2] > 0).sum()), int((self.outcomes[1::2] > 0).sum())
        return (
            f"{self.wins} wins ({as_black} as Black, {as_white} as White), {self.draws} draws, {self.losses} losses "
            f"in {len(self.outcomes)} games ({self.distinct} distinct): "
            f"{self.win_rate:.1%}, 95 % interval {low:.1%} to {high:.1%}"
        )


def wilson(rate: float, games: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a success rate."""
    z = 1.959964
    centre = rate + z * z / (2 * games)
    spread = z * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    scale = 1 + z * z / games
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def evaluate(
    env: GameEnv,
    black: Any,
    white: Any,
    num_games: int = 400,
    readouts: int | tuple[int, int] = 800,
    *,
    opening_plies: int | None = None,
    seed: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> MatchResult:
    """Plays a match and returns what `black` made of it.

    black, white: "random" (any legal action, the pass among them), a NeuralNet, an evaluator, or a
        function on positions.  `black` has Black in every other game, beginning with the first.
    readouts: simulations per move, of both or (black's, white's); 0 plays the network's most probable
        action without any search.
    opening_plies: plies in which a move is drawn in proportion to its visits (or probability), so that
        games differ; None for N^2 / 12.
    progress: told of each finished game.

    All games are played to their end by the rules; nobody resigns.  The same seed gives the same games.
    """
    if num_games < 1:
        raise ValueError(f"num_games is 1 or more, came {num_games!r}")
    both = (readouts, readouts) if isinstance(readouts, int) else tuple(readouts)
    if len(both) != 2 or min(both) < 0:
        raise ValueError(f"readouts is 0 or more, or a pair of them, came {readouts!r}")
    opening = temperature_plies(env) if opening_plies is None else opening_plies
    players = [who if isinstance(who, str) else as_evaluator(who) for who in (black, white)]
    groups = min(available_cores(), num_games)
    outcomes = np.zeros(num_games, np.float32)
    moves: list[tuple[int, ...]] = [()] * num_games
    stop = threading.Event()  # an error in one thread, or Ctrl-C, ends the others at their next move

    def play(numbers: range) -> None:
        leaves = leaves_for(len(numbers) // 2, max(both))
        seats = [seat(env, who, len(numbers), n, leaves) for who, n in zip(players, both, strict=True)]
        for i, outcome, game in play_games(env, seats, numbers, opening, seed, progress, stop):
            outcomes[i], moves[i] = outcome, game

    with one_torch_thread(), Workers(groups) as workers:
        workers.run([lambda g=g: play(range(g, num_games, groups)) for g in range(groups)], stop)  # type: ignore[misc]
    return MatchResult(outcomes, tuple(moves))


def play_games(
    env: GameEnv,
    seats: list[Player],
    numbers: range,
    opening_plies: int,
    seed: int,
    progress: Callable[[int], Any] | None = None,
    stop: threading.Event | None = None,
) -> list[tuple[int, float, tuple[int, ...]]]:
    """Plays the numbered games side by side: (number, outcome in the first seat's view, moves) of each.

    The first seat has Black in games with an even number.  `stop` ends the call at the next move.
    """
    count = len(numbers)
    board = env.new_batch(count)
    generators = [np.random.default_rng([seed, number]) for number in numbers]
    first_is_black = np.array([number % 2 == 0 for number in numbers])
    moves: list[list[int]] = [[] for _ in numbers]
    results: list[tuple[int, float, tuple[int, ...]]] = []
    going = np.arange(count)
    while len(going) and not (stop and stop.is_set()):
        movers = board.to_play(going, np.empty(len(going), np.int8))
        first_moves = (movers > 0) == first_is_black[going]
        chance = np.array([generators[game].random() for game in going])
        early = np.array([len(moves[game]) < opening_plies for game in going])
        actions = np.empty(len(going), np.int32)
        for who, its_turn in ((seats[0], first_moves), (seats[1], ~first_moves)):
            if its_turn.any():
                actions[its_turn] = who.choose(going[its_turn], early[its_turn], chance[its_turn])
        board.play(going, actions)
        for who in seats:
            who.follow(going, actions)
        for game, action in zip(going, actions, strict=True):
            moves[game].append(int(action))
        over = going[board.is_over(going, np.empty(len(going), np.bool_))]
        sides = board.to_play(over, np.empty(len(over), np.int8))
        blacks = sides * board.outcome(over, np.empty(len(over), np.float32))
        for game, outcome in zip(over, blacks, strict=True):
            mine = outcome if first_is_black[game] else -outcome
            results.append((numbers[game], float(mine), tuple(moves[game])))
            if progress:
                progress(numbers[game])
        going = np.setdiff1d(going, over)
    return results
