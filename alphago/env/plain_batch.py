"""`PlainBatch`, a batch of plain Python states."""

import hashlib
from typing import Any

import numpy as np

from alphago.env.batch import GameBatch


class PlainBatch(GameBatch):
    """A batch of plain Python states (`GameEnv.new`), for any game; slow."""

    def __init__(self, env: Any, count: int) -> None:
        super().__init__(env, count)
        self.states = [env.new() for _ in range(count)]

    def reset(self, slots: np.ndarray, **setup: object) -> None:
        for slot in slots:
            self.states[slot] = self.env.new(**setup)

    def copy(self, sources: np.ndarray, targets: np.ndarray, of: GameBatch | None = None) -> None:
        states = self.states if of is None else of.states  # type: ignore[attr-defined]
        for source, target in zip(sources, targets, strict=True):
            self.states[target] = states[source].copy()

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        for slot, action in zip(slots, actions, strict=True):
            self.states[slot].play(int(action))

    def legal_mask(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].legal_mask()
        return out

    def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            legal = np.flatnonzero(self.states[slot].legal_mask()).tolist()
            out[i] = next((action for action in legal if self._wins(slot, action)), -1)
        return out

    def _wins(self, slot: int, action: int) -> bool:
        state = self.states[slot].copy()
        mover = state.to_play
        state.play(action)
        return bool(state.is_over() and state.to_play * state.outcome() * mover == 1)

    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].planes()
        return out

    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].is_over()
        return out

    def to_play(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].to_play
        return out

    def hash(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            state = self.states[slot]
            digest = hashlib.blake2b(state.planes().tobytes(), digest_size=8)
            digest.update(bytes([state.to_play & 1, state.to_play > 0]))
            out[i] = int.from_bytes(digest.digest(), "little", signed=True)
        return out

    def outcome(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].outcome()
        return out

    def score(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        for i, slot in enumerate(slots):
            state = self.states[slot]
            out[i] = state.score() if hasattr(state, "score") else state.outcome()
        return out

    def ownership(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not self.env.has_ownership:
            return super().ownership(slots, out)
        for i, slot in enumerate(slots):
            out[i] = self.states[slot].ownership()
        return out
