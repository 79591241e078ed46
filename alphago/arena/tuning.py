"""`tune`: which value of a search setting plays best, by pits of one value against another.

The champion, at first the value in use, plays each other value; a sequential test ends a pit, and a value that it
accepts is the next champion (as CGZero tuned its c_puct: marchete/CGZero, src/Train.ipynb).  What can be said in the
end comes from all games together: ratings with intervals, and the values that these do not tell apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alphago.arena.elo import Rating, elo_ratings
from alphago.arena.match import MatchResult
from alphago.arena.pits import Pit, PitFolder, PitPlan
from alphago.arena.players import search_settings
from alphago.arena.standings import table
from alphago.arena.tournament import ProgressListener, TournamentSettings
from alphago.arena.tuned_values import between_neighbours, check_effect, checked_value, shown, spread
from alphago.env.game import GameEnv, check_env
from alphago.mcts.search import SearchSettings
from alphago.system.files import lock
from alphago.system.validation import MOST_READOUTS, check_int, checks_keywords, make_settings

GAMES = 400  # of a pit, at most
SPRT = (0.0, 40.0)  # Elo points between which a pit decides


@dataclass(frozen=True)
class Tuning:
    """What is known of a setting's values; as text, a table.

    name: of the setting. values: all that have played, the first champion first. pits: in the order they were played.
    winner: the last champion.
    """

    name: str
    values: tuple[Any, ...]
    pits: tuple[Pit, ...]
    winner: Any

    @property
    def ratings(self) -> dict[Any, Rating]:
        """Elo points of each value above the winner, with 95 % intervals, from the games of all pits together."""
        points = np.zeros((len(self.values), len(self.values)))
        for pit in self.pits:
            i, j = self.values.index(pit.candidate), self.values.index(pit.champion)
            points[i, j] += pit.result.wins + pit.result.draws / 2
            points[j, i] += pit.result.losses + pit.result.draws / 2
        return dict(zip(self.values, elo_ratings(points, anchor=self.values.index(self.winner)), strict=True))

    @property
    def level(self) -> list[Any]:
        """The other values that the games do not tell apart from the winner: their intervals hold 0, or are unknown."""
        ratings = self.ratings
        return [value for value in self.values if value != self.winner and not ratings[value].high < 0]

    def __repr__(self) -> str:
        if not self.pits:
            return f"{self.name} {shown(self.winner)}: no pit has been played"
        level = self.level
        others = f"; not told apart from it: {', '.join(map(shown, level))}" if level else "; all others are weaker"
        return "\n\n".join([self._ratings_table(), self._pits_table(), f"{self.name} {shown(self.winner)} won{others}"])

    def _ratings_table(self) -> str:
        rows = [[self.name, "Elo", "95 %", "games", ""]]
        for value, rating in sorted(self.ratings.items(), key=lambda item: (item[0] != self.winner, -item[1].elo)):
            games = sum(len(pit.result.games) for pit in self.pits if value in (pit.candidate, pit.champion))
            if value == self.winner:
                rows.append([shown(value), "0", "", str(games), "winner"])
                continue
            span = f"{rating.low:+.0f} to {rating.high:+.0f}"
            rows.append([shown(value), f"{rating.elo:+.0f}", span, str(games), in_words(rating)])
        return table(rows)

    def _pits_table(self) -> str:
        words = {"accept": "stronger", "reject": "not stronger", "continue": "undecided"}
        rows = [["pit", "won", "drawn", "lost", "win rate", "95 %", "test"]]
        for candidate, champion, result, verdict in self.pits:
            low, high = result.interval
            rows.append([
                f"{shown(candidate)} - {shown(champion)}", *map(str, (result.wins, result.draws, result.losses)),
                f"{result.win_rate:.1%}", f"{low:.1%} to {high:.1%}", words[verdict.state],
            ])  # fmt: skip
        return table(rows)


def in_words(rating: Rating) -> str:
    """Return what a rating beside the winner says of a value."""
    if rating.high < 0:
        return "weaker"
    return "stronger in all games together" if rating.low > 0 else "not told apart"


@checks_keywords(TournamentSettings)
def tune(
    env: GameEnv,
    network: Any,
    name: str,
    values: Sequence[Any] = (),
    *,
    between: tuple[float, float] | None = None,
    steps: int = 5,
    rounds: int = 1,
    readouts: int = 64,
    search: SearchSettings | str = "puct",
    folder: str | Path | None = None,
    device: str = "auto",
    listener: ProgressListener | None = None,
    on_pit: Callable[[Tuning], object] | None = None,
    **settings: Any,
) -> Tuning:
    """Find the strongest value of a search setting by pits, and return what is known of all values.

    Each value plays the champion so far, on openings that are the same for all; a sequential test ends a pit, and a
    value that the test accepts is the next champion.  Finished games are kept in a folder: the same call resumes after
    a stop, and one with further values goes on from there.

    Args:
        env: the game; matches have its `match_variant`.
        network: a NeuralNet, its name, file or run folder, or an evaluator.
        name: of a field of SearchSettings that matters in matches, such as "c_puct".
        values: to compare. The value that `search` has is the first champion if it is one of them, else the first is.
        between: the ends of a range to search instead of `values`: `steps` values in it, evenly spread by their
            ratios if both ends are above 0, and the one that `search` has if it lies within.
        rounds: how often, in a range, the values halfway between the winner and its neighbours are tried as well.
        readouts: simulations a move, of both sides.
        search: "puct", "gumbel" or SearchSettings: the other settings, of both sides.
        folder: of the games; None for one in runs/, named after what determines the games.
        device: "cpu", "cuda" or "auto".
        listener: is told of each game. on_pit: called after each pit with what is known so far.
        settings: keywords of `TournamentSettings`: `games` of a pit at most (400 here), `sprt` (0, 40 here),
            `random_opening`, `opening_plies`, `seed`.

    Raises:
        ValueError: for an unknown setting, one without effect in such matches, impossible values, fewer than two of
            them, and a folder with other contents.
    """
    check_env(env)
    chosen = search_settings(search, readouts, 1)
    check_effect(name, chosen)
    if (between is None) == (not values):
        raise ValueError("values must be given, or between: one of the two")
    first = checked_value(chosen, name, getattr(chosen, name))
    if between is None:
        values = [checked_value(chosen, name, value) for value in values]
        values = sorted(dict.fromkeys(values), key=lambda value: value != first)  # stable: the one in use comes first
    else:
        values = spread(chosen, name, between, check_int("steps", steps, 2, 100))
    if len(values) < 2:
        raise ValueError(f"values must be at least two, got {', '.join(map(shown, values)) or 'none'}")
    rounds = check_int("rounds", rounds, 0, 100) if between is not None else 0
    matches = make_settings(TournamentSettings, **{"games": GAMES, "sprt": SPRT, **settings})
    readouts = check_int("readouts", readouts, 1, MOST_READOUTS)
    pits = PitFolder(PitPlan(env.match_variant(), name, chosen, readouts, matches), network, folder, device)

    def play(candidate: Any, champion: Any) -> Pit:
        return pits.play(candidate, champion, listener or Silence())

    def note(tuning: Tuning) -> None:
        pits.save(tuning.pits)
        if on_pit is not None:
            on_pit(tuning)

    with lock(pits.path):
        tuning = climb(Tuning(name, (values[0],), (), values[0]), values[1:], play, note)
        for _ in range(rounds):
            halfway = between_neighbours(chosen, name, tuning.values, tuning.winner)
            tuning = climb(tuning, halfway, play, note)
    return tuning


def climb(
    tuning: Tuning, values: Sequence[Any], play: Callable[[Any, Any], Pit], note: Callable[[Tuning], object]
) -> Tuning:
    """Let each value play the winner so far, which it replaces if it is stronger; note what is known after each pit."""
    for value in values:
        pit = play(value, tuning.winner)
        winner = value if pit.verdict.state == "accept" else tuning.winner
        tuning = Tuning(tuning.name, (*tuning.values, value), (*tuning.pits, pit), winner)
        note(tuning)
    return tuning


class Silence:
    """A listener that does nothing."""

    def start(self, games: int, done: int) -> None: ...

    def game(self, match: str, result: MatchResult) -> None: ...

    def skip(self, games: int) -> None: ...
