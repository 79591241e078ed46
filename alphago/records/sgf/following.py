"""Follow the plays of stretches up to the first illegal one, each play once however many set-ups change nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_lines
from alphago.env.kernels import go_row as layout
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.stretches import Stretch


class Followed:
    """The legal plies of a stretch in one game, and the fault that ended them.

    done: number of legal plays; passes after the end are legal, but no plies.  fault: None if all plays are legal.
    """

    def __init__(self, stretch: Stretch, env: GoEnv, number: int | None) -> None:
        """Follow a stretch in the game `env`.

        number: number of the game in its file, for the fault.
        """
        self.stretch, self.env, self.number = stretch, env, number
        self.fault: Fault | None = None
        self.done = 0  # plays of the stretch that are followed
        self.batch = env.new_batch(1)
        stones = stretch.stones.reshape(env.N, env.N) if stretch.stones.any() else None
        try:
            self.batch.reset(np.zeros(1, np.int64), stones=stones, to_play=stretch.to_play or 1)
        except ValueError as error:
            self.fault = Fault(kinds.DEAD, str(error), number)
            return
        self.go_on()

    def go_on(self) -> None:
        """Follow the plays that were appended to the stretch."""
        stretch, done = self.stretch, self.done
        colours, actions = (np.array(each[done:], np.int32) for each in (stretch.colours, stretch.actions))
        count = go_lines.follow(self.batch.rows[0], colours, actions)
        self.done += count
        if count < len(actions):
            position = GoPosition(self.env, self.batch, {})
            self.fault = replace(illegal(stretch, position, self.done, len(self)), game=self.number)

    def __len__(self) -> int:
        return int(self.batch.rows[0, layout.PLY])

    @property
    def plies(self) -> tuple[int, ...]:
        """The actions of the plies."""
        return tuple(self.stretch.actions[: len(self)])

    @property
    def movers(self) -> tuple[int, ...]:
        """Who played each ply, +1 Black, -1 White."""
        return tuple(self.stretch.colours[: len(self)])

    @property
    def node_of(self) -> list[int]:
        """The number of each ply's node."""
        return self.stretch.nodes[: len(self)]

    def board(self) -> np.ndarray:
        """Return the board after the last ply, int8 [N * N]."""
        board = np.zeros(self.env.N * self.env.N, np.int8)
        kernels.board(self.batch.rows[0], board)
        return board


class PlayedStretch:
    """Stretches between which no set-up changes anything, followed as one.

    stretch: their plays.  followed: the legal ones.
    level: index in `games` of the game in which they are followed; it only rises.
    """

    def __init__(self, stretch: Stretch, games: Sequence[Callable[[int], GoEnv]], number: int | None) -> None:
        """Follow a stretch.

        games: functions of a number of plays that return a game long enough for them.  Their rules are tried in turn:
            the later ones only if those before forbid a repetition or suicide.
        number: number of the game in its file, for the fault.
        """
        self.stretch, self.games, self.number = stretch, games, number
        self.level = 0
        self.followed = self.follow(0)
        self.try_other_rules()

    def __len__(self) -> int:
        return len(self.followed)

    def follow(self, level: int) -> Followed:
        """Follow all plays by the rules of `games[level]`."""
        return Followed(self.stretch, self.games[level](len(self.stretch.actions)), self.number)

    def join(self, stretch: Stretch) -> None:
        """Append the plays of the next stretch, before which a set-up changed nothing."""
        self.stretch.colours += stretch.colours
        self.stretch.actions += stretch.actions
        self.stretch.nodes += stretch.nodes
        if self.games[self.level](len(self.stretch.actions)).max_moves > self.followed.env.max_moves:
            self.followed = self.follow(self.level)  # from the start, in a longer game
        else:
            self.followed.go_on()
        self.try_other_rules()

    def try_other_rules(self) -> None:
        """If the rules forbid a repetition or suicide, go over to those of the later ones that allow the most plays."""
        fault = self.followed.fault
        if fault is not None and fault.kind in (kinds.REPETITION, kinds.SUICIDE):
            for level in range(self.level + 1, len(self.games)):
                other = self.follow(level)
                if len(other) > len(self):
                    self.followed, self.level = other, level


def kind_of(position: GoPosition, action: int) -> str:
    """Return what forbids an illegal action of a game that goes on."""
    if action == position.env.pass_action:
        return kinds.REPETITION  # of the board, in a game that forbids early passes
    if position.board.ravel()[action]:
        return kinds.OCCUPIED
    return kinds.REPETITION if position.repeats(action) else kinds.SUICIDE


def illegal(stretch: Stretch, position: GoPosition, play: int, plies: int) -> Fault:
    """Return the fault for the first illegal play of a stretch.

    position: the position before that play.  play: its index in the stretch.  plies: the number of moves before it.
    """
    env, action, colour = position.env, stretch.actions[play], stretch.colours[play]
    if position.is_over:
        last = env.max_moves
        kind = kinds.ENDED
        why = f"the game ends after move {last}" if plies == last else "two passes have ended the game"
    else:
        kind = kind_of(position, action)
        why = position.why_illegal(action)
    move = f"{PLAYER_NAMES[colour]} {env.to_text(action)}"
    return Fault(kind, f"move {plies + 1}, {move}, is illegal: {why}", None, stretch.nodes[play], plies + 1)
