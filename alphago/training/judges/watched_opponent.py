"""A match of a run's network against a watched opponent."""

import threading
from typing import Any

from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.match import MatchResult, play_match
from alphago.arena.match_games import MatchGame, MatchPlan
from alphago.arena.openings import opening_length
from alphago.arena.players import resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.training.judges.results import games_as_text, match_row, without_forfeits

PAIRS = 10  # pairs of games in a match
SEARCH = Gumbel()


class WatchedOpponent:
    """An opponent that tests a run's networks by matches; see `Watched`.

    opponent: a player's name, as for `evaluate`.
    readouts: simulations per move of the run's network; the opponent has as many if it is a network.
    env: the run's game; engines and playout players play `env.match_variant()`.
    Raises the errors of `resolve_player` if the opponent does not exist or does not play the game.
    """

    def __init__(self, opponent: str, readouts: int, env: GameEnv) -> None:
        self.opponent = opponent
        self.readouts = readouts
        self._entrants: dict[str, Entrant] = {}  # by device
        self.env = env
        # As in `evaluate`: engines do not know the game's limits, and playout players are rated without limits.
        if isinstance(self.entrant("cpu").player, (PlayoutSettings, Engine)):
            self.env = env.match_variant()

    @property
    def name(self) -> str:
        return f"{self.opponent}@{self.readouts}"

    def test(self, evaluator: Evaluator, device: str, seed: int) -> "WatchedMatch":
        return WatchedMatch(self, (Entrant(evaluator, self.readouts, SEARCH), self.entrant(device)), seed=seed)

    def entrant(self, device: str) -> Entrant:
        """Return the opponent as an `Entrant` of a match; if it is a network, `device` computes it."""
        if device not in self._entrants:
            self._entrants[device] = Entrant(resolve_player(self.opponent, self.env, device), self.readouts, SEARCH)
        return self._entrants[device]


class WatchedMatch:
    """A match of PAIRS pairs of games, each of which is a unit of work; see `WatchedTest`.

    watched: the opponent.  entrants: the run's network and the opponent.
    seed: determines the openings and both players' random numbers.
    """

    units = PAIRS

    def __init__(self, watched: WatchedOpponent, entrants: tuple[Entrant, Entrant], *, seed: int) -> None:
        self.watched = watched
        self.entrants = entrants
        self.plan = MatchPlan(
            games=2 * PAIRS, opening_plies=0, random_opening=opening_length(watched.env), seed=seed, leaves=1
        )
        self.games: list[MatchGame] = []

    @property
    def done(self) -> int:
        return len(self.games) // 2

    def go_on(self, count: int, stop: threading.Event) -> None:
        """Play the next `count` pairs; see `WatchedTest.go_on`."""
        numbers = range(2 * self.done, 2 * min(self.done + count, PAIRS))
        games: list[MatchGame] = []
        play_match(self.watched.env, self.entrants, self.plan, numbers, games.append, stop=Follower(stop))
        if len(games) == len(numbers):
            self.games += games

    def results(self) -> tuple[MatchResult, MatchResult]:
        """Return the results of all pairs of games, and of only the pairs in which no engine forfeited."""
        result = MatchResult.of(self.watched.env, self.games)
        return result, without_forfeits(result)

    def row(self) -> dict[str, Any]:
        """Return entries of a row of evaluations.jsonl, with the moves of each game."""
        result, valid = self.results()
        return {
            "opponent": self.watched.opponent,
            "readouts": self.watched.readouts,
            **(match_row(self.watched.env, valid) if valid.games else {"played": 0}),
            "forfeits": len(result.forfeits),
            "moves": games_as_text(self.watched.env, valid),
        }

    def summary(self) -> str:
        result, valid = self.results()
        texts = []
        if valid.games:
            low, high = valid.interval
            interval = f"95 % interval {low:.0%} to {high:.0%}"
            texts.append(f"the network won {valid.win_rate:.0%} of {len(valid.games)} games ({interval})")
        if count := len(result.forfeits):
            first_fault = result.forfeits[min(result.forfeits)]
            texts.append(f"{count} games that the opponent lost by a fault do not count: {first_fault}")
        return "; ".join(texts)


class Follower(threading.Event):
    """An event that counts as set if it or another event is set, so that a match that fails does not stop the run."""

    def __init__(self, followed: threading.Event) -> None:
        super().__init__()
        self.followed = followed

    def is_set(self) -> bool:
        return super().is_set() or self.followed.is_set()
