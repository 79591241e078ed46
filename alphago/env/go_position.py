"""One position of Go, to read, print and play on."""

from functools import cached_property
from typing import Any

import numpy as np

from alphago.env.board import draw_board, result_text
from alphago.env.game import PLAYER_NAMES, GameEnv, Position
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_legal as legal
from alphago.env.kernels import go_row as layout

# The reason for an illegal repetition, by the ko rule.
REPETITION = {
    layout.SIMPLE: "ko, the board would be the one before the last move",
    layout.POSITIONAL: "superko, the board would be one that was there before",
    layout.SITUATIONAL: "superko, the board would be one that the same side had to move on before",
}


class GoPosition(Position):
    """A Go position to read, print and play on.

    `score()` is Black's area minus White's area and komi (Tromp and Taylor: every stone on the board counts as alive);
    `result` is its sign.
    """

    @property
    def row(self) -> np.ndarray:
        """The packed row, int32; see `alphago.env.kernels.go_row`."""
        return self.batch.rows[0]  # type: ignore[attr-defined]

    @cached_property
    def board(self) -> np.ndarray:
        """The stones, int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 at the top."""
        board = np.zeros(self.env.N * self.env.N, np.int8)
        kernels.board(self.row, board)
        board.flags.writeable = False
        return board.reshape(self.env.N, self.env.N)

    @property
    def komi(self) -> float:
        return float(self.row[layout.KOMI2]) / 2

    @cached_property
    def pass_alive(self) -> np.ndarray:
        """The pass-alive points, int8 [N, N]: 1 Black's, -1 White's, 0 all others (see `GoBatch.pass_alive`)."""
        out = np.empty((1, self.env.N**2), np.int8)
        self.batch.pass_alive(np.zeros(1, np.int64), out)  # type: ignore[attr-defined]
        points = out.reshape(self.env.N, self.env.N) * np.int8(self.to_play)
        points.flags.writeable = False
        return points

    def setup_in(self, env: GameEnv) -> dict[str, Any]:
        return {**self.setup, "komi": self.komi} if getattr(env, "komi", None) != self.komi else dict(self.setup)

    def why_illegal(self, action: int) -> str:
        row = self.row
        if action == self.env.pass_action:
            return f"passing is allowed from move {row[layout.FIRST_PASS]} on"
        if self.board.ravel()[action]:
            return f"{PLAYER_NAMES[int(self.board.ravel()[action])]} has a stone there"
        if legal.allowed(row, layout.point_of(row, action), int(row[layout.TO_PLAY]), False):
            return REPETITION[int(row[layout.KO_RULE])]
        return "suicide that only repeats a board" if row[layout.SUICIDE] else "suicide"

    def moves_text(self) -> str:
        players = [PLAYER_NAMES[self.to_play * (-1) ** (len(self.moves) - i)][0] for i in range(len(self.moves))]
        return ", ".join(f"{p} {self.env.to_text(a)}" for p, a in zip(players, self.moves, strict=True))

    def __str__(self) -> str:
        """Return the board with coordinates; X Black, O White, and brackets around the last stone."""
        last = self.moves[-1] if self.moves and self.moves[-1] != self.env.pass_action else None
        if self.is_over:
            margin = self.score()
            state = f"game over, {result_text(margin)}"
        else:
            state = f"{PLAYER_NAMES[self.to_play]} (X) to play" if self.to_play == 1 else "White (O) to play"
        passed = ", last move pass" if self.moves and last is None else ""
        board = draw_board(self.board, last)
        return f"{board}\n   move {len(self.moves)}: {state}{passed}, komi {self.komi:g}"
