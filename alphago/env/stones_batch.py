"""Batches of small games with stones, with boards that can be set up."""

from abc import abstractmethod

import numpy as np

from alphago.env.board import check_board, check_player
from alphago.env.game import PLAYER_NAMES
from alphago.env.kernels import rows as row_kernels
from alphago.env.kernels.rows import HEADER, MARGIN, OVER, PLY, TO_PLAY
from alphago.env.packed_batch import RowBatch


class StonesBatch(RowBatch):
    """Base class of batches whose rows hold a board of stones (see `alphago.env.kernels.rows`)."""

    def reset(self, slots: np.ndarray, *, board: object = None, to_play: int | str | None = None) -> None:
        """Set all slots to the start position, or to the same set-up; raise ValueError for an impossible board.

        Args:
            board: [height, width] of 1 Black, -1 White, 0 empty; None for the start position's board.
            to_play: "black" or "white" (or +1, -1); None to infer it from the board.
        """
        super().reset(slots)
        if board is None and to_play is None:
            return
        stones = None if board is None else check_board(board, self.env.plane_shape).ravel()
        for slot in slots:
            row = self.rows[slot]
            cells = self.cells(row)
            if stones is not None:
                cells[:] = stones
            row[TO_PLAY] = self.usual_mover(cells) if to_play is None else check_player(to_play)
            self.settle(row)

    def cells(self, row: np.ndarray) -> np.ndarray:
        """Return a view of a row's stones, int64 [height * width]."""
        height, width = self.env.plane_shape
        return row[HEADER : HEADER + height * width]

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
    """Base class for games in which the first line of `connect` stones wins and stones are never captured."""

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
        row[MARGIN] = winners[0] if winners else 0
        row[OVER] = bool(winners) or bool(cells.all())
