"""Stretches: the plays of a line between two nodes that set up stones.

A node that sets up stones after the first play divides a line of play into stretches.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from alphago.env.board import StonesEnv
from alphago.env.go import GoEnv
from alphago.env.go_rules import ENDLESS, Rules
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.values import read_rectangle

STONES = {"AB": 1, "AW": -1, "AE": 0}
USUAL_LENGTH = 1022  # ply limit of the game that is used unless a game is longer
KEPT = 2  # value of a point that a later set-up does not change, among the values of STONES


@dataclass
class Stretch:
    """The plays from one node that sets up stones to the next.

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


def stones_of(env: StonesEnv, node: Node) -> np.ndarray | None:
    """Return the stones that a node sets up, int8 [height * width]; None if it sets up nothing.

    1 Black, -1 White, 0 removed, KEPT at all other points.  Raises ValueError for a point off the board.
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


def board_of(size: int, rules: Rules, plays: int = 0) -> GoEnv:
    """Return a game with these rules whose ply limit allows `plays` plays.

    Games are cached, so only few limits are used: USUAL_LENGTH, powers of two, and the largest possible limit.
    """
    cap = USUAL_LENGTH
    while cap < plays + 1:
        cap = 1 << cap.bit_length()  # the next power of two
    return cached_board(size, rules, min(cap, ENDLESS - 1))
