"""Players of fixed strength without a network, to rate others by: `uct:N` and `rave:N`, with N playouts a move."""

from typing import Any, NamedTuple

import numpy as np

from alphago.arena.kernels import playout_player as kernels
from alphago.arena.players import Player
from alphago.env.go import GoEnv
from alphago.env.kernels.go_row import pass_ends
from alphago.env.kernels.go_score import score
from alphago.mcts.rule import choose_actions
from alphago.system.validation import check_int

PLAYOUTS = 1000  # playouts per move of "uct" and "rave" without a number
MAX_NODES = 4_000_000  # per tree; a full tree is still searched, but no longer grows


class PlayoutSettings(NamedTuple):
    """Settings of a playout player (see `alphago.arena.kernels.playout_player`).

    Attributes:
        playouts: random games per move.
        exploration: UCT's constant c.
        equivalence: RAVE's k: after k playouts the results of an action's own playouts weigh as much as the results of
            all playouts in which the same side played the action at any time; 0 for UCT.
        prior: number of drawn playouts with which RAVE initialises each action.
    """

    playouts: int
    exploration: float
    equivalence: float
    prior: int

    @property
    def name(self) -> str:
        """The player's name: 'rave:1000' or 'uct:1000'."""
        return f"{'rave' if self.equivalence else 'uct'}:{self.playouts}"


class PlayoutTree(NamedTuple):
    """The nodes of a tree; each field but `used` is an int32 array [nodes].

    The root is node 0; the children of a node are contiguous.
    """

    action: np.ndarray  # the action that leads to the node
    visits: np.ndarray
    points: np.ndarray  # sum over visits: 2 for a win, 1 for a draw of the side that chose the action
    amaf_visits: np.ndarray  # playouts in which that side was the first to play the action ("all moves as first")
    amaf_points: np.ndarray
    first_child: np.ndarray
    children: np.ndarray  # number of children
    used: np.ndarray  # int32 [1], number of nodes in use; new nodes are added behind them


class PlayoutGame(NamedTuple):
    """The buffers for the moves of one simulation."""

    row: np.ndarray  # int32 [words], the position
    path: np.ndarray  # int32 [plies + 1], the nodes from the root on
    actions: np.ndarray  # int32 [plies], the actions from the root on
    first_side: np.ndarray  # int32 [A], the side that was first to play an action: 0 the root's mover, 1 the other
    state: np.ndarray  # int64 [1], state of the random stream


class PlayoutPlayer(Player):
    """UCT or RAVE from an empty tree at each move; plays the most visited action, or draws an action by visits.

    It never fills its own eyes, and passes at once if that ends the game and wins it.  Its moves depend only on the
    position and `chance`.
    """

    batch: Any  # batches of Go have rows

    def __init__(self, env: GoEnv, settings: PlayoutSettings, games: int) -> None:
        super().__init__(env.new_batch(games))
        self.settings = settings
        # The root, its children, and those of at most one further node a playout.
        nodes = min(1 + (settings.playouts + 1) * env.action_space, MAX_NODES)
        fields = {name: np.zeros(nodes, np.int32) for name in PlayoutTree._fields if name != "used"}
        self.tree = PlayoutTree(**fields, used=np.zeros(1, np.int32))
        self.game = PlayoutGame(
            row=np.zeros_like(self.batch.rows[0]),
            path=np.zeros(env.max_moves + 1, np.int32),
            actions=np.zeros(env.max_moves, np.int32),
            first_side=np.zeros(env.action_space, np.int32),
            state=np.zeros(1, np.int64),
        )

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Search these games one after the other; return their actions, int32 [n].

        `chance` seeds the playouts, and draws the action by visits where `by_chance` is set.
        """
        visits = np.zeros((len(games), self.batch.env.action_space), np.int32)
        for i, number in enumerate(games):
            row = self.batch.rows[number]
            if pass_ends(row) and score(row) > 0:  # `score` is the mover's
                visits[i, -1] = 1  # the pass wins
            else:
                self.game.state[0] = int(chance[i] * 2**63)  # the seed of the playouts
                kernels.search(row, self.tree, self.game, self.settings, visits[i])  # writes visits[i]
        return choose_actions(visits, by_chance, chance)


def uct(playouts: int = PLAYOUTS) -> PlayoutSettings:
    """Return the settings of "uct:N", with N playouts a move."""
    return PlayoutSettings(check_int("the playouts of uct", playouts, 1), exploration=0.4, equivalence=0.0, prior=0)


def rave(playouts: int = PLAYOUTS) -> PlayoutSettings:
    """Return the settings of "rave:N", with N playouts a move."""
    return PlayoutSettings(check_int("the playouts of rave", playouts, 1), exploration=0.0, equivalence=1000.0, prior=5)
