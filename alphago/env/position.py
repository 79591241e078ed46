"""`Position`, one readable position of any game, and `IllegalMove`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from alphago.env.batch import FIRST, GameBatch, Line
from alphago.env.pictured import Pictured
from alphago.system.other_names import POSITION_NAMES, with_name_hints
from alphago.system.validation import shown


class IllegalMove(ValueError):
    """A move is not legal in a position.

    move: the move as text. reason: why it is not legal. position: where.
    """

    def __init__(self, move: str, reason: str, position: "Position") -> None:
        super().__init__(move, reason, position)
        self.move, self.reason, self.position = move, reason, position

    @property
    def sentence(self) -> str:
        """The move and the reason, for people who see the position."""
        return f"illegal move {self.move}: {self.reason}"

    def __str__(self) -> str:
        return f"{self.sentence}, in {self.position.describe()}"


class UnknownMove(IllegalMove):
    """A text or number that was given as a move is no action of the game; `reason` says why."""

    @property
    def sentence(self) -> str:
        return self.reason

    def __str__(self) -> str:
        return self.reason


@with_name_hints(POSITION_NAMES)
class Position(Pictured):
    """One position of any game; immutable: `play` returns a new one.

    Values are from the first player's (Black's) view: +1 means that Black wins.
    """

    def __init__(
        self,
        env: object,
        batch: GameBatch,
        setup: Mapping[str, Any],
        moves: tuple[int, ...] = (),
        movers: tuple[int, ...] = (),
    ) -> None:
        """Wrap the only position in `batch`, reached by `moves` from `env.position(**setup)`.

        movers: who played each move, +1 or -1.
        """
        self.env = env
        self.batch = batch
        self.setup = setup
        self.moves = moves
        self.movers = movers
        batch.line = Line(setup, moves, movers)

    @property
    def is_even(self) -> bool:
        """Whether the game began without set-up or handicap, and no turn was skipped."""
        return not self.setup

    @property
    def move_number(self) -> int:
        """The number of plies so far; in some games this includes plies before a set-up, if it says how many."""
        return len(self.moves)

    @cached_property
    def to_play(self) -> int:
        """The side to move: +1 the first player (Black), -1 the second."""
        return int(self.batch.to_play(FIRST, np.empty(1, np.int8))[0])

    @cached_property
    def legal_mask(self) -> np.ndarray:
        """The legal actions, bool [action_space], pass last; all False once the game is over."""
        mask = self.batch.legal_mask(FIRST, np.empty((1, self.env.action_space), np.bool_))[0]
        mask.flags.writeable = False
        return mask

    @cached_property
    def is_over(self) -> bool:
        """Whether the game has ended by its rules."""
        return bool(self.batch.is_over(FIRST, np.empty(1, np.bool_))[0])

    def score(self) -> float:
        """Return Black's margin if the game ended now, komi included; in games without points, the outcome."""
        return self.to_play * float(self.batch.score(FIRST, np.empty(1, np.float32))[0]) + 0.0  # no -0.0

    @property
    def outcome(self) -> float:
        """The outcome if the game ended now, -1 .. 1, from Black's view; in some games it depends on the margin."""
        return self.to_play * float(self.batch.outcome(FIRST, np.empty(1, np.float32))[0]) + 0.0

    @property
    def result(self) -> float:
        """The sign of `outcome`: +1 Black wins, -1 White wins, 0 a draw."""
        return float(np.sign(self.outcome))

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width], from the mover's view."""
        return self.batch.planes(FIRST, np.empty((1, self.env.planes, *self.env.plane_shape), np.float32))[0]

    @property
    def captures(self) -> tuple[int, int] | None:
        """The numbers of pieces that the first player and the second have captured; None in games without captures."""
        return None

    @cached_property
    def last_cell(self) -> int | None:
        """The cell in which the piece of the last move landed or from which pieces were sown; None if there is none."""
        view, contents = self.env.board_view, self.contents
        if not self.moves or contents is None:
            return None
        return view.last_cell(self.movers[-1], self.moves[-1], contents)

    def play(self, action: int | str) -> Self:
        """Return the position after a legal move, given as an action or as text ('d3').

        Raises IllegalMove if the move is not legal.
        """
        legal_action = self.check_action(action)
        batch = self.batch.extract(0)
        batch.play(FIRST, np.array([legal_action], np.int32))
        return type(self)(self.env, batch, self.setup, (*self.moves, legal_action), (*self.movers, self.to_play))

    def give_turn(self, player: int) -> Self:
        """Return the position in which `player`, +1 or -1, moves next: this position if it is the player's turn.

        In Go a turn of the other side is skipped otherwise, for example if Black begins with several moves as a
        handicap; a skipped turn is no move.  Other games raise ValueError.
        """
        if player == self.to_play:
            return self
        side = self.env.board_view.side
        raise ValueError(
            f"it must be the turn of {side(player)}, got that of {side(self.to_play)} in {self.describe()}"
        )

    def after(self, moves: Iterable[int | str], movers: Iterable[int] | None = None) -> Self:
        """Return the position after legal moves, each an action or a text; raise IllegalMove for an illegal move.

        movers: who plays each move, see `give_turn`; None for the side to move.
        """
        position = self
        if movers is None:
            for move in moves:
                position = position.play(move)
            return position
        for mover, move in zip(movers, moves, strict=True):
            position = position.give_turn(mover).play(move)
        return position

    def again_in(self, env: Any) -> "Position":
        """Return the position after the same moves in `env`, a game that differs from this in komi or planes only."""
        end: Position = env.position(**self.setup_in(env)).after(self.moves, self.movers)
        return end if self.is_over else end.give_turn(self.to_play)

    def replay(self) -> Iterator[Self]:
        """Yield all positions of the game so far, from the start or set-up to this one."""
        position = type(self)(self.env, self.env.position(**self.setup).batch, self.setup)
        yield position
        for mover, action in zip(self.movers, self.moves, strict=True):
            position = position.give_turn(mover).play(action)
            yield position

    def turns(self) -> Iterator[tuple[Self, int]]:
        """Yield for each move of the game so far the position before it, with its player to move, and the move."""
        for before, mover, action in zip(self.replay(), self.movers, self.moves, strict=False):  # not the last position
            yield before.give_turn(mover), action

    def check_action(self, action: int | str) -> int:
        """Return a legal move, which is given as an action or as a text, as an action.

        Raises IllegalMove, with the reason, if the move is not legal.
        """
        given: object = action
        if isinstance(action, str):
            try:
                given = self.env.from_text(action)
            except ValueError as error:
                raise UnknownMove(action, str(error), self) from None
        if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)):
            raise UnknownMove(str(given), f"action must be an integer or a text, got {shown(given)}", self)
        number = int(given)
        if not 0 <= number < self.env.action_space:
            last = self.env.action_space - 1
            raise UnknownMove(str(number), f"no action {number} in {self.env}: actions are 0 to {last}", self)
        if not self.legal_mask[number]:
            reason = "the game is over" if self.is_over else self.why_illegal(number)
            raise IllegalMove(self.env.to_text(number), reason, self)
        return number

    def why_illegal(self, action: int) -> str:
        """Return a short reason why an action is illegal in a game that is not over."""
        return "not allowed"

    def setup_in(self, env: object) -> dict[str, Any]:
        """Return the keywords of `env.position` for the start of this game.

        env: a game that accepts positions of this game (`GameEnv.accepts`), perhaps with another komi.
        """
        return dict(self.setup)

    def describe(self) -> str:
        """Return a line of text with the set-up and the moves that lead to this position."""
        setup = ", ".join(f"{key}={value!r}" for key, value in self.setup.items())
        start = f"{self.env}.position({setup})" if setup else f"{self.env}"
        return start + (f" after {self.moves_text()}" if self.moves else "")

    def moves_text(self) -> str:
        """Return the moves so far as text."""
        return " ".join(self.env.to_text(action) for action in self.moves)

    def __str__(self) -> str:
        """Return a drawing of the position; in games that cannot be drawn, the text of `describe`."""
        return f"<{self.describe()}>"

    def __repr__(self) -> str:
        """Return the same text as `str`, so that Python prompts show the board."""
        return str(self)
