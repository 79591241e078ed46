"""What an evaluation has found, as text, and its progress bar."""

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
from tqdm.auto import tqdm

from alphago.arena.elo import elo_ratings
from alphago.arena.match import MatchResult
from alphago.arena.result_folder import Match
from alphago.arena.tournament import Tournament

TOLD = 3  # faults and disagreements that are quoted; all of them are in games.jsonl


class ProgressBar:
    """Follows a tournament on stderr."""

    def __init__(self) -> None:
        self.bar: tqdm | None = None

    def start(self, games: int, done: int) -> None:
        self.bar = tqdm(total=games, initial=done, unit="game", dynamic_ncols=True)

    def game(self, match: str, result: MatchResult) -> None:
        """Counts a finished game, and tells what there is of pairs whose games have both ended."""
        assert self.bar is not None
        told = f"{len(result.games) // 2} pairs: {result.wins} won, {result.draws} drawn, {result.losses} lost"
        self.bar.set_description(match, refresh=False)
        self.bar.set_postfix_str(told, refresh=False)
        self.bar.update()

    def skip(self, games: int) -> None:
        assert self.bar is not None
        self.bar.total -= games
        self.bar.refresh()

    def close(self) -> None:
        """Leaves the last line; does nothing before `start`."""
        if self.bar is not None:
            self.bar.close()


def read_anchor(text: str | None, names: Sequence[str]) -> tuple[int, float]:
    """The player (its number) and rating in 'gnugo:10' or 'gnugo:10=1800'.

    None is GNU Go, without it a player without a network (rave before uct), else the last one, at 0.
    """
    if text is None:
        fixed = [i for kind in ("gnugo", "rave", "uct") for i, name in enumerate(names) if name.split(":")[0] == kind]
        return next(iter(fixed), len(names) - 1), 0.0
    name, equals, elo = text.rpartition("=")
    if not equals or text in names:
        name, elo = text, "0"
    if name not in names:
        raise ValueError(f"no player is called {name!r}: there are {', '.join(names)}")
    if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?", elo):
        raise ValueError(f"the anchor's rating is {elo!r}, wanted a number")
    return names.index(name), float(elo)


def standings(tournament: Tournament, *, anchor: int = 0, anchor_elo: float = 0.0) -> str:
    """All matches, Elo ratings and what the results have to be read with, as text.

    anchor: the player (its number) whose rating is `anchor_elo`.
    """
    results = {match: tournament.result(match) for match in tournament.matches}
    played = {match: result for match, result in results.items() if len(result.games)}
    parts = [headline(tournament)]
    if played:
        parts += [matches_table(tournament, played), ratings_table(tournament, played, anchor, anchor_elo)]
    parts += ["\n".join(notes(tournament, played))]
    return "\n\n".join(filter(None, parts))


def headline(tournament: Tournament) -> str:
    settings = tournament.settings
    opening = f"openings of {settings.random_opening} random plies, each with both colours"
    if not settings.random_opening:
        opening = "from the empty board"
    return f"{tournament.env.summary}, {settings.games} games a match, {opening}, seed {settings.seed}"


def matches_table(tournament: Tournament, played: dict[Match, MatchResult]) -> str:
    head = ["match", "games", "won", "drawn", "lost", "win rate", "95 %", "as Black", "as White", "distinct"]
    rows = [head]
    for (i, j), result in played.items():
        low, high = result.interval
        rows.append([
            f"{tournament.names[i]} - {tournament.names[j]}",
            *map(str, (len(result.games), result.wins, result.draws, result.losses)),
            f"{result.win_rate:.1%}",
            f"{low:.1%} to {high:.1%}",
            *("-".join(map(str, counts)) for counts in result.by_colour),
            str(result.distinct),
        ])  # fmt: skip
    return table(rows)


def ratings_table(tournament: Tournament, played: dict[Match, MatchResult], anchor: int, anchor_elo: float) -> str:
    names = tournament.names
    points = np.zeros((len(names), len(names)))
    for (i, j), result in played.items():
        points[i, j] = result.wins + result.draws / 2
        points[j, i] = result.losses + result.draws / 2
    ratings = elo_ratings(points, anchor=anchor, anchor_elo=anchor_elo)
    games = (points + points.T).sum(axis=1)
    rows = [["player", "Elo", "95 %", "games"]]
    for i in sorted(range(len(names)), key=lambda i: (math.isnan(ratings[i].elo), -ratings[i].elo)):
        rating = ratings[i]
        span = "anchor" if i == anchor else f"{rating.low:+.0f} to {rating.high:+.0f}"
        known = not math.isnan(rating.elo)
        rows.append([names[i], f"{rating.elo:+.0f}" if known else "?", span if known else "?", f"{games[i]:.0f}"])
    return table(rows)


def notes(tournament: Tournament, played: dict[Match, MatchResult]) -> Iterable[str]:
    """What was decided early, what engines did wrong and counted otherwise, what is missing, where it all is."""
    for match, result in played.items():
        title = " - ".join(tournament.names[i] for i in match)
        verdict = tournament.verdict(match)
        if verdict is not None and tournament.settings.sprt is not None:
            elo0, elo1 = tournament.settings.sprt
            said = {"accept": f"above {elo0:+g} Elo", "reject": f"below {elo1:+g} Elo", "continue": "undecided"}
            yield (f"{title}: {said[verdict.state]} by the sequential test of {elo0:+g} against {elo1:+g} Elo "
                   f"(pairs of games: {verdict.samples}, log likelihood ratio: {verdict.ratio:.2f})")  # fmt: skip
        if result.forfeits:
            yield f"{title}: games lost by an engine's fault: {len(result.forfeits)}"
            yield from quoted(tournament, match, result.forfeits.items())
        if result.counted:
            judge = tournament.settings.adjudicator or "the board"
            yield (f"{title}: an engine counted {result.counted} final boards too, "
                   f"{len(result.disagreements)} of them otherwise; the win rate is by {judge}")  # fmt: skip
            yield from quoted(tournament, match, result.disagreements.items())
    alone = sum(len(games) for games in tournament.folder.games.values()) - sum(len(r.games) for r in played.values())
    if alone:
        yield f"games that do not count yet, their opening having been played with one colour only: {alone}"
    if tournament.folder.without_sgf:
        yield f"no SGF files were written: {tournament.folder.without_sgf}"
    yield f"games are in {tournament.folder.path}"


def quoted(tournament: Tournament, match: Match, sentences: Iterable[tuple[int, str]]) -> Iterable[str]:
    """The first few sentences about games (by number)."""
    sentences = list(sentences)
    for number, text in sentences[:TOLD]:
        yield f"  {tournament.folder.game_name(match, number)}: {text}"
    if len(sentences) > TOLD:
        yield f"  and {len(sentences) - TOLD} more in {tournament.folder.path / 'games.jsonl'}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, the first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )
