"""A match of a run's network against a watched opponent."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.match import play_match
from alphago.arena.match_games import MatchGame, MatchPlan, opening_length
from alphago.arena.match_result import MatchResult
from alphago.arena.players import resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.system.cores import available_cores
from alphago.training.judges.results import WatchResult, games_as_text, match_row, without_forfeits

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

    def test(
        self, evaluator: Evaluator, device: str, *, seed: int, left: Callable[[], float], stop: threading.Event
    ) -> WatchResult | None:
        """Play as many of PAIRS pairs of games as are likely to be over in time, the first in any case.

        See `Watched.test`.
        """
        players = (Entrant(evaluator, self.readouts, SEARCH), self.entrant(device))
        plan = MatchPlan(games=2 * PAIRS, opening_plies=0, random_opening=opening_length(self.env), seed=seed, leaves=1)
        games: list[MatchGame] = []
        first = count = min(PAIRS, max(1, available_cores() // 2))  # so that all cores are busy
        at_first = left()
        while count > 0:
            numbers = range(len(games), len(games) + 2 * count)
            play_match(self.env, players, plan, numbers, games.append, stop=Follower(stop))
            if stop.is_set():
                return None
            count = more_pairs(len(games) // 2, at_first, left())
        return WatchResult(*self.result(games), part=len(games) / 2 / PAIRS, least=first / PAIRS)

    def result(self, games: Sequence[MatchGame]) -> tuple[dict[str, Any], str]:
        """Return entries of a row of evaluations.jsonl, with the moves of each game, and a clause for a report.

        Pairs of games in which an engine forfeited do not count.
        """
        result = MatchResult.of(self.env, games)
        valid = without_forfeits(result)
        texts = [str(valid)] if valid.games else []
        if count := len(result.forfeits):
            first_fault = result.forfeits[min(result.forfeits)]
            texts.append(f"{count} games that the opponent lost by a fault do not count: {first_fault}")
        row = {
            "opponent": self.opponent,
            "readouts": self.readouts,
            **(match_row(self.env, valid) if valid.games else {"played": 0}),
            "forfeits": len(result.forfeits),
            "moves": games_as_text(self.env, valid),
        }
        return row, "; ".join(texts)

    def entrant(self, device: str) -> Entrant:
        """Return the opponent as an `Entrant` of a match; if it is a network, `device` computes it."""
        if device not in self._entrants:
            self._entrants[device] = Entrant(resolve_player(self.opponent, self.env, device), self.readouts, SEARCH)
        return self._entrants[device]


def more_pairs(played: int, at_first: float, left: float) -> int:
    """Return how many more pairs of games, of PAIRS in all, are likely to be over in time.

    played: number of pairs so far.  at_first, left: seconds that were allowed before them, and that are left.
    """
    cost = max(at_first - left, 1e-9) / played
    return min(PAIRS - played, int(left / cost))


class Follower(threading.Event):
    """An event that counts as set if it or another event is set, so that a match that fails does not stop the run."""

    def __init__(self, followed: threading.Event) -> None:
        super().__init__()
        self.followed = followed

    def is_set(self) -> bool:
        return super().is_set() or self.followed.is_set()
