"""The results of an evaluation as a page in one file, to read, print and mail."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from alphago.arena.standings import headline, match_rows, notes, played_matches, rating_rows
from alphago.arena.tournament import Tournament
from alphago.system.files import write_atomic

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


def write_page(tournament: Tournament, *, anchor: int = 0, anchor_elo: float = 0.0) -> Path:
    """Write `standings.html` in the tournament's folder, and return its path; anchor, anchor_elo: as in `standings`."""
    played = played_matches(tournament)
    parts = []
    if played:
        parts += [table(rating_rows(tournament, played, anchor, anchor_elo)), table(match_rows(tournament, played))]
    parts.append("<pre>" + escape("\n".join(notes(tournament, played))) + "</pre>")
    for match, result in played.items():
        title = escape(" - ".join(tournament.names[player] for player in match))
        parts.append(f"<details><summary>{title}</summary>{result.svg(columns=BOARDS, most=BOARDS)}</details>")
    path = tournament.folder.path / "standings.html"
    write_atomic(path, PAGE.format(title=escape(headline(tournament)), body="\n".join(parts)).encode())
    return path


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as a table in HTML; the first row is the head."""
    head, *others = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    lines = [f"<tr>{row}</tr>" for row in (head.replace("td>", "th>"), *others)]
    return f"<table>{''.join(lines)}</table>"
