"""A dataset of games in a folder: some 400 bytes a game, memory-mapped, checksummed, readable with numpy alone.

    index.json           the format, the parts with their digests, the imports, and why games were left out
    games-000000.npy     one row of dtype GAME for each game of a part
    moves-000000.npy     uint16, the stones and plies of these games, concatenated

A game begins in `moves` at its `start`: first `stones` numbers, the points with set-up stones (plus WHITE_STONE for a
White one), then `length` numbers, one a ply. A ply is an action, row * size + column from the top left or size * size
for a pass; a pass plus SKIPPED stands for a turn that was skipped, where one colour played twice in a row.  Colours
alternate, beginning with `first`.  Numbers are little-endian.  docs/datasets.md shows how to read a dataset with numpy.

A labelled dataset (`alphago.records.labels`) has `labels-000000.npy` too, with a row for each game, and a `teacher`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.records.labels import label_dtype, labelled_record
from alphago.records.record import GameRecord, record_without_searches
from alphago.system.files import bytes_digest, check_regular, read_file, read_named, typed_path, user_path
from alphago.system.validation import checks_keywords

FORMAT, VERSION = "alphago-dataset", 1
INDEX = "index.json"
WHITE_STONE, SKIPPED = 0x8000, 0x4000
POINT_BITS = WHITE_STONE - 1  # mask: the bits of a set-up stone that are its point
ACTION_BITS = SKIPPED - 1  # mask: the bits of a ply that are its action
UNKNOWN_KOMI = -32768
REPAIR = "import the games again into another folder: alphago sgf FILES --to FOLDER"
TRAIN, VALIDATION, TEST = range(3)
SPLITS = ("train", "validation", "test")
# Bits of `flags`.  SCORED: the score and the owner of each point of the last board are known.  RESULT: the winner, or a
# draw, is known.
SCORED, RESULT = 1, 2
KO_NAMES = ("simple", "positional", "situational")
SUICIDE = 4  # a bit of `rules`; the two bits below it are an index into KO_NAMES

GAME = np.dtype(
    [
        ("start", "<i8"),  # index into the part's moves
        ("hash", "<u8"),  # of moves and set-up, the same for rotated and reflected games
        ("length", "<u2"),  # number of plies, with those that stand for skipped turns
        ("stones", "<u2"),  # number of set-up stones
        ("size", "u1"),  # of the board
        ("first", "i1"),  # the player who begins: 1 Black, -1 White
        ("outcome", "i1"),  # 1 Black won, -1 White won, 0 a draw or unknown
        ("flags", "u1"),
        ("score2", "<i2"),  # twice Black's margin; 0 where it is unknown
        ("komi2", "<i2"),  # twice the komi; UNKNOWN_KOMI if the file names none
        ("black_rank", "<i2"),  # see alphago.records.sgf.values.read_rank
        ("white_rank", "<i2"),
        ("handicap", "u1"),
        ("rules", "u1"),
        ("year", "<u2"),  # 0 unknown
        ("split", "u1"),  # an index into SPLITS
    ]
)


class StoredGame(NamedTuple):
    """One game of a dataset, with T moves.

    Attributes:
        row: the game's row, of dtype GAME.
        moves: int32 [T], actions.
        movers: int8 [T], who played them, +1 Black, -1 White.
        skipped: bool [plies], for each stored ply whether it stands for a skipped turn.  Such plies are not in `moves`.
        black, white: int32 [n], the points with set-up stones.
        label: in a labelled dataset, the teacher's label of the position before the last move (`label_dtype`); else
            None.
    """

    row: np.void
    moves: np.ndarray
    movers: np.ndarray
    skipped: np.ndarray
    black: np.ndarray
    white: np.ndarray
    label: np.void | None = None

    @property
    def komi(self) -> float | None:
        """The komi in points; None if the file names none."""
        komi2 = int(self.row["komi2"])
        return None if komi2 == UNKNOWN_KOMI else komi2 / 2

    @property
    def has_score(self) -> bool:
        """Whether the score and the owner of each point of the last board are known."""
        return bool(self.row["flags"] & SCORED)

    def setup(self, env: GoEnv) -> dict[str, Any]:
        """Return keywords of `env.position` for the start of the game, such as {"black": "D4 Q16", "to_play": "white"}.

        There is a `komi` only if the game's is known and differs from `env.komi`.
        """
        stones = {"black": self.black.tolist(), "white": self.white.tolist()}
        setup: dict[str, Any] = {side: " ".join(map(env.to_text, points)) for side, points in stones.items() if points}
        if int(self.row["first"]) < 0:
            setup["to_play"] = "white"
        if self.komi is not None and self.komi != env.komi:
            setup["komi"] = self.komi
        return setup

    def to_record(self, env: GoEnv) -> GameRecord:
        """Return a training record: one-hot policies for the moves played, and 0 as the values of the searches.

        In the record of a labelled game the last move has the label's targets, and all other moves have weight 0.

        Args:
            env: a game on the same board.  Moves after its `max_moves` are left out.
        """
        moves, outcome = self.moves[: env.max_moves], float(self.row["outcome"])
        last_board_counts = self.has_score and len(moves) == len(self.moves)
        record = record_without_searches(
            env,
            moves,
            self.movers[: len(moves)],
            outcome=outcome,
            # Without a score the record counts as resigned, and such a record has its outcome as the score.
            score=float(self.row["score2"]) / 2 if self.has_score else outcome,
            resigned=not last_board_counts,  # training ignores the last board of a resigned game
            setup=self.setup(env),
        )
        return record if self.label is None else labelled_record(record, self.label, env)


def mapped_array(path: Path) -> np.ndarray:
    """Return an array of a dataset that stays on the disk; raise ValueError if the file is missing or damaged."""
    check_regular(path)  # opening a pipe may never end
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: {REPAIR}") from None
    except OSError:  # the file may be sound, but it cannot be read
        raise
    except Exception as error:  # numpy reads the header with Python's tokenizer, which may raise any exception
        raise ValueError(f"{path} is damaged ({error}): {REPAIR}") from None
    return array


@checks_keywords()
class Dataset:
    """The games in a folder; the module's docstring has the format.

    A game's number counts over all parts.  Moves stay on disk.

    Attributes:
        path: the folder.
        index: the content of index.json.
        parts: for each part, its memory-mapped arrays by name: "games", "moves" and perhaps "labels".
        rows: the rows of all games, [n] of dtype GAME, in memory (37 bytes each).
    """

    def __init__(self, path: str | Path) -> None:
        """Open a dataset; raise FileNotFoundError if `path` is not a dataset, ValueError if it is damaged."""
        self.path = user_path(path)
        self.index = read_index(self.path)
        self.parts = [self._open(part) for part in self.index["parts"]]
        self.rows = np.concatenate([np.zeros(0, GAME), *(part["games"] for part in self.parts)])
        # For each part, the number of games in it and in all parts before it.
        self._ends = np.cumsum([len(part["games"]) for part in self.parts]).astype(np.int64)

    def _open(self, part: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return the memory-mapped arrays of a part, by name; part: the entry of the part in the index."""
        arrays = {name: mapped_array(self.path / part[name]["file"]) for name in array_names(part)}
        games, moves, labels = arrays["games"], arrays["moves"], arrays.get("labels")
        is_sound = games.dtype == GAME and len(games) == part["count"] and moves.dtype == np.dtype("<u2")
        if labels is not None:  # all games of a labelled dataset have one size
            size = int(games["size"].max(initial=0))
            is_sound = is_sound and len(labels) == len(games) and labels.dtype == label_dtype(size)
        if not is_sound:
            path = self.path / part["games"]["file"]
            raise ValueError(f"{path} is damaged (unexpected dtype or length): {REPAIR}")
        return arrays

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        boards = ", ".join(f"{size}x{size}" for size in np.unique(self.rows["size"])) or "no board"
        content = f"{len(self)} games and {self.positions} positions"
        if self.teacher:
            content = f"{len(self)} positions labelled by {self.teacher}"
        return f"<a dataset of {content}, {boards}: {self.path}>"

    @property
    def teacher(self) -> str:
        """The name of the teacher that labelled the positions; "" for a dataset without labels."""
        return str(self.index.get("teacher", {}).get("name", ""))

    @property
    def positions(self) -> int:
        """The number of moves of all games."""
        return int(self.rows["length"].sum(dtype=np.int64))

    @cached_property
    def digest(self) -> str:
        """A hash of the content, equal for two datasets with the same games in the same order and parts."""
        return bytes_digest("".join(entry["digest"] for entry in file_entries(self.index)).encode())

    def verify(self) -> None:
        """Compare every file with its digest; raise ValueError naming the first one that differs."""
        for entry in file_entries(self.index):
            path = self.path / entry["file"]
            if bytes_digest(read_named(path)) != entry["digest"]:
                raise ValueError(f"{path} is damaged (its digest differs): {REPAIR}")

    def select(self, split: str | None = None, size: int | None = None, *, results_only: bool = False) -> np.ndarray:
        """Return the numbers, int64 [n], of the games of a split and a board size.

        Args:
            split: "train", "validation" or "test"; None for all games.
            size: the board size; None for all sizes.
            results_only: whether to leave out games whose result is unknown.
        """
        chosen = np.ones(len(self), np.bool_)
        if split is not None:
            chosen &= self.rows["split"] == SPLITS.index(split)
        if size is not None:
            chosen &= self.rows["size"] == size
        if results_only:
            chosen &= (self.rows["flags"] & RESULT) != 0
        return np.flatnonzero(chosen)

    def game(self, number: int) -> StoredGame:
        """Return game `number`, 0 .. len - 1; raise ValueError if its stored moves are damaged."""
        part = int(np.searchsorted(self._ends, number, side="right"))  # how many parts end at or before the game
        index = number - (int(self._ends[part - 1]) if part else 0)  # of the game in its part
        arrays = self.parts[part]
        row = arrays["games"][index]
        words = arrays["moves"][row["start"] :][: int(row["stones"]) + int(row["length"])]  # stones, then plies
        stones, plies = words[: row["stones"]], words[row["stones"] :]
        actions = (plies & ACTION_BITS).astype(np.int32)
        points = (stones & POINT_BITS).astype(np.int32)
        area = int(row["size"]) ** 2
        if len(plies) != row["length"] or (actions > area).any() or (points >= area).any():
            raise ValueError(f"game {number} of {self.path} is damaged: {REPAIR}")
        is_white = (stones & WHITE_STONE) != 0
        movers = np.where(np.arange(len(plies)) % 2, -row["first"], row["first"]).astype(np.int8)
        skipped = (plies & SKIPPED) != 0  # such plies are no moves; they let the colours alternate
        return StoredGame(
            row,
            moves=actions[~skipped],
            movers=movers[~skipped],
            skipped=skipped,
            black=points[~is_white],
            white=points[is_white],
            label=arrays["labels"][index] if "labels" in arrays else None,
        )

    def games(self, numbers: Sequence[int] | np.ndarray | None = None) -> Iterator[StoredGame]:
        """Yield the games with these numbers; None for all games."""
        for number in range(len(self)) if numbers is None else numbers:
            yield self.game(int(number))


def read_index(path: Path) -> dict[str, Any]:
    """Return the index of the dataset in a folder, from index.json.

    Raises:
        FileNotFoundError: if there is no index.
        ValueError: if it is damaged.
    """
    if not (path / INDEX).is_file():
        command = f"alphago sgf FILES --to {typed_path(path)}"
        raise FileNotFoundError(f"{path} must be a dataset, a folder with {INDEX}: {command} makes one")
    try:
        index = json.loads(read_file(path / INDEX))
        kind = index["format"], index["version"]
        names = [entry["file"] for entry in file_entries(index)]
        if not isinstance(index["parts"], list) or not all(isinstance(name, str) for name in names):
            raise TypeError("parts must be a list, and each file a name")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path / INDEX} is damaged ({type(error).__name__}): {REPAIR}") from error
    if kind != (FORMAT, VERSION):
        raise ValueError(f"{path} must be of format {FORMAT} {VERSION}, got {' '.join(map(str, kind))}")
    return dict(index)


def array_names(part: Mapping[str, Any]) -> list[str]:
    """Return the names of the arrays of a part, whose entry in the index is `part`."""
    return ["games", "moves", *(["labels"] if "labels" in part else [])]


def file_entries(index: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the entries of all array files in an index: dictionaries with the keys `file`, the name, and `digest`."""
    return [part[name] for part in index["parts"] for name in array_names(part)]


def is_dataset(path: str | Path) -> bool:
    """Return whether a path is the folder of a dataset."""
    return (user_path(path) / INDEX).is_file()


def rules_code(rules: Rules) -> int:
    """Return ko and suicide rules as the number in the field `rules` of a row."""
    return KO_NAMES.index(rules.ko) + (SUICIDE if rules.suicide else 0)
