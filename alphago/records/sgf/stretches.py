"""Stretches: the plays of a line between two nodes that set up stones, and how many of them are legal.

A node that sets up stones after the first play divides a line of play into stretches.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.go_rules import ENDLESS, Rules
from alphago.env.kernels import go as kernels
from alphago.env.kernels import go_lines
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.values import read_points

STONES = {"AB": 1, "AW": -1, "AE": 0}
USUAL_LENGTH = 1022  # plies: a longer game gets a board of its own
KEPT = 2  # in the stones of a later set-up: the point does not change


@dataclass
class Stretch:
    """The plays from one node that sets up stones to the next.

    stones: int8 [N * N], the board before the first play.  to_play: the side of the first play, +1 Black, -1 White.
    colours, actions, nodes: for each play its colour, its action, and the number of its node in the line.
    """

    stones: np.ndarray
    to_play: int
    colours: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)


@dataclass
class Followed:
    """The legal plies of a stretch, and the fault that ended them.

    plies: the actions.  fault: None if all plays are legal.
    inserted: the numbers of the plies that are passes, each inserted between two moves of one colour.
    node_of: for each ply the number of its node; for an inserted pass, the number of the next play's node.
    """

    plies: list[int]
    inserted: frozenset[int]
    node_of: list[int]
    fault: Fault | None
    board: np.ndarray  # int8 [N * N], after the last ply


def follow_in(stretch: Stretch, env: GoEnv, number: int | None) -> Followed:
    """Play a stretch in the game `env`, up to the first illegal move.

    number: number of the game in its file, for the fault.
    """
    batch = env.new_batch(1)
    try:
        stones = stretch.stones.reshape(env.N, env.N)
        batch.reset(np.zeros(1, np.int64), stones=stones if stones.any() else None, to_play=stretch.to_play or 1)
    except ValueError as error:
        return Followed([], frozenset(), [], Fault(kinds.DEAD, str(error), number), stretch.stones)
    row = batch.rows[0]
    out = np.zeros(1 + 2 * len(stretch.actions), np.int32)
    count = go_lines.follow(row, np.array(stretch.colours, np.int32), np.array(stretch.actions, np.int32), out)
    plies = out[1 : 1 + out[0]].tolist()
    while plies and plies[-1] == go_lines.INSERTED:  # inserted before the illegal move
        plies.pop()
    inserted = frozenset(ply for ply, action in enumerate(plies) if action == go_lines.INSERTED)
    plies = [env.pass_action if action == go_lines.INSERTED else action for action in plies]
    board = np.zeros(env.N * env.N, np.int8)
    kernels.board(row, board)
    fault = None
    if count < len(stretch.actions):
        fault = replace(illegal(stretch, GoPosition(env, batch, {}), count, len(plies)), game=number)
    nodes, plays = [], iter(stretch.nodes[:count])
    at = stretch.nodes[0] if stretch.nodes else 0
    for ply in range(len(plies)):
        nodes.append(at if ply in inserted else (at := next(plays, at)))
    return Followed(plies, inserted, nodes, fault, board)


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
        why = position.why_illegal(action)
        taken = action != env.pass_action and position.board.ravel()[action]
        kind = kinds.OCCUPIED if taken else kinds.SUICIDE if why.startswith("suicide") else kinds.REPETITION
    move = f"{PLAYER_NAMES[colour]} {env.to_text(action)}"
    return Fault(kind, f"move {plies + 1}, {move}, is illegal: {why}", None, stretch.nodes[play], plies + 1)


def stones_of(env: GoEnv, node: Node) -> dict[int, int]:
    """Return the stones that a node sets up, by point: 1 Black, -1 White, 0 removed.

    Raises ValueError for a point off the board.
    """
    changes: dict[int, int] = {}
    for name, sign in STONES.items():
        for value in node.get(name, ()):
            if value or len(node[name]) > 1:
                for point in read_points(env, value) if value else ():
                    changes[point] = sign
    return changes


def marked(env: GoEnv, changes: dict[int, int]) -> np.ndarray:
    """Return a set-up's changes as int8 [N * N], with KEPT at all other points."""
    stones = np.full(env.N * env.N, KEPT, np.int8)
    for point, sign in changes.items():
        stones[point] = sign
    return stones


def join(stretches: list[Stretch], number: int) -> None:
    """Prepend the plays of the previous stretch to stretch `number`.

    Called if the set-up between the two stretches changes nothing on the board.
    """
    before, present = stretches[number - 1], stretches[number]
    present.stones, present.to_play = before.stones, before.to_play
    present.colours = before.colours + present.colours
    present.actions = before.actions + present.actions
    present.nodes = before.nodes + present.nodes


def is_joined(stretches: list[Stretch], number: int) -> bool:
    """Return whether `join` has prepended the previous stretch to stretch `number`."""
    return stretches[number].stones is stretches[number - 1].stones


@lru_cache(maxsize=256)
def usual_board(size: int, rules: Rules, cap: int) -> GoEnv:
    return GoEnv(size, ko=rules.ko, suicide=rules.suicide, max_moves=cap)


def board_of(size: int, rules: Rules, plays: int = 0) -> GoEnv:
    """Return a game with these rules whose ply limit allows `plays` plays, even with a pass inserted before each."""
    cap = USUAL_LENGTH if 2 * plays + 2 <= USUAL_LENGTH else min(2 * plays + 2, ENDLESS - 1)
    if cap > USUAL_LENGTH:
        return GoEnv(size, ko=rules.ko, suicide=rules.suicide, max_moves=cap)
    return usual_board(size, rules, cap)
