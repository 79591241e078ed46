"""Given games for supervised training from a dataset on disk: its games, or its labelled positions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from alphago.env.batch import FIRST_SLOT
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.kernels import go_lines
from alphago.records.collection import ILLEGAL, OTHER_BOARD, reason_of, sentence_of
from alphago.records.dataset import SPLITS, Dataset, StoredGame, rules_code
from alphago.records.game_conversion import NO_RESULT
from alphago.records.labels import OWNED, label_policies, label_values
from alphago.records.record import GameRecord
from alphago.training.memory import Memory, ReplayMemory, Sample, apply_symmetries
from alphago.training.targets import Targets

AT_ONCE = 256  # games whose records are made at the same time: they take 50 MB on 19x19


class GivenGames(Memory, Protocol):
    """Games of one board: training games, numbered 0 .. len(lengths) - 1, and held-out games.

    The object is the setting `memory` of a run and the Memory itself.  The number of positions that it is given by
    `remember` determines how much is learned, but samples are drawn from all training games.

    Attributes:
        env: the game.
        lengths: int64 [games], the number of positions of each training game to learn from.
        left_out: the number of games left out, by reason.
        digest: a hash of the games.
        teacher: the name of the teacher that labelled the positions; "" for results and moves played.
    """

    env: GameEnv
    lengths: np.ndarray
    left_out: Counter[str]
    digest: str
    teacher: str = ""

    can_learn: bool = True
    added: int = 0  # positions of the games that were remembered
    newly_added: int = 0  # positions that the last `remember` added

    def make_memory(self, env: GameEnv, *, targets: Targets, masked: bool, **_: Any) -> Self:
        """Return the games, whose samples get these targets; see `MemorySettings.make_memory`.

        Args:
            targets: the rule that makes targets from records.  A dataset does not use it: there moves and results are
                the targets.
            masked: whether illegal actions have `alphago.nn.loss.ILLEGAL` in the policy targets.
            env: not used, since the games have their own; nor are `start`, `seed` and `threads`.
        """
        self.added = 0
        self.set_targets(targets, masked)
        return self

    def set_targets(self, targets: Targets, masked: bool) -> None:
        """Set the targets of samples; the arguments: see `make_memory`."""

    def record(self, number: int) -> GameRecord:
        """Return the training game with this number."""

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        """Return `count` random positions of the training games, each with a random symmetry applied.

        Args:
            held_out: whether to draw from the held-out games instead.
        """

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        """Return held-out games with about `positions` positions in all, the same on every call.

        Args:
            split: a dataset's split: "train", "validation" or "test"; ignored for records, which have no splits.
        """

    @property
    def notes(self) -> list[str]:
        """A sentence, for a report, that says how many games are left out and why; [] if there are none."""
        return list(filter(None, [sentence_of(self.left_out)]))

    def __len__(self) -> int:
        """Return the number of positions of all training games."""
        return int(self.lengths.sum())

    def remember(self, records: Sequence[GameRecord]) -> float:
        """Count the positions of these games, and return their number: as many samples to learn become due."""
        self.newly_added = sum(int((record.weights > 0).sum()) for record in records)
        self.added += self.newly_added
        return self.newly_added

    def fresh(self, count: int, generator: np.random.Generator) -> Sample | None:
        """Return `count` positions of held-out games; None if the games last remembered have no positions."""
        return self.sample(count, generator, held_out=True) if self.newly_added else None

    def batch(self, number: int, count: int, generator: np.random.Generator) -> Sample:
        """Return `count` positions to learn; the batch's `number` does not matter here."""
        return self.sample(count, generator)

    def state(self) -> dict[str, Any]:
        """Return the number of positions so far; "games" says that `restore` needs the records of no games."""
        return {"games": 0, "added": self.added}

    def restore(self, records: Iterable[GameRecord], state: Mapping[str, Any]) -> None:
        """Continue from the result of `state`; `records` is not used."""
        self.added = state["added"]


class DatasetGames(GivenGames):
    """The games of a dataset that are on the board of `env`, have a known result and are legal; see `GivenGames`.

    The training games are the games of the split "train".  A dataset has games under several rules.  A game with a
    repetition or a suicide that the rules of `env` forbid is left out.

    Raises:
        ValueError: if there are no training games, or if the games of `env` do not end by two passes.
    """

    env: GoEnv

    def __init__(self, env: GoEnv, dataset: Dataset) -> None:
        if env.turns is not None:  # then it ends after so many turns of each side
            raise ValueError(f"env must be a game that two passes end, to learn from files of games, got {env!r}")
        self.env = env
        self.dataset = dataset
        self.digest = dataset.digest
        self.masked = False  # whether policy targets mark illegal actions; `set_targets` sets it
        self.teacher = dataset.teacher
        # The games' numbers in the dataset.
        on_board = dataset.select(size=env.N)
        with_result = dataset.select(size=env.N, results_only=True)
        is_legal = self.are_legal(with_result)
        left_out = {
            OTHER_BOARD: len(dataset) - len(on_board),
            NO_RESULT: len(on_board) - len(with_result),
            ILLEGAL: int((~is_legal).sum()),
        }
        self.left_out = +Counter(left_out)  # the plus removes reasons that no game has
        splits = dataset.rows["split"][with_result]
        # By split: the numbers of its games; and for each game, how many positions it and the games before it have.
        self.numbers = {split: with_result[is_legal & (splits == code)] for code, split in enumerate(SPLITS)}
        positions = np.minimum(dataset.rows["length"].astype(np.int64), env.max_moves)  # of each game
        self.ends = {split: np.cumsum(positions[games]) for split, games in self.numbers.items()}
        self.lengths = np.diff(self.ends["train"], prepend=0)
        if not len(self.lengths) or not self.lengths.sum():
            raise ValueError(f"{dataset!r} has no games with a result to learn {env!r} from{reason_of(self.left_out)}")

    def are_legal(self, numbers: np.ndarray) -> np.ndarray:
        """Return whether all moves of each game are legal in `env`, bool [n].

        A game that was played under the rules of `env` is not replayed, unless `env` forbids early passes.

        Args:
            numbers: int64 [n], the games' numbers in the dataset.
        """
        is_legal = np.ones(len(numbers), np.bool_)
        has_other_rules = self.dataset.rows["rules"][numbers] != rules_code(self.env.rules)
        must_replay = has_other_rules | (self.env.first_pass > 0)
        batch = self.env.new_batch(1)
        for i in np.flatnonzero(must_replay):
            game = self.dataset.game(int(numbers[i]))
            actions = game.moves[: self.env.max_moves]
            colours = game.movers[: len(actions)].astype(np.int32)
            start = self.env.position(**game.setup(self.env))
            batch.copy(FIRST_SLOT, FIRST_SLOT, of=start.batch)  # into slot 0, the only one
            legal_count = go_lines.follow(batch.rows[0], colours, actions)  # number of moves until an illegal one
            is_legal[i] = legal_count == len(actions)
        return is_legal

    def set_targets(self, targets: Targets, masked: bool) -> None:
        """Set whether the policy's targets mark illegal actions; `targets`, a rule for records, is not used."""
        self.masked = masked

    def record(self, number: int) -> GameRecord:
        return self.dataset.game(int(self.numbers["train"][number])).to_record(self.env)

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        """Return random games of a split with about `positions` positions in all, the same on every call."""
        records: list[GameRecord] = []
        for number in np.random.default_rng(0).permutation(self.numbers[split]):
            if positions <= 0:
                break
            records.append(self.dataset.game(int(number)).to_record(self.env))
            positions -= 1 if self.teacher else len(records[-1])  # a labelled game has one position
        return records

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        """Return `count` random positions of the split "train"; with `held_out` of "validation", unless it is empty."""
        split = "validation" if held_out and len(self.ends["validation"]) else "train"
        ends = self.ends[split]
        drawn = generator.integers(ends[-1], size=count)  # numbers of positions, counted through the split's games
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        indices = np.searchsorted(ends, drawn, side="right")  # of the positions' games in the split
        # The positions' plies in their games.  A game begins where the one before it ends, the first at 0.
        plies = drawn - np.where(indices > 0, ends[indices - 1], 0)
        games = [self.dataset.game(int(number)) for number in self.numbers[split][indices]]
        return self.rebuild(games, plies, symmetries)

    def rebuild(self, games: Sequence[StoredGame], plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the position before the stored ply `plies[i]` of game i, with symmetry `symmetries[i]`, for each i.

        Where one colour moved twice in a row, the stored game has a ply in between, for the skipped turn of the other
        colour.  The position before such a ply gets the weight 0, since no move was played there.
        """
        pairs = list(zip(games, plies, strict=True))
        weights = np.array([not game.skipped[ply] for game, ply in pairs], np.float32)
        # A record has only the moves of a stored game.  So in the record, the position before a stored ply comes after
        # as many moves as the stored game has before that ply.
        moves_before = [int((~game.skipped[:ply]).sum()) for game, ply in pairs]
        memory = ReplayMemory(self.env, 1, masked=self.masked)  # stores no games, only makes samples
        parts = []  # samples of at most AT_ONCE positions
        for first in range(0, len(games), AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            entries = [memory.entry(game.to_record(self.env)) for game in games[rows]]
            parts.append(memory.rebuild(entries, moves_before[rows], symmetries[rows]))
        sample = Sample(*map(np.concatenate, zip(*parts, strict=True)))  # field by field
        return sample._replace(weight=sample.weight * weights)


class LabelledGames(DatasetGames):
    """The labelled positions of a dataset; see `GivenGames`.  Each game has one such position, before its last ply.

    The policy's targets are the teacher's policies.  The value's targets are the teacher's win rates, mixed with its
    leads as `env` mixes outcomes with margins.  Score and ownership are learned in all positions.
    """

    def __init__(self, env: GoEnv, dataset: Dataset) -> None:
        super().__init__(env, dataset)
        self.ends = {split: np.arange(1, len(numbers) + 1) for split, numbers in self.numbers.items()}
        self.lengths = np.ones_like(self.ends["train"])

    def rebuild(self, games: Sequence[StoredGame], plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the labelled position of each game, the one before its last stored ply; `plies` is not used."""
        # `skipped` has a flag for each stored ply.
        last_plies = np.array([len(game.skipped) - 1 for game in games])
        # Without symmetries for now: the labels are not turned either, and `apply_symmetries` then turns both together.
        sample = super().rebuild(games, last_plies, np.zeros_like(symmetries))
        labels = np.array([game.label for game in games])
        sample = sample._replace(
            policy=np.where(sample.policy < 0, sample.policy, label_policies(labels)),  # illegal actions stay marked
            value=label_values(labels, self.env.margin_weight),
            score=labels["lead"].copy(),  # contiguous, unlike a field of `labels`
            ownership=labels["ownership"].astype(np.float32) / OWNED,
            ended=np.ones(len(games), np.float32),  # the labels tell score and ownership, even if a player resigned
        )
        apply_symmetries(self.env, sample, symmetries)
        return sample
