"""Make an exam: draw positions from games, and ask an analysis engine for the loss of every legal move.

A drawn position is kept if it is undecided: in a search of `visits`, both sides have a win rate of at least LEAST_WIN,
and neither side leads by more than MOST_LEAD points for each line of the board.  Then the position after every legal
move is evaluated with `move_visits`, or scored if the game is over.  The loss of a move is the difference of its
evaluation from the best one.

The file has a header with the exam's provenance, then the positions in the order in which they were drawn; each is
written as soon as it is judged.  The positions drawn depend only on the games and the settings, so a call can go on
where an earlier one was stopped.
"""

import datetime
import json
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from alphago.exams.analysis_client import AnalysisClient
from alphago.exams.drawn_positions import UNDECIDED, DrawnPosition, MakeSettings, draw, drawing_facts, read_games
from alphago.exams.positions import RULES, exam_env, header_line, parse_row, position_line
from alphago.records.dataset_writer import check_begun
from alphago.system.files import explain_os_error, user_path, write_atomic
from alphago.system.validation import check_int

MOST_POSITIONS_READ = 200_000  # in all games together
AT_ONCE = 8  # number of drawn positions about which the judge is asked at the same time


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

    The exam has fewer positions than wanted if the games do not have enough undecided positions.

    Args:
        file: where the exam is written, one JSON object a line (`alphago.exams.positions`).
        engine: the command of a program that speaks KataGo's analysis protocol, such as "alphago analysis 9x9".
        games: SGF files, files of records, folders of both, or datasets, with games on the board of `size` x `size`
            points.
        tell: called with the number of positions so far and the number wanted, first before any is judged.

    Raises:
        ValueError: if the file was begun with other games, settings or another judge, or if there are no games.
        EngineError: if the engine fails: what was judged until then stays in the file.
    """
    making = making or MakeSettings()
    env = exam_env(size)
    records = read_games(games, env, MOST_POSITIONS_READ)
    path = user_path(file)
    with AnalysisClient(engine) as client:
        provenance = {
            "judge": client.describe(),
            "rules": RULES,
            "visits": {"position": making.visits, "move": making.move_visits},
            "undecided": UNDECIDED,
            "drawn": drawing_facts(records, making),
            "date": datetime.date.today().isoformat(),
            "made_by": f"alphago {version('alphago')}",
        }
        count, last_number = begin_file(path, size, provenance)
        tell(count, making.positions)
        if count < making.positions:
            unjudged = (drawn for drawn in draw(env, records, making) if drawn.number > last_number)
            with explain_os_error(f"{path} cannot be written"), path.open("ab") as out:
                for judged in judge(client, unjudged, making):
                    out.write(position_line(env, judged.result(), drawn=judged.number))
                    out.flush()
                    os.fsync(out.fileno())
                    count += 1
                    tell(count, making.positions)
                    if count == making.positions:
                        break
    return count


def begin_file(path: Path, size: int, provenance: dict[str, Any]) -> tuple[int, int]:
    """Begin an exam's file, or make a file that was begun ready for more positions.

    Returns:
        How many positions the file has, and the number of the position that was drawn last, -1 if there is none.

    Raises:
        ValueError: if the file is no exam, or was begun with other games, settings or another judge.
    """
    with explain_os_error(f"{path} cannot be written"):
        data = path.read_bytes() if path.exists() else b""
        header = header_line(size, provenance)
        whole_lines = data[: data.rfind(b"\n") + 1]
        if not whole_lines:
            if data:
                raise ValueError(f"{path} must be an exam that was begun, or a new file, got another one")
            write_atomic(path, header)
            return 0, -1
        lines = enumerate(whole_lines.splitlines(), 1)
        begun_header, *rows = [parse_row(line, f"{path}, line {number}") for number, line in lines]
        expected = {key: value for key, value in json.loads(header).items() if key != "date"}  # begun on any day
        check_begun(path, begun_header, expected)
        drawn = [check_int(f"{path}, line {line}: drawn", row.get("drawn"), 0) for line, row in enumerate(rows, 2)]
        if len(whole_lines) < len(data):  # a call that was killed has left a part of a line
            os.truncate(path, len(whole_lines))
    return len(rows), drawn[-1] if drawn else -1


def judge(client: AnalysisClient, unjudged: Iterator[DrawnPosition], making: MakeSettings) -> Iterator[DrawnPosition]:
    """Have drawn positions judged by the engine, and return an iterator of the undecided ones in the order drawn."""

    def take(drawn: DrawnPosition, move: str, reply: dict[str, Any]) -> None:
        """Keep the judgement in a reply; if it is of an undecided position itself, ask about its moves too."""
        judgement = client.root(reply)
        if move:  # "" for the position itself
            drawn.after[drawn.position.check_action(move)] = judgement
            return
        drawn.root = judgement
        if drawn.is_undecided:
            ask_moves(client, drawn, making.move_visits)

    return (drawn for drawn in client.judge(unjudged, AT_ONCE, making.visits, take) if drawn.is_undecided)


def ask_moves(client: AnalysisClient, drawn: DrawnPosition, visits: int) -> None:
    """Ask about the position after each legal move; if the game is over there, score it instead."""
    for action in np.flatnonzero(drawn.position.legal_mask).tolist():
        move, after = drawn.position.env.to_text(action), drawn.position.play(action)
        if after.is_over:
            drawn.after[action] = (1 + after.result) / 2, after.score()  # Black's win rate and lead
        else:
            drawn.unanswered.add(move)
            client.ask(f"{drawn.number} {move}", after, visits)
