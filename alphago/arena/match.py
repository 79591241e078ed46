"""Matches: many games at once, colours alternating, with an interval for the win rate."""

import contextlib
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alphago.arena.gtp import GtpProgram
from alphago.arena.gtp_player import GIVES_UP, GtpPlayer
from alphago.arena.players import Player, contestant, seat
from alphago.env.game import GameBatch, GameEnv
from alphago.env.go import GoEnv
from alphago.mcts.root import choose_actions, temperature_plies
from alphago.mcts.search import leaves_for
from alphago.nn.threads import Workers, available_cores, one_torch_thread


@dataclass(frozen=True)
class MatchResult:
    """What `black` made of its games against `white`; both played both colours.

    outcomes: float32 [games], the result in `black`'s view: 1, 0 or -1 (or between, where games have
        graded results).  In even games (0, 2, …) it had Black.
    games: the moves of each game, as tuples of actions.
    forfeits: games that an engine lost by a fault of its own (a crash, an illegal move), with a sentence.
    counted: games whose result an engine told as well.
    disagreements: those of them where it was another one, with both results.
    """

    outcomes: np.ndarray
    games: tuple[tuple[int, ...], ...]
    forfeits: Mapping[int, str] = field(default_factory=dict)
    counted: int = 0
    disagreements: Mapping[int, str] = field(default_factory=dict)

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
            f"{self.win_rate:.1%}, 95 % interval {low:.1%} to {high:.1%}{self._of_engines()}"
        )

    def _of_engines(self) -> str:
        """What the result of a match with engines has to be read with."""
        text = ""
        if self.counted:
            text += f"; an engine counted {self.counted} final boards and {len(self.disagreements)} of them otherwise"
        if self.forfeits:
            number, why = min(self.forfeits.items())
            text += (
                f"; {len(self.forfeits)} games were lost by an engine's fault, the first of them game {number}: {why}"
            )
        return text


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
    random_opening: int = 0,
    seed: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> MatchResult:
    """Plays a match and returns what `black` made of it.

    black, white: "random" (any legal action, the pass among them), a NeuralNet, an evaluator, a
        function on positions, "gnugo" (level 10; "gnugo:1" is another level) where that is installed,
        or a `GtpProgram`.  `black` has Black in every other game, beginning with the first.
    readouts: simulations per move, of both or (black's, white's); 0 plays the network's most probable
        action without any search.
    opening_plies: plies in which a move is drawn in proportion to its visits (or probability), so that
        games differ; None for N^2 / 12, or 0 where openings are random.  Engines vary by their seeds.
    random_opening: plies on random points, none of them on the edge, before anybody chooses a move.
        Games 2k and 2k + 1 share an opening and exchange colours, so neither side profits from it.
    progress: told of each finished game.

    All games are played to their end by the rules; none of our players resigns.  The same seed gives the
    same games.  Against a GTP program no ply limit below 4 N^2 and no `first_pass` of the environment
    holds: it would not know of them.
    """
    if num_games < 1:
        raise ValueError(f"num_games is 1 or more, came {num_games!r}")
    both = (readouts, readouts) if isinstance(readouts, int) else tuple(readouts)
    if len(both) != 2 or min(both) < 0:
        raise ValueError(f"readouts is 0 or more, or a pair of them, came {readouts!r}")
    if random_opening < 0:
        raise ValueError(f"random_opening is 0 or more, came {random_opening!r}")
    opening = opening_plies
    if opening is None:
        opening = 0 if random_opening else temperature_plies(env)
    players = [contestant(who) for who in (black, white)]
    programs = [who for who in players if isinstance(who, GtpProgram)]
    if programs:
        env = full_rules(env)
    groups = min(available_cores(), num_games)
    tally = Tally(num_games)
    stop = threading.Event()  # an error in one thread, or Ctrl-C, ends the others at their next move

    def play(numbers: range) -> None:
        leaves = leaves_for(num_games // 2, max(both))
        seeds = [1 + (num_games * seed + number) % (2**31 - 1) for number in numbers]
        with contextlib.ExitStack() as stack:
            seats: list[Player] = []
            for who, n in zip(players, both, strict=True):
                seats.append(seat(env, who, len(numbers), n, leaves, seeds=seeds))
                if isinstance(seats[-1], GtpPlayer):
                    stack.callback(seats[-1].close)
            results = play_games(env, seats, numbers, opening, seed, progress, stop, random_opening=random_opening)
            tally.add(numbers, seats, results)

    def play_in_parts(numbers: range) -> None:
        """As many games side by side as there may be engines."""
        most = max([1, *(program.at_once // groups for program in programs)]) if programs else len(numbers)
        for begin in range(0, len(numbers), most):
            if not stop.is_set():
                play(numbers[begin : begin + most])

    with one_torch_thread(), Workers(groups) as workers:
        tasks = [lambda g=g: play_in_parts(range(g, num_games, groups)) for g in range(groups)]
        workers.run(tasks, stop)
    return tally.result()


class Tally:
    """Collects what the groups of a match have played."""

    def __init__(self, num_games: int) -> None:
        self.outcomes = np.zeros(num_games, np.float32)
        self.moves: list[tuple[int, ...]] = [()] * num_games
        self.forfeits: dict[int, str] = {}
        self.counted: set[int] = set()
        self.disagreements: dict[int, str] = {}

    def add(self, numbers: range, seats: list[Player], results: list[tuple[int, float, tuple[int, ...]]]) -> None:
        for number, outcome, game in results:
            self.outcomes[number], self.moves[number] = outcome, game
        for who in seats:
            if isinstance(who, GtpPlayer):
                self.forfeits |= {numbers[game]: why for game, why in who.faults.items()}
                self.counted |= {numbers[game] for game in who.scores}
                both = {numbers[game]: who.disagreement(game) for game in who.scores}
                self.disagreements |= {number: text for number, text in both.items() if text}

    def result(self) -> MatchResult:
        disagreements = dict(sorted(self.disagreements.items()))
        return MatchResult(
            self.outcomes, tuple(self.moves), dict(sorted(self.forfeits.items())), len(self.counted), disagreements
        )


def full_rules(env: GameEnv) -> GoEnv:
    """The game as other programs know it, for the same networks."""
    if not isinstance(env, GoEnv):
        raise ValueError(f"GTP programs play Go, came {env}")
    limit = max(env.max_moves, 4 * env.N * env.N)
    return GoEnv(env.N, komi=env.komi, planes=env.planes, max_moves=limit, margin_weight=env.margin_weight)


def play_games(
    env: GameEnv,
    seats: list[Player],
    numbers: range,
    opening_plies: int,
    seed: int,
    progress: Callable[[int], Any] | None = None,
    stop: threading.Event | None = None,
    *,
    random_opening: int = 0,
) -> list[tuple[int, float, tuple[int, ...]]]:
    """Plays the numbered games side by side: (number, outcome in the first seat's view, moves) of each.

    The first seat has Black in games with an even number.  `stop` ends the call at the next move.
    """
    count = len(numbers)
    board = env.new_batch(count)
    generators = [np.random.default_rng([seed, number]) for number in numbers]
    openers = [np.random.default_rng([seed, number // 2, 1]) for number in numbers]
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
        drawn = np.array([len(moves[game]) < random_opening for game in going])
        if drawn.any():
            actions[drawn] = random_points(board, going[drawn], [openers[game] for game in going[drawn]])
        for who, its_turn in ((seats[0], first_moves & ~drawn), (seats[1], ~first_moves & ~drawn)):
            if its_turn.any():
                actions[its_turn] = who.choose(going[its_turn], early[its_turn], chance[its_turn])
        lost = actions == GIVES_UP
        played = going[~lost]
        board.play(played, actions[~lost])
        for who in seats:
            who.follow(played, actions[~lost])
        for game, action in zip(played, actions[~lost], strict=True):
            moves[game].append(int(action))
        over = played[board.is_over(played, np.empty(len(played), np.bool_))]
        sides = board.to_play(over, np.empty(len(over), np.int8))
        blacks = sides * board.outcome(over, np.empty(len(over), np.float32))
        ended = [
            (game, outcome if first_is_black[game] else -outcome) for game, outcome in zip(over, blacks, strict=True)
        ]
        ended += [(game, -1.0 if mine else 1.0) for game, mine in zip(going[lost], first_moves[lost], strict=True)]
        for game, outcome in ended:
            results.append((numbers[game], float(outcome), tuple(moves[game])))
            if progress:
                progress(numbers[game])
        going = np.setdiff1d(going, [game for game, _ in ended])
    return results


def random_points(board: GameBatch, games: np.ndarray, generators: list[np.random.Generator]) -> np.ndarray:
    """A legal action off the edge and no pass for each game, int32 [n]; any legal one where there is none."""
    env = board.env
    legal = board.legal_mask(games, np.empty((len(games), env.action_space), np.bool_))
    inner = np.ones(env.action_space, np.bool_)
    if isinstance(env, GoEnv):
        points = np.zeros((env.N, env.N), np.bool_)
        points[1:-1, 1:-1] = True
        inner[:] = [*points.ravel(), False]
    wanted = legal & inner
    wanted[~wanted.any(axis=1)] = legal[~wanted.any(axis=1)]
    chance = np.array([generator.random() for generator in generators])
    return choose_actions(wanted.astype(np.int32), np.ones(len(games), np.bool_), chance)
