"""A match of a run's network against a watched opponent, which can pause between two moves."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.match import MatchResult, open_games
from alphago.arena.match_games import MatchGame, MatchPlan, ParallelGames, play_games
from alphago.arena.openings import opening_length
from alphago.arena.players import resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.gumbel import Gumbel
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
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

    def examination(self, seed: int, device: str, state: Any = None) -> "WatchedMatch":
        return WatchedMatch(self, seed, device, state or ())

    def entrant(self, device: str) -> Entrant:
        """Return the opponent as an `Entrant` of a match; if it is a network, `device` computes it."""
        if device not in self._entrants:
            self._entrants[device] = Entrant(resolve_player(self.opponent, self.env, device), self.readouts, SEARCH)
        return self._entrants[device]


class WatchedMatch:
    """A match of PAIRS pairs of games that can pause between any two moves; see `Examination`.

    watched: the opponent.  seed: determines the openings and both players' random numbers.
    games: the finished games, from the `state` of an earlier match that this one continues; () to begin.
    device: where networks are computed.
    """

    def __init__(self, watched: WatchedOpponent, seed: int, device: str, games: Sequence[Mapping[str, Any]]) -> None:
        self.watched = watched
        self.device = device
        self.plan = MatchPlan(
            games=2 * PAIRS, opening_plies=0, random_opening=opening_length(watched.env), seed=seed, leaves=1
        )
        self.finished = {game["number"]: MatchGame(**{**game, "moves": tuple(game["moves"])}) for game in games}
        self.waiting = [number for number in range(2 * PAIRS) if number not in self.finished]
        self.in_progress: list[ParallelGames] = []  # the games in progress, one element per thread

    @property
    def games(self) -> list[MatchGame]:
        """The games of all finished pairs, ordered by number."""
        # Games 2k and 2k + 1 are a pair.
        return [game for number, game in sorted(self.finished.items()) if number ^ 1 in self.finished]

    @property
    def completed(self) -> int:
        return len(self.games) // 2

    @property
    def is_over(self) -> bool:
        return self.completed == PAIRS

    @property
    def at_rest(self) -> bool:
        has_half_a_pair = len(self.finished) % 2 == 1
        return not self.in_progress and not has_half_a_pair

    def go_on(self, evaluator: Evaluator, at_once: int, stop: threading.Event) -> None:
        """Finish the games in progress; if there are none, play the next `at_once` pairs; see `Examination`."""
        if not self.in_progress:
            self.begin(evaluator, 2 * at_once)
        with one_torch_thread(), Workers(len(self.in_progress)) as workers:
            workers.run([partial(play_games, games, self.add, stop) for games in self.in_progress], stop)
        for games in self.in_progress:
            if not len(games.active):
                games.close()
        self.in_progress = [games for games in self.in_progress if len(games.active)]

    def begin(self, evaluator: Evaluator, count: int) -> None:
        """Begin the next `count` games, or at most the engine's `at_once` games if the opponent is an engine."""
        opponent = self.watched.entrant(self.device)
        if isinstance(opponent.player, Engine):
            count = min(count, opponent.player.at_once)
        numbers, self.waiting = self.waiting[:count], self.waiting[count:]
        entrants = (Entrant(evaluator, self.watched.readouts, SEARCH), opponent)
        threads = min(available_cores(), len(numbers))
        for thread in range(threads):
            self.in_progress.append(open_games(self.watched.env, entrants, self.plan, numbers[thread::threads]))

    def add(self, game: MatchGame) -> None:
        """Keep a finished game; several threads may call this at the same time."""
        self.finished[game.number] = game

    def close(self) -> None:
        """Abandon the games in progress."""
        for games in self.in_progress:
            games.close()
        self.in_progress = []

    def results(self) -> tuple[MatchResult, MatchResult]:
        """Return the results of all finished pairs of games, and of only the pairs in which no engine forfeited.

        In each of the two results the games are renumbered from 0.
        """
        games = [replace(game, number=number) for number, game in enumerate(self.games)]
        result = MatchResult.of(self.watched.env, games)
        return result, without_forfeits(result)

    def row(self) -> dict[str, Any] | None:
        """Return entries of a row of evaluations.jsonl, with the moves of each game; None before a pair is finished."""
        if not self.games:
            return None
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

    def state(self) -> list[dict[str, Any]]:
        return [asdict(game) for game in self.games]
