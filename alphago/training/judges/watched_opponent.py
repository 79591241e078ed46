"""A match of a run's network against an opponent that is watched, pair of games by pair of games."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.match import MatchResult, play_match
from alphago.arena.match_games import MatchGame, MatchPlan
from alphago.arena.players import PlayerSource, resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.net import NeuralNet
from alphago.training.judges.results import games_as_text, match_row, without_forfeits

PAIRS = 10  # of a match
OPENING = 2  # plies on random points at the start of each pair
SEARCH = SearchSettings(gumbel=True)


class WatchedOpponent:
    """An opponent, and the readouts of the network that plays against it; a network has as many."""

    def __init__(self, opponent: str, readouts: int, player: PlayerSource | NeuralNet, env: GameEnv) -> None:
        self.opponent = opponent
        self.readouts = readouts
        self.player = player
        # As `evaluate` does: engines do not know a game's limits, and playouts are rated without them.
        self.env = env.match_variant() if isinstance(player, (PlayoutSettings, Engine)) else env
        self._entrants: dict[str, Entrant] = {}  # by device

    @property
    def name(self) -> str:
        return f"{self.opponent}@{self.readouts}"

    def examination(self, seed: int, device: str, state: Any = None) -> "WatchedMatch":
        return WatchedMatch(self, seed, device, state or ())

    def entrant(self, device: str) -> Entrant:
        """Return the opponent as a side of a match."""
        if device not in self._entrants:
            player: Any = self.player
            if isinstance(player, NeuralNet):
                player = resolve_player(player, device=device)
            self._entrants[device] = Entrant(player, self.readouts, SEARCH)
        return self._entrants[device]


class WatchedMatch:
    """A match whose pairs of games may be played at any time; its games follow from the seed."""

    def __init__(self, watched: WatchedOpponent, seed: int, device: str, games: Sequence[Mapping[str, Any]]) -> None:
        self.watched = watched
        self.device = device
        self.plan = MatchPlan(2 * PAIRS, 0, OPENING, seed, 1)
        self.games = {g["number"]: MatchGame(**{**g, "moves": tuple(g["moves"])}) for g in games}

    @property
    def pieces_left(self) -> int:
        return PAIRS - len(self.games) // 2

    def go_on(self, evaluator: Evaluator, pieces: int, stop: threading.Event) -> None:
        """Play so many pairs; of one that `stop` interrupts nothing remains."""
        pairs = [pair for pair in range(PAIRS) if 2 * pair not in self.games][:pieces]
        numbers = [number for pair in pairs for number in (2 * pair, 2 * pair + 1)]
        games: dict[int, MatchGame] = {}
        add: Callable[[MatchGame], Any] = lambda game: games.update({game.number: game})  # noqa: E731
        network = Entrant(evaluator, self.watched.readouts, SEARCH)
        play_match(
            self.watched.env, (network, self.watched.entrant(self.device)), self.plan, numbers, add, stop=stop
        )  # fmt: skip
        self.games |= {number: game for number, game in games.items() if number ^ 1 in games}

    def results(self) -> tuple[MatchResult, MatchResult]:
        """Return the result of all games, and of the pairs in which no engine failed, numbered anew."""
        renumbered = dict(enumerate(sorted(self.games)))
        games = [MatchGame(**{**vars(self.games[old]), "number": new}) for new, old in renumbered.items()]
        result = MatchResult.of(self.watched.env, games)
        return result, without_forfeits(result)

    def row(self) -> dict[str, Any] | None:
        """Return the counts, and every game as its moves; None if no pair of games counts."""
        if not self.games:
            return None
        result, valid = self.results()
        return {
            "opponent": self.watched.opponent, "readouts": self.watched.readouts,
            **(match_row(self.watched.env, valid) if valid.games else {"played": 0}),
            "forfeits": len(result.forfeits), "moves": games_as_text(self.watched.env, valid),
        }  # fmt: skip

    def summary(self) -> str:
        result, valid = self.results()
        texts = []
        if valid.games:
            low, high = valid.interval
            texts.append(
                f"won {valid.win_rate:.0%} of {len(valid.games)} games (95 % interval {low:.0%} to {high:.0%})"
            )
        if result.forfeits:
            why = min(result.forfeits.items())[1]
            texts.append(f"{len(result.forfeits)} games that it lost by a fault do not count: {why}")
        return "; ".join(texts)

    def state(self) -> list[dict[str, Any]]:
        return [asdict(game) for game in self.games.values()]
