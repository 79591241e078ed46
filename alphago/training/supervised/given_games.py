"""Given games for supervised training, from a dataset on disk or from records, with held-out games for testing."""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import require_go
from alphago.env.go import GoEnv
from alphago.env.kernels import go_lines
from alphago.records.converting import CUT, DAMAGED, NO_RESULT
from alphago.records.dataset import SPLITS, Dataset, StoredGame, is_dataset, rules_code
from alphago.records.record import GameRecord, load_records, to_arrays
from alphago.records.sgf import salvage_sgf
from alphago.records.sgf.faults import FATAL
from alphago.records.sources import files_of, may_hold_sgf, pieces
from alphago.system.files import user_path
from alphago.training.memory import ReplayMemory, Sample, mark_illegal, turn
from alphago.training.runs.shards import digest_of

HELD_OUT_SHARE = 0.05  # share of held-out games among records, which have no splits
STARTS = 512  # start positions that are cached
REBUILT_AT_ONCE = 64  # games that are replayed in parallel
_FIRST = np.zeros(1, np.int64)

# Reasons to leave a game out, beside the faults of SGF files.
OTHER_BOARD, ILLEGAL = "of another board", "not legal under the rules of this game"
LINES = "as lines of text, which `alphago sgf` imports"


class GivenGames(Protocol):
    """Games of one board: training games, numbered 0 .. len(lengths) - 1, and held-out games."""

    @property
    def env(self) -> GameEnv:
        """The game."""

    lengths: np.ndarray  # int64 [games], the number of positions of each training game to learn from
    left_out: Counter[str]  # the number of games left out, by reason
    digest: str  # a hash of the games
    masked: bool  # whether illegal actions have `alphago.nn.loss.ILLEGAL` in the samples' policy targets

    def record(self, number: int) -> GameRecord:
        """Return the training game with this number."""

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        """Return `count` positions drawn independently from the training games, each with a random symmetry applied.

        held_out: whether to draw from the held-out games instead.
        """

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        """Return held-out games with about `positions` positions in all, the same on every call.

        split: a dataset's split: "train", "validation" or "test"; ignored for records, which have no splits.
        """


class DatasetGames:
    """Those games of a dataset that are on the board of `env`, have a known result and are legal; see `GivenGames`.

    The training games are those of the split "train".  A game's moves are legal in the rules that its row names; in
    those of `env` some repetitions and suicides may be forbidden, and games with them are left out.
    Raises ValueError if there are no training games, or if the games of `env` do not end by two passes.
    """

    def __init__(self, env: GoEnv, dataset: Dataset) -> None:
        if env.turns is not None:
            raise ValueError(f"env must be a game that two passes end, to learn from files of games, got {env!r}")
        self.env, self.dataset, self.digest = env, dataset, dataset.digest
        self.masked = False
        self._starts: OrderedDict[tuple[Any, ...], GameBatch] = OrderedDict()
        on_board, numbers = dataset.select(None, env.N), dataset.select(None, env.N, results_only=True)
        legal = self.legal(numbers)
        self.left_out = +Counter(
            {
                OTHER_BOARD: len(dataset) - len(on_board),
                NO_RESULT: len(on_board) - len(numbers),
                ILLEGAL: int((~legal).sum()),
            }
        )
        splits = dataset.rows["split"][numbers]
        self.numbers = {split: numbers[legal & (splits == code)] for code, split in enumerate(SPLITS)}
        self.ends = {
            split: np.cumsum(np.minimum(dataset.rows["length"][numbers].astype(np.int64), env.max_moves))
            for split, numbers in self.numbers.items()
        }
        self.lengths = np.diff(self.ends["train"], prepend=0)
        if not len(self.lengths) or not self.lengths.sum():
            why = left_out_sentence(self)
            raise ValueError(f"{dataset!r} has no games with a result to learn {env!r} from" + (why and f": {why}"))

    def legal(self, numbers: np.ndarray) -> np.ndarray:
        """Return whether all moves of these games of the dataset are legal in `env`, bool [n].

        Only games under other rules of ko and suicide than those of `env` are replayed.
        """
        legal = np.ones(len(numbers), np.bool_)
        unsure = self.dataset.rows["rules"][numbers] != rules_code(self.env.rules)
        batch = self.env.new_batch(1)
        for place in np.flatnonzero(unsure if self.env.first_pass == 0 else np.ones_like(unsure)):
            game = self.dataset.game(int(numbers[place]))
            actions = game.moves[: self.env.max_moves]
            colours = game.movers[: len(actions)].astype(np.int32)
            batch.copy(_FIRST, _FIRST, of=self._start(game))
            out = np.zeros(1 + 2 * len(actions), np.int32)
            legal[place] = go_lines.follow(batch.rows[0], colours, actions, out) == len(actions)
        return legal

    def record(self, number: int) -> GameRecord:
        return self.dataset.game(int(self.numbers["train"][number])).to_record(self.env)

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        records: list[GameRecord] = []
        for number in np.random.default_rng(0).permutation(self.numbers[split]):
            if positions <= 0:
                break
            records.append(self.dataset.game(int(number)).to_record(self.env))
            positions -= len(records[-1])
        return records

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        split = "validation" if held_out and len(self.ends["validation"]) else "train"
        ends = self.ends[split]
        drawn = generator.integers(ends[-1], size=count)
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        places = np.searchsorted(ends, drawn, side="right")
        plies = drawn - np.where(places > 0, ends[places - 1], 0)
        games = [self.dataset.game(int(self.numbers[split][place])) for place in places]
        return self.rebuild(games, plies, symmetries)

    def rebuild(self, games: Sequence[StoredGame], plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the position before ply `plies[i]` of game i, with symmetry `symmetries[i]` applied, for each i.

        Planes and targets are in the view of the player about to move.
        """
        count = len(games)
        rows = np.array([game.row for game in games])
        movers = (rows["first"] * np.where(plies % 2, -1, 1)).astype(np.int8)
        policy = np.zeros((count, self.env.action_space), np.float32)
        policy[np.arange(count), [int(game.moves[ply]) for game, ply in zip(games, plies, strict=True)]] = 1
        ended = np.array([game.has_score and len(game.moves) <= self.env.max_moves for game in games])
        sample = Sample(
            planes=np.empty((count, self.env.planes, *self.env.plane_shape), np.float32),
            policy=policy,
            value=(rows["outcome"] * movers).astype(np.float32),
            weight=np.array([not game.inserted[ply] for game, ply in zip(games, plies, strict=True)], np.float32),
            score=np.where(ended, rows["score2"] / 2, rows["outcome"]).astype(np.float32) * movers,
            ownership=np.zeros((count, self.env.N**2), np.int8),
            ended=ended.astype(np.float32),
        )
        self._play(games, plies, movers, sample)
        turn(self.env, sample, symmetries)
        return sample

    def _play(self, games: Sequence[StoredGame], plies: np.ndarray, movers: np.ndarray, sample: Sample) -> None:
        """Fill in the planes and, for games whose final board is scored, the ownership of `sample` by replaying games.

        movers: int8 [n], the player about to move in each position, 1 or -1.
        """
        batch = self.env.new_batch(REBUILT_AT_ONCE)
        for begin in range(0, len(games), REBUILT_AT_ONCE):
            part = range(begin, min(begin + REBUILT_AT_ONCE, len(games)))
            self._replay(batch, [games[i] for i in part], plies[part.start : part.stop])
            batch.planes(np.arange(len(part)), sample.planes[part.start : part.stop])
            if self.masked:
                mark_illegal(batch, np.arange(len(part)), sample.policy[part.start : part.stop])
            over = [i for i in part if sample.ended[i]]
            if over:
                self._replay(batch, [games[i] for i in over], np.array([len(games[i].moves) for i in over]))
                slots = np.arange(len(over))
                to_play = batch.to_play(slots, np.empty(len(over), np.int8))
                owners = batch.ownership(slots, np.empty((len(over), self.env.N**2), np.int8))
                sample.ownership[over] = owners * (to_play * movers[over])[:, None]

    def _replay(self, batch: GameBatch, games: Sequence[StoredGame], plies: np.ndarray) -> None:
        """Set slot i of `batch` to the position before ply `plies[i]` of game i."""
        lengths = plies.astype(np.int32)
        paths = np.zeros((len(games), int(lengths.max()) + 1), np.int32)
        slots = np.arange(len(games))
        for slot, (game, length) in enumerate(zip(games, lengths, strict=True)):
            paths[slot, :length] = game.moves[:length]
            batch.copy(_FIRST, slots[slot : slot + 1], of=self._start(game))
        batch.replay(slots, paths, lengths, slots)

    def _start(self, game: StoredGame) -> GameBatch:
        """Return a batch with the start position of a game in slot 0; up to STARTS such batches are cached."""
        key = (int(game.row["komi2"]), int(game.row["first"]), game.black.tobytes(), game.white.tobytes())
        if key not in self._starts:
            self._starts[key] = self.env.position(**game.setup(self.env)).batch
            if len(self._starts) > STARTS:
                self._starts.popitem(last=False)
        return self._starts[key]


class RecordGames:
    """Records, such as those of self-play, as given games; see `GivenGames`.

    The records' policies are the policy's targets.  Every twentieth game is held out, even if other games begin with
    the same moves.

    left_out: how many games the caller has left out, by reason.
    Raises ValueError if the records are of another game, or fewer than 20 of them have moves to learn.
    """

    def __init__(self, env: GameEnv, records: Sequence[GameRecord], left_out: Mapping[str, int] | None = None) -> None:
        kept = [record for record in records if (record.weights > 0).any()]
        every = round(1 / HELD_OUT_SHARE)
        held = [record for place, record in enumerate(kept) if place % every == every - 1]
        self.records = [record for place, record in enumerate(kept) if place % every != every - 1]
        self.left_out = +Counter({**(left_out or {}), "without moves to learn": len(records) - len(kept)})
        if not held:
            why = left_out_sentence(self)
            raise ValueError(
                f"records must be at least {every} games with moves to learn, got {len(kept)}" + (why and f": {why}")
            )
        self.env = env
        for record in kept[:1]:
            record.position(env)  # raises for another game
        self.memory, self.validation = (ReplayMemory(env, 2**31) for _ in range(2))
        self.memory.add(self.records)
        self.validation.add(held)
        self.held = held
        self.lengths = np.array([int((record.weights > 0).sum()) for record in self.records], np.int64)
        self.digest = records_digest(kept)

    @property
    def masked(self) -> bool:
        """Whether illegal actions have `alphago.nn.loss.ILLEGAL` in the samples' policy targets."""
        return self.memory.masked

    @masked.setter
    def masked(self, masked: bool) -> None:
        self.memory.masked = self.validation.masked = masked

    def record(self, number: int) -> GameRecord:
        return self.records[number]

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        chosen: list[GameRecord] = []
        for record in self.held:
            if positions <= 0:
                break
            chosen.append(record)
            positions -= len(record)
        return chosen

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        return (self.validation if held_out else self.memory).sample(count, generator)


def records_digest(records: Sequence[GameRecord]) -> str:
    """Return a hash of the records' moves and results."""
    arrays = to_arrays(list(records))
    return digest_of(b"".join(arrays[name].tobytes() for name in ("moves", "lengths", "outcomes")))


def given_games(env: GameEnv, dataset: Any) -> GivenGames:
    """Return the games that the argument `dataset` of `train_supervised` names.

    dataset: a Dataset; a sequence of records; or the path of a dataset's folder, of a file of records or SGF, or of a
        folder of such files, for example a run's.
    Raises FileNotFoundError if the path does not exist, ValueError if there are too few games to learn `env` from,
    TypeError if `dataset` is of another type.
    """
    if isinstance(dataset, Dataset):
        return DatasetGames(require_go(env, "datasets"), dataset)
    if isinstance(dataset, (str, Path)):
        return games_at(env, user_path(dataset))
    if isinstance(dataset, Sequence) and all(isinstance(one, GameRecord) for one in dataset):
        return RecordGames(env, dataset)
    raise TypeError(f"dataset must be a Dataset, records, or the path of either, got {dataset!r}")


def games_at(env: GameEnv, path: Path) -> GivenGames:
    """Return the games at a path: a dataset's folder, a file of records or SGF, an archive, or a folder of such files.

    Raises FileNotFoundError if the path does not exist, ValueError if there are too few games to learn `env` from.
    """
    if not path.exists():
        raise FileNotFoundError(f"dataset must be a dataset, a run, or a file or folder of games, got {path}")
    if is_dataset(path):
        return DatasetGames(require_go(env, "datasets"), Dataset(path))
    records: list[GameRecord] = []
    left_out: Counter[str] = Counter()
    for file in files_of(path):
        if file.suffix == ".npz" and file.parent.name != "matches":
            own = load_records(file)
            fitting = [record for record in own if record.policies.shape[1] == env.action_space]
            records += fitting
            left_out[OTHER_BOARD] += len(own) - len(fitting)
        elif file == path or may_hold_sgf(file.name):
            records += read_records(file, require_go(env, "SGF files"), left_out)
    if not records:
        why = sentence_of(left_out)
        raise ValueError(f"{path} holds no game of {env!r} to learn from" + (why and f": {why}"))
    return RecordGames(env, records, left_out=left_out)


def read_records(file: Path, env: GoEnv, left_out: Counter[str]) -> list[GameRecord]:
    """Return the games of an SGF file, or of an archive with such files, as records.

    left_out: counts the games that are left out, by reason.
    """
    records: list[GameRecord] = []
    for piece in pieces([file]):
        left_out[DAMAGED] += bool(piece.error)
        left_out[LINES] += len(piece.lines)
        for game in salvage_sgf(piece.data, name=piece.name) if piece.data else ():
            reason = next((fault.kind for fault in game.faults if fault.kind in (*FATAL, *CUT)), "")
            if not reason and game.board_size != env.N:
                reason = OTHER_BOARD
            if not reason and game.outcome is None:
                reason = NO_RESULT
            if not reason:
                try:
                    records.append(game.to_record(env))
                except ValueError:
                    reason = ILLEGAL
            left_out[reason] += bool(reason)
    return records


def left_out_sentence(games: GivenGames) -> str:
    """Return a sentence about the games left out, with the number for each reason; "" if there are none."""
    return sentence_of(games.left_out)


def sentence_of(left_out: Counter[str]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in (+left_out).most_common())
    count = left_out.total()
    return f"{count} {'game is' if count == 1 else 'games are'} left out: {reasons}" if count else ""
