"""Players of fixed strength without a network, by which others are rated: `uct:N` and `rave:N`, N playouts a move."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphago.arena import kernels
from alphago.env.go import GoEnv
from alphago.env.kernels.go_row import pass_ends
from alphago.env.kernels.go_score import score
from alphago.mcts.root import choose_actions

PLAYOUTS = 1000  # of a name without a number
MOST_NODES = 4_000_000  # of a tree; a full one is searched on, but grows no more


class PlayoutSettings(NamedTuple):
    """How an anchor searches (see the kernels).

    playouts: random games a move.
    exploration: UCT's c.
    equivalence: k, so many playouts through an action say as much as all those with it at any time; 0 is UCT.
    prior: playouts that RAVE pretends to have seen of an untried action.
    """

    playouts: int
    exploration: float
    equivalence: float
    prior: int


class PlayoutTree(NamedTuple):
    """Nodes, int32 [nodes] each; the children of a node stand side by side, and the root is the first node."""

    action: np.ndarray  # that leads to the node
    visits: np.ndarray
    points: np.ndarray  # 2 for a win, 1 for a draw, of the side that chose the action
    amaf_visits: np.ndarray  # playouts in which that side was the first to play there ("all moves as first")
    amaf_points: np.ndarray
    first_child: np.ndarray
    children: np.ndarray  # how many
    used: np.ndarray  # [1], nodes in use


class PlayoutGame(NamedTuple):
    """The game of one simulation."""

    row: np.ndarray  # int32 [words], the position
    path: np.ndarray  # int32 [plies + 1], the nodes it went through
    actions: np.ndarray  # int32 [plies]
    first_side: np.ndarray  # int32 [A], 0 for the root's mover, 1 for the other
    state: np.ndarray  # int64 [1], of the random stream


@dataclass(frozen=True)
class Anchor:
    """A player that `evaluate` knows by its name."""

    name: str
    settings: PlayoutSettings


class AnchorPlayer:
    """Searches each move with an empty tree, and plays the most visited action, or by chance one in proportion.

    It fills no eyes of its own, and passes at once where that ends the game and wins it.  Its moves follow from the
    position and `chance`.
    """

    def __init__(self, env: GoEnv, anchor: Anchor, games: int) -> None:
        self.batch = env.new_batch(games)
        self.settings = anchor.settings
        nodes = min(1 + (anchor.settings.playouts + 1) * env.action_space, MOST_NODES)
        fields = {name: np.zeros(nodes, np.int32) for name in PlayoutTree._fields if name != "used"}
        self.tree = PlayoutTree(**fields, used=np.zeros(1, np.int32))
        self.game = PlayoutGame(
            np.zeros_like(self.batch.rows[0]),
            np.zeros(env.max_moves + 1, np.int32),
            np.zeros(env.max_moves, np.int32),
            np.zeros(env.action_space, np.int32),
            np.zeros(1, np.int64),
        )

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        visits = np.zeros((len(games), self.batch.env.action_space), np.int32)
        for i, number in enumerate(games):
            row = self.batch.rows[number]
            if pass_ends(row) and score(row) > 0:
                visits[i, -1] = 1
            else:
                self.game.state[0] = int(chance[i] * 2**63)
                kernels.search(row, self.tree, self.game, self.settings, visits[i])
        return choose_actions(visits, by_chance, chance)

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)


def named_anchor(name: str) -> Anchor | None:
    """The player called "uct" or "rave", or "rave:N" with N playouts a move; None for another name.

    ValueError if N is 0.
    """
    match = re.fullmatch(r"(uct|rave)(?::([0-9]{1,9}))?", name)
    if match is None:
        return None
    playouts = PLAYOUTS if match[2] is None else int(match[2])
    if playouts < 1:
        raise ValueError(f"playouts are 1 or more, got {name}")
    if match[1] == "uct":
        return Anchor(name, PlayoutSettings(playouts, 0.4, 0.0, 0))
    return Anchor(name, PlayoutSettings(playouts, 0.0, 1000.0, 5))
