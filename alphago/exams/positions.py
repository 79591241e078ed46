"""Exams as files: one JSON object a line, a position of Go with the loss of every legal move.

A line has `size`, `komi`, `moves` (from the empty board, Black first), `black_win` (0 .. 1) and `black_lead` (points)
in Black's view, `best`, and `lost`: for every legal move the points and the win rate that it loses, for the player to
move, against the best move.  Rules are area scoring, positional superko and no suicide.  The first line may be a header
with the key `exam`, the version of the format, and the exam's provenance.  The file may be compressed with gzip.
"""

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import MAX_SIZE, MIN_SIZE
from alphago.system.files import explain_os_error, read_named, user_path
from alphago.system.validation import check_float, check_int, shortened, shown

VERSION = 1  # of the format
PACKAGED = Path(__file__).with_name("packaged")
SUFFIX = ".jsonl.gz"
GZIP_MAGIC = b"\x1f\x8b"  # the first bytes of every gzip file
RULES = {
    "ko": "POSITIONAL",
    "scoring": "AREA",
    "tax": "NONE",
    "suicide": False,
    "hasButton": False,
    "whiteHandicapBonus": "0",
    "friendlyPassOk": False,
}
KEYS = ("size", "komi", "moves", "black_win", "black_lead", "best", "lost")


class ExamPosition(NamedTuple):
    """A position with the evaluations of the exam's judge; A is the number of actions.

    Attributes:
        moves: the actions from the empty board.
        best: the best action.
        black_win: Black's win rate, 0 .. 1.
        black_lead: Black's lead in points.
        points: float32 [A], the points that each move loses, for the player to move; NaN for an illegal move.
        rates: float32 [A], the win rate, 0 .. 1, that each move loses; NaN for an illegal move.
    """

    komi: float
    moves: tuple[int, ...]
    black_win: float
    black_lead: float
    best: int
    points: np.ndarray
    rates: np.ndarray


@dataclass(frozen=True, eq=False)
class Exam:
    """Positions of Go on one board, with the loss of every legal move.

    Attributes:
        size: the side of the board.
        provenance: who judged the positions, how, and where they are from; {} if unknown.
    """

    size: int
    positions: tuple[ExamPosition, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def env(self) -> GoEnv:
        """The game under the rules of the judge."""
        return exam_env(self.size)

    @cached_property
    def boards(self) -> tuple[GoPosition, ...]:
        """The positions as positions of `env`."""
        return tuple(self.positions_of(self.env))

    def positions_of(self, env: GoEnv) -> list[GoPosition]:
        """Return the positions as positions of `env`, a game on the same board, such as that of a network."""
        return [env.position(komi=judged.komi).after(judged.moves) for judged in self.positions]

    @cached_property
    def points(self) -> np.ndarray:
        """The points that each move loses, float32 [n, A]; NaN for an illegal move."""
        return np.stack([position.points for position in self.positions])

    @cached_property
    def rates(self) -> np.ndarray:
        """The win rate, 0 .. 1, that each move loses, float32 [n, A]; NaN for an illegal move."""
        return np.stack([position.rates for position in self.positions])

    @cached_property
    def black_win(self) -> np.ndarray:
        """Black's win rate, float64 [n], 0 .. 1."""
        return np.array([position.black_win for position in self.positions])

    @cached_property
    def black_lead(self) -> np.ndarray:
        """Black's lead in points, float64 [n]."""
        return np.array([position.black_lead for position in self.positions])

    @property
    def judge(self) -> str:
        """The judge as a clause, such as "judged by KataGo 1.17"; "" if it is unknown."""
        judge = self.provenance.get("judge")
        return f"judged by {engine_text(judge)}" if isinstance(judge, dict) and "program" in judge else ""


def engine_text(described: Mapping[str, Any]) -> str:
    """Return an engine's program and networks as text.

    Args:
        described: what `AnalysisClient.describe` returns.
    """
    networks = described.get("networks")
    names = " and ".join(map(str, networks if isinstance(networks, list) else ()))
    return " with ".join(filter(None, (str(described["program"]), names)))


def exam_env(size: int) -> GoEnv:
    """Return the game of all exams on a board of `size` x `size` points."""
    return GoEnv(size).match_variant()


def packaged_exams() -> dict[int, Path]:
    """Return the exams that come with the package: their files by the size of the board."""
    files = {int(path.name.partition("x")[0]): path for path in PACKAGED.glob(f"*x*{SUFFIX}")}
    return dict(sorted(files.items()))


def find_exam(file: str | Path | None, size: int | None = None) -> Exam:
    """Return an exam from a file, or a packaged exam.

    Args:
        file: the file, or the name of a packaged exam such as "9x9"; None for the packaged exam of the board of `size`.

    Raises:
        ValueError: if there is no such exam or the file is not an exam.
        OSError: if the file cannot be read.
    """
    packaged = {f"{board}x{board}": path for board, path in packaged_exams().items()}
    name = f"{size}x{size}" if file is None else str(file)
    is_file = file is not None and user_path(file).exists()
    if name in packaged and not is_file:  # a file called "9x9" comes first
        return read_exam(packaged[name])
    if file is None:
        raise ValueError(
            f"there must be an exam for the board, got {name}: {', '.join(packaged)} come with the package, others are "
            "made with alphago exam --make"
        )
    return read_exam(user_path(file))


def read_exam(path: Path) -> Exam:
    """Return the exam in a file; raise ValueError, which names file and line, for anything that is not one."""
    with explain_os_error(f"the exam {path} cannot be read"):
        lines = decompress(path, read_named(path)).split(b"\n")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    provenance: Mapping[str, Any] = {}
    positions: list[ExamPosition] = []
    size = 0  # not known before the first line
    for number, line in numbered:
        where = f"{path}, line {number}"
        row = parse_row(line, where)
        if not size and "exam" in row:  # a header
            if row["exam"] != VERSION:
                raise ValueError(f"{where}: the format must be of version {VERSION}, got {shown(row['exam'])}")
            size = row_size(row, where)
            provenance = {key: row[key] for key in row if key not in ("exam", "size")}
        else:
            size = size or row_size(row, where)  # that of the first line counts; `read_position` compares the others'
            positions.append(read_position(row, size, where))
    if not positions:
        raise ValueError(f"{path} must hold at least one position, got none")
    return Exam(size, tuple(positions), provenance)


def decompress(path: Path, data: bytes) -> bytes:
    """Return the data of a file, decompressed if it is a gzip file; raise ValueError if it is damaged."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def parse_row(line: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object in a line; raise ValueError for anything else.

    Args:
        where: file and line, for the message.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} must be a JSON object, got {shortened(line.decode('utf-8', 'replace'))}") from error
    if not isinstance(row, dict):
        raise ValueError(f"{where} must be a JSON object, got {shown(row)}")
    return row


def row_size(row: Mapping[str, Any], where: str) -> int:
    """Return the size of the board in a row; where: as in `parse_row`."""
    return check_int(f"{where}: size", row.get("size"), MIN_SIZE, MAX_SIZE)


def read_position(row: Mapping[str, Any], size: int, where: str) -> ExamPosition:
    """Return the position in a row.

    Args:
        size: the size of the exam's board.
        where: file and line, for messages.

    Raises:
        ValueError: if something is missing, if a move is illegal, if a legal move has no loss or an illegal move has.
    """
    if missing := [key for key in KEYS if key not in row]:
        raise ValueError(f"{where} must have {', '.join(KEYS)}, got none of {', '.join(missing)}")
    if row_size(row, where) != size:
        raise ValueError(f"{where}: size must be {size} as in the lines before, got {row['size']}")
    env = exam_env(size)
    try:
        position = env.position(komi=row["komi"]).after(str(row["moves"]).split())
        if position.is_over:
            raise ValueError("the game must go on, got moves that end it")
        best = position.check_action(row["best"])
    except ValueError as error:  # IllegalMove is a ValueError
        raise ValueError(f"{where}: {error}") from error
    points, rates = read_losses(row["lost"], position, where)
    return ExamPosition(
        komi=position.komi,
        moves=position.moves,
        black_win=check_float(f"{where}: black_win", row["black_win"], 0, 1),
        black_lead=check_float(f"{where}: black_lead", row["black_lead"]),
        best=best,
        points=points,
        rates=rates,
    )


def read_losses(lost: object, position: GoPosition, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the losses of points and of the win rate, each float32 [A]; raise ValueError as `read_position` does."""
    env = position.env
    if not isinstance(lost, Mapping):
        raise ValueError(f"{where}: lost must be an object with every legal move, got {shown(lost)}")
    legal = {env.to_text(int(action)): int(action) for action in np.flatnonzero(position.legal_mask)}
    if missing := [move for move in legal if move not in lost]:
        raise ValueError(f"{where}: lost must have every legal move, got none for {shortened(' '.join(missing))}")
    if illegal := [move for move in lost if move not in legal]:
        raise ValueError(f"{where}: lost must have legal moves only, got {shortened(' '.join(illegal))}")
    losses = np.full((2, env.action_space), np.nan, np.float32)
    for move, action in legal.items():
        given = lost[move]
        if not isinstance(given, list) or len(given) != 2:
            raise ValueError(f"{where}: the loss of {move} must be [points, win rate], got {shown(given)}")
        losses[0, action] = check_float(f"{where}: the points that {move} loses", given[0], 0)
        losses[1, action] = check_float(f"{where}: the win rate that {move} loses", given[1], 0, 1)
    return losses[0], losses[1]


def header_line(size: int, provenance: Mapping[str, Any]) -> bytes:
    """Return the first line of an exam's file."""
    return (json.dumps({"exam": VERSION, "size": size, **provenance}) + "\n").encode()


def position_line(env: GoEnv, position: ExamPosition, **more: object) -> bytes:
    """Return a position as a line of an exam's file, rounded to 0.01 points and 0.001 of the win rate.

    Args:
        more: further keys of the line, which readers ignore.
    """
    legal = np.flatnonzero(~np.isnan(position.points)).tolist()
    losses = {
        env.to_text(action): [rounded(position.points[action], 2), rounded(position.rates[action], 3)]
        for action in legal
    }
    row = {
        "size": env.N,
        "komi": position.komi,
        "moves": " ".join(map(env.to_text, position.moves)),
        "black_win": rounded(position.black_win, 3),
        "black_lead": rounded(position.black_lead, 2),
        "best": env.to_text(position.best),
        **more,
        "lost": losses,
    }
    return (json.dumps(row) + "\n").encode()


def rounded(value: Any, digits: int) -> float:
    """Return a rounded number as a Python float; -0.0 becomes 0.0."""
    return round(float(value), digits) + 0.0
