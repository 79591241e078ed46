"""`Position`, one readable position of any game, which can be drawn, and `IllegalMove`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from alphago.drawing.board_pictures import Board, board_picture
from alphago.drawing.board_view import BoardView
from alphago.drawing.overlay import Overlay, legend, make_overlay
from alphago.drawing.planes import planes_picture
from alphago.drawing.shapes import Drawing
from alphago.drawing.svg import Svg, to_svg
from alphago.env.batch import FIRST_SLOT, GameBatch, Line
from alphago.env.other_names import POSITION_NAMES, add_name_hints
from alphago.system.validation import shown


class IllegalMove(ValueError):
    """A move is not legal in a position.

    Args:
        move: the move as text.
        reason: why it is not legal.
        position: the position in which it was given.
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


class Look(NamedTuple):
    """What a picture of a position shows besides the stones.

    Attributes:
        numbers: how many of the last moves have their number on their stone.
        coordinates: whether rows and columns are labelled.
        caption: the text below the picture; None for the position's `caption`, "" for no text.
        overlay: results of a network or search to draw.
        legend: whether sentences below the picture explain the overlay.
    """

    numbers: int = 0
    coordinates: bool = True
    caption: str | None = None
    overlay: Overlay = Overlay()
    legend: bool = True


PLAIN = Look()


class Position:
    """One position of any game; immutable: `play` returns a new one.  Threads must not ask one at the same time.

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

        Args:
            movers: who played each move, +1 or -1.
        """
        self.env: Any = env
        self.batch = batch
        self.setup = setup
        self.moves = moves
        self.movers = movers
        batch.line = Line(setup, moves, movers)  # a batch that remembers moves copies it; others ignore it

    @property
    def is_even(self) -> bool:
        """Whether the game began without set-up or handicap, and no turn was skipped."""
        return not self.setup  # enough here: only Go skips turns, and it overrides this property

    @property
    def move_number(self) -> int:
        """The number of plies so far; games whose set-ups have a `move_number` include the plies before the set-up."""
        return len(self.moves)

    @cached_property
    def to_play(self) -> int:
        """The side to move: +1 the first player (Black), -1 the second."""
        return int(self.batch.to_play(FIRST_SLOT, np.empty(1, np.int8))[0])

    @cached_property
    def legal_mask(self) -> np.ndarray:
        """The legal actions, bool [action_space], pass last; all False once the game is over."""
        mask = self.batch.legal_mask(FIRST_SLOT, np.empty((1, self.env.action_space), np.bool_))[0]
        mask.flags.writeable = False
        return mask

    @cached_property
    def is_over(self) -> bool:
        """Whether the game has ended by its rules."""
        return bool(self.batch.is_over(FIRST_SLOT, np.empty(1, np.bool_))[0])

    def score(self) -> float:
        """Return Black's margin if the game ended now, komi included; in games without points, the outcome."""
        return self.to_play * float(self.batch.score(FIRST_SLOT, np.empty(1, np.float32))[0]) + 0.0  # no -0.0

    @property
    def outcome(self) -> float:
        """The outcome if the game ended now, -1 .. 1, from Black's view; in some games it depends on the margin."""
        return self.to_play * float(self.batch.outcome(FIRST_SLOT, np.empty(1, np.float32))[0]) + 0.0  # no -0.0

    @property
    def result(self) -> float:
        """The sign of `outcome`: +1 Black wins, -1 White wins, 0 a draw."""
        return float(np.sign(self.outcome))

    def planes(self) -> np.ndarray:
        """Return the network's input, float32 [planes, height, width], from the mover's view."""
        return self.batch.planes(FIRST_SLOT, np.empty((1, self.env.planes, *self.env.plane_shape), np.float32))[0]

    @property
    def captures(self) -> tuple[int, int] | None:
        """The numbers of pieces that the first player and the second have captured; None in games without captures."""
        return None

    @cached_property
    def last_cell(self) -> int | None:
        """The cell in which the piece of the last move landed or from which pieces were sown; None if there is none."""
        contents = self.contents
        if not self.moves or contents is None:
            return None
        return self.env.board_view.last_cell(self.movers[-1], self.moves[-1], contents)

    def play(self, action: int | str) -> Self:
        """Return the position after a legal move, given as an action or as text ('d3').

        Raises:
            IllegalMove: if the move is not legal.
        """
        legal_action = self.check_action(action)
        batch = self.batch.extract(0)
        batch.play(FIRST_SLOT, np.array([legal_action], np.int32))
        return type(self)(self.env, batch, self.setup, (*self.moves, legal_action), (*self.movers, self.to_play))

    def give_turn(self, player: int) -> Self:
        """Return the position in which `player`, +1 or -1, moves next: this position if it is the player's turn.

        If it is the other side's turn, Go skips this turn, for example if Black begins with several moves as a
        handicap; a skipped turn is no move.  Other games then raise ValueError.
        """
        if player == self.to_play:
            return self
        side = self.env.board_view.side
        got = f"that of {side(self.to_play)} in {self.describe()}"
        raise ValueError(f"it must be the turn of {side(player)}, got {got}")

    def after(self, moves: Iterable[int | str], movers: Iterable[int] | None = None) -> Self:
        """Return the position after legal moves, each an action or a text; raise IllegalMove for an illegal move.

        Args:
            movers: who plays each move, see `give_turn`; None for the side to move.
        """
        position = self
        if movers is None:
            for move in moves:
                position = position.play(move)
        else:
            for mover, move in zip(movers, moves, strict=True):
                position = position.give_turn(mover).play(move)
        return position

    def again_in(self, env: Any) -> "Position":
        """Return the position after the same moves in `env`, which differs from this game in komi or planes only.

        A position that `env` accepts is returned as it is.
        """
        if env.accepts(self.env):
            return self
        end: Position = env.position(**self.setup_in(env)).after(self.moves, self.movers)
        return end if self.is_over else end.give_turn(self.to_play)  # a turn may have been skipped since the last move

    def replay(self) -> Iterator[Self]:
        """Yield all positions of the game so far, from the start or set-up to this one."""
        # Only the batch of `env.position` is used: the Position may be of another class, or have a changed `setup`.
        position = type(self)(self.env, self.env.position(**self.setup).batch, self.setup)
        yield position
        for mover, action in zip(self.movers, self.moves, strict=True):
            position = position.give_turn(mover).play(action)
            yield position

    def turns(self) -> Iterator[tuple[Self, int]]:
        """Yield (position, action) for each move so far: the position before the move, where its player is to move."""
        # Not strict: `replay` also yields the last position, which no move follows.
        for before, mover, action in zip(self.replay(), self.movers, self.moves, strict=False):
            yield before.give_turn(mover), action

    def positions_to_move(self) -> list[Self]:
        """Return the positions of `turns`, one before each move, and this position last."""
        return [*(before for before, _ in self.turns()), self]

    def check_action(self, action: int | str) -> int:
        """Return the action of a legal move that is given as an action or as a text.

        Raises:
            IllegalMove: with the reason, if the move is not legal.
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
        """Return the keywords of `env.position` for the start of this game; Go adds the komi if that of `env` differs.

        Args:
            env: a game that differs from this one in komi or planes only, as in `again_in`.
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
        return self.batch.text(0) or f"<{self.describe()}>"

    def __repr__(self) -> str:
        """Return the same text as `str`, so that Python prompts show the board."""
        return str(self)

    # --- pictures ---

    @property
    def caption(self) -> str:
        """A line of text about the position: the number of moves, and the side to move or the result."""
        return f"move {self.move_number}: {self.state_text}"

    @property
    def state_text(self) -> str:
        """The side to move, or the result of the game, as text."""
        if self.is_over:
            return f"game over, {self.env.board_view.side(self.result)} wins" if self.result else "game over, a draw"
        return f"{self.env.board_view.side(self.to_play)} to play"

    def svg(
        self,
        *,
        numbers: bool | int = False,
        coordinates: bool = True,
        caption: str | None = None,
        priors: object = None,
        visits: object = None,
        q: object = None,
        ownership: object = None,
        line: str | Iterable[int | str] = (),
        show: str | None = None,
        size: float | None = None,
    ) -> Svg:
        """Return a picture of the position as SVG, which a notebook shows and `.save(path)` writes to a file.

        It can be read without colours: Black's stones are filled, the last stone has a ring, a square marks a point
        that ko forbids. Games that describe no board are drawn as the planes that a network receives.

        Args:
            numbers: True to write the number of each move on its stone, n to number the last n moves only.
            coordinates: whether rows and columns are named.
            caption: the text below; None for the number of moves and whose turn it is, "" for no text.
            priors: the policy of a network, [action_space], as `net(position)[0]`: discs, darker for more.
            visits: the visits of each action in a search, [action_space], as `analyze(position, net,
                readouts).visits[0]`.
            q: values for the player to move, -1 .. 1, [action_space], as `Analysis.q[0]`.
            ownership: the expected owner of each point, [height, width], 1 Black to -1 White, as
                `net.forecast(position).ownership`.
            line: the expected moves, as actions or texts ("D4 E5"), drawn with numbers from 1 and without discs.
            show: what is written on the discs: "priors", "visits", "q" (as a win rate), "q+priors" or "difference"
                (from the most visited move's win rate); None for q, else priors, else visits.
            size: the width in pixels.

        Raises:
            ValueError: for arrays of another shape.
            IllegalMove: for a line that cannot be played.
        """
        given = {"priors": priors, "visits": visits, "q": q, "ownership": ownership, "show": show}
        overlay = make_overlay(self.env.action_space, self.env.plane_shape, **given)
        if line:
            overlay = overlay._replace(line=self.line_points(line))
        numbered_moves = len(self.moves) if numbers is True else int(numbers)
        look = Look(numbers=numbered_moves, coordinates=coordinates, caption=caption, overlay=overlay)
        return to_svg(self.drawing(look), size)

    def _repr_svg_(self) -> str:
        return str(self.svg())

    def drawing(self, look: Look = PLAIN) -> Drawing:
        """Return the drawing that `svg` converts to SVG text.

        It shows the board as `GameEnv.board_view` describes it, or the planes if this describes no cells.
        """
        if self.env.board_view.cells:
            return self.board_drawing(self.env.board_view, look)
        return planes_picture(self.planes(), self.texts_below(look), f"{self.env.name}: {self.caption}")

    def board_drawing(self, view: BoardView, look: Look) -> Drawing:
        """Return the drawing of a board with cells."""
        has_numbers = look.numbers and view.surface != "houses"  # seeds in a house come from several moves
        picture = Board(
            view if look.coordinates else replace(view, labels=()),
            stones=self.contents or (),
            last=self.last_cell,
            forbidden=self.ko_points,
            numbers=move_numbers(list(self.replay()), look.numbers) if has_numbers else {},
            texts=self.texts_below(look),
            label=f"{view.title}, {self.caption}",
            captures=self.captures,
        )
        return board_picture(picture, look.overlay, self.points_of_actions.tolist())

    @property
    def contents(self) -> Sequence[int] | None:
        """What is in each cell of `GameEnv.board_view`: 1 the first player's stone, -1 the second's, 0 none.

        In houses it is the number of seeds. None in a game without cells.
        """
        return None

    @property
    def ko_points(self) -> Sequence[int]:
        """The cells where only a rule against repetition forbids a move; pictures mark them."""
        return ()

    def texts_below(self, look: Look) -> list[str]:
        """Return the sentences below a picture: the caption, unless it is empty, and the legend of the overlay."""
        text = self.caption if look.caption is None else look.caption
        explained = legend(look.overlay, self.points_of_actions.tolist(), self.env.to_text) if look.legend else []
        return [text, *explained] if text else explained

    def line_points(self, line: str | Iterable[int | str]) -> dict[int, tuple[int, int]]:
        """Return the moves of a line of play from this position on, as {number: (point, colour)}, without passes.

        Numbers begin with 1, and passes are counted.  The colour is 1 for Black, -1 for White.
        """
        position: Any = self
        points: dict[int, tuple[int, int]] = {}
        moves = line.split() if isinstance(line, str) else line
        for number, move in enumerate(moves, 1):
            action = position.check_action(move)
            point = int(position.points_of_actions[action])
            if point >= 0:
                points[number] = point, position.to_play
            position = position.play(action)
        return points

    @cached_property
    def points_of_actions(self) -> np.ndarray:
        """The cell in which the stone of the side to move lands by each action, int64 [action_space].

        It is -1 for an action without a cell, such as a pass, and for an action whose cells are full.
        """
        view = self.env.board_view
        if not view.cells:
            return np.full(self.env.action_space, -1, np.int64)
        return view.landing_cells(self.to_play, np.array(self.contents))


add_name_hints(Position, POSITION_NAMES)


def move_numbers(positions: Sequence[Any], count: int) -> dict[int, int]:
    """Return the numbers of the last `count` moves for a drawing, as {point: number}, in the order of the numbers.

    Passes are counted, but have no point.
    If several moves were played on one point, the point gets the number of the latest.

    Args:
        positions: all positions of the game, from its start.
    """
    numbers: dict[int, int] = {}
    for number, (before, after) in enumerate(pairwise(positions), 1):
        point = int(before.points_of_actions[after.moves[-1]])  # -1 for a pass
        if point >= 0 and number >= len(positions) - count:
            numbers.pop(point, None)  # so that the point comes last
            numbers[point] = number
    return numbers
