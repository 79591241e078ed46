"""Stretches: the plays of a line between two nodes that set up stones, followed up to the first illegal play.

A play is a move or a pass as the file has it.  A ply is a play that is legal and counts as a move: passes after the end
of the game do not.  A node that sets up stones after the first play divides a line of play into stretches.  If the
set-up changes nothing, the stretches before and after it are joined.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from alphago.env.board import StonesEnv
from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import ENDLESS, Rules
from alphago.env.kernels import go_lines
from alphago.env.kernels import go_row as layout
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.values import read_rectangle

STONES = {"AB": 1, "AW": -1, "AE": 0}  # what each set-up property puts on a point; AE empties it
USUAL_LENGTH = 1022  # ply limit (`max_moves`) of the boards that are used unless a game is longer
cached_board = lru_cache(maxsize=256)(GoEnv)  # equal arguments give the same game
KEPT = 2  # beside the values of STONES: the set-up does not change the point


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
        """Append a play; node: the number of its node in the line."""
        self.colours.append(colour)
        self.actions.append(action)
        self.nodes.append(node)


def setup_stones(env: StonesEnv, node: Node) -> np.ndarray | None:
    """Return what a node sets up, int8 [height * width]; None if it sets up nothing.

    The value of a point is 1 for Black, -1 for White, 0 for a removed stone, KEPT for a point that is not named.

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


def make_board(size: int, rules: Rules, plays: int = 0) -> GoEnv:
    """Return a game with these rules that allows at least `plays` plays.

    Games are cached, so only few limits are used: USUAL_LENGTH, powers of two, and the largest possible limit.
    """
    cap = USUAL_LENGTH if plays < USUAL_LENGTH else 1 << plays.bit_length()  # a power of two above `plays`
    return cached_board(size, ko=rules.ko, suicide=rules.suicide, max_moves=min(cap, ENDLESS - 1))


class PlayedStretch:
    """A stretch that is played on a board up to its first illegal play.

    Further stretches can be appended with `join`, if no set-up in between changes the board.

    Args:
        stretch: it is not changed.
        env: the game, which must be long enough for the plays of all stretches.

    Attributes:
        stretch: the stretch with the plays of all that were joined.
        fault: the fault of the first illegal play, or of the set-up; None if there is none.
    """

    def __init__(self, stretch: Stretch, env: GoEnv) -> None:
        self.stretch = replace(stretch, colours=[], actions=[], nodes=[])  # `join` adds the plays, legal or not
        self.env = env
        self.fault: Fault | None = None
        self.batch = env.new_batch(1)  # one game, in slot 0
        stones = stretch.stones.reshape(env.N, env.N) if stretch.stones.any() else None
        try:
            self.batch.reset(np.zeros(1, np.int64), stones=stones, to_play=stretch.to_play or 1)  # unknown: Black
        except ValueError as error:
            self.fault = Fault(kinds.DEAD, str(error))
            self.stretch = stretch  # with its plays: they show that moves follow the set-up, though none can be played
            return
        self.join(stretch)

    def join(self, stretch: Stretch) -> None:
        """Append the plays of a stretch, and follow them up to the first illegal one.

        The plays that are already there must all be legal.
        """
        before = len(self.stretch.actions)
        self.stretch.colours += stretch.colours
        self.stretch.actions += stretch.actions
        self.stretch.nodes += stretch.nodes
        colours, actions = np.array(stretch.colours, np.int32), np.array(stretch.actions, np.int32)
        count = go_lines.follow(self.batch.rows[0], colours, actions)  # plays them in this row, and says how many
        if count < len(actions):
            self.fault = self.illegal_play(before + count)

    @property
    def ply_count(self) -> int:
        """The number of plies: the legal plays without passes after the end of the game."""
        return int(self.batch.rows[0, layout.PLY])

    def legal_part(self) -> Stretch:
        """Return the stretch cut to its plies."""
        whole, end = self.stretch, self.ply_count
        return replace(whole, colours=whole.colours[:end], actions=whole.actions[:end], nodes=whole.nodes[:end])

    def board(self) -> np.ndarray:
        """Return the board after the last ply, int8 [N * N]."""
        return GoPosition(self.env, self.batch, setup={}).board.ravel()

    def illegal_play(self, index: int) -> Fault:
        """Return the fault of the play with this index, the first illegal one."""
        # An empty `setup` does no harm here: `batch` has the board, and what is illegal on it.
        position, plies = GoPosition(self.env, self.batch, setup={}), self.ply_count
        action, colour = self.stretch.actions[index], self.stretch.colours[index]
        if position.is_over:
            kind, last = kinds.ENDED, self.env.max_moves
            why = f"the game ends after move {last}" if plies == last else "two passes have ended the game"
        else:
            kind, why = fault_kind(position, action), position.why_illegal(action)
        move = f"{PLAYER_NAMES[colour]} {self.env.to_text(action)}"
        text = f"move {plies + 1}, {move}, is illegal: {why}"
        return Fault(kind, text, node=self.stretch.nodes[index], move=plies + 1)


def follow(stretches: Sequence[Stretch], env: GoEnv) -> list[PlayedStretch]:
    """Play a line's stretches up to the first fault; return them, joined where a set-up changes nothing.

    Args:
        stretches: those of the line, in order.
        env: the game, which must be long enough for all plays.
    """
    followed: list[PlayedStretch] = []
    for stretch in stretches:
        if followed:
            board = followed[-1].board()
            stretch = replace(stretch, stones=np.where(stretch.stones == KEPT, board, stretch.stones).astype(np.int8))
        if followed and np.array_equal(stretch.stones, board):
            followed[-1].join(stretch)
        else:
            followed.append(PlayedStretch(stretch, env))
        if followed[-1].fault is not None:
            break
    return followed


def play_by_rules(
    stretches: Sequence[Stretch], tried: Sequence[Rules], size: int, required_game: GoEnv | None = None
) -> tuple[list[PlayedStretch], PlayedStretch, Rules | None]:
    """Follow a line's stretches by the rules under which its longest stretch has most plies.

    Rules are tried in order, up to the first under which no repetition and no suicide is a fault.  If the longest
    stretch has equally many plies under several rules, the first of these are used.

    Args:
        stretches: those of the line, in order.
        tried: the rules in the order in which they are tried.
        size: the board's size.
        required_game: the game in which the line is followed; None for a game with the rules that are tried.  With a
            required game all rules tried have the same result, and the first result is returned.

    Returns:
        All stretches, as `follow` returns them; the one of them with the most plies (the first of several); and the
        rules, or None if they are the first ones tried.
    """
    plays = sum(len(stretch.actions) for stretch in stretches)
    results: list[tuple[list[PlayedStretch], PlayedStretch, Rules | None]] = []  # as in Returns, by the rules tried
    for rules in tried:
        followed = follow(stretches, required_game or make_board(size, rules, plays))
        longest = max(followed, key=lambda played: played.ply_count)
        results.append((followed, longest, rules if results else None))  # None for the first rules
        fault = followed[-1].fault
        if fault is None or fault.kind not in (kinds.REPETITION, kinds.SUICIDE):
            break
    return max(results, key=lambda result: result[1].ply_count)


def fault_kind(position: GoPosition, action: int) -> str:
    """Return the kind of fault of an illegal action.

    Args:
        position: the position before the action, where the game is not over.
    """
    if action == position.env.pass_action:
        return kinds.REPETITION  # an early pass, which some games forbid; it repeats the board
    if position.board.ravel()[action]:
        return kinds.OCCUPIED
    return kinds.REPETITION if position.repeats(action) else kinds.SUICIDE
