"""Many positions of Go as packed rows."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alphago.env.go_rules import KO_RULES, check_komi, check_player
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_alive as alive
from alphago.env.kernels import go_features as features
from alphago.env.kernels import go_loops as loops
from alphago.env.kernels import go_row as layout
from alphago.env.packed import PackedBatch

if TYPE_CHECKING:
    from alphago.env.go import GoEnv


class GoStart(NamedTuple):
    """What a game's batches share."""

    row: np.ndarray  # int32 [words], the start position
    places: np.ndarray | None  # int64 [PLANES], where the planes stand (see go_features); None for boards alone


def start_row(env: "GoEnv") -> np.ndarray:
    """The empty board by the rules of `env`, Black to move: int32 [words]."""
    ko = KO_RULES[env.ko]
    row = np.zeros(layout.row_words(env.N, env.history, ko, env.max_moves), np.int32)
    row[layout.SIZE] = env.N
    row[layout.DEPTH] = env.history
    row[layout.KO_RULE] = ko
    row[layout.SUICIDE] = env.suicide
    row[layout.MAX_MOVES] = env.max_moves
    row[layout.FIRST_PASS] = env.first_pass
    row[layout.PASSES_TO_END] = 2 if env.turns is None else env.max_moves + 1
    row[layout.FILTER_BITS] = 0 if ko == layout.SIMPLE else layout.filter_bits(env.N, env.max_moves)
    kernels.lay_out(row)
    return row


class GoBatch(PackedBatch):
    """Go positions as packed rows (see the kernels for the layout)."""

    def __init__(self, env: "GoEnv", count: int) -> None:
        self._start, self._places = env.start
        super().__init__(env, np.zeros((count, len(self._start)), np.int32), loops, loops)
        self._komi, self._margin_weight, self._size = env.komi, env.margin_weight, env.N
        self._history, self._planes = env.history, env.planes
        self.reset(np.arange(count))

    def reset(
        self,
        slots: np.ndarray,
        *,
        stones: np.ndarray | None = None,
        to_play: int | str = 1,
        komi: float | None = None,
    ) -> None:
        """Start positions; `stones` int8 [N, N] (1 Black, -1 White) and `to_play` set all slots up alike."""
        if stones is not None and np.shape(stones) != (self._size, self._size):
            raise ValueError(f"stones are {[self._size, self._size]} points, got {list(np.shape(stones))}")
        komi2 = int(2 * (self._komi if komi is None else check_komi(komi)))
        loops.reset_batch(self.rows, slots, self._start, komi2)
        mover = layout.BLACK if check_player(to_play) == 1 else layout.WHITE
        if stones is None and mover == layout.BLACK:
            return
        colours = np.zeros(self._size**2, np.int8) if stones is None else np.ascontiguousarray(stones, np.int8).ravel()
        for slot in slots:
            kernels.set_up(self.rows[slot], colours, mover)
            dead = kernels.misplaced(self.rows[slot], colours)
            if dead >= 0:
                raise ValueError(f"the chain at {self.env.to_text(dead)} has no liberty")

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        flat = out.reshape(len(out), self._planes * self._size**2)
        if self._places is None:
            loops.planes_batch(self.rows, slots, self._history, flat)
        else:
            features.features_batch(self.rows, slots, self._places, self._scratch(), flat)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        loops.outcome_batch(self.rows, slots, self._margin_weight, out)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        loops.ownership_batch(self.rows, slots, out)
        return out

    def pass_alive(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """int8 [n, N * N]: 1 where the mover is pass-alive, -1 where the other side is, else 0.

        Pass-alive are stones that live, and points that are theirs, even if their side passes for the rest of the
        game (Benson 1976, see `alphago.env.kernels.go_alive`, also for what suicide changes).
        """
        alive.pass_alive_batch(self.rows, slots, self._scratch(), out)
        return out

    def settle(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """See `GameBatch.settle`: those in which every point is pass-alive for one side, whose dead stones go.

        Counted as if nobody came back to where they stood: a large dead chain can leave more room than Benson's theorem
        knows of.  Never in games of fixed turns, where the owner may have to fill what is its own, nor where so few
        plies are left that the dead could not all be taken.  `first_pass` does not count.
        """
        alive.settle_batch(self.rows, slots, self._scratch(), np.empty(self._size**2, np.int8), out)
        return out

    def _scratch(self) -> np.ndarray:
        """Room for one call; threads may ask about different slots at the same time."""
        return np.empty(alive.scratch_words(self._size), np.int32)
