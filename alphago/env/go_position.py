"""One position of Go, to read, print and play on."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self, TypeGuard

import numpy as np

from alphago.env.board import StonesPosition, check_player
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.go_rules import list_points
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_legal as legal
from alphago.env.kernels import go_lines
from alphago.env.kernels import go_row as layout
from alphago.env.position import Position

INTEGERS = {int, np.int16, np.int32, np.int64}
LEAST_AT_ONCE = 16  # from so many moves on, it pays to load the kernel that plays them in one call

# The reason for an illegal repetition, by the ko rule.
REPETITION = {
    layout.SIMPLE: "ko, the board would be the one before the last move",
    layout.POSITIONAL: "superko, the board would repeat an earlier one",
    layout.SITUATIONAL: "superko, the board would repeat an earlier one with the same side to move",
}


class GoPosition(StonesPosition):
    """A Go position to read, print and play on.

    `score()` is Black's area minus White's area and komi (Tromp and Taylor: every stone on the board counts as alive);
    `result` is its sign.
    """

    @property
    def row(self) -> np.ndarray:
        """The packed row, int32; see `alphago.env.kernels.go_row`."""
        return self.batch.rows[0]  # type: ignore[attr-defined]

    @cached_property
    def board(self) -> np.ndarray:
        """The stones, int8 [N, N]: 1 Black, -1 White, 0 empty; row 0 at the top."""
        stones = np.zeros(self.env.N * self.env.N, np.int8)
        kernels.board(self.row, stones)
        stones.flags.writeable = False
        return stones.reshape(self.env.N, self.env.N)

    @property
    def komi(self) -> float:
        """White's points before the game; a set-up may have another komi than `env`."""
        return float(self.row[layout.KOMI2]) / 2

    @property
    def move_number(self) -> int:
        """The number of plies so far, including the plies before a set-up (`move_number` of `GoEnv.position`)."""
        return int(self.row[layout.PLY])

    @cached_property
    def captures(self) -> tuple[int, int]:
        """The numbers of stones that Black and White have captured, as (Black's, White's).

        Captures before a set-up (`captures` of `GoEnv.position`) are included. Stones that a side removes by suicide
        count as captured by the other side.
        """
        turns = zip(self.movers, self.moves, strict=True)
        players_of_stones = [mover for mover, action in turns if action != self.env.pass_action]

        def lost_stones(colour: str, player: int) -> int:
            """Return how many stones a side has lost: those set up and played that are not on the board any more.

            Args:
                colour: the keyword of its stones in the set-up.
                player: the same side as +1 or -1.
            """
            placed = len(list_points(self.setup.get(colour, ()))) + players_of_stones.count(player)
            return placed - int((self.board == player).sum())

        black_before, white_before = self.setup.get("captures", (0, 0))
        return black_before + lost_stones("white", -1), white_before + lost_stones("black", 1)

    @cached_property
    def ko_points(self) -> tuple[int, ...]:
        """The empty points, as actions, where only the ko rule forbids the side to move to play; suicides left out."""
        if self.is_over:
            return ()
        illegal_and_empty = np.flatnonzero((self.board.ravel() == 0) & ~self.legal_mask[:-1])
        return tuple(filter(self.repeats, illegal_and_empty.tolist()))

    @property
    def is_even(self) -> bool:
        """Whether the game began on the empty board, and the sides have moved in turn since, Black first."""
        began_empty = not self.setup.keys() - {"komi"}  # without stones, history or a side to move
        no_turn_skipped = all(mover == (-1) ** ply for ply, mover in enumerate((*self.movers, self.to_play)))
        return began_empty and no_turn_skipped

    def give_turn(self, player: int) -> Self:
        """Return the position in which `player`, +1 or -1, moves next, and in which passes have not ended the game.

        If `player` is to move and the game goes on, this position itself is returned.  Otherwise the count of passes is
        cleared, and if it is the other side's turn, this turn is skipped.
        """
        if player == self.to_play and not self.is_over:
            return self
        batch = self.batch.extract(0)
        kernels.give_turn(batch.rows[0], layout.BLACK if check_player(player) == 1 else layout.WHITE)  # type: ignore[attr-defined]
        return type(self)(self.env, batch, self.setup, self.moves, self.movers)

    def after(self, moves: Iterable[int | str], movers: Iterable[int] | None = None) -> Self:
        """Return the position after legal moves, as `Position.after` does, but of many actions ten times as fast."""
        given: list[Any] = list(moves)
        players = [self.to_play * (-1) ** ply for ply in range(len(given))] if movers is None else list(movers)
        is_plain = {*map(type, given)} <= INTEGERS and {*players} <= {1, -1} and len(given) == len(players)
        if is_plain and len(given) >= LEAST_AT_ONCE and min(given) >= 0 and max(given) < self.env.action_space:
            actions, colours = np.array([given, players], np.int32)
            history = (*self.moves, *actions.tolist()), (*self.movers, *colours.tolist())
            position = type(self)(self.env, self.batch.extract(0), self.setup, *history)
            followed = go_lines.follow(position.row, colours, actions)  # plays them in the row of the copy
            if len(given) == followed == position.move_number - self.move_number:  # no pass came after the end
                return position
        return super().after(given, None if movers is None else players)  # raises for an illegal move, with the reason

    @property
    def caption(self) -> str:
        """A line of text about the position, with komi and captures."""
        last_was_pass = bool(self.moves) and self.last_point is None
        passed = ", after a pass" if last_was_pass and not self.is_over else ""
        black, white = self.captures
        captured = f"; captured by Black {black}, by White {white}" if black or white else ""
        return f"{super().caption}{passed}; komi {self.komi:g}{captured}"

    @property
    def marks(self) -> dict[int, str]:
        """The signs that `str` draws on empty points, as {point: sign}: star points '+', points forbidden by ko '*'."""
        return {**dict.fromkeys(self.env.board_view.stars, "+"), **dict.fromkeys(self.ko_points, "*")}

    @cached_property
    def pass_alive(self) -> np.ndarray:
        """The pass-alive points, int8 [N, N]: 1 Black's, -1 White's, 0 all others (see `GoBatch.pass_alive`)."""
        out = np.empty((1, self.env.N**2), np.int8)
        self.batch.pass_alive(np.zeros(1, np.int64), out)  # type: ignore[attr-defined]
        points = out.reshape(self.env.N, self.env.N) * np.int8(self.to_play)  # from the mover's view to Black's
        points.flags.writeable = False
        return points

    def setup_in(self, env: GameEnv) -> dict[str, object]:
        """Return the keywords of `env.position` for the start of this game, with its komi if `env` has another one."""
        has_same_komi = getattr(env, "komi", None) == self.komi
        return dict(self.setup) if has_same_komi else {**self.setup, "komi": self.komi}

    def repeats(self, action: int) -> bool:
        """Return whether only the ko rule forbids an illegal move on an empty point: without it the move is allowed."""
        row = self.row
        return bool(legal.allowed(row, layout.point_of(row, action), int(row[layout.TO_PLAY]), check_repetition=False))

    def why_illegal(self, action: int) -> str:
        """Return why an action is illegal in a game that is not over: early pass, stone, repetition or suicide."""
        row = self.row
        if action == self.env.pass_action:
            return f"passing is allowed from move {row[layout.FIRST_PASS] + 1} on"  # plies count from 0, moves from 1
        if self.board.ravel()[action]:
            return super().why_illegal(action)
        if self.repeats(action):
            return REPETITION[int(row[layout.KO_RULE])]
        # The move is a suicide: `repeats` is False for every suicide, also for one that is illegal by the ko rule.
        return "suicide that repeats a board" if row[layout.SUICIDE] else "suicide"

    def moves_text(self) -> str:
        """Return the moves so far as text, each with its player, such as "B D4, W C3"."""
        turns = zip(self.movers, self.moves, strict=True)
        return ", ".join(f"{PLAYER_NAMES[mover][0]} {self.env.to_text(action)}" for mover, action in turns)

    def __str__(self) -> str:
        """Return the board with coordinates, komi and captures.

        X is Black, O White, + a star point, * a point that ko forbids; the last stone is in brackets.
        """
        passed = ", last move pass" if self.moves and self.last_point is None else ""
        black, white = self.captures
        ko = ", * forbidden by ko" if self.ko_points else ""
        return f"{super().__str__()}{passed}, komi {self.komi:g}\n   captures: X {black}, O {white}{ko}"


def is_go_position(position: Position) -> TypeGuard[GoPosition]:
    """Return whether a position is a position of Go."""
    return isinstance(position, GoPosition)
