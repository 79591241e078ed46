"""The games of a dataset on disk, and the labelled positions of one, as given games for supervised training."""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.go import GoEnv
from alphago.env.kernels import go_lines
from alphago.records.converting import NO_RESULT
from alphago.records.dataset import SPLITS, Dataset, StoredGame, rules_code
from alphago.records.labels import OWNED, label_policies, label_values
from alphago.records.record import GameRecord
from alphago.training.memory import Sample, mark_illegal, turn

STARTS = 512  # start positions that are cached
REBUILT_AT_ONCE = 64  # games that are replayed in parallel
_FIRST = np.zeros(1, np.int64)

# Reasons to leave a game out, beside the faults of SGF files.
OTHER_BOARD, ILLEGAL = "of another board", "not legal under the rules of this game"


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
        self.teacher = dataset.teacher
        self._starts: OrderedDict[tuple[Any, ...], GameBatch] = OrderedDict()
        on_board, numbers = dataset.select(None, env.N), dataset.select(None, env.N, results_only=True)
        legal = self.legal(numbers)
        left_out = {
            OTHER_BOARD: len(dataset) - len(on_board),
            NO_RESULT: len(on_board) - len(numbers),
            ILLEGAL: int((~legal).sum()),
        }
        self.left_out = +Counter(left_out)  # without reasons that no game has
        splits = dataset.rows["split"][numbers]
        self.numbers = {split: numbers[legal & (splits == code)] for code, split in enumerate(SPLITS)}
        positions = np.minimum(dataset.rows["length"].astype(np.int64), env.max_moves)  # of each game
        self.ends = {split: np.cumsum(positions[games]) for split, games in self.numbers.items()}
        self.lengths = np.diff(self.ends["train"], prepend=0)
        if not len(self.lengths) or not self.lengths.sum():
            why = sentence_of(self.left_out)
            raise ValueError(f"{dataset!r} has no games with a result to learn {env!r} from" + (why and f": {why}"))

    def legal(self, numbers: np.ndarray) -> np.ndarray:
        """Return whether all moves of these games of the dataset are legal in `env`, bool [n].

        Only games under other rules of ko and suicide than those of `env` are replayed, or all if `env` forbids passes.
        """
        legal = np.ones(len(numbers), np.bool_)
        unsure = self.dataset.rows["rules"][numbers] != rules_code(self.env.rules)
        if self.env.first_pass > 0:
            unsure[:] = True
        batch = self.env.new_batch(1)
        for place in np.flatnonzero(unsure):
            game = self.dataset.game(int(numbers[place]))
            actions = game.moves[: self.env.max_moves]
            colours = game.movers[: len(actions)].astype(np.int32)
            batch.copy(_FIRST, _FIRST, of=self._start(game))
            legal[place] = go_lines.follow(batch.rows[0], colours, actions) == len(actions)
        return legal

    def prepare(self, masked: bool, search_share: float) -> None:
        """Set whether the policy's targets mark illegal actions; results are known, but no searches' values."""
        self.masked = masked

    def record(self, number: int) -> GameRecord:
        return self.dataset.game(int(self.numbers["train"][number])).to_record(self.env)

    def held_out(self, positions: int, split: str = "validation") -> list[GameRecord]:
        records: list[GameRecord] = []
        for number in np.random.default_rng(0).permutation(self.numbers[split]):
            if positions <= 0:
                break
            records.append(self.dataset.game(int(number)).to_record(self.env))
            positions -= 1 if self.teacher else len(records[-1])
        return records

    def sample(self, count: int, generator: np.random.Generator, *, held_out: bool = False) -> Sample:
        split = "validation" if held_out and len(self.ends["validation"]) else "train"
        ends = self.ends[split]
        drawn = generator.integers(ends[-1], size=count)  # positions, numbered through all games
        symmetries = generator.integers(len(self.env.symmetries.points), size=count)
        places = np.searchsorted(ends, drawn, side="right")
        plies = drawn - np.where(places > 0, ends[places - 1], 0)
        games = [self.dataset.game(int(self.numbers[split][place])) for place in places]
        return self.rebuild(games, plies, symmetries)

    def rebuild(self, games: Sequence[StoredGame], plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        """Return the position before the stored ply `plies[i]` of game i, with symmetry `symmetries[i]`, for each i.

        A ply that stands for a skipped turn is no move: it gives the position of the next move, with weight 0.
        Planes and targets are in the view of the player about to move.
        """
        pairs = list(zip(games, plies, strict=True))
        weights = np.array([not game.skipped[ply] for game, ply in pairs], np.float32)
        # The number of moves before each stored ply; `movers`, unlike `skipped`, has no entries for skipped turns.
        moves = np.array([int((~game.skipped[:ply]).sum()) for game, ply in pairs])
        movers = np.array([game.movers[move] for game, move in zip(games, moves, strict=True)], np.int8)
        sample = self.targets(games, moves, movers)
        sample = sample._replace(weight=sample.weight * weights)
        for part, slots, batch in self._replayed(games, moves):
            batch.give_turn(slots, movers[part])
            batch.planes(slots, sample.planes[part])
            if self.masked:
                mark_illegal(batch, slots, sample.policy[part])
        turn(self.env, sample, symmetries)
        return sample

    def targets(self, games: Sequence[StoredGame], plies: np.ndarray, movers: np.ndarray) -> Sample:
        """Return the targets of the position before ply `plies[i]` of game i, for each i, with planes to be filled in.

        movers: int8 [n], the player about to move in each position, 1 or -1.
        """
        count = len(games)
        rows = np.array([game.row for game in games])
        policy = np.zeros((count, self.env.action_space), np.float32)
        moves = [int(game.moves[ply]) for game, ply in zip(games, plies, strict=True)]
        policy[np.arange(count), moves] = 1
        ended = np.array([game.has_score and len(game.moves) <= self.env.max_moves for game in games])
        sample = Sample(
            planes=np.empty((count, self.env.planes, *self.env.plane_shape), np.float32),
            policy=policy,
            value=(rows["outcome"] * movers).astype(np.float32),
            weight=np.ones(count, np.float32),
            score=np.where(ended, rows["score2"] / 2, rows["outcome"]).astype(np.float32) * movers,  # score2: doubled
            ownership=np.zeros((count, self.env.N**2), np.int8),
            ended=ended.astype(np.float32),
        )
        self._fill_owners(games, movers, sample)
        return sample

    def _fill_owners(self, games: Sequence[StoredGame], movers: np.ndarray, sample: Sample) -> None:
        """Fill in the ownership of `sample`, for games whose final board is scored, by replaying them to their ends."""
        ended = np.flatnonzero(sample.ended)
        final = [games[int(i)] for i in ended]
        for part, slots, batch in self._replayed(final, np.array([len(game.moves) for game in final])):
            to_play = batch.to_play(slots, np.empty(len(slots), np.int8))
            owners = batch.ownership(slots, np.empty((len(slots), self.env.N**2), np.int8))
            sample.ownership[ended[part]] = owners * (to_play * movers[ended[part]])[:, None]

    def _replayed(
        self, games: Sequence[StoredGame], plies: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, GameBatch]]:
        """Replay some games at a time, each up to its ply `plies[i]`.

        Yields the slice of these games, and the slots of a batch that have their positions, int64 [n].
        """
        batch, lengths = self.env.new_batch(REBUILT_AT_ONCE), plies.astype(np.int32)
        for begin in range(0, len(games), REBUILT_AT_ONCE):
            part = slice(begin, min(begin + REBUILT_AT_ONCE, len(games)))
            slots = np.arange(part.stop - begin)
            paths = np.zeros((len(slots), int(lengths[part].max()) + 1), np.int32)
            for slot, (game, length) in enumerate(zip(games[part], lengths[part], strict=True)):
                paths[slot, :length] = game.steps[:length]
                batch.copy(_FIRST, slots[slot : slot + 1], of=self._start(game))
            batch.replay(slots, paths, lengths[part], slots)
            yield part, slots, batch

    def _start(self, game: StoredGame) -> GameBatch:
        """Return a batch with the start position of a game in slot 0; up to STARTS such batches are cached."""
        key = (int(game.row["komi2"]), int(game.row["first"]), game.black.tobytes(), game.white.tobytes())
        if key not in self._starts:
            self._starts[key] = self.env.position(**game.setup(self.env)).batch
            if len(self._starts) > STARTS:
                self._starts.popitem(last=False)
        return self._starts[key]


class LabelledGames(DatasetGames):
    """The labelled positions of a dataset; see `GivenGames`.  A game counts for the position before its last ply.

    The policy's targets are the teacher's policies, the value's its win rates, mixed with its leads as the outcomes of
    `env` are; score and ownership are learned everywhere.
    """

    def __init__(self, env: GoEnv, dataset: Dataset) -> None:
        super().__init__(env, dataset)
        self.ends = {split: np.arange(1, len(numbers) + 1) for split, numbers in self.numbers.items()}
        self.lengths = np.ones_like(self.ends["train"])

    def rebuild(self, games: Sequence[StoredGame], plies: np.ndarray, symmetries: np.ndarray) -> Sample:
        return super().rebuild(games, np.array([len(game.skipped) - 1 for game in games]), symmetries)

    def targets(self, games: Sequence[StoredGame], plies: np.ndarray, movers: np.ndarray) -> Sample:
        """Return the targets of the games' labels, those of the position before the last ply, in the mover's view."""
        labels = np.array([game.label for game in games])
        ones = np.ones(len(games), np.float32)
        return Sample(
            planes=np.empty((len(games), self.env.planes, *self.env.plane_shape), np.float32),
            policy=label_policies(labels),
            value=label_values(labels, self.env.margin_weight),
            weight=ones,
            score=labels["lead"].copy(),
            ownership=labels["ownership"].astype(np.float32) / OWNED,
            ended=ones,
        )


def sentence_of(left_out: Mapping[str, int]) -> str:
    """Return a sentence about games left out, by the number for each reason; "" if there are none."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in (+Counter(left_out)).most_common())
    total = sum(left_out.values())
    return f"{total} {'game is' if total == 1 else 'games are'} left out: {reasons}" if total else ""
