"""A dataset of games in a folder: some 400 bytes a game, memory-mapped, checksummed, readable by numpy alone.

    index.json           what is in the folder: format, parts with their digests, imports, games left out by reason
    games-000000.npy     one row of GAME for each game of a part
    moves-000000.npy     uint16, the stones and plies of these games, one game after the other

A game's words in `moves` begin at its `start`: first `stones` words, the points that are set up (a White stone plus
WHITE_STONE), then `length` words, its plies: the action, which is row * size + column from the top left and size * size
for a pass; plus INSERTED if the file has no such pass, but two moves of one colour.  Colours alternate, beginning with
`first`.  Numbers are little-endian.  The page docs/datasets.md reads a dataset with numpy.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.records.record import POLICY_SCALE, GameRecord
from alphago.system.files import read_file

FORMAT, VERSION = "alphago-dataset", 1
INDEX = "index.json"
WHITE_STONE, INSERTED = 0x8000, 0x4000
ACTION = INSERTED - 1  # the bits of a ply that are its action
UNKNOWN_KOMI = -32768
TRAIN, VALIDATION, TEST = range(3)
SPLITS = ("train", "validation", "test")
ENDED, RESULT = 1, 2  # flags: the score and the last board's owners are known; the result is
KO_NAMES = ("simple", "positional", "situational")
SUICIDE = 4  # a bit of `rules`; the two below it are the place of the ko rule in KO_NAMES

GAME = np.dtype(
    [
        ("start", "<i8"),  # of its words in the part's moves
        ("hash", "<u8"),  # of moves and set-up, the same for turned and reflected games
        ("length", "<u2"),  # plies
        ("stones", "<u2"),  # that are set up
        ("size", "u1"),  # of the board
        ("first", "i1"),  # who begins: 1 Black, -1 White
        ("outcome", "i1"),  # 1 Black won, -1 White won, 0 a draw or unknown
        ("flags", "u1"),
        ("score2", "<i2"),  # twice Black's margin; 0 where it is unknown
        ("komi2", "<i2"),  # twice the komi; UNKNOWN_KOMI if the file names none
        ("black_rank", "<i2"),  # see alphago.records.sgf.values.read_rank
        ("white_rank", "<i2"),
        ("handicap", "u1"),
        ("rules", "u1"),
        ("year", "<u2"),  # 0 unknown
        ("split", "u1"),  # a place in SPLITS
    ]
)


class StoredGame(NamedTuple):
    """One game of a dataset.

    row: its row of GAME.  moves: int32 [T], actions.  inserted: bool [T], passes that the file does not have.
    black, white: int32, the points that are set up.
    """

    row: np.void
    moves: np.ndarray
    inserted: np.ndarray
    black: np.ndarray
    white: np.ndarray

    @property
    def komi(self) -> float | None:
        komi2 = int(self.row["komi2"])
        return None if komi2 == UNKNOWN_KOMI else komi2 / 2

    @property
    def movers(self) -> np.ndarray:
        """Who makes each move, int8 [T]: +1 Black, -1 White."""
        signs = np.full(len(self.moves), int(self.row["first"]), np.int8)
        signs[1::2] *= -1
        return signs

    @property
    def has_score(self) -> bool:
        """Whether score and owners of the last board are known."""
        return bool(self.row["flags"] & ENDED)

    def setup(self, env: GoEnv) -> dict[str, Any]:
        """Return the keywords of `env.position` for the game's start; the komi is left out where it is `env`'s."""
        keywords: dict[str, Any] = {
            name: " ".join(env.to_text(int(point)) for point in points)
            for name, points in (("black", self.black), ("white", self.white))
            if len(points)
        }
        if int(self.row["first"]) < 0:
            keywords["to_play"] = "white"
        if self.komi is not None and self.komi != env.komi:
            keywords["komi"] = self.komi
        return keywords

    def to_record(self, env: GoEnv) -> GameRecord:
        """Return a record to train on: each policy is the move played, values are 0, inserted passes weigh nothing."""
        moves = self.moves[: env.max_moves]
        count = len(moves)
        policies = np.zeros((count, env.action_space), np.uint16)
        policies[np.arange(count), moves] = POLICY_SCALE
        outcome = float(self.row["outcome"])
        nothing = np.zeros(count, np.float32)
        return GameRecord(
            moves=moves.astype(np.int16), policies=policies, values=nothing,
            weights=(~self.inserted[:count]).astype(np.float32), surprises=nothing,
            legal_counts=np.zeros(count, np.int16), movers=self.movers[:count], outcome=outcome,
            score=float(self.row["score2"]) / 2 if self.has_score else outcome,
            resigned=not self.has_score or count < len(self.moves), setup=self.setup(env),
        )  # fmt: skip


class Part(NamedTuple):
    """One part of a dataset: `games` [n] of dtype GAME and `moves` uint16, both memory-mapped."""

    games: np.ndarray
    moves: np.ndarray


class Dataset:
    """The games in a folder; see the module's text for the format.

    Rows are numbered over all parts; `rows` has all of them in memory (44 bytes each), moves stay on disk.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a dataset; raise FileNotFoundError if there is none, ValueError if it is damaged or of another kind."""
        self.path = Path(path)
        self.index = read_index(self.path)
        self.parts = [self._open(part) for part in self.index["parts"]]
        self.rows = np.concatenate([part.games for part in self.parts]) if self.parts else np.zeros(0, GAME)
        self._ends = np.cumsum([len(part.games) for part in self.parts]).astype(np.int64)

    def _open(self, part: Mapping[str, Any]) -> Part:
        arrays = []
        for name in ("games", "moves"):
            path = self.path / part[name]["file"]
            try:
                arrays.append(np.load(path, mmap_mode="r", allow_pickle=False))
            except (ValueError, EOFError) as error:
                raise ValueError(f"{path} is damaged ({error}): {how_to_repair(self.path)}") from None
            except FileNotFoundError:
                raise ValueError(f"{path} is gone: {how_to_repair(self.path)}") from None
        games, moves = arrays
        if games.dtype != GAME or len(games) != part["count"] or moves.dtype != np.dtype("<u2"):
            raise ValueError(f"{self.path / part['games']['file']} is damaged (its form differs): "
                             f"{how_to_repair(self.path)}")  # fmt: skip
        return Part(games, moves)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        sizes = sorted({int(size) for size in np.unique(self.rows["size"])}) if len(self) else []
        boards = ", ".join(f"{size}x{size}" for size in sizes) or "no board"
        return f"<a dataset of {len(self)} games and {self.positions} positions, {boards}: {self.path}>"

    @property
    def positions(self) -> int:
        """The number of moves in all games."""
        return int(self.rows["length"].sum(dtype=np.int64))

    @cached_property
    def digest(self) -> str:
        """A name of the content: two datasets with the same games in the same order have the same."""
        seal = hashlib.blake2b(digest_size=16)
        for part in self.index["parts"]:
            seal.update((part["games"]["digest"] + part["moves"]["digest"]).encode())
        return seal.hexdigest()

    def verify(self) -> None:
        """Compare every file with its digest; raise ValueError that names the first that differs."""
        for part in self.index["parts"]:
            for name in ("games", "moves"):
                path = self.path / part[name]["file"]
                if digest_of(path) != part[name]["digest"]:
                    raise ValueError(f"{path} is damaged (its digest differs): {how_to_repair(self.path)}")

    def select(self, split: str | None = None, size: int | None = None, *, results_only: bool = False) -> np.ndarray:
        """Return the numbers of games, int64, of one split and board size (None: all of them).

        results_only: only those whose result is known.
        """
        chosen = np.ones(len(self), np.bool_)
        if split is not None:
            chosen &= self.rows["split"] == SPLITS.index(split)
        if size is not None:
            chosen &= self.rows["size"] == size
        if results_only:
            chosen &= (self.rows["flags"] & RESULT) != 0
        return np.flatnonzero(chosen)

    def words(self, number: int) -> tuple[np.void, np.ndarray]:
        """Return a game's row, and its stones and plies as they are stored, uint16."""
        part = int(np.searchsorted(self._ends, number, side="right"))
        games, moves = self.parts[part]
        row = games[number - (int(self._ends[part - 1]) if part else 0)]
        start = int(row["start"])
        return row, moves[start : start + int(row["stones"]) + int(row["length"])]

    def game(self, number: int) -> StoredGame:
        """Return a game by its number, 0 .. len - 1; raise ValueError if its words are damaged."""
        row, words = self.words(number)
        stones, plies = words[: row["stones"]], words[row["stones"] :]
        actions = (plies & ACTION).astype(np.int32)
        points = (stones & (WHITE_STONE - 1)).astype(np.int32)
        area = int(row["size"]) ** 2
        if len(plies) != row["length"] or (len(actions) and actions.max() > area) or (points >= area).any():
            raise ValueError(f"game {number} of {self.path} is damaged: {how_to_repair(self.path)}")
        is_white = (stones & WHITE_STONE) != 0
        return StoredGame(row, actions, (plies & INSERTED) != 0, points[~is_white], points[is_white])

    def games(self, numbers: Sequence[int] | np.ndarray | None = None) -> Iterator[StoredGame]:
        """Yield games by their numbers (None: all)."""
        for number in range(len(self)) if numbers is None else numbers:
            yield self.game(int(number))


def read_index(path: Path) -> dict[str, Any]:
    """Return the index of the dataset in a folder; raise FileNotFoundError or ValueError, with a sentence."""
    if not (path / INDEX).is_file():
        raise FileNotFoundError(
            f"{path} must be a dataset, a folder with {INDEX}: alphago sgf FILES --to {path} makes one"
        )
    try:
        index = json.loads(read_file(path / INDEX))
        kind = index["format"], index["version"]
        parts = index["parts"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path / INDEX} is damaged ({type(error).__name__}): {how_to_repair(path)}") from error
    if kind != (FORMAT, VERSION):
        raise ValueError(f"{path} must be of format {FORMAT} {VERSION}, got {' '.join(map(str, kind))}")
    assert isinstance(parts, list)
    return dict(index)


def is_dataset(path: str | Path) -> bool:
    """Return whether a path is a dataset's folder."""
    return (Path(path) / INDEX).is_file()


def rules_code(rules: Rules) -> int:
    """Return rules of ko and suicide as the number in a game's row."""
    return KO_NAMES.index(rules.ko) + SUICIDE * rules.suicide


def rules_of(code: int) -> Rules:
    """Return the rules that `rules_code` made a number."""
    return Rules(KO_NAMES[code % SUICIDE], code >= SUICIDE)


def digest_of(path: Path) -> str:
    """Return the digest of a file, read in pieces."""
    seal = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while piece := file.read(2**20):
            seal.update(piece)
    return seal.hexdigest()


def how_to_repair(path: Path) -> str:
    return f"make it anew, with alphago sgf FILES --to another folder than {path}"
