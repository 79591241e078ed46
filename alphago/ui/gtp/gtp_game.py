"""The game that a GTP controller tells, in which any colour may play at any time."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphago.env.game import IllegalMove
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition


class GtpGame:
    """Plays as they came, and the position they lead to.

    `GoEnv` alternates, so a colour that plays twice is read as the other one having passed: the pass
    keeps superko and the boards that a network sees, which a new set-up position would lose.  For
    that the plays are gone through again: their stones in order, a pass between two of one colour,
    the first stone's colour to begin.  Only the plays that fit are kept as they came.

    The last resort, for a game longer than the environment's limit, is the board set up anew.
    """

    def __init__(self, env: GoEnv, komi: float) -> None:
        self.env = env
        self.komi = komi
        self.clear()

    def clear(self) -> None:
        """The empty board."""
        self.handicap: tuple[int, ...] = ()
        self.begin()

    def give_handicap(self, stones: Sequence[int]) -> None:
        """Black's stones, after which it is White's turn; only on an empty board."""
        self.handicap = tuple(sorted(stones))
        self.begin()

    def begin(self) -> None:
        self.plays: list[tuple[int, int]] = []  # (colour, action) as they came
        self.position = self.start(-1 if self.handicap else 1)

    def start(self, to_play: int, **stones: Any) -> GoPosition:
        """A position from which to play on; what is the default is not written down."""
        setup: dict[str, Any] = dict(stones) or ({"black": self.handicap} if self.handicap else {})
        if to_play != 1:
            setup["to_play"] = "white"
        if self.komi != self.env.komi:
            setup["komi"] = self.komi
        return self.env.position(**setup)

    def play(self, colour: int, action: int) -> None:
        """Adds a play; raises IllegalMove, and then nothing has changed.

        A pass out of turn, or after the end, changes no position: it is the other colour's turn anyway.
        """
        idle = self.position.to_play != colour or self.position.is_over
        if action != self.env.pass_action or not idle:
            self.position = self.ready(colour).play(action)
        self.plays.append((colour, action))

    def ready(self, colour: int) -> GoPosition:
        """The present position with this colour to move and the game going on."""
        if self.position.to_play == colour and not self.position.is_over:
            return self.position
        with contextlib.suppress(IllegalMove):
            position = self.gone_through(colour)
            if not position.is_over:
                return position
        board = self.position.board.ravel()
        return self.start(colour, black=np.flatnonzero(board == 1), white=np.flatnonzero(board == -1))

    def gone_through(self, colour: int) -> GoPosition:
        """All stones played again with as few passes as possible; raises IllegalMove past the ply limit."""
        stones = [(who, action) for who, action in self.plays if action != self.env.pass_action]
        position = self.start(stones[0][0] if stones else colour)
        for who, action in stones:
            if position.to_play != who:
                position = position.play(self.env.pass_action)
            position = position.play(action)
        return position if position.to_play == colour else position.play(self.env.pass_action)

    def undo(self) -> None:
        self.again(self.plays[:-1])

    def set_komi(self, komi: float) -> None:
        """Komi of this game, from its beginning."""
        self.komi = komi
        self.again(self.plays)

    def again(self, plays: list[tuple[int, int]]) -> None:
        self.begin()
        for colour, action in plays:
            self.play(colour, action)

    @property
    def is_over(self) -> bool:
        """Whether both colours have just passed."""
        last = self.plays[-2:]
        return {colour for colour, action in last if action == self.env.pass_action} == {1, -1}
