"""Stretches: the plays of a line between two nodes that set up stones, followed up to the first illegal play.

A node that sets up stones after the first play divides a line of play into stretches.  A set-up that changes nothing
does not end one: its plays go on from the board that has been followed so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from alphago.env.board import StonesEnv
from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import ENDLESS, Rules
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_lines
from alphago.env.kernels import go_row as layout
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.values import read_rectangle

STONES = {"AB": 1, "AW": -1, "AE": 0}
USUAL_LENGTH = 1022  # ply limit of the game that is used unless a game is longer
KEPT = 2  # value of a point that a later set-up does not change, among the values of STONES


@dataclass
class Stretch:
    """The plays from one node that sets up stones to the next.

    Attributes:
        stones: int8 [N * N], the board before the first play.
        to_play: the side of the first play, +1 Black, -1 White; 0 if unknown.
        colours, actions, nodes: for each play its colour, its action, and the number of its node in the line.
        begins: the number of the node that sets up the stones; 0 for the first stretch.
    """

    stones: np.ndarray
    to_play: int
    colours: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    begins: int = 0

    def add(self, colour: int, action: int, node: int) -> None:
        self.colours.append(colour)
        self.actions.append(action)
        self.nodes.append(node)


def setup_stones(env: StonesEnv, node: Node) -> np.ndarray | None:
    """Return the stones that a node sets up, int8 [height * width]; None if it sets up nothing.

    1 Black, -1 White, 0 removed, KEPT at all other points.

    Raises:
        ValueError: for a point off the board.
    """
    stones: np.ndarray | None = None
    for name, sign in STONES.items():
        for value in dict.fromkeys(node.get(name, ())):  # without repetitions, of which a file may have many
            if value:
                stones = np.full(env.plane_shape, KEPT, np.int8) if stones is None else stones
                stones[read_rectangle(env, value)] = sign
    return None if stones is None else stones.ravel()


@lru_cache(maxsize=256)
def cached_board(size: int, rules: Rules, cap: int) -> GoEnv:
    return GoEnv(size, ko=rules.ko, suicide=rules.suicide, max_moves=cap)


def make_board(size: int, rules: Rules, plays: int = 0) -> GoEnv:
    """Return a game with these rules whose ply limit allows `plays` plays.

    Games are cached, so only few limits are used: USUAL_LENGTH, powers of two, and the largest possible limit.
    """
    cap = USUAL_LENGTH
    while cap < plays + 1:
        cap = 1 << cap.bit_length()  # the next power of two
    return cached_board(size, rules, min(cap, ENDLESS - 1))


class Followed:
    """The legal plays of a stretch in one game, and the fault of the first illegal play.

    Attributes:
        legal_plays: number of legal plays at the beginning of the stretch.
        fault: the fault of the next play; None if all plays are legal.
    """

    def __init__(self, stretch: Stretch, env: GoEnv, number: int | None) -> None:
        """Follow a stretch in the game `env`.

        Args:
            number: number of the game in its file, for the fault.
        """
        self.stretch, self.env, self.number = stretch, env, number
        self.fault: Fault | None = None
        self.legal_plays = 0
        self.batch = env.new_batch(1)
        stones = stretch.stones.reshape(env.N, env.N) if stretch.stones.any() else None
        try:
            self.batch.reset(np.zeros(1, np.int64), stones=stones, to_play=stretch.to_play or 1)  # unknown: Black
        except ValueError as error:
            self.fault = Fault(kinds.DEAD, str(error), number)
            return
        self.go_on()

    def go_on(self) -> None:
        """Follow the plays that were appended to the stretch, up to the first illegal one."""
        stretch = self.stretch
        colours = np.array(stretch.colours[self.legal_plays :], np.int32)
        actions = np.array(stretch.actions[self.legal_plays :], np.int32)
        count = go_lines.follow(self.batch.rows[0], colours, actions)
        self.legal_plays += count
        if count < len(actions):
            position = GoPosition(self.env, self.batch, {})
            self.fault = replace(illegal(stretch, position, self.legal_plays, self.ply_count), game=self.number)

    @property
    def ply_count(self) -> int:
        """The number of plies: of the legal plays without passes after the end of the game."""
        return int(self.batch.rows[0, layout.PLY])

    @property
    def plies(self) -> tuple[int, ...]:
        """The actions of the plies."""
        return tuple(self.stretch.actions[: self.ply_count])

    @property
    def movers(self) -> tuple[int, ...]:
        """Who played each ply, +1 Black, -1 White."""
        return tuple(self.stretch.colours[: self.ply_count])

    @property
    def node_of(self) -> list[int]:
        """The number of each ply's node."""
        return self.stretch.nodes[: self.ply_count]

    def board(self) -> np.ndarray:
        """Return the board after the last ply, int8 [N * N]."""
        board = np.zeros(self.env.N * self.env.N, np.int8)
        kernels.board(self.batch.rows[0], board)
        return board


class PlayedStretch:
    """Consecutive stretches, between which no set-up changes anything, followed as one stretch.

    Args:
        stretch: the plays of all of them.

    Attributes:
        followed: the legal plays.
        level: index in `games` of the game in which the plays are followed; it only rises.
    """

    def __init__(self, stretch: Stretch, games: Sequence[Callable[[int], GoEnv]], number: int | None) -> None:
        """Follow a stretch.

        Args:
            games: functions that take a number of plays and return a game that is long enough.  The functions differ in
                the rules of their games.  The rules of the first are used, those of the others only if the rules before
                them forbid a repetition or suicide.
            number: number of the game in its file, for the fault.
        """
        self.stretch, self.games, self.number = stretch, games, number
        self.level = 0
        self.followed = self.follow(0)
        self.try_other_rules()

    def follow(self, level: int) -> Followed:
        """Follow all plays by the rules of `games[level]`."""
        return Followed(self.stretch, self.games[level](len(self.stretch.actions)), self.number)

    def join(self, stretch: Stretch) -> None:
        """Append the plays of the next stretch, whose set-up changed nothing."""
        self.stretch.colours += stretch.colours
        self.stretch.actions += stretch.actions
        self.stretch.nodes += stretch.nodes
        game = self.games[self.level](len(self.stretch.actions))
        if game.max_moves > self.followed.env.max_moves:
            self.followed = self.follow(self.level)  # from the start, since it needs a longer game
        else:
            self.followed.go_on()
        self.try_other_rules()

    def try_other_rules(self) -> None:
        """If the rules forbid a repetition or suicide, use the rules of the later game that allows the most plies."""
        fault = self.followed.fault
        if fault is None or fault.kind not in (kinds.REPETITION, kinds.SUICIDE):
            return
        for level in range(self.level + 1, len(self.games)):
            other = self.follow(level)
            if other.ply_count > self.followed.ply_count:
                self.followed, self.level = other, level


def fault_kind(position: GoPosition, action: int) -> str:
    """Return the kind of fault of an illegal action; position: the position before it, where the game is not over."""
    if action == position.env.pass_action:
        return kinds.REPETITION  # a pass repeats the board, in a game that forbids early passes
    if position.board.ravel()[action]:
        return kinds.OCCUPIED
    return kinds.REPETITION if position.repeats(action) else kinds.SUICIDE


def illegal(stretch: Stretch, position: GoPosition, play: int, plies: int) -> Fault:
    """Return the fault for the first illegal play of a stretch; the caller sets its `game`.

    Args:
        position: the position before the play.
        play: the play's index in the stretch.
        plies: number of moves before it.
    """
    env, action, colour = position.env, stretch.actions[play], stretch.colours[play]
    if position.is_over:
        last = env.max_moves
        kind = kinds.ENDED
        why = f"the game ends after move {last}" if plies == last else "two passes have ended the game"
    else:
        kind = fault_kind(position, action)
        why = position.why_illegal(action)
    move = f"{PLAYER_NAMES[colour]} {env.to_text(action)}"
    text = f"move {plies + 1}, {move}, is illegal: {why}"
    return Fault(kind, text, node=stretch.nodes[play], move=plies + 1)
