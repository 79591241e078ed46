"""The results of an evaluation as text, and as a page in one file, to read, print and mail."""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from alphago.arena.elo import elo_ratings
from alphago.arena.match_result import MatchResult
from alphago.arena.result_folder import Match
from alphago.arena.sprt import Verdict
from alphago.arena.tournament import Tournament
from alphago.system.files import write_atomic

MAX_QUOTED = 3  # most faults of a player, and disagreements in a match, that are listed; games.jsonl has all of them
BOARDS = 6  # final positions that are shown of each match
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Evaluation: {title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em }}
table {{ border-collapse: collapse; margin: 1em 0 }}
td, th {{ padding: .2em .8em; text-align: right; border-bottom: 1px solid #ccc }}
td:first-child, th:first-child {{ text-align: left }}
pre {{ white-space: pre-wrap }}
svg {{ max-width: 100%; height: auto }}
</style>
<h1>{title}</h1>
{body}
</html>
"""
GameNote = tuple[Match, int, str]  # a match, the number of a game in it, and a text about this game


def read_anchor(text: str | None, names: Sequence[str]) -> tuple[int, float]:
    """Return the anchor's index among `names`, and its rating.

    Args:
        text: "gnugo:10" for a player rated 0, "gnugo:10=1800" for a player with another rating.  None for an anchor
            rated 0: the first "gnugo" player, else the first "rave" player, else the first "uct" player, else the last
            player.

    Raises:
        ValueError: for an unknown name or an invalid rating.
    """
    if text is None:
        kinds = [name.split(":")[0] for name in names]
        found = (kinds.index(kind) for kind in ("gnugo", "rave", "uct") if kind in kinds)
        return next(found, len(names) - 1), 0.0
    name, equals, elo = text.rpartition("=")
    if not equals or text in names:  # a name such as "9x9@level=7" also has a =
        name, elo = text, "0"
    if name not in names:
        raise ValueError(f"no player is called {name!r}: there are {', '.join(names)}")
    if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?", elo):
        raise ValueError(f"the anchor's rating must be a number, got {elo!r}")
    return names.index(name), float(elo)


def standings(tournament: Tournament, *, anchor: int = 0, anchor_elo: float = 0.0) -> str:
    """Return a text with a table of the matches, a table of Elo ratings, and notes on the results.

    Args:
        anchor: index of the player whose rating is fixed at `anchor_elo`.
    """
    played = played_matches(tournament)
    tables = [match_rows(tournament, played), rating_rows(tournament, played, anchor, anchor_elo)] if played else []
    return "\n\n".join([headline(tournament), *map(table, tables), "\n".join(notes(tournament, played))])


def write_page(tournament: Tournament, *, anchor: int = 0, anchor_elo: float = 0.0) -> Path:
    """Write `standings.html` in the tournament's folder, and return its path; anchor, anchor_elo: as in `standings`."""
    played = played_matches(tournament)
    tables = [rating_rows(tournament, played, anchor, anchor_elo), match_rows(tournament, played)] if played else []
    parts = [*map(html_table, tables), "<pre>" + escape("\n".join(notes(tournament, played))) + "</pre>"]
    for match, result in played.items():
        title = escape(" - ".join(tournament.names[player] for player in match))
        parts.append(f"<details><summary>{title}</summary>{result.svg(columns=BOARDS, most=BOARDS)}</details>")
    path = tournament.folder.path / "standings.html"
    write_atomic(path, PAGE.format(title=escape(headline(tournament)), body="\n".join(parts)).encode())
    return path


def played_matches(tournament: Tournament) -> dict[Match, MatchResult]:
    """Return the results of the matches that have games."""
    return {match: result for match in tournament.matches if (result := tournament.result(match)).games}


def headline(tournament: Tournament) -> str:
    """Return a sentence about the game, and about how the matches are played."""
    settings = tournament.settings
    random = f"openings of {settings.random_opening} random plies, each with both colours"
    opening = random if settings.random_opening else "from the empty board"
    return f"{tournament.env.summary}, {settings.games} games a match, {opening}, seed {settings.seed}"


def match_rows(tournament: Tournament, played: dict[Match, MatchResult]) -> list[list[str]]:
    """Return a table of the matches, from the view of the first player of each; played: the matches that have games."""
    rows = [["match", "games", "won", "drawn", "lost", "win rate", "95 %", "as Black", "as White", "distinct"]]
    for (i, j), result in played.items():
        low, high = result.interval
        row = [
            f"{tournament.names[i]} - {tournament.names[j]}",
            *map(str, (len(result.games), result.wins, result.draws, result.losses)),
            f"{result.win_rate:.1%}",
            f"{low:.1%} to {high:.1%}",
            *("-".join(map(str, counts)) for counts in result.by_colour),
            str(result.distinct),
        ]
        rows.append(row)
    return rows


def rating_rows(
    tournament: Tournament, played: dict[Match, MatchResult], anchor: int, anchor_elo: float
) -> list[list[str]]:
    """Return a table of the players' Elo ratings, the best first.

    Args:
        played: the matches that have games.
        anchor, anchor_elo: as in `standings`.
    """
    names = tournament.names
    points = np.zeros((len(names), len(names)))
    for (i, j), result in played.items():
        points[i, j] = result.wins + result.draws / 2
        points[j, i] = result.losses + result.draws / 2
    ratings = elo_ratings(points, anchor=anchor, anchor_elo=anchor_elo)
    games = (points + points.T).sum(axis=1)
    rows = [["player", "Elo", "95 %", "games"]]
    for i in np.argsort([-rating.elo for rating in ratings], kind="stable"):  # the best first; NaN, unknown, comes last
        elo, low, high = ratings[i]
        interval = "anchor" if i == anchor else f"{low:+.0f} to {high:+.0f}"
        texts = ["?", "?"] if math.isnan(elo) else [f"{elo:+.0f}", interval]
        rows.append([names[i], *texts, f"{games[i]:.0f}"])
    return rows


def notes(tournament: Tournament, played: dict[Match, MatchResult]) -> Iterable[str]:
    """Yield notes on the results: repeated games, early decisions, players' faults, missing games, and the folder."""
    for match, result in played.items():
        title = " - ".join(tournament.names[i] for i in match)
        verdict = tournament.verdict(match)
        if verdict is not None and tournament.settings.sprt is not None:  # without a test both are None
            yield f"{title}: {verdict_text(verdict, *tournament.settings.sprt)}"
        if result.distinct < len(result.games):
            distinct = f"{result.distinct} of {len(result.games)} games are distinct"
            yield f"{title}: {distinct}; the interval counts these, ratings count all"
        if result.counted:
            judge = tournament.settings.adjudicator or "the board"
            scored = f"an engine scored {result.counted} final boards too"
            yield f"{title}: {scored}, {len(result.disagreements)} of them differently; the win rate is by {judge}"
            yield from quote(tournament, [(match, number, text) for number, text in result.disagreements.items()])
    for name, faults in players_faults(tournament).items():
        yield f"{name}: games lost by a fault of its own: {len(faults)}"
        yield from quote(tournament, faults)
    # The results lack games whose opening was not played with both colours.
    unpaired = sum(len(tournament.games(match)) - len(tournament.result(match).games) for match in tournament.matches)
    if unpaired:
        yield f"games that do not count yet, because their opening was played with one colour only: {unpaired}"
    yield f"games are in {tournament.folder.path}"


def verdict_text(verdict: Verdict, elo0: float, elo1: float) -> str:
    """Return the decision of a match's sequential test (see `Sprt`), and the numbers behind it."""
    # To accept H1 is to reject the difference `elo0`, and the reverse.
    decision = {"accept": f"above {elo0:+g} Elo", "reject": f"below {elo1:+g} Elo", "continue": "undecided"}
    numbers = f"pairs of games: {verdict.samples}, log likelihood ratio: {verdict.ratio:.2f}"
    return f"{decision[verdict.state]} by the sequential test of {elo0:+g} against {elo1:+g} Elo ({numbers})"


def players_faults(tournament: Tournament) -> dict[str, list[GameNote]]:
    """Return by name, for each player that forfeited games, the forfeited games and their faults."""
    faults: dict[str, list[GameNote]] = {}
    for match in tournament.matches:
        for number, game in sorted(tournament.games(match).items()):
            if game.fault:
                loser = match[0] if game.outcome < 0 else match[1]
                faults.setdefault(tournament.names[loser], []).append((match, number, game.fault))
    return faults


def quote(tournament: Tournament, game_notes: Sequence[GameNote]) -> Iterable[str]:
    """Yield a line for each of the first MAX_QUOTED notes, and a line with the number of the other notes."""
    for match, number, text in game_notes[:MAX_QUOTED]:
        yield f"  {tournament.folder.game_name(match, number)}: {text}"
    if len(game_notes) > MAX_QUOTED:
        yield f"  and {len(game_notes) - MAX_QUOTED} more in {tournament.folder.path / 'games.jsonl'}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as text; the first column is aligned left and the other columns right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as a table in HTML; the first row is the head."""
    head, *others = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    # Only tags are replaced: in a cell's escaped text there is no ">".
    lines = [f"<tr>{row}</tr>" for row in (head.replace("td>", "th>"), *others)]
    return f"<table>{''.join(lines)}</table>"
