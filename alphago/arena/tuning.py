"""`tune`: find the strongest value of a search setting by pits, which are matches between two values.

Each value plays a pit against the champion, which at first is the value in use.  A sequential test ends the pit, and a
value that the test accepts becomes the champion.  (CGZero tuned c_puct in this way: marchete/CGZero, src/Train.ipynb.)
The result rates all values with intervals, from the games of all pits together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from alphago.arena.elo import Rating, elo_ratings
from alphago.arena.match import MatchResult
from alphago.arena.pits import Pit, PitFolder, PitPlan
from alphago.arena.standings import table
from alphago.arena.tournament import ProgressListener, TournamentSettings
from alphago.arena.tuned_values import between_neighbours, check_effect, checked_value, spread, text_of
from alphago.env.game import GameEnv, check_env
from alphago.mcts.search_forms import PLAYER_RULE, SearchForm, make_search
from alphago.system.files import lock
from alphago.system.validation import MOST_READOUTS, check_int, checks_keywords, make_settings
from alphago.workers.jobs import pool_of

GAMES = 400  # largest number of games of a pit
SPRT = (0.0, 40.0)  # the two Elo differences of a pit's sequential test


@dataclass(frozen=True)
class Tuning:
    """The results of a tuning so far; its text form is a table.

    name: the setting's name.
    values: all values that have played, the first champion first.
    pits: the pits, in the order in which they were played.
    winner: the champion after the last pit.
    """

    name: str
    values: tuple[Any, ...]
    pits: tuple[Pit, ...]
    winner: Any

    @property
    def ratings(self) -> dict[Any, Rating]:
        """The Elo rating of each value relative to the winner, with 95 % intervals, from the games of all pits."""
        points = np.zeros((len(self.values), len(self.values)))
        for pit in self.pits:
            i, j = self.values.index(pit.candidate), self.values.index(pit.champion)
            points[i, j] += pit.result.wins + pit.result.draws / 2
            points[j, i] += pit.result.losses + pit.result.draws / 2
        return dict(zip(self.values, elo_ratings(points, anchor=self.values.index(self.winner)), strict=True))

    @property
    def level(self) -> list[Any]:
        """The values, apart from the winner, that are not clearly weaker: their interval reaches up to 0 or more."""
        ratings = self.ratings
        return [value for value in self.values if value != self.winner and not ratings[value].high < 0]

    def __repr__(self) -> str:
        if not self.pits:
            return f"{self.name} {text_of(self.winner)}: no pit has been played"
        level = self.level
        others = "; all others are weaker"
        if level:
            others = f"; not told apart from it: {', '.join(map(text_of, level))}"
        return "\n\n".join(
            [self._ratings_table(), self._pits_table(), f"{self.name} {text_of(self.winner)} won{others}"]
        )

    def _ratings_table(self) -> str:
        """Return a table of all values, the winner first, then by rating."""
        rows = [[self.name, "Elo", "95 %", "games", ""]]
        ratings = self.ratings
        others = sorted((value for value in ratings if value != self.winner), key=lambda value: -ratings[value].elo)
        for value in [self.winner, *others]:
            rating = ratings[value]
            games = sum(len(pit.result.games) for pit in self.pits if value in (pit.candidate, pit.champion))
            if value == self.winner:
                rows.append([text_of(value), "0", "", str(games), "winner"])
                continue
            interval = f"{rating.low:+.0f} to {rating.high:+.0f}"
            rows.append([text_of(value), f"{rating.elo:+.0f}", interval, str(games), in_words(rating)])
        return table(rows)

    def _pits_table(self) -> str:
        """Return a table of the pits, in the order of play, from the candidates' view."""
        words = {"accept": "stronger", "reject": "not stronger", "continue": "undecided"}
        rows = [["pit", "won", "drawn", "lost", "win rate", "95 %", "test"]]
        for candidate, champion, result, verdict in self.pits:
            low, high = result.interval
            title = f"{text_of(candidate)} - {text_of(champion)}"
            counts = map(str, (result.wins, result.draws, result.losses))
            rates = (f"{result.win_rate:.1%}", f"{low:.1%} to {high:.1%}")
            rows.append([title, *counts, *rates, words[verdict.state]])
        return table(rows)


def in_words(rating: Rating) -> str:
    """Return in words whether a value with this rating is weaker or stronger than the winner, which has rating 0."""
    if rating.high < 0:
        return "weaker"
    return "stronger in all games together" if rating.low > 0 else "not told apart"


@checks_keywords(TournamentSettings)
def tune(
    env: GameEnv,
    network: object,
    name: str,
    values: Sequence[Any] = (),
    *,
    between: tuple[float, float] | None = None,
    steps: int = 5,
    rounds: int = 1,
    readouts: int = 64,
    search: SearchForm = PLAYER_RULE,
    folder: str | Path | None = None,
    device: str = "auto",
    listener: ProgressListener | None = None,
    on_pit: Callable[[Tuning], object] | None = None,
    workers: str | int | None = None,
    **settings: object,
) -> Tuning:
    """Find the strongest value of a search setting by pits, and return the results of all values.

    Each value plays a match, called a pit, against the champion so far; all pits use the same openings.  A sequential
    test ends a pit, and a value that the test accepts becomes the champion.  Finished games are saved in a folder, so
    the same call resumes an interrupted tuning, and a call with further values continues it.

    Args:
        env: the game; the pits are played in its `match_variant`.
        network: a NeuralNet, its name, file or run folder, or an evaluator.
        name: the name of a setting of the search that has an effect in matches, such as "c_puct".
        values: the values to compare.  The first champion is the value in `search` if it is among them, else the first
            of them.
        between: the ends of a range to search, instead of `values`.  The values are `steps` numbers in the range, and
            the value in `search` if it lies in the range.  The numbers are evenly spaced, on a logarithmic scale if
            both ends are positive.
        steps: number of values in the range.
        rounds: with `between`, the number of further rounds, each of which tries the values halfway between the winner
            and its neighbours.
        readouts: simulations per move of both sides.
        search: the search of both sides, with the values of all other settings, as in `evaluate`.
        folder: the folder of the games; None for a folder in runs/ whose name depends on the other arguments.
        device: "cpu", "cuda" or "auto".
        listener: an object whose methods are called for each game, see ProgressListener.
        on_pit: called after each pit with the Tuning so far.
        workers: the workers that play, as in `evaluate`.
        settings: keywords of `TournamentSettings`: `games`, the largest number of games of a pit (default 400), `sprt`
            (default 0 and 40), `random_opening`, `opening_plies` and `seed`.

    Raises:
        ValueError: for an unknown setting, a setting without effect in the pits, values out of range, fewer than two
            values, and a folder with other contents.
    """
    check_env(env)
    search_settings = make_search(search, readouts, leaves=1)  # as in `Tournament.plan`
    check_effect(name, search_settings, env)
    values = list(values)
    has_range = between is not None
    if bool(values) == has_range:
        raise ValueError("values must be given, or between: one of the two")
    in_use = checked_value(search_settings, name, getattr(search_settings, name))
    if between is None:
        values = list(dict.fromkeys(checked_value(search_settings, name, value) for value in values))
        if in_use in values:
            values = [in_use, *(value for value in values if value != in_use)]
    else:
        values = spread(search_settings, name, between, check_int("steps", steps, 2, 100))
    if len(values) < 2:
        raise ValueError(f"values must be at least two, got {', '.join(map(text_of, values)) or 'none'}")
    rounds = check_int("rounds", rounds, 0, 100) if has_range else 0
    match_settings = make_settings(TournamentSettings, **{"games": GAMES, "sprt": SPRT, **settings})
    readouts = check_int("readouts", readouts, 1, MOST_READOUTS)
    device = device if workers is None else "cpu"
    plan = PitPlan(env.match_variant(), name, search_settings, readouts, match_settings)
    pits = PitFolder(plan, network, folder, device)

    def play(candidate: object, champion: object) -> Pit:
        return pits.play(candidate, champion, listener or Silence(), pool)

    def note(tuning: Tuning) -> None:
        pits.save(tuning.pits)
        if on_pit is not None:
            on_pit(tuning)

    with lock(pits.path), pool_of(workers, env) as pool:
        start = Tuning(name, values=(values[0],), pits=(), winner=values[0])
        tuning = climb(start, values[1:], play, note)
        for _ in range(rounds):
            halfway = between_neighbours(search_settings, name, tuning.values, tuning.winner)
            tuning = climb(tuning, halfway, play, note)
    return tuning


def climb(
    tuning: Tuning, values: Sequence[Any], play: Callable[[Any, Any], Pit], note: Callable[[Tuning], object]
) -> Tuning:
    """Play a pit of each value against the winner so far, and return the results.

    The value becomes the winner if the pit's test accepts it.

    tuning: the results so far.  values: the values to try.
    play: function that plays the pit of a candidate and a champion.  note: function called with the results after each
        pit.
    """
    for value in values:
        pit = play(value, tuning.winner)
        winner = value if pit.verdict.state == "accept" else tuning.winner
        tuning = replace(tuning, values=(*tuning.values, value), pits=(*tuning.pits, pit), winner=winner)
        note(tuning)
    return tuning


class Silence:
    """A listener that does nothing."""

    def start(self, games: int, done: int) -> None: ...

    def game(self, match: str, result: MatchResult) -> None: ...

    def skip(self, games: int) -> None: ...
