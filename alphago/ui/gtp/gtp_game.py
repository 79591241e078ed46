"""The game of a GTP engine, in which either colour may play at any time."""

import contextlib
from collections.abc import Sequence
from typing import Any

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.position import IllegalMove


class GtpGame:
    """The controller's plays in order, and the position to which they lead.

    Colours alternate in a `GoEnv`, so where a colour plays twice in a row, a pass of the other colour is inserted. (A
    new position with the same stones would lose the history, which superko and the network's planes need.) When the
    game has to be replayed, the colour of the first stone begins, and the controller's own passes are left out.

    A game longer than the environment's limit continues from a new position with the stones on its board.

    The other arguments are those of `set_up`.
    """

    def __init__(
        self, env: GoEnv, komi: float, black: Sequence[int] = (), white: Sequence[int] = (), first: int = 1
    ) -> None:
        self.env = env
        self.komi = komi
        self.set_up(black, white, first)

    def clear(self) -> None:
        """Empty the board."""
        self.set_up((), (), 1)

    def give_handicap(self, stones: Sequence[int]) -> None:
        """Place Black's stones on an empty board, with White to move."""
        self.set_up(stones, (), -1)

    def set_up(self, black: Sequence[int], white: Sequence[int], first: int) -> None:
        """Begin a game with stones on the board and a colour to move; raise ValueError for an illegal board."""
        stones = {"black": tuple(sorted(black)), "white": tuple(sorted(white))}
        self.stones = {colour: points for colour, points in stones.items() if points}
        self.first = first
        self.begin()

    def begin(self) -> None:
        self.plays: list[tuple[int, int]] = []  # (colour, action)
        self.position = self.start(self.first)

    def start(self, to_play: int, **further: Any) -> GoPosition:
        """Return a start position with the game's set-up stones, or with `further`, keywords of `GoEnv.position`."""
        setup: dict[str, Any] = dict(further) or dict(self.stones)
        if to_play != 1:
            setup["to_play"] = "white"
        if self.komi != self.env.komi:
            setup["komi"] = self.komi
        return self.env.position(**setup)

    def play(self, colour: int, action: int) -> None:
        """Add a play; raise IllegalMove, and change nothing, if it is not legal.

        A pass out of turn, or after the end, does not change the position.
        """
        idle = self.position.to_play != colour or self.position.is_over
        if action != self.env.pass_action or not idle:
            self.position = self.ready(colour).play(action)
        self.plays.append((colour, action))

    def ready(self, colour: int) -> GoPosition:
        """Return the current position with this colour to move and the game not over."""
        if self.position.to_play == colour and not self.position.is_over:
            return self.position
        with contextlib.suppress(IllegalMove):
            position = self.replay(colour)
            if not position.is_over:
                return position
        return self.start(colour, board=self.position.board, captures=self.position.captures)

    def replay(self, colour: int) -> GoPosition:
        """Return the position after replaying the stones, with passes only where needed, and with `colour` to move.

        Raises IllegalMove if that is not a legal game, for example one beyond the ply limit.
        """
        stones = [(mover, action) for mover, action in self.plays if action != self.env.pass_action]
        position = self.start(stones[0][0] if stones else colour)
        for mover, action in stones:
            if position.to_play != mover:
                position = position.play(self.env.pass_action)
            position = position.play(action)
        return position if position.to_play == colour else position.play(self.env.pass_action)

    def undo(self) -> None:
        self.restart(self.plays[:-1])

    def set_komi(self, komi: float) -> None:
        """Set the komi of this game, as if from its beginning."""
        self.komi = komi
        self.restart(self.plays)

    def restart(self, plays: list[tuple[int, int]]) -> None:
        self.begin()
        for colour, action in plays:
            self.play(colour, action)

    @property
    def to_play(self) -> int:
        """The colour expected to move: the opponent of the one that moved last."""
        return -self.plays[-1][0] if self.plays else self.first

    @property
    def is_over(self) -> bool:
        """Whether the last two plays were passes, one of each colour."""
        last = self.plays[-2:]
        return {colour for colour, action in last if action == self.env.pass_action} == {1, -1}
