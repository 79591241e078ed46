"""The game of a GTP engine, in which either colour may play at any time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import Rules
from alphago.records.sgf import SgfGame


class LoadedGame(NamedTuple):
    """The game of a file, and the komi and rules with which it was loaded."""

    game: SgfGame
    komi: float
    rules: Rules


class GtpGame:
    """The controller's plays in order, and the position to which they lead.

    A colour may play twice in a row: the other colour's turn is then skipped, without a pass.  Play may go on after two
    passes: the game is then not over.  When a game has as many moves as the environment allows, it goes on from a new
    position with the stones on the board.

    Args:
        env: the game.
        komi: White's points.
        black, white: points of the stones that are set up, as actions.
        first: the colour to move first, +1 Black, -1 White.
    """

    def __init__(
        self, env: GoEnv, komi: float, black: Sequence[int] = (), white: Sequence[int] = (), first: int = 1
    ) -> None:
        self.env, self.komi = env, komi
        self.loaded: LoadedGame | None = None  # set by `loadsgf`, for `printsgf`
        self.plays: list[tuple[int, int]] = []  # (colour, action)
        self.next_colour = 0  # the colour that moves next, if a file says so; else 0
        self.set_up(black, white, first)

    def set_up(self, black: Sequence[int], white: Sequence[int], first: int) -> None:
        """Begin a game with stones on the board; raise ValueError for an illegal board.

        Args:
            black, white: the points of the stones, as actions.
            first: the colour to move, +1 Black, -1 White.
        """
        # A colour without stones is left out, so that a usual game has no set-up, see `start_position`.
        stones = {"black": tuple(sorted(black)), "white": tuple(sorted(white))}
        self.stones = {colour: points for colour, points in stones.items() if points}
        self.first = first
        self.restart([])

    def restart(self, plays: list[tuple[int, int]]) -> None:
        """Go back to the first position, with the set-up stones and the present komi, and play `plays` there.

        Raises:
            IllegalMove: for an illegal move.
        """
        next_colour = self.next_colour if plays is self.plays else 0  # after all plays it is as before
        self.plays, self.position = [], self.start_position(self.first)
        for colour, action in plays:
            self.play(colour, action)
        self.next_colour = next_colour

    def start_position(self, to_play: int, **setup: Any) -> GoPosition:
        """Return a start position with a colour to play and the game's komi.

        Args:
            setup: keywords of `GoEnv.position` for its stones; without keywords it has the game's set-up stones.
        """
        setup = setup or dict(self.stones)
        # Only what differs from a usual game is named, so that a usual game has no set-up.
        if to_play != 1:
            setup["to_play"] = "white"
        if self.komi != self.env.komi:
            setup["komi"] = self.komi
        return self.env.position(**setup)

    def play(self, colour: int, action: int) -> None:
        """Add a play; raise IllegalMove, and change nothing, if it is illegal.

        A pass after the end of the game is added to the plays, but leaves the position as it is.
        """
        if action != self.env.pass_action or not self.position.is_over:
            self.position = self.position_for(colour).play(action)
        self.plays.append((colour, action))
        self.next_colour = 0  # the colour to move follows from `plays` again, see `to_play`

    def position_for(self, colour: int) -> GoPosition:
        """Return the current position with this colour to move, as one in which the game goes on."""
        position = self.position.give_turn(colour)
        # After two passes `give_turn` lets the game go on, but not when it has as many moves as the environment allows.
        if position.is_over:
            return self.start_position(colour, board=position.board, captures=position.captures)
        return position

    @property
    def to_play(self) -> int:
        """The colour that moves next: the one that the loaded file names, or the opponent of the last play's colour."""
        return self.next_colour or (-self.plays[-1][0] if self.plays else self.first)

    @property
    def has_handicap(self) -> bool:
        """Whether Black has several stones before White's first one, set up or played."""
        colours = [1] * len(self.stones.get("black", ())) + [colour for colour, _ in self.plays]
        return "white" not in self.stones and colours[:2] == [1, 1]  # the first two show that there are several

    @property
    def is_over(self) -> bool:
        """Whether the last two plays were passes, one of each colour."""
        return {colour for colour, action in self.plays[-2:] if action == self.env.pass_action} == {1, -1}


def analysed_game(env: GoEnv, size: int, rules: Rules) -> GoEnv:
    """Return the game `env` with another board size and rules, and without the options that only help self-play.

    In the returned game `turns` is None, `first_pass` is 0, and `max_moves` is at least 3 size².
    """
    resized = env if size == env.N else env.resized(size)
    max_moves = max(resized.max_moves, 3 * size * size)
    return resized.replace(max_moves=max_moves, turns=None, first_pass=0, **rules._asdict())
