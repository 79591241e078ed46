"""`GameBatch`, many positions of one game in numbered slots, for search.

Values are from the view of the player about to move.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

FIRST_SLOT = np.zeros(1, np.int64)  # the argument `slots` for slot 0, the only one of a Position's batch


class Line(NamedTuple):
    """The way to a position: its set-up, the moves since then, and who played each move (+1 or -1)."""

    setup: Mapping[str, Any]
    moves: tuple[int, ...]
    movers: tuple[int, ...]


class Leaves(NamedTuple):
    """The leaves of a search wave: leaf i is reached by the actions `paths[i, :lengths[i]]` from slot `roots[i]`.

    The leaf's position is stored in slot `slots[i]`.
    """

    roots: np.ndarray  # int64 [n], slots of a batch
    paths: np.ndarray  # int32 [n, depth]
    lengths: np.ndarray  # int32 [n]
    slots: np.ndarray  # int64 [n], of the same batch; none of them a root


class Reached(NamedTuple):
    """The state of the leaves that a search reached, one entry per leaf."""

    over: np.ndarray  # bool [n]
    movers: np.ndarray  # int8 [n], +1 or -1
    outcomes: np.ndarray  # float32 [n], from the mover's view; valid only if the game is over


class GameBatch(ABC):
    """Many positions of one game, in numbered slots.

    Every method takes an int64 array of slots [n].  Methods that answer a question write into `out`, whose first axis
    is n, and return it.  The mover is the player to move.  Different threads may use different slots at the same time.
    Neither slots nor actions are checked: play only those in `legal_mask`.
    """

    device = "cpu"  # where the positions are: "cpu", "cuda" or "host"
    line: Line | None = None  # set by Position, for the only slot of its batch; None for other batches

    env: Any  # the game, a GameEnv, whose module imports this one

    def __init__(self, env: object, count: int) -> None:
        self.env = env
        self.count = count

    @abstractmethod
    def reset(self, slots: np.ndarray, **setup: object) -> None:
        """Set each of these slots to the start position, or to the one that `setup` describes.

        Args:
            setup: keywords of the game's own (Go: komi, stones, to_play).
        """

    @abstractmethod
    def copy(self, sources: np.ndarray, targets: np.ndarray, of: "GameBatch | None" = None) -> None:
        """Copy positions from the slots `sources` to the slots `targets` of this batch.

        Args:
            of: the batch with the sources, of the same game; None for this batch.
        """

    def gather(self, batches: Sequence["GameBatch"]) -> None:
        """Copy a position from each of these batches to the slots 0, 1, 2, …

        Args:
            batches: of the same game, each with a single slot.
        """
        for slot, batch in enumerate(batches):
            self.copy(FIRST_SLOT, np.array([slot]), of=batch)

    def extract(self, slots: "int | np.ndarray") -> "GameBatch":
        """Return a new batch in the CPU's memory whose slots are copies of `slots`, int64 [n] or a single one."""
        sources = np.atleast_1d(slots)
        copies = self.env.new_batch(len(sources))
        copies.copy(sources, np.arange(len(sources)), of=self)
        return copies

    def position(self, slot: int) -> Any:
        """Return a copy of this slot as a Position; only a batch `with_moves` knows the moves that led to it."""
        return self.env.position_of(self, slot)

    def text(self, slot: int) -> str:
        """Return the game's own text of a position, such as a drawing; "" if it has none."""
        return ""

    @abstractmethod
    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        """Play one legal action (int32 [n]) in each slot."""

    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        """Copy each root slot to its target slot and play the actions `paths[i, :lengths[i]]` there.

        Args:
            paths: int32 [n, depth].
            lengths: int32 [n].
        """
        self.copy(roots, targets)
        for ply in range(int(lengths.max(initial=0))):
            has_action = lengths > ply
            self.play(targets[has_action], paths[has_action, ply])

    def give_turn(self, slots: np.ndarray, movers: np.ndarray) -> None:  # noqa: B027 (not abstract: few games skip turns)
        """In games with `skips_turns`, let `movers` (int8 [n], +1 or -1) play next; in others do nothing.

        Where it is the other side's turn, this turn is skipped.
        """

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        """Play each leaf's actions as `replay` does, and write its state to `out`.

        The state is `is_over`, `to_play` and `outcome`, which is written for finished games only.
        """
        self.replay(leaves.roots, leaves.paths, leaves.lengths, targets=leaves.slots)
        self.to_play(leaves.slots, out.movers)
        over = self.is_over(leaves.slots, out.over)
        if np.count_nonzero(over):  # whether any is; several times as fast as `over.any()`
            ended = leaves.slots[over]
            out.outcomes[over] = self.outcome(ended, np.empty(len(ended), np.float32))
        return out

    @abstractmethod
    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the legal actions, bool [n, action_space]; all False once the game is over."""

    def sensible_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the legal actions that a weak player may choose, bool [n, action_space].

        A game may leave out actions that no person plays, but never a legal pass.  If no action is left, all are False.
        """
        return self.legal_mask(slots, out)

    def neutral_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the moves onto points that belong to neither side and that risk nothing, bool [n, action_space].

        Each such point counts for the side that takes it, and a pass may end the game.  So a player plays such a move
        instead of a pass, until the value says that a side is sure to win: then these points no longer matter.  Most
        games have no such moves.
        """
        out[:] = False
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write for each slot a legal action that wins at once, int32 [n]; -1 if there is none.

        After such an action the game is over, and the mover has won.  Called only for games that set
        `GameEnv.has_decisive_moves`.
        """
        raise NotImplementedError(f"{type(self).__name__} must have decisive_moves, since {self.env} sets it")

    @abstractmethod
    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the network's input, float32 [n, planes, height, width], C-contiguous, from the mover's view."""

    def observe(self, slots: np.ndarray, mask: np.ndarray, planes: np.ndarray) -> None:
        """Write what a network needs of the positions: `legal_mask` to `mask`, and `planes`."""
        self.legal_mask(slots, mask)
        self.planes(slots, planes)

    @abstractmethod
    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write for each slot whether its game is over, bool [n]."""

    @abstractmethod
    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the player to move, int8 [n]: +1 the first player (Black), -1 the second."""

    @abstractmethod
    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write a hash of each position, int64 [n], equal for equal positions; it may ignore komi and history."""

    @abstractmethod
    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the mover's outcome if the game ended now, float32 [n], -1 .. 1."""

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the mover's margin in points if the game ended now, float32 [n].

        In games without points, it is the outcome.
        """
        return self.outcome(slots, out)

    def black_results(self, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return outcome and score of each slot in Black's view, each float32 [n]."""
        movers = self.to_play(slots, np.empty(len(slots), np.int8))
        outcomes = self.outcome(slots, np.empty(len(slots), np.float32))
        scores = self.score(slots, np.empty(len(slots), np.float32))
        return movers * outcomes, movers * scores

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write each point's owner if the game ended now, int8 [n, height * width].

        1 is the mover, -1 the other side, 0 neither.  Games without `has_ownership` write zeros.
        """
        out[:] = 0
        return out
