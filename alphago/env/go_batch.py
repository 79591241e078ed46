"""Many positions of Go as packed rows."""

from typing import Any, NamedTuple

import numpy as np

from alphago.env.board import check_board, check_player
from alphago.env.go_rules import check_komi
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_alive as alive
from alphago.env.kernels import go_katago, go_ladders, go_planes
from alphago.env.kernels import go_legal as legal
from alphago.env.kernels import go_loops as loops
from alphago.env.kernels import go_row as layout
from alphago.env.packed_batch import PackedBatch


class GoStart(NamedTuple):
    """The data from which every batch of a game of Go is created."""

    row: np.ndarray  # int32 [words], the empty board with the rules in its header, Black to move
    plane_indices: np.ndarray | None  # int64 [PLANES], index of each rule plane (see go_planes); None for other planes
    # int32 [words], an empty board by simple ko, on which ladders are read for KataGo's planes; None for others.
    ladder_board: np.ndarray | None


def check_setup(
    env: Any, stones: np.ndarray | None, to_play: int | str, komi: float | None
) -> tuple[np.ndarray | None, int, int]:
    """Return the kernels' arguments for a set-up: (stones, mover, twice the komi).

    The stones are int8 [N * N], or None for the start position: no stones, and Black to move.  The mover is
    layout.BLACK or layout.WHITE.

    Raises:
        ValueError: for stones of a wrong shape or other numbers, an unknown player or an invalid komi.
    """
    mover = layout.BLACK if check_player(to_play) == 1 else layout.WHITE
    doubled_komi = int(2 * check_komi(env.komi if komi is None else komi))
    if stones is None and mover == layout.BLACK:  # with White to move, the empty board is a set-up
        return None, mover, doubled_komi
    placed = np.zeros(env.plane_shape, np.int8) if stones is None else check_board(stones, env.plane_shape, "stones")
    return placed.ravel(), mover, doubled_komi


class GoBatch(PackedBatch):
    """Go positions as packed rows (see `alphago.env.kernels.go_row` for the layout).

    Methods without a docstring do what those of `GameBatch` and `PackedBatch` do.
    """

    rules = common_kernels = loops

    def __init__(self, env: Any, count: int) -> None:
        self._start, self._size = env.start, env.N
        super().__init__(env, np.zeros((count, len(self._start.row)), np.int32))
        self.reset(np.arange(count))

    def reset(
        self, slots: np.ndarray, *, stones: np.ndarray | None = None, to_play: int | str = 1, komi: float | None = None
    ) -> None:
        """Set the slots to the start position, or all to the same set-up.

        Args:
            stones: int8 [N, N], 1 Black, -1 White, placed in every slot; None for an empty board.
            to_play: +1, -1, "black" or "white".
            komi: None for the game's own.

        Raises:
            ValueError: for an invalid argument or a chain without liberty.
        """
        colours, mover, doubled_komi = check_setup(self.env, stones, to_play, komi)
        loops.reset_batch(self.rows, slots, self._start.row, doubled_komi)
        if colours is None:  # the start position
            return
        for slot in slots:
            kernels.set_up(self.rows[slot], colours, mover)
            misplaced = kernels.find_misplaced(self.rows[slot], colours)  # a stone without liberty, or NO_ACTION
            if misplaced != layout.NO_ACTION:
                raise ValueError(f"the chain at {self.env.to_text(misplaced)} has no liberty")

    def give_turn(self, slots: np.ndarray, movers: np.ndarray) -> None:
        loops.give_turn_batch(self.rows, slots, movers)

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the game's planes, see `alphago.env.kernels.go_planes` and `alphago.env.kernels.go_katago`."""
        flat = out.reshape(len(out), self.env.planes * self._size**2)
        if self._start.ladder_board is not None:  # KataGo's planes
            boards = np.empty(go_ladders.boards_shape(self._start.ladder_board), np.int32)
            go_katago.katago_planes_batch(self.rows, slots, self._start.ladder_board, boards, self._scratch(), flat)
        elif self._start.plane_indices is not None:  # a set of rule planes
            go_planes.rule_planes_batch(self.rows, slots, self._start.plane_indices, flat)
        else:
            go_planes.history_planes_batch(self.rows, slots, flat)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write each mover's outcome, float32 [n]: the result, mixed with the margin by the game's `margin_weight`."""
        loops.outcome_batch(self.rows, slots, self.env.margin_weight, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answer(loops.ownership_batch, slots, out)

    def pass_alive(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the pass-alive points, int8 [n, N * N]: 1 the mover's, -1 the other side's, 0 all others.

        Stones and points are pass-alive if their side keeps them even when it passes for the rest of the game (Benson
        1976; `alphago.env.kernels.go_alive` says what suicide changes).
        """
        alive.pass_alive_batch(self.rows, slots, self._scratch(), out)
        return out

    def sensible_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the legal actions, without own eyes and without points that are pass-alive already.

        The score counts every stone on the board as alive, so the mover must capture dead stones.  If there are dead
        stones of the other side in the mover's pass-alive points, none of the mover's pass-alive points are left out.
        """
        self.legal_mask(slots, out)
        legal.clear_own_eyes_batch(self.rows, slots, out)
        owners, alive_points = np.empty((2, len(slots), self._size**2), np.int8)  # both from the mover's view
        self.ownership(slots, owners)
        self.pass_alive(slots, alive_points)
        own_alive, others_alive = alive_points == 1, alive_points == -1
        scored_for_other = own_alive & (owners == -1)
        must_capture = scored_for_other.any(axis=1, keepdims=True)  # bool [n, 1]
        left_out = others_alive | (own_alive & ~must_capture)
        out[:, :-1] &= ~left_out  # the last action is the pass
        return out

    def neutral_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the legal moves onto points of neither side that join an own chain and leave it at least two liberties.

        So the mover never puts an own chain into atari, for example in a seki.
        """
        self.legal_mask(slots, out)
        out[:, :-1] &= self.ownership(slots, np.empty((len(slots), self._size**2), np.int8)) == 0
        out[:, -1] = False  # the pass
        games, actions = np.nonzero(out)  # for each candidate the index of its slot, and the action
        after = self.env.new_batch(len(games))  # each candidate is played in a copy
        copies = np.arange(len(games))
        after.copy(slots[games], copies, of=self)
        after.play(copies, actions.astype(np.int32))
        is_safe = np.empty(len(games), np.bool_)
        legal.joined_and_free_batch(after.rows, copies, actions, is_safe)
        out[games, actions] = is_safe
        return out

    def _scratch(self) -> np.ndarray:
        """Return new scratch memory; every call gets its own, since several threads may call at the same time."""
        return np.empty(alive.scratch_words(self._size), np.int32)
