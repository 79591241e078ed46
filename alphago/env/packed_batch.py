"""Batches whose positions are packed rows of integers and whose methods are kernels, and games that stand on them."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from alphago.cuda.backend import find_backend
from alphago.env.batch import GameBatch
from alphago.env.board import check_board, check_player
from alphago.env.device_rows import DeviceRowBatch, row_program
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.kernels import rows as row_kernels
from alphago.env.kernels.rows import HEADER, MARGIN, OVER, PLY, TO_PLAY


class PackedBatch(GameBatch):
    """Base class of batches on kernels: the method `play` runs the kernel `play_batch`, and so on.

    Methods without a docstring do what those of `GameBatch` do.

    Args:
        rows: integers [count, words], one position per row.

    Attributes:
        rules: the module with the kernels `play_batch`, `replay_batch` and `legal_mask_batch`.
        common_kernels: the module with the kernels that many games have in common: `copy_batch`, `is_over_batch`,
            `to_play_batch`, `hash_batch` and `score_batch`.
    """

    rules: ModuleType
    common_kernels: ModuleType

    def __init__(self, env: GameEnv, rows: np.ndarray) -> None:
        super().__init__(env, len(rows))
        self.rows = rows

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        """Copy positions as `GameBatch.copy` does, also from a batch on a device."""
        # In a batch on a device the words of a row may be int32, though they are int64 here.
        rows = self.rows if of is None else of.rows.astype(self.rows.dtype, copy=False)  # type: ignore[attr-defined]
        self.common_kernels.copy_batch(rows, sources, self.rows, targets)

    def gather(self, batches: Sequence[GameBatch]) -> None:
        """Copy a position from each of these batches, of a single slot each, to the slots 0, 1, 2, …, all at once."""
        rows = [batch.rows for batch in batches]  # type: ignore[attr-defined]
        if rows:
            np.concatenate(rows, out=self.rows[: len(rows)])

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        self.rules.play_batch(self.rows, slots, actions)

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        """Copy each root slot to its target slot and play `paths[i, :lengths[i]]` there, with one kernel."""
        self.rules.replay_batch(self.rows, roots, paths, lengths, targets)

    def _answer(self, kernel: Callable[..., None], slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return `out` with what a kernel writes for the slots."""
        kernel(self.rows, slots, out)
        return out

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.rules.legal_mask_batch, slots, out)

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common_kernels.is_over_batch, slots, out)

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common_kernels.to_play_batch, slots, out)

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common_kernels.hash_batch, slots, out)

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(self.common_kernels.score_batch, slots, out)


class RowBatch(PackedBatch):
    """A batch of a game whose kernels use the layout of `alphago.env.kernels.rows`.

    The module `rules` also has the game's kernels `reset` and `planes_batch`.

    Args:
        words: number of int64 words of a row; 0 for a row that ends with a cell for each point.
        options: the arguments of `reset` that follow the row; () for the board's height and width.
    """

    common_kernels = row_kernels

    def __init__(self, env: GameEnv, count: int, words: int = 0, options: Sequence[int] = ()) -> None:
        super().__init__(env, np.zeros((count, words or HEADER + math.prod(env.plane_shape)), np.int64))
        self._reset_options = options or env.plane_shape
        self.reset(np.arange(count))

    @classmethod
    def on(cls, device: str, env: GameEnv, count: int) -> "RowBatch | DeviceRowBatch":
        """Return a batch of `count` start positions on a device: "cpu", "cuda" or "host"."""
        if device == "cpu":
            return cls(env, count)
        return DeviceRowBatch(env, count, find_backend(device), row_program(cls.rules))

    def reset(self, slots: np.ndarray) -> None:
        """Set the slots to the start position; a game with set-ups overrides this."""
        self.rows[slots] = self.new_row(*self._reset_options)

    def new_row(self, *options: Any) -> np.ndarray:
        """Return the row of the position that the kernel `reset` makes with these options, int64 [words]."""
        row = np.zeros(self.rows.shape[1], np.int64)
        self.rules.reset(row, *options)
        return row

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        self.rules.planes_batch(self.rows, slots, out.reshape(len(out), math.prod(out.shape[1:])))
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        scratch_mask = np.empty(self.env.action_space, np.bool_)
        scratch_row = np.empty(self.rows.shape[1], np.int64)
        self.rules.decisive_moves_batch(self.rows, slots, scratch_mask, scratch_row, out)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(row_kernels.outcome_batch, slots, out)

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        has_owners = self.env.has_ownership
        return self._answer(row_kernels.ownership_batch, slots, out) if has_owners else super().ownership(slots, out)


class StonesBatch(RowBatch):
    """Base class of batches whose rows hold a board of stones (see `alphago.env.kernels.rows`)."""

    def reset(self, slots: np.ndarray, *, board: object = None, to_play: int | str | None = None) -> None:
        """Set the slots to the start position, or all to the same set-up; raise ValueError for an impossible board.

        Args:
            board: [height, width] of 1 Black, -1 White, 0 empty; None for the start position's board.
            to_play: "black" or "white" (or +1, -1); None to infer it from the board.
        """
        row = self.new_row(*self._reset_options)
        if board is not None:
            self.cells(row)[:] = check_board(board, self.env.plane_shape).ravel()
        if board is not None or to_play is not None:
            row[TO_PLAY] = self.usual_mover(self.cells(row)) if to_play is None else check_player(to_play)
            self.settle(row)
        self.rows[slots] = row

    def cells(self, row: np.ndarray) -> np.ndarray:
        """Return a view of a row's stones, int64 [height * width]."""
        return row[HEADER : HEADER + math.prod(self.env.plane_shape)]

    def usual_mover(self, cells: np.ndarray) -> int:
        """Return the side to move, +1 or -1, on a board that was set up without `to_play`; Black by default.

        Args:
            cells: int64 [height * width], the stones.
        """
        return 1

    @abstractmethod
    def settle(self, row: np.ndarray) -> None:
        """Set the words of a row that depend on board and side to move; raise ValueError for an impossible board."""


class LineBatch(StonesBatch):
    """Base class for games in which the first line of `connect` stones wins and stones are never captured.

    Attributes:
        connect: the number of stones in a line that win.
    """

    connect: int

    def usual_mover(self, cells: np.ndarray) -> int:
        """Return White if Black has more stones, else Black."""
        return -1 if cells.sum() > 0 else 1

    def settle(self, row: np.ndarray) -> None:
        """Set ply, winner and end of the game from the stones; raise ValueError if the mover or both sides have won."""
        cells, mover = self.cells(row), int(row[TO_PLAY])
        winners = [side for side in (1, -1) if row_kernels.has_line(row, side, self.connect)]
        if len(winners) > 1:
            raise ValueError(f"board must have a line of {self.connect} of one side only, got one of each side")
        if mover in winners:
            winner, loser = PLAYER_NAMES[mover], PLAYER_NAMES[-mover].lower()
            raise ValueError(f"to_play must be {loser!r} after {winner} has won, got {winner.lower()!r}")
        row[PLY] = np.count_nonzero(cells)
        row[MARGIN] = winners[0] if winners else 0  # in a game without points the margin is the winner
        row[OVER] = bool(winners) or bool(cells.all())
