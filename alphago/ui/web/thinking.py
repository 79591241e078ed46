"""`Thinker`, the search behind one board: it follows the board, works in short slices, and reports plain data."""

import math
import time
from typing import Any

import numpy as np

from alphago.mcts.analysis_result import MoveAnalysis
from alphago.mcts.analysis_search import AnalysisSearch
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.player import USUAL_LEAVES
from alphago.mcts.rule import resigns, without_rash_passes
from alphago.mcts.tree_reading import read_analysis
from alphago.ui.web.engines import MOST_LEAVES, Engine
from alphago.ui.web.game_tree import GameTree, Node

SLICE_SECONDS = 0.03  # seconds of thinking, after which commands are read
GROWTH = 256  # nodes for which there is room beyond those that are there, so that trees grow as they are needed
SHOWN = 40  # moves of a message
VISITS_PER_LEAF = 50  # visits of a tree for each leaf of a wave beyond USUAL_LEAVES
LINE = 12  # plies of an expected line
SMALL_PRIOR = 0.005  # moves without visits are shown from this prior on

_GAME = np.zeros(1, np.int64)


class Thinker:
    """The search of one board, moved from node to node; the tree of the search is kept from a move to the next."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.search: AnalysisSearch | None = None
        self.at: tuple[GameTree, int] | None = None
        self.seconds = 0.0  # spent in `think`, without waiting for other boards

    def move_to(self, engine: Engine, tree: GameTree, number: int) -> AnalysisSearch:
        """Move the search to a node where the game is not over, and return it with its root evaluated."""
        if engine is not self.engine or self.search is None:
            self.search, self.engine, self.at = engine.new_search(), engine, None
        search, before, node = self.search, self.at, tree.nodes[number]
        if before is not None and before[0] is tree and before[1] == number:
            return search
        self.at = None  # until it has succeeded
        if before is not None and before[0] is tree and before[1] == node.parent and number:
            search.advance(_GAME, np.array([node.action], np.int32))
        else:
            search.start(0, self._position(engine, tree, number))
        search.prepare(_GAME, np.array([GROWTH], np.int32))
        self.at = (tree, number)
        return search

    def _position(self, engine: Engine, tree: GameTree, number: int) -> Any:
        """Return the position of a node, in a game with the planes of the engine's network."""
        position, env = tree.position_at(number), engine.env
        if not env.accepts(position.env):  # it sees other planes
            position = env.position(**position.setup_in(env)).after(position.moves)
        return position

    def think(self, left: int) -> int:
        """Search for about SLICE_SECONDS, with at most `left` readouts; return the number of readouts done."""
        search, engine, done = self.search, self.engine, 0
        assert search is not None
        assert engine is not None
        try:
            with engine.turns:
                began = time.monotonic()
                end = began + SLICE_SECONDS
                while left > done and time.monotonic() < end:
                    budget = np.array([min(left - done, GROWTH)], np.int32)
                    search.prepare(_GAME, budget)
                    part = int(budget[0])
                    while budget[0] and time.monotonic() < end:
                        if not search.wave(budget, self._leaves()):
                            break
                    done += part - int(budget[0])
                self.seconds += time.monotonic() - began
        except BaseException:
            self.at = None  # the search has cleared its tree
            raise
        return done

    def _leaves(self) -> int:
        """Return the number of leaves of the next wave: more in a large tree, where they cost less quality."""
        return min(max(USUAL_LEAVES, self.visits // VISITS_PER_LEAF), MOST_LEAVES)

    def best(self) -> int:
        """Return the best move of the search so far."""
        assert self.search is not None
        if self.search.tree.visits[0, ROOT] < 2:
            return self.policy_move()
        return int(self.search.choose(_GAME, np.zeros(1, np.bool_), np.zeros(1))[0])

    def policy_move(self) -> int:
        """Return the network's most probable move, except passes that would lose a won game."""
        assert self.search is not None
        assert self.at is not None
        position = self.at[0].position_at(self.at[1])
        values = self.search.tree.value[:1, ROOT]
        outcomes = np.array([position.to_play * position.outcome])
        priors = without_rash_passes(self.search.env, self.search.priors(_GAME), values, outcomes)
        return int(priors[0].argmax())

    def gives_up(self) -> bool:
        """Return whether the player to move should resign, by the threshold that the network's run has measured.

        The threshold holds for games that began on the empty board; in other games no player resigns.
        """
        assert self.search is not None
        assert self.engine is not None
        assert self.at is not None
        if not self.at[0].start.began_empty:
            return False
        return bool(resigns(float(self.search.root_values(_GAME)[0]), self.engine.resign_threshold))

    @property
    def visits(self) -> int:
        """The simulations in the tree, the position's own evaluation included."""
        return 0 if self.search is None else int(self.search.tree.visits[0, ROOT])

    def analysis(self) -> dict[str, Any]:
        """Return what the search has found so far, as plain data.

        mover: who is to play, +1 or -1. visits: simulations of the search. win: Black's chance to win, 0 .. 1.
        score: Black's margin in points. moves: see `plain_move`, the best first. ownership: a number for each point,
        100 if it becomes Black's for sure, -100 for White's. Score and ownership are None if the network does not
        forecast them.
        """
        assert self.search is not None
        found = read_analysis(self.search, _GAME, plies=LINE)
        mover, best = int(found.to_play[0]), found.moves(0)
        probable = np.flatnonzero((found.prior[0] >= SMALL_PRIOR) & (found.visits[0] == 0))
        unseen = found.moves(0, len(best) + len(probable))[len(best) :]
        owners = found.ownership
        return {
            "mover": mover,
            "visits": self.visits,
            "win": round((1 + mover * float(found.value[0])) / 2, 4),
            "score": round_known(mover * float(found.root_score[0]), 1),
            "moves": [plain_move(move) for move in [*best, *unseen][:SHOWN]],
            "ownership": None if owners is None else np.rint(100 * mover * owners[0]).astype(int).ravel().tolist(),
        }

    def forget(self) -> None:
        """Free the memory of the search."""
        self.search = self.engine = self.at = None


def plain_move(move: MoveAnalysis) -> list[Any]:
    """Return [action, visits, prior, chance to win, score, line] of a move, from the mover's view.

    The chance to win and the score are None if they are unknown.
    """
    return [
        move.action, move.visits, round(move.prior, 4), round_known(move.win_rate, 4), round_known(move.score, 1),
        list(move.line),
    ]  # fmt: skip


def round_known(number: float, digits: int) -> float | None:
    """Return a number rounded to some digits; None for NaN."""
    return None if math.isnan(number) else round(number, digits) + 0.0


def remember(node: Node, analysis: dict[str, Any]) -> None:
    """Store an analysis in its node, unless the node has one with more visits."""
    if node.analysis is not None and node.visits > analysis["visits"]:
        return
    node.analysis = analysis
    node.win_rate, node.score, node.visits = analysis["win"], analysis["score"], analysis["visits"]
