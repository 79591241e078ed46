"""What a game in plain Python defines: one mutable state; `alphago.examples` has such games."""

from typing import Protocol, Self

import numpy as np


class PlainState(Protocol):
    """One position of a game in plain Python, changed in place by `play`.

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

        Search calls it only when the game is over. `Position.result` may call it earlier; it may then return 0.
        """

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width], from the view of the player in `to_play`."""

    def copy(self) -> Self:
        """Return a state that plays on by itself from this position."""
