"""The first question about a run: how strong it is now and against whom, how far it is, and how long it takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from alphago.training.history import Row, number, opponent_name
from alphago.ui.web.wire import HeadlineView

RECENT = 20  # iterations by which the pace is told
MAIN = ("Win rate", "Elo", "Policy loss", "Value error")  # beginnings of the titles of the panels that matter most


def headline_of(
    settings: Mapping[str, Any], rows: Sequence[Row], matches: Sequence[Row], over: str, now: float
) -> HeadlineView:
    """Return the headline of a run.

    settings: see `flat_settings`. rows, matches: of metrics.jsonl and evaluations.jsonl. over: see `why_over`.
    now: seconds since the run wrote its last row.
    """
    last: Row = rows[-1] if rows else {}
    games, minutes = number(last, "games") or 0.0, (number(last, "seconds") or 0.0) / 60
    most_games, most_minutes = settings.get("num_games"), settings.get("max_minutes")
    parts = [f"{minutes:,.0f} min", f"{games:,.0f} games"]
    shares = [done / most for done, most in ((games, most_games), (minutes, most_minutes)) if most]
    pace = games_a_minute(rows)
    left = [(most_games - games) / pace] if most_games and pace else []
    left += [most_minutes - minutes] if most_minutes else []
    if pace:
        parts.append(f"{pace:,.0f} games/min")
    if not over and left and now < 60 * max(min(left), 5):
        parts.append(f"about {max(min(left), 1):,.0f} min to go")
    elif over:
        parts.append("finished")
    return {
        "strength": strength_of(matches),
        "progress": " · ".join(parts),
        "share": min(1.0, max(shares, default=0.0)),
    }


def strength_of(matches: Sequence[Row]) -> str:
    """Return the latest result against the opponent that the run beats least often; "" before any match.

    A run that learns from given games plays no matches: for it, how often the latest network finds the move played.
    """
    latest = {opponent_name(row): row for row in matches if number(row, "win_rate") is not None}
    if not latest:
        found = [share for row in matches if (share := number(row, "accuracy")) is not None]
        return f"finds {100 * found[-1]:.0f} % of the moves of held-out games" if found else ""
    name, row = min(latest.items(), key=lambda pair: number(pair[1], "win_rate") or 0.0)
    rate, low, high = (number(row, key) for key in ("win_rate", "low", "high"))
    between = "" if low is None or high is None else f" (95 % sure: {100 * low:.0f} to {100 * high:.0f} %)"
    games = "" if (played := number(row, "played")) is None else f" of {played:.0f} games"
    return f"wins {100 * (rate or 0):.0f} %{games} against {name}{between}"


def games_a_minute(rows: Sequence[Row]) -> float:
    """Return the pace over the latest rows; 0 if it is not known."""
    if len(rows) < 2:
        return 0.0
    first, last = rows[-min(len(rows), RECENT)], rows[-1]
    seconds = (number(last, "seconds") or 0) - (number(first, "seconds") or 0)
    games = (number(last, "games") or 0) - (number(first, "games") or 0)
    return 60 * games / seconds if seconds > 0 else 0.0


def main_first(titles: Sequence[str]) -> list[int]:
    """Return the numbers of all panels: first one for each title of MAIN that there is, then the others in order.

    Of several win rates, each against one opponent, it is the last: opponents are watched from weak to strong.
    """
    known = [[i for i, title in enumerate(titles) if title.startswith(begin)] for begin in MAIN]
    main = [found[-1] if titles[found[0]].startswith("Win rate, ") else found[0] for found in known if found]
    return [*main, *(i for i in range(len(titles)) if i not in main)]
