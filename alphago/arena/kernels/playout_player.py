"""Tree search for Go without a network: UCT, and RAVE over the same tree.

Sources: Kocsis and Szepesvári 2006, "Bandit based Monte-Carlo planning" (UCT); Gelly and Silver 2011, "Monte-Carlo tree
search and rapid action value estimation in computer Go" (RAVE).  Both estimate values from random games.

`tree` and `game` are `PlayoutTree` and `PlayoutGame` (see playout_player.py).  Results are summed in points, 2 for
a win and 1 for a draw, so that sums are exact.  A child's points belong to the side that chose its action.
"""

import math

from alphago.env.kernels.go import play
from alphago.env.kernels.go_legal import legal_bits, without_own_eyes
from alphago.env.kernels.go_row import BLACK, FIRST_PASS, KOMI2, PLY, SIZE, TO_PLAY, copy, is_over, pass_ends
from alphago.env.kernels.go_score import area
from alphago.env.kernels.playouts import next_random, random_action
from alphago.system.kernels.jit import kernel, load, lowest_bit, part, store

ROOT = 0
NO_SIDE = -1  # in `first_side`: neither side has played on the point


@part
def result_points(row, side):
    """Return the result of the current board for `side`, BLACK or WHITE: 2 for a win, 1 for a draw, 0 for a loss."""
    # `area` returns Black's area minus White's; KOMI2 is twice the komi.  So this is twice Black's margin, an integer.
    double_margin = 2 * area(row) - load(row, KOMI2)
    if side != BLACK:
        double_margin = -double_margin
    return 2 * (double_margin > 0) + (double_margin == 0)


@part
def add_node(tree, action, amaf_visits, amaf_points):
    """Add a node without visits and children; the arguments after `tree` are values of the node's fields."""
    node = load(tree.used, 0)
    store(tree.action, node, action)
    store(tree.visits, node, 0)
    store(tree.points, node, 0)
    store(tree.amaf_visits, node, amaf_visits)
    store(tree.amaf_points, node, amaf_points)
    store(tree.first_child, node, 0)
    store(tree.children, node, 0)
    store(tree.used, 0, node + 1)


@part
def add_moves(tree, row, own_eyes, prior):
    """Add a node for each legal move on a point of the board; return whether there is such a move.

    Args:
        own_eyes: whether to add the mover's own eyes too.
        prior: the number of drawn playouts with which the "all moves as first" counts of each node begin.
    """
    size = load(row, SIZE)
    any_legal = False
    for r in range(size):
        legal = legal_bits(row, r)
        any_legal |= legal != 0
        columns = legal if own_eyes else without_own_eyes(row, r, legal)  # bit c: the move on column c of row r
        while columns:
            add_node(tree, r * size + lowest_bit(columns), prior, prior)  # a draw is 1 visit and 1 point
            columns &= columns - 1  # without the lowest bit
    return any_legal


@part
def shuffle(tree, first, state):
    """Shuffle the nodes from index `first` to the last one, since the search takes the first of equally good nodes.

    It is the shuffle of Fisher and Yates; the nodes still differ only in their actions.

    Args:
        state: int64 [1], the state of the random generator, whose numbers are below 2^32.
    """
    for left in range(load(tree.used, 0) - first, 1, -1):
        last = first + left - 1
        drawn = first + ((next_random(state) * left) >> 32)
        action = load(tree.action, last)
        store(tree.action, last, load(tree.action, drawn))
        store(tree.action, drawn, action)


@part
def expand(tree, node, row, state, prior):
    """Create the children of a node, unless the tree is full: the legal points except own eyes, and perhaps a pass.

    A pass becomes a child of the root, and of another node only if the pass ends the game or is the only move; in other
    cases it would only widen the search. Each point starts with `prior` playouts that count as drawn. The pass starts
    with `prior` playouts that count as won, drawn or lost, by the score of the current board.

    Args:
        state: int64 [1], the state of the random generator.
    """
    size = load(row, SIZE)
    first = load(tree.used, 0)
    if first + size * size + 1 > tree.action.shape[0]:
        return
    any_legal = add_moves(tree, row, False, prior)  # without own eyes
    stuck = load(tree.used, 0) == first  # no node was added: all legal points are own eyes, or none is legal
    # As in `legal_mask`: before ply FIRST_PASS (`GoEnv.first_pass`) a pass is legal only without another legal move.
    may_pass = load(row, PLY) >= load(row, FIRST_PASS) or not any_legal
    if stuck and not may_pass:
        add_moves(tree, row, True, prior)  # own eyes are all that is left
    shuffle(tree, first, state)
    if may_pass and (stuck or node == ROOT or pass_ends(row)):
        points = result_points(row, load(row, TO_PLAY))  # of a pass that ends the game now: 2 won, 1 drawn, 0 lost
        add_node(tree, size * size, prior, prior * points)
    store(tree.first_child, node, first)
    store(tree.children, node, load(tree.used, 0) - first)


@part
def uct_value(tree, child, log_visits, exploration):
    """Return the upper confidence bound w / n + c sqrt(log(N) / n) of a child; infinity if it has no visits.

    Args:
        log_visits: log(N), where N is the number of visits of the parent.
        exploration: c.
    """
    visits = load(tree.visits, child)
    if visits == 0:
        return math.inf
    return load(tree.points, child) / (2.0 * visits) + exploration * math.sqrt(log_visits / visits)


@part
def rave_value(tree, child, equivalence):
    """Return (1 - beta) w / n + beta w' / n', where w / n is the child's win rate.

    w' / n' is the win rate of the playouts in which the side played this action at any time ("all moves as first"), and
    beta = n' / (n + n' + n n' / k) is the schedule of least squared error (Gelly and Silver 2011, section 4.4), where
    1 / k is four times the squared bias. No exploration term is needed, since all moves of the playouts explore.

    Args:
        equivalence: k.
    """
    # With beta put in, this is (w (1 + n' / k) + w') / (n + n' + n n' / k); a win counts two points.  The divisor is
    # not 0, since n' begins with the settings' `prior`, which is positive in `rave`.
    visits = float(load(tree.visits, child))
    amaf_visits = float(load(tree.amaf_visits, child))
    points = load(tree.points, child) * (1 + amaf_visits / equivalence) + load(tree.amaf_points, child)
    return points / (2 * (visits + amaf_visits + visits * amaf_visits / equivalence))


@part
def best_child(tree, node, exploration, equivalence):
    """Return the child with the greatest value (the first of equals), by RAVE if `equivalence` > 0, else by UCT."""
    log_visits = math.log(max(1, load(tree.visits, node)))  # 1: the root has children before its first visit is counted
    first = load(tree.first_child, node)
    best = first
    best_value = -1.0
    for child in range(first, first + load(tree.children, node)):
        if equivalence > 0:
            value = rave_value(tree, child, equivalence)
        else:
            value = uct_value(tree, child, log_visits, exploration)
        if value > best_value:
            best_value = value
            best = child
    return best


@part
def descend(tree, game, settings):
    """Play from the root to a node without children, write the path into `game`, and return the depth.

    A node gets children when it is reached for the second time.

    Args:
        settings: PlayoutSettings.
    """
    row = game.row
    node = ROOT
    depth = 0
    store(game.path, 0, ROOT)
    while not is_over(row):
        if load(tree.children, node) == 0:
            if node == ROOT or load(tree.visits, node) > 0:
                expand(tree, node, row, game.state, settings.prior)
            if load(tree.children, node) == 0:  # a first visit, or the tree is full
                break
        node = best_child(tree, node, settings.exploration, settings.equivalence)
        action = load(tree.action, node)
        store(game.actions, depth, action)
        play(row, action)
        depth += 1
        store(game.path, depth, node)
    return depth


@part
def play_out(game, ply):
    """Play random moves to the end, write them to `game.actions` from index `ply`, and return the next index."""
    while not is_over(game.row):
        action = random_action(game.row, game.state, False)  # False: own eyes are not filled
        store(game.actions, ply, action)
        play(game.row, action)
        ply += 1
    return ply


@part
def count_amaf(tree, node, first_side, side, points):
    """Add a playout to the "all moves as first" counts of those children whose actions `side` was the first to play.

    Args:
        node: the parent.
        first_side: for each action, the side that was the first to play it after `node`.
        points: the result of the playout for `side`.
    """
    first = load(tree.first_child, node)
    for child in range(first, first + load(tree.children, node)):
        if load(first_side, load(tree.action, child)) == side:
            store(tree.amaf_visits, child, load(tree.amaf_visits, child) + 1)
            store(tree.amaf_points, child, load(tree.amaf_points, child) + points)


@part
def back_up(tree, game, depth, plies, mover_points):
    """Add a finished playout to the nodes of its path.

    Nodes are updated from the last to the first, so that `first_side` holds the side that was first to play each action
    after the current node.  Passes are left out, since the value of a pass says nothing about other passes.

    Args:
        depth: the number of moves of the path.
        plies: the number of moves up to the end of the game.
        mover_points: the result, 0 to 2, for the mover at the root, who is side 0.
    """
    pass_action = game.first_side.shape[0] - 1
    for action in range(pass_action + 1):
        store(game.first_side, action, NO_SIDE)
    for ply in range(plies - 1, -1, -1):
        side = ply & 1
        points = mover_points if side == 0 else 2 - mover_points
        action = load(game.actions, ply)
        if action != pass_action:
            store(game.first_side, action, side)
        if ply < depth:
            count_amaf(tree, load(game.path, ply), game.first_side, side, points)
            child = load(game.path, ply + 1)
            store(tree.visits, child, load(tree.visits, child) + 1)
            store(tree.points, child, load(tree.points, child) + points)
    store(tree.visits, ROOT, load(tree.visits, ROOT) + 1)


@kernel
def search(root, tree, game, settings, out_visits):
    """Search a position, beginning with an empty tree.

    Args:
        root: the position as a packed row.
        tree: PlayoutTree, overwritten.
        game: PlayoutGame, the buffers in which each simulation is played, overwritten.
        settings: PlayoutSettings.
        out_visits: int32 [A], overwritten with the visits of each action.
    """
    store(tree.used, 0, 0)
    # The root: no action (-1) leads to it, and it has no "all moves as first" visits and points (0, 0).
    add_node(tree, -1, 0, 0)
    for _ in range(settings.playouts):
        copy(root, game.row)
        depth = descend(tree, game, settings)
        plies = play_out(game, depth)
        back_up(tree, game, depth, plies, result_points(game.row, load(root, TO_PLAY)))
    for action in range(out_visits.shape[0]):
        store(out_visits, action, 0)
    first = load(tree.first_child, ROOT)
    for child in range(first, first + load(tree.children, ROOT)):
        store(out_visits, load(tree.action, child), load(tree.visits, child))
