"""Make an exam: draw positions from games, and ask an analysis engine for the loss of every legal move.

A drawn position is kept if it is undecided: by a search of `visits`, either side has a win rate of LEAST_WIN at least,
and neither side leads by more than MOST_LEAD points for each line of the board.  Then every legal move is played and
the position after it evaluated with `move_visits`; what a move loses is the difference from the best of these
evaluations.  A move that ends the game is scored.

The file gets a header with the exam's provenance, then the positions in the order in which they were drawn, as soon as
they are judged.  Drawing depends on the games and the seed only, so a stopped call goes on where it was.
"""

import datetime
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from alphago.exams.analysis_client import AnalysisClient
from alphago.exams.drawn_positions import LEAST_WIN, MOST_LEAD, Drawn, MakeSettings, draw, drawn_from, read_games_of
from alphago.exams.positions import RULES, exam_env, header_line, parse_row, position_line
from alphago.records.record import GameRecord
from alphago.system.files import explain_os_error

AT_ONCE = 8  # drawn positions under judgement at the same time


def make_exam(
    file: str | Path,
    engine: str,
    games: Sequence[str | Path],
    size: int = 9,
    making: MakeSettings | None = None,
    *,
    tell: Callable[[int, int], object] = lambda done, total: None,
) -> int:
    """Make an exam, or go on with one that was begun, and return the number of its positions.

    file: where the exam is written, one JSON object a line (`alphago.exams.positions`).
    engine: the command of a program that speaks KataGo's analysis protocol, such as "alphago analysis 9x9".
    games: SGF files, files of records, folders of both, or datasets, with games on the board of `size` x `size` points.
    tell: called with the number of positions so far and the number wanted, first before any is judged.

    There are fewer positions than wanted if the games have no more that are undecided.
    Raises ValueError if the file was begun with other games, settings or another judge, or if there are no games;
    EngineError if the engine fails: what was judged until then stays in the file.
    """
    making = making or MakeSettings()
    env = exam_env(size)
    records = read_games_of(games, env)
    path = Path(file)
    with AnalysisClient(engine) as client:
        provenance = provenance_of(client, records, making)
        done, last = begin_file(path, size, provenance)
        tell(done, making.positions)
        if done < making.positions:
            drawing = (one for one in draw(env, records, making) if one.number > last)
            with explain_os_error(f"{path} cannot be written"), path.open("ab") as out:
                for judged in judge(client, drawing, making):
                    out.write(position_line(env, judged.result(), drawn=judged.number))
                    out.flush()
                    os.fsync(out.fileno())
                    done += 1
                    tell(done, making.positions)
                    if done == making.positions:
                        break
    return done


def provenance_of(client: AnalysisClient, records: Sequence[GameRecord], making: MakeSettings) -> dict[str, Any]:
    """Return the header of an exam's file: who judges, by which rules and settings; what kept positions have.

    "drawn": from which games, and how.
    """
    return {
        "judge": client.describe(),
        "rules": RULES,
        "visits": {"position": making.visits, "move": making.move_visits},
        "undecided": {"win_rate": [LEAST_WIN, 1 - LEAST_WIN], "lead_per_line": MOST_LEAD},
        "drawn": drawn_from(records, making),
        "date": datetime.date.today().isoformat(),
        "made_by": f"alphago {version('alphago')}",
    }


def begin_file(path: Path, size: int, provenance: dict[str, Any]) -> tuple[int, int]:
    """Begin an exam's file, or prepare one that was begun for going on.

    Returns the number of its positions, and the number of the position that was drawn last, -1 for none.
    Raises ValueError if the file is no exam, or was begun otherwise.
    """
    with explain_os_error(f"{path} cannot be written"):
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            # A killed call may have left the beginning of a header; anything else is another file.
            if data and not header_line(size, provenance).startswith(data[:9]):
                raise ValueError(f"{path} must be an exam that was begun, or a new file, got another one")
            path.write_bytes(header_line(size, provenance))
            return 0, -1
        header, *rows = [parse_row(line, f"{path}, line {i}") for i, line in enumerate(whole.splitlines(), 1)]
        check_header(path, header, json.loads(header_line(size, provenance)))
        if missing := [number for number, row in enumerate(rows, 2) if not isinstance(row.get("drawn"), int)]:
            raise ValueError(f"{path}, line {missing[0]} must have the number drawn, got none")
        if len(whole) < len(data):  # the end of a line that a killed call began
            os.truncate(path, len(whole))
    return len(rows), (rows[-1]["drawn"] if rows else -1)


def check_header(path: Path, header: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise ValueError unless the header of an exam's file is the expected one, on whatever day it was begun."""
    differing = [key for key in expected if key != "date" and header.get(key) != expected[key]]
    if differing:
        texts = [f"{key} {header.get(key)} instead of {expected[key]}" for key in differing]
        raise ValueError(f"{path} must have been begun by the same call, got {'; '.join(texts)}")


def judge(client: AnalysisClient, drawing: Iterator[Drawn], making: MakeSettings) -> Iterator[Drawn]:
    """Yield the undecided ones of drawn positions, judged, in the order of drawing."""
    window: deque[Drawn] = deque()  # drawn, and neither yielded nor left out yet
    asked: dict[str, tuple[Drawn, int | None]] = {}  # the position and the move (None: the position itself), by id
    while True:
        while len(window) < AT_ONCE and (one := next(drawing, None)) is not None:
            window.append(one)
            ask(client, asked, one, action=None, visits=making.visits)
        if not window:
            return
        reply = client.receive()
        question = asked.pop(str(reply.get("id")), None)
        if question is None:
            continue  # an answer to another question, such as a second one to the same
        one, action = question
        judgement = client.root(reply)
        if action is None:
            one.root = judgement
            if one.is_undecided:
                ask_moves(client, asked, one, making.move_visits)
        else:
            one.after[action] = judgement
            one.missing.discard(action)
        while window and window[0].is_judged:
            if (first := window.popleft()).is_undecided:
                yield first


def ask_moves(client: AnalysisClient, asked: dict[str, tuple[Drawn, int | None]], one: Drawn, visits: int) -> None:
    """Ask for the positions after all legal moves, or score those where the game is over."""
    legal = np.flatnonzero(one.position.legal_mask).tolist()
    one.missing = set(legal)
    for action in legal:
        after = one.position.play(action)
        if after.is_over:
            one.after[action] = (1 + after.result) / 2, after.score()  # Black's win rate and lead
            one.missing.discard(action)
        else:
            ask(client, asked, one, action, visits)


def ask(
    client: AnalysisClient, asked: dict[str, tuple[Drawn, int | None]], one: Drawn, action: int | None, visits: int
) -> None:
    """Send a query for a drawn position, or for the position after a legal move, and note it in `asked`."""
    position = one.position if action is None else one.position.play(action)
    name = f"{one.number} {'' if action is None else position.env.to_text(action)}".strip()
    asked[name] = one, action
    client.ask(name, position, visits)
