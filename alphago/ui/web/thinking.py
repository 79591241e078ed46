"""The search behind one board: it follows the board, thinks in short slices, and tells what it sees as plain data."""

import time
from typing import Any

import numpy as np

from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.player import MCTSPlayer
from alphago.mcts.tree import Tree
from alphago.ui.web.engines import Engine
from alphago.ui.web.game_tree import GameTree, Node

SLICE_SECONDS = 0.05  # aimed at, of one slice of thinking
FIRST_SLICE, LONGEST_SLICE = 16, 512  # readouts
SHOWN = 40  # moves of a message
LINE = 12  # plies of an expected line
SMALL_PRIOR = 0.005  # moves without visits are shown from this prior on


class Thinker:
    """The search of one board, moved from node to node; the tree of the search is kept from a move to the next."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.player: MCTSPlayer | None = None
        self.at: tuple[int, int] | None = None  # (id of the game tree, node)
        self.slice = FIRST_SLICE

    def move_to(self, engine: Engine, tree: GameTree, number: int) -> MCTSPlayer:
        """Return the search at a node, whose game is not over."""
        here = (id(tree), number)
        if engine is not self.engine or self.player is None:
            self.player, self.engine, self.at = engine.new_player(), engine, None
            self.slice = FIRST_SLICE
        if self.at == here:
            return self.player
        node = tree.nodes[number]
        if self.at == (id(tree), node.parent) and number:
            self.at = None  # until it has succeeded
            self.player.play_move(node.action)
        else:
            self.at = None
            self._begin_at(tree, number)
        self.at = here
        return self.player

    def _begin_at(self, tree: GameTree, number: int) -> None:
        assert self.player is not None
        assert self.engine is not None
        position, env = tree.position_at(number), self.engine.env
        if not env.accepts(position.env):  # the network sees other planes
            moves, position = position.moves, env.position(**position.setup_in(env))
            for action in moves:
                position = position.play(action)
        self.player.initialize_game(position)

    def think(self, left: int) -> int:
        """Search for a moment, at most `left` readouts more, and return how many it took."""
        assert self.player is not None
        readouts = min(self.slice, left)
        began = time.monotonic()
        try:
            self.player.tree_search(readouts)
        except BaseException:
            self.at = None
            raise
        spent = time.monotonic() - began
        if readouts == self.slice:
            faster = SLICE_SECONDS / max(spent, 1e-4)
            self.slice = int(min(max(self.slice * min(faster, 2.0), FIRST_SLICE), LONGEST_SLICE))
        return readouts

    def forget(self) -> None:
        """Give the memory of the search back."""
        self.player = self.engine = self.at = None


def analysis_of(player: MCTSPlayer, engine: Engine, forecast: Any = None) -> dict[str, Any]:
    """Return what a search has found so far, as plain data.

    mover: who is to play, +1 or -1. visits: of the root. win: Black's chance to win, 0 .. 1. score: Black's margin as
    the network expects it, None without a forecast. moves: [action, visits, prior, the mover's chance to win (None
    without visits), expected line] each, the most visited first. ownership: per point -100 .. 100, 100 Black's.
    """
    result = player.search_result()
    mover = player.position.to_play
    lines = expected_lines(player.search.tree)
    tried = [int(action) for action in result.actions]
    probable = [int(action) for action in np.argsort(-result.priors) if result.priors[action] >= SMALL_PRIOR]
    moves = []
    for action in dict.fromkeys([*tried, *probable][: 2 * SHOWN]):
        win = None if np.isnan(result.q[action]) else round((1 + float(result.q[action])) / 2, 4)
        line = lines.get(action, [action])
        moves.append([action, int(result.visits[action]), round(float(result.priors[action]), 4), win, line])
    return {
        "mover": mover,
        "visits": int(result.visits.sum()),
        "win": round((1 + mover * result.value) / 2, 4),
        "score": None if forecast is None else round(forecast.score, 1),
        "moves": moves[:SHOWN],
        "ownership": None if forecast is None else np.round(100 * forecast.ownership).astype(int).ravel().tolist(),
    }


def expected_lines(tree: Tree) -> dict[int, list[int]]:
    """Return for each action with visits at the root the most visited continuation, that action first."""
    lines = {}
    for node in children_of(tree, ROOT):
        line, here = [int(tree.action[0, node])], node
        while len(line) < LINE and (children := children_of(tree, here)):
            here = max(children, key=lambda child: int(tree.visits[0, child]))
            line.append(int(tree.action[0, here]))
        lines[line[0]] = line
    return lines


def children_of(tree: Tree, node: int) -> list[int]:
    """Return the nodes below a node of the only game's tree."""
    children, child = [], int(tree.first_child[0, node])
    while child != NONE:
        children.append(child)
        child = int(tree.next_sibling[0, child])
    return children


def remember(node: Node, analysis: dict[str, Any]) -> bool:
    """Keep an analysis with its node, unless a deeper one is there; return whether it was kept."""
    if node.analysis is not None and node.visits > analysis["visits"]:
        return False
    before = node.analysis or {}
    for key in ("score", "ownership"):
        if analysis[key] is None:
            analysis = {**analysis, key: before.get(key)}
    node.analysis = analysis
    node.win_rate, node.visits = analysis["win"], analysis["visits"]
    node.score = analysis["score"]
    return True
