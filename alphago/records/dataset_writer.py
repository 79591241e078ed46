"""Write a dataset: collect games or labels, drop duplicates, write them in parts.

A part is two files and an entry in the index; the index is written after the files.  So an import that is killed loses
only the games since the last part, and continues from there when it is repeated.
"""

import datetime
import hashlib
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.env.go import GoEnv
from alphago.records import dataset as layout
from alphago.records.dataset import GAME, INDEX, Dataset, file_entries, read_index, rules_code
from alphago.system.files import bytes_digest, explain_os_error, lock, user_path, write_atomic
from alphago.system.validation import printable

GAMES_PER_PART, LABELS_PER_PART = 20_000, 1000  # so many games, or labelled positions, are written as one part
EXAMPLES = 3  # messages kept about games left out, for each reason
LONGEST_MESSAGE = 300  # characters of such a message
SEED_FACTOR, HASH_FACTOR = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93  # odd numbers whose multiples spread over 64 bits


class Split(NamedTuple):
    """The shares of validation and test games; all other games are for training.

    A game is assigned to a split by its hash, so a game and its rotated and reflected copies are always in the same
    split.  Another `seed` assigns the games differently.
    """

    validation: float = 0.05
    test: float = 0.05
    seed: int = 0

    def assign(self, hashes: np.ndarray) -> np.ndarray:
        """Return the split of each game, uint8 [n] (TRAIN, VALIDATION or TEST); hashes: of the games, uint64 [n]."""
        seed_bits = np.uint64((self.seed * SEED_FACTOR) % 2**64)
        mixed = (hashes ^ seed_bits) * np.uint64(HASH_FACTOR)
        share = (mixed >> np.uint64(11)).astype(np.float64) / 2**53  # the highest 53 bits as a number 0 .. 1
        conditions = [share < self.validation, share < self.validation + self.test]  # the first that holds decides
        return np.select(conditions, [layout.VALIDATION, layout.TEST], layout.TRAIN).astype(np.uint8)


class LeftOut(Counter[str]):
    """How many games are left out, by reason.

    Args:
        counts: how many games were left out before, by reason.
        examples: sentences about them, by reason.

    Attributes:
        examples: the first few sentences about games left out, by reason.
    """

    def __init__(self, counts: dict[str, int] | None = None, examples: dict[str, list[str]] | None = None) -> None:
        super().__init__(counts)
        self.examples: dict[str, list[str]] = dict(examples or {})

    def add(self, reason: str, *sentences: str, count: int = 1) -> None:
        """Add `count` games that are left out for a reason.

        Args:
            sentences: about these games; they are kept as examples while the reason has fewer than EXAMPLES, each cut
                at LONGEST_MESSAGE characters.
        """
        self[reason] += count
        kept = self.examples.setdefault(reason, [])
        kept += [printable(sentence[:LONGEST_MESSAGE]) for sentence in sentences[: EXAMPLES - len(kept)]]


class Collector:
    """Collects games that are not yet in a dataset, and counts those left out.

    It is used for the games of one job, whose duplicates the writer drops later, and for those that wait to be written.

    Args:
        left_out: the counts to go on with; None to begin with none.
    """

    def __init__(self, left_out: LeftOut | None = None) -> None:
        self.games: list[tuple[Any, ...]] = []  # for each game, the fields of GAME
        self.moves: list[np.ndarray] = []  # for each game, uint16: set-up stones, then plies
        self.labels: list[np.ndarray] = []  # for each game of a labelled dataset, its label; else empty
        self.left_out = LeftOut() if left_out is None else left_out

    def add(self, row: Mapping[str, int], words: np.ndarray) -> None:
        """Add a game.

        Args:
            row: the fields of GAME except `start`; missing fields are 0.
            words: its stones and plies, uint16.
        """
        self.games.append(tuple(row.get(name, 0) for name in GAME.names or ()))  # () is for mypy: GAME has names
        self.moves.append(words)

    def take(self) -> dict[str, np.ndarray]:
        """Return the collected games as the arrays of a part (see `alphago.records.dataset`), and remove them here."""
        games = np.array(self.games, GAME)
        lengths = np.array([*map(len, self.moves)], np.int64)
        games["start"] = np.cumsum(lengths) - lengths
        arrays = {"games": games, "moves": np.concatenate([np.zeros(0, "<u2"), *self.moves]).astype("<u2")}
        if self.labels:
            arrays["labels"] = np.stack(self.labels)
        self.games, self.moves, self.labels = [], [], []
        return arrays


def game_hash(env: GoEnv, first: int, stones: int, words: np.ndarray) -> int:
    """Return a 64-bit hash of a game of `env`, the same for its rotated and reflected copies.

    Args:
        first, stones: fields of the game's row.
        words: its stones and plies, uint16.
    """
    marks = words & (layout.WHITE_STONE | layout.SKIPPED)
    actions = words ^ marks  # the points of stones, and the actions of plies
    copies = env.symmetries.actions[:, actions].astype(np.uint16) | marks  # [8, words]
    copies[:, :stones].sort(axis=1)  # the order of set-up stones does not matter
    head = bytes((env.N, first & 0xFF)) + stones.to_bytes(2, "little")  # & 0xFF: -1 as a byte
    smallest = min(copy.tobytes() for copy in copies.astype("<u2"))  # the same for all copies of the game
    return int.from_bytes(hashlib.blake2b(head + smallest, digest_size=8).digest(), "little")


def which_are_new(hashes: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return which hashes are new, bool [n]: those that are not in `seen`, and of equal hashes only the first.

    Args:
        hashes: uint64 [n].
        seen: uint64, sorted.
    """
    is_new = np.zeros(len(hashes), np.bool_)
    is_new[np.unique(hashes, return_index=True)[1]] = True  # the first of equal hashes
    # Both places where a hash can be inserted, before and after its equals, are the same only if it has no equals.
    return is_new & (np.searchsorted(seen, hashes) == np.searchsorted(seen, hashes, "right"))


class DatasetWriter:
    """A dataset opened for writing; a context manager that locks its folder.

    Games are added by imports, one import at a time.  An import consists of jobs, each of which adds a group of games.
    An interrupted import must be completed before the next one begins.

    Attributes:
        path: the folder.
        split: the shares of validation and test games.
        index: the content of index.json, as `flush` will write it.
        waiting: the games that are yet to be written.
        left_out: the games that the current import has left out, also in jobs of earlier calls.
        part_extras: further items of the next part's entry in the index.
        seen: the hashes of all games so far, uint64, sorted.
    """

    def __init__(self, path: str | Path, split: Split | None = None) -> None:
        """Create the folder, or open the dataset in it.

        Args:
            split: the shares of validation and test games; None for those of the dataset, or `Split()` for a new one.

        Raises:
            ValueError: if the dataset has another split.
            FileExistsError: if the folder holds other files.
            BlockingIOError: if another process writes to the dataset.
        """
        self.path = user_path(path)
        with explain_os_error(f"the dataset {path} cannot be made"):
            self.path.mkdir(parents=True, exist_ok=True)
        other_files = {file.name for file in self.path.iterdir() if not file.name.startswith(".")} - {"lock"}
        if other_files and not (self.path / INDEX).exists():
            raise FileExistsError(f"{path} must be a new or empty folder, or a dataset: choose another one")
        self._lock = lock(self.path)
        try:
            self._open(split)
        except BaseException:
            self._lock.close()
            raise

    def _open(self, split: Split | None) -> None:
        """Read the index, or begin a new one, and remove files that it does not name; split: as in the constructor."""
        self.waiting, self.left_out = Collector(), LeftOut()
        # Further items of the next part's entry in the index.  Only `add_label` sets one: "drawn", the number of the
        # last position in the part, after which a later call goes on.
        self.part_extras: dict[str, object] = {}
        if (self.path / INDEX).exists():
            self.index = read_index(self.path)
            self.split = Split(**self.index["split"])
            if split is not None and split != self.split:
                raise ValueError(f"split must be the dataset's own, {self.split}, got {split}: choose another folder")
            hashes = Dataset(self.path).rows["hash"]
        else:
            self.split = split or Split()
            self.index = {"format": layout.FORMAT, "version": layout.VERSION, "split": self.split._asdict()}
            self.index |= {"parts": [], "imports": []}
            hashes = np.zeros(0, np.uint64)
            self.flush()  # so that the folder is a dataset before its first part is written
        self.seen = np.unique(hashes)
        named = {entry["file"] for entry in file_entries(self.index)}
        # Files of a process that was killed before it wrote the index; `write_atomic` begins with a file .NAME.part.
        for file in [*self.path.glob("*-*.npy"), *self.path.glob(".*.part")]:
            if file.name not in named:
                file.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    @property
    def games(self) -> int:
        """The number of games so far, including those not yet written."""
        return sum(part["count"] for part in self.index["parts"]) + len(self.waiting.games)

    @property
    def kept(self) -> int:
        """The number of games that the current import has added so far."""
        return self.games - int(self.index["imports"][-1]["before"])

    # --- imports ---

    def begin_import(self, sources: Sequence[object], options: Mapping[str, object]) -> int | None:
        """Begin or resume an import, and return how many of its jobs are done.

        If the sources have changed since the import was interrupted, it begins with the first job, since the sources
        are divided into other jobs now.  The games written before stay in the dataset, and are left out as duplicates.

        Args:
            sources: for each source a list [path, stamp]; the stamp changes when the source does (`source_stamp`).
            options: JSON data; two imports with equal sources and options are the same import.

        Returns:
            None if the whole import was done before.

        Raises:
            ValueError: if an import from other paths, or with other options, was interrupted, or if this is a labelled
                dataset.
        """
        if "teacher" in self.index:
            raise ValueError(f"{self.path} must be a dataset of games, got a labelled one: choose another folder")
        # As it will be read from the index: with lists in place of tuples.
        wanted = json.loads(json.dumps({"sources": list(sources), "options": dict(options)}))
        imports = self.index["imports"]
        if imports and not imports[-1]["complete"]:
            last = imports[-1]
            paths = [source[0] for source in last["sources"]]
            wanted_paths = [source[0] for source in wanted["sources"]]
            if (paths, last["options"]) != (wanted_paths, wanted["options"]):
                found = f"an interrupted import of {', '.join(map(str, paths[:3]))}"
                raise ValueError(f"{self.path} has {found}: repeat that call, or choose another folder")
            if last["sources"] == wanted["sources"]:
                self.left_out = LeftOut(last["rejected"], last["examples"])
                return int(last["jobs"])
            imports.pop()  # the sources have changed: the import begins again
        elif any({"sources": done["sources"], "options": done["options"]} == wanted for done in imports):
            return None
        # before: how many games the dataset has without this import; jobs: how many of its jobs are done.
        imports.append({**wanted, "before": self.games, "jobs": 0, "complete": False, "rejected": {}, "examples": {}})
        return 0

    def add_batch(self, batch: Collector, jobs_done: int) -> None:
        """Add the games of a batch that the dataset does not have; write a part once GAMES_PER_PART games are waiting.

        Args:
            jobs_done: how many jobs of the import are done, this batch included.
        """
        hashes = np.array(batch.games, GAME)["hash"]
        is_new = which_are_new(hashes, self.seen)
        new = np.sort(hashes[is_new])
        self.seen = np.insert(self.seen, np.searchsorted(self.seen, new), new)  # it stays sorted
        for reason, count in batch.left_out.items():
            self.left_out.add(reason, *batch.left_out.examples[reason], count=count)
        if not is_new.all():
            self.left_out.add("duplicate", count=int((~is_new).sum()))
        self.waiting.games += compress(batch.games, is_new)
        self.waiting.moves += compress(batch.moves, is_new)
        self.index["imports"][-1]["jobs"] = jobs_done
        if len(self.waiting.games) >= GAMES_PER_PART:
            self.flush()

    def complete_import(self) -> None:
        """Write the remaining games, and mark the import as complete."""
        self.index["imports"][-1]["complete"] = True
        self.flush()

    def flush(self) -> None:
        """Write the waiting games as a part, then the index."""
        if self.index["imports"]:  # a labelled dataset has none
            last = self.index["imports"][-1]
            last["rejected"], last["examples"] = dict(self.left_out), self.left_out.examples
        with explain_os_error(f"the dataset {self.path} could not be written"):
            if self.waiting.games:
                self.write_part(self.waiting.take())
            write_atomic(self.path / INDEX, (json.dumps(self.index, indent=1) + "\n").encode())

    def write_part(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write the arrays of a part, and add the part to the index; the index's file is not written.

        Args:
            arrays: by name; the field `split` of `games` is overwritten.
        """
        games = arrays["games"]
        games["split"] = self.split.assign(games["hash"])
        entry: dict[str, Any] = {"count": len(games), "positions": int(games["length"].sum(dtype=np.int64))}
        entry |= self.part_extras
        for name, array in arrays.items():
            file = f"{name}-{len(self.index['parts']):06d}.npy"
            data = io.BytesIO()
            np.save(data, array, allow_pickle=False)
            write_atomic(self.path / file, data.getbuffer())
            entry[name] = {"file": file, "digest": bytes_digest(data.getvalue())}
        self.index["parts"].append(entry)

    # --- labels ---

    def begin_labels(self, teacher: Mapping[str, Any]) -> int:
        """Begin or resume labelling, and return the number of the last position that earlier calls added.

        Each part's entry in the index has, as "drawn", the number of its last position (`add_label`), so that a later
        call can go on after it.

        Args:
            teacher: the entry `teacher` of the index without its "date", which is that of the first call; plain data.

        Returns:
            -1 if no position was added before.

        Raises:
            ValueError: if this is a dataset of games, or was begun with other games, settings or another teacher.
        """
        if "teacher" not in self.index and (self.index["parts"] or self.index["imports"]):
            raise ValueError(f"{self.path} must be a new or a labelled dataset, got one of games")
        # A new dataset has no teacher to differ.  The date is not compared, since `teacher` has none.
        check_begun(self.path, self.index.get("teacher", teacher), teacher)
        self.index.setdefault("teacher", {**teacher, "date": datetime.date.today().isoformat()})
        return max((int(part["drawn"]) for part in self.index["parts"]), default=-1)

    def add_label(self, env: GoEnv, moves: np.ndarray, ply: int, *, komi: float, label: np.ndarray, drawn: int) -> None:
        """Add the position before move `ply` of a game of `env` that begins with an empty board.

        Its row in the dataset has the moves up to `ply`: a labelled game's position is the one before its last move.

        Args:
            moves: all moves of the game, without skipped turns; they determine the split of the position.
            ply: counted from 0.
            label: of `label_dtype`, in the view of the player about to move.
            drawn: the number of the position in the order of drawing, larger than in all earlier calls.
        """
        mover_wins, mover_is_black = label["win"] > 0.5, ply % 2 == 0
        black_wins = mover_wins == mover_is_black
        row = {
            "hash": game_hash(env, first=1, stones=0, words=moves.astype(np.uint16)),
            "length": ply + 1,
            "size": env.N,
            "first": 1,
            "outcome": 1 if black_wins else -1,
            "flags": layout.RESULT,
            "komi2": round(2 * komi),
            "rules": rules_code(env.rules),
        }
        self.waiting.add(row, moves[: ply + 1].astype("<u2"))
        self.waiting.labels.append(label)
        self.part_extras = {"drawn": drawn}
        if len(self.waiting.games) >= LABELS_PER_PART:
            self.flush()


def check_begun(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ValueError, which names each difference, unless a file was begun by a call with the same data.

    Args:
        path: the file, for the message.
        before: the data with which the file was begun; keys that `now` lacks are ignored.
        now: the data of this call.
    """
    known, given = flatten(before), flatten(now)
    changed = [key for key in given if known.get(key) != given[key]]
    if changed:
        got = "; ".join(f"{key} {given[key]}, where it was begun with {known.get(key)}" for key in changed)
        raise ValueError(f"{path} must have been begun by the same call, got {got}: choose another name")


def flatten(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data without mappings as values: {"drawn": {"seed": 0}} becomes {"drawn seed": 0}, one level deep."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        is_mapping = isinstance(value, Mapping)
        flat |= {f"{key} {name}": item for name, item in value.items()} if is_mapping else {key: value}
    return flat
