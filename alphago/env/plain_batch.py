"""Games in plain Python: `PlainState`, what such a game defines, and `PlainBatch`, a batch of such states."""

import hashlib
from numbers import Real
from typing import Any, Protocol, Self

import numpy as np

from alphago.env.batch import GameBatch
from alphago.system.validation import shown

FLOAT_MAX = float(np.finfo(np.float32).max)


class PlainState(Protocol):
    """One position of a game in plain Python, changed in place by `play`.

    `str(state)`, if the class defines it, shows the position to people in games without a board.

    A game with points may add `score() -> float`, the margin from the view of the player in `to_play`.  A game with
    `has_ownership` adds `ownership()`, int8 [height * width], see `GameBatch.ownership`.
    """

    to_play: int  # +1 or -1

    def play(self, action: int) -> None:
        """Play a legal action."""

    def legal_mask(self) -> np.ndarray:
        """Return the legal actions, bool [action_space]; all False once the game is over."""

    def is_over(self) -> bool:
        """Return whether the game is over."""

    def outcome(self) -> float:
        """Return the outcome if the game ended now, -1 .. 1, from the view of the player in `to_play`.

        Search calls it only when the game is over.  `Position.result` may call it earlier; the answer may then be 0.
        """

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width], from the view of the player in `to_play`."""

    def copy(self) -> Self:
        """Return an independent copy: playing in one of the two does not change the other."""


class BrokenGame(ValueError):
    """A state has broken the contract of a game; the message says what its method must do, and what it did."""

    def __init__(self, env: object, method: str, expected: str, got: object) -> None:
        """Say that `method` of the game must do what `expected` says, and returned `got`."""
        super().__init__(f"{method} of {env} must {expected}, got {shown(got)}; check_game says more")
        self.expected, self.got = expected, shown(got)


class PlainBatch(GameBatch):
    """A batch of plain Python states (`GameEnv.new`), for any game; slow.

    Methods without a docstring do what those of `GameBatch` do.

    Raises:
        BrokenGame: if a state breaks the contract in such a way that a search or match would hang, or fail elsewhere;
            the message names the game and the method.
    """

    def __init__(self, env: Any, count: int) -> None:
        super().__init__(env, count)
        self.states = [env.new() for _ in range(count)]
        self.plies = [0] * count  # by slot, the plies since it was reset

    def reset(self, slots: np.ndarray, **setup: object) -> None:
        for slot in slots:
            self.states[slot] = self.env.new(**setup)
            self.plies[slot] = 0

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        source_batch = self if of is None else of
        assert isinstance(source_batch, PlainBatch)
        for source, target in zip(sources, targets, strict=True):
            state = source_batch.states[source]
            copied = state.copy()
            if not isinstance(copied, type(state)):  # for example None, where `return` was forgotten
                raise BrokenGame(self.env, "copy", "return another state", copied)
            self.states[target] = copied
            self.plies[target] = source_batch.plies[source]

    def text(self, slot: int) -> str:
        """Return `str(state)`; "" if the state's class does not define it."""
        state = self.states[slot]
        return "" if type(state).__str__ is object.__str__ else str(state)

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        for slot, action in zip(slots, actions, strict=True):
            if self.plies[slot] >= self.env.max_moves:
                raise BrokenGame(self.env, "is_over", f"be True after max_moves, {self.env.max_moves} plies", False)
            self.states[slot].play(int(action))
            self.plies[slot] += 1

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        # `_answers` writes to `out` and returns it; the loop then checks the rows of `out`.
        for slot, mask in zip(slots, self._answers("legal_mask", slots, out), strict=True):
            if not mask.any() and not self.states[slot].is_over():
                raise BrokenGame(self.env, "legal_mask", "have a legal action in a game that is not over", mask)
        return out

    def _answers(self, method: str, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write to `out` what a method of each state returns; return `out`.  Raise BrokenGame for another shape."""
        for i, slot in enumerate(slots):
            answer = getattr(self.states[slot], method)()
            if np.shape(answer) != out.shape[1:]:
                raise BrokenGame(self.env, method, f"return an array {list(out.shape[1:])}", answer)
            out[i] = answer
        return out

    def _number(self, method: str, answer: object, most: float) -> float:
        """Return a state's answer as a float; raise BrokenGame unless it is a number from -most to most."""
        if not (isinstance(answer, Real) and -most <= float(answer) <= most):
            raise BrokenGame(self.env, method, f"be a number from {-most:g} to {most:g}", answer)
        return float(answer)

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            legal = np.flatnonzero(self.states[slot].legal_mask()).tolist()
            out[i] = next((action for action in legal if self._wins(slot, action)), -1)
        return out

    def _wins(self, slot: int, action: int) -> bool:
        """Return whether the game is over and won by the mover after an action."""
        state = self.states[slot].copy()
        mover = state.to_play
        state.play(action)
        return bool(state.is_over() and state.to_play * state.outcome() == mover)  # the outcome in Black's view

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not np.isfinite(self._answers("planes", slots, out)).all():
            raise BrokenGame(self.env, "planes", "be finite", next(row for row in out if not np.isfinite(row).all()))
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answers("is_over", slots, out)

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self._number("to_play", self.states[slot].to_play, most=1)
            if not out[i]:  # 0, or a fraction that int8 has cut to 0
                raise BrokenGame(self.env, "to_play", "be 1 or -1", 0)
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write a hash of each position's planes and side to move, int64 [n]."""
        shape = (len(slots), self.env.planes, *self.env.plane_shape)
        for i, planes in enumerate(self.planes(slots, np.empty(shape, np.float32))):
            state = self.states[slots[i]]
            digest = hashlib.blake2b(planes.tobytes(), digest_size=8)
            # The side to move, after a 1 without a meaning, which keeps hashes equal to those of earlier versions.
            digest.update(bytes([1, state.to_play > 0]))
            out[i] = int.from_bytes(digest.digest(), "little", signed=True)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self._number("outcome", self.states[slot].outcome(), most=1)
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            state = self.states[slot]
            # A game without points has no score: its outcome takes the place.
            name, most = ("score", FLOAT_MAX) if hasattr(state, "score") else ("outcome", 1)
            out[i] = self._number(name, getattr(state, name)(), most)
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return self._answers("ownership", slots, out) if self.env.has_ownership else super().ownership(slots, out)
