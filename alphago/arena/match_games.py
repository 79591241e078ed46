"""The games of a match, played side by side."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphago.arena.engine_player import GIVES_UP, GtpPlayer
from alphago.arena.players import Player
from alphago.env.board import result_text
from alphago.env.game import GameBatch, GameEnv
from alphago.mcts.rule import choose_actions


@dataclass(frozen=True)
class MatchPlan:
    """What makes the games of a match: the same plan and players give the same games.

    games: in the whole match; its first player has Black in games 0, 2, 4, …
    opening_plies: plies in which a move is drawn in proportion to its visits (or probability).
    random_opening: plies on random points before anybody chooses; games 2k and 2k + 1 share them.
    leaves: positions of one game that a search without settings of its own evaluates together.
    """

    games: int
    opening_plies: int
    random_opening: int
    seed: int
    leaves: int

    def engine_seed(self, number: int) -> int:
        """An engine's seed for a game, positive and 31 bits long."""
        return 1 + (self.games * self.seed + number) % (2**31 - 1)


@dataclass(frozen=True)
class MatchGame:
    """A finished game of a match.

    outcome: -1 .. 1, the first player's; it had Black if `number` is even.
    margin: Black's points on the final board, komi included; None where a side gave up.
    fault: why an engine that gave up did so, "" for a resignation and where nobody did.
    counted: whether an engine told the result too.
    disagreement: both results where an engine told another one, else "".
    """

    number: int
    outcome: float
    moves: tuple[int, ...]
    margin: float | None = None
    fault: str = ""
    counted: bool = False
    disagreement: str = ""

    @property
    def black(self) -> float:
        """The outcome in Black's view."""
        return self.outcome if self.number % 2 == 0 else -self.outcome

    @property
    def result(self) -> str:
        """'B+2.5', 'draw', 'W+R' (by resignation), 'W+F' (by a fault of Black's)."""
        if self.margin is not None:
            return result_text(self.margin)
        return f"{'B' if self.black > 0 else 'W'}+{'F' if self.fault else 'R'}"


class Games:
    """Games side by side on one thread; `step` plays a move in each."""

    def __init__(self, env: GameEnv, seats: Sequence[Player], numbers: Sequence[int], plan: MatchPlan) -> None:
        self.seats = seats
        self.numbers = numbers
        self.plan = plan
        self.board = env.new_batch(len(numbers))
        self.generators = [np.random.default_rng([plan.seed, number]) for number in numbers]
        self.openers = [np.random.default_rng([plan.seed, number // 2, 1]) for number in numbers]
        self.first_is_black = np.array([number % 2 == 0 for number in numbers])
        self.moves: list[list[int]] = [[] for _ in numbers]
        self.going = np.arange(len(numbers))

    def step(self) -> list[MatchGame]:
        """Plays one move in every game that goes on; returns those that ended."""
        going, board = self.going, self.board
        movers = board.to_play(going, np.empty(len(going), np.int8))
        first_moves = (movers > 0) == self.first_is_black[going]
        actions = self.choose(first_moves)
        lost = actions == GIVES_UP
        played = going[~lost]
        board.play(played, actions[~lost])
        for who in self.seats:
            who.follow(played, actions[~lost])
        for game, action in zip(played, actions[~lost], strict=True):
            self.moves[game].append(int(action))
        over = played[board.is_over(played, np.empty(len(played), np.bool_))]
        sides = board.to_play(over, np.empty(len(over), np.int8))
        blacks = sides * board.outcome(over, np.empty(len(over), np.float32))
        margins = sides * board.score(over, np.empty(len(over), np.float32)) + 0.0  # no -0.0
        signs = np.where(self.first_is_black[over], 1, -1)
        ended = [
            self.finished(game, outcome, margin)
            for game, outcome, margin in zip(over, (signs * blacks).tolist(), margins.tolist(), strict=True)
        ]
        ended += [self.finished(game, -1.0 if mine else 1.0, None)
                  for game, mine in zip(going[lost], first_moves[lost], strict=True)]  # fmt: skip
        self.going = np.setdiff1d(going, np.concatenate([over, going[lost]]))
        return ended

    def choose(self, first_moves: np.ndarray) -> np.ndarray:
        """Actions int32 [n] for the games that go on, in which the first player is to move or not (bool [n])."""
        going, plan = self.going, self.plan
        plies = np.array([len(self.moves[game]) for game in going])
        chance = np.array([self.generators[game].random() for game in going])
        actions = np.empty(len(going), np.int32)
        drawn = plies < plan.random_opening
        if drawn.any():
            actions[drawn] = random_points(self.board, going[drawn], [self.openers[game] for game in going[drawn]])
        for who, its_turn in zip(self.seats, (first_moves & ~drawn, ~first_moves & ~drawn), strict=True):
            if its_turn.any():
                early = plies[its_turn] < plan.opening_plies
                actions[its_turn] = who.choose(going[its_turn], early, chance[its_turn])
        return actions

    def finished(self, game: int, outcome: float, margin: float | None) -> MatchGame:
        engines = [who for who in self.seats if isinstance(who, GtpPlayer)]
        return MatchGame(
            self.numbers[game],
            outcome + 0.0,  # no -0.0
            tuple(self.moves[game]),
            margin,
            fault=next((who.faults[game] for who in engines if game in who.faults), ""),
            counted=any(game in who.scores for who in engines),
            disagreement="; ".join(filter(None, (who.disagreement(game) for who in engines))),
        )


def play_games(
    env: GameEnv,
    seats: Sequence[Player],
    numbers: Sequence[int],
    plan: MatchPlan,
    finished: Callable[[MatchGame], Any],
    stop: threading.Event,
) -> None:
    """Plays the numbered games and tells `finished` of each; `stop` ends the call at the next move."""
    games = Games(env, seats, numbers, plan)
    while len(games.going) and not stop.is_set():
        for game in games.step():
            finished(game)


def random_points(board: GameBatch, games: np.ndarray, generators: list[np.random.Generator]) -> np.ndarray:
    """A legal one of `opening_actions` for each game, int32 [n]; any legal action where there is none."""
    env = board.env
    legal = board.legal_mask(games, np.empty((len(games), env.action_space), np.bool_))
    wanted = legal & env.opening_actions
    wanted[~wanted.any(axis=1)] = legal[~wanted.any(axis=1)]
    chance = np.array([generator.random() for generator in generators])
    return choose_actions(wanted.astype(np.int32), np.ones(len(games), np.bool_), chance)


def distinct_games(games: Sequence[tuple[int, ...]], symmetries: np.ndarray | None = None) -> int:
    """Games that differ in some move; repeated games prove nothing new.

    symmetries: int64 [S, A], what each way to turn the game makes of its actions (`env.symmetries.actions`); games
        that are the same but for a turn or a mirror count once.
    """
    if symmetries is None:
        return len(set(games))
    turned = (symmetries[:, list(game)] for game in games)  # [S, plies]
    return len({min(map(tuple, ways.tolist())) for ways in turned})
