"""The first question about a run: how strong it is now and against whom, how far it is, and how long it takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from alphago.training.history import Row, number, opponent_name

LEAST_LEFT = 1 / 6  # minutes: less is never told to be left
LEAST_IDLE = 5  # minutes for which a run that goes on may write nothing
RECENT = 20  # the latest iterations, of which the pace is told while a run goes on
MAIN = ("Win rate", "Elo", "Policy loss", "Value error")  # how the titles of the most important panels begin


class HeadlineView(TypedDict):
    """What one wants to know first about a run.

    strength: the latest result against its hardest opponent; "" before any match. progress: how far it is, as text.
    share: the part of its games, or of its time, that is over, 0 .. 1.
    """

    strength: str
    progress: str
    share: float


def headline_of(
    settings: Mapping[str, Any], rows: Sequence[Row], matches: Sequence[Row], *, over: bool, idle: float
) -> HeadlineView:
    """Return the headline of a run.

    settings: see `flat_settings`. rows, matches: of metrics.jsonl and evaluations.jsonl. over: whether it is over.
    idle: seconds since the run wrote its last row.
    """
    last: Row = rows[-1] if rows else {}
    games, minutes = number(last, "games") or 0.0, (number(last, "seconds") or 0.0) / 60
    most_games, most_minutes = settings.get("num_games"), settings.get("max_minutes")  # limits; None for no limit
    pace = games_a_minute(rows)
    parts = [span(minutes), f"{games:,.0f} games"]
    told_pace = games / minutes if over and minutes else pace  # of a run that is over, the mean
    if told_pace:
        parts.append(f"{told_pace:,.0f} games/min")
    shares, minutes_left = [0.0], [math.inf]  # an entry more for each limit
    if most_games:
        shares.append(games / most_games)
        minutes_left.append((most_games - games) / pace if pace else math.inf)
    if most_minutes:
        shares.append(minutes / most_minutes)
        minutes_left.append(most_minutes - minutes)
    left = min(minutes_left)
    if over:
        parts.append("finished")
    elif left < math.inf and idle < 60 * max(left, LEAST_IDLE):  # a run that is idle for longer was probably stopped
        parts.append(f"about {span(max(left, LEAST_LEFT))} to go")
    return {"strength": strength_of(matches), "progress": " · ".join(parts), "share": min(1.0, max(shares))}


def span(minutes: float) -> str:
    """Return a time as text: below two minutes in seconds."""
    return f"{60 * minutes:.0f} s" if minutes < 2 else f"{minutes:,.0f} min"


def strength_of(matches: Sequence[Row]) -> str:
    """Return the latest result against the hardest opponent, which the run beats least often; "" before any match.

    A run that learns from given games plays no matches.  For such a run, return how often its latest network finds the
    move that was played in held-out games.
    """
    latest = {opponent_name(row): row for row in matches if number(row, "win_rate") is not None}
    if not latest:
        accuracies = [share for row in matches if (share := number(row, "accuracy")) is not None]
        return f"finds {100 * accuracies[-1]:.0f} % of the moves of held-out games" if accuracies else ""
    rates = {name: number(row, "win_rate") or 0.0 for name, row in latest.items()}
    hardest = min(rates, key=rates.__getitem__)
    played, low, high = (number(latest[hardest], key) for key in ("played", "low", "high"))
    games = "" if played is None else f" of {played:.0f} games"
    interval = "" if low is None or high is None else f" (95 % sure: {100 * low:.0f} to {100 * high:.0f} %)"
    return f"wins {100 * rates[hardest]:.0f} %{games} against {hardest}{interval}"


def games_a_minute(rows: Sequence[Row]) -> float:
    """Return the games a minute in the latest RECENT rows; 0 if they are unknown."""
    if len(rows) < 2:
        return 0.0
    first, last = rows[-min(len(rows), RECENT)], rows[-1]
    seconds = (number(last, "seconds") or 0) - (number(first, "seconds") or 0)
    games = (number(last, "games") or 0) - (number(first, "games") or 0)
    return 60 * games / seconds if seconds > 0 else 0.0


def main_first(titles: Sequence[str]) -> list[int]:
    """Return the indices of all panels in the order to show: first a panel for each title of MAIN, then the others.

    There may be several panels of win rates, each against one opponent: the last one, against the strongest opponent,
    comes first.
    """
    main = []
    for begin in MAIN:
        panels = [i for i, title in enumerate(titles) if title.startswith(begin)]
        if panels:
            has_opponents = titles[panels[0]].startswith("Win rate, ")
            main.append(panels[-1] if has_opponents else panels[0])
    others = [i for i in range(len(titles)) if i not in main]
    return main + others
