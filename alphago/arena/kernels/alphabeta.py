"""Alpha-beta search to a fixed depth, without recursion, so that it can pause after any node and continue later.

A node's value is from the view of its mover, which is possible since the sides move in turn in all games with an
evaluation (Knuth and Moore 1975, "An analysis of alpha-beta pruning", fail-soft).  Plies are counted from the root of
the search; arrays have one entry per ply.

At a node the move from the transposition table is tried first, and then the others by how often each was the best one
at other nodes ("history", Schaeffer 1989).  The history begins with the game's preferences.  The order of the moves
does not change the value of a node.

The table's keys contain the number of plies played.  So all nodes with the same key have the same number of plies left
to search, and a ply limit is respected.  The keys do not contain the history of a position, so that a repetition
within the search may get a value that holds only for another path to the position (Kishimoto and Müller 2004, "graph
history interaction").
"""

from typing import Any

from alphago.arena.kernels import evaluations
from alphago.env.kernels import connect_four, gomoku, oware, reversi
from alphago.env.kernels import rows as layout
from alphago.env.kernels.rows import OVER, PLY, TO_PLAY, position_hash
from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import inlined, kernel, load, specialise, store, wrap

WIN = 1 << 40  # value of a won game, far above any evaluation
POINT = 1 << 12  # value of a point of the final margin; more than a game has plies
INFINITE = 1 << 60
TRIED = -INFINITE  # in `scores`: an action that was tried or is not legal
NONE = -1  # no action
# Indices into `Stack.progress`.  AT: the current ply.  ENTERING: whether the node there is new.  NODES: how many nodes
# were visited.  CUT_OFF: how many of these were evaluated because they are at the depth limit.
AT, ENTERING, NODES, CUT_OFF = 0, 1, 2, 3
# Indices into an entry of the table.  NOTE packs the search's number, the depth below the node, what VALUE is (EXACT,
# LOWER or UPPER) and the best action.
KEY, VALUE, NOTE = 0, 1, 2
EXACT, LOWER, UPPER = 0, 1, 2  # a value in the table is the node's value, a lower bound of it, or an upper bound
ACTIONS, BOUNDS, DEPTHS = 1 << 12, 1 << 2, 1 << 8  # how many values of each a note has room for


# Names that `compile_search` replaces with the game's kernels.  `evaluate` takes the row of a position that is not
# over, and returns its value from the mover's view, much closer to 0 than WIN.
play = legal_mask = evaluate = copy = None


@inlined
def final_value(row):
    """Return the value of a finished game for its mover.

    A win is better the earlier it comes, and a loss the later.  The final margin is added, with POINT for each point.
    """
    margin = layout.score(row)
    sign = (margin > 0) - (margin < 0)  # 1, 0 or -1
    return sign * (WIN - load(row, PLY)) + margin * POINT


@inlined
def mover_index(row):
    """Return the index of the mover in `history`."""
    return (1 - load(row, TO_PLAY)) // 2


@inlined
def hash_position(row):
    """Return a hash of a position and the number of plies played, the key of the table."""
    return mix(wrap(position_hash(row) + wrap(load(row, PLY) * GOLDEN)))


@inlined
def entry_index(key, table):
    """Return the index of the only table entry in which a key may be stored."""
    # The table's length is a power of two.  Any bits of a key would do, since `mix` makes all of them equally random.
    return (key >> 8) & (table.shape[0] - 1)


@inlined
def probe(stack, table, ply, depth, number):
    """Look up the node at `ply` in the table.

    Args:
        depth, number: as in `search`; an entry with the number of another search is ignored.

    Returns:
        Whether the value of the node is known; the value; and the action to try first, NONE if the table has no entry
        for the node.
    """
    key = hash_position(stack.rows[ply])
    entry = entry_index(key, table)
    # A note is ((its search's number * DEPTHS + plies left) * BOUNDS + bound) * ACTIONS + action, see `leave`.
    note = table[entry, NOTE]
    note_number = note // (ACTIONS * BOUNDS * DEPTHS)
    if table[entry, KEY] != key or note_number != number:
        return False, 0, NONE
    plies_left = note // (ACTIONS * BOUNDS) % DEPTHS
    bound = note // ACTIONS % BOUNDS
    value = table[entry, VALUE]
    # The key contains the number of plies played, and each iteration of a search is deeper than the one before.  So an
    # entry never has more plies left than the node.  An entry with fewer is of an earlier iteration, and gives only the
    # action to try first.
    # A bound is enough if it lies outside of the node's window.  The root is always searched, for its best action.
    fails_high = bound == LOWER and value >= stack.beta[ply]
    fails_low = bound == UPPER and value <= stack.alpha[ply]
    known = (bound == EXACT or fails_high or fails_low) and plies_left == depth - ply and ply > 0
    return known, value, note % ACTIONS


@inlined
def next_action(scores):
    """Return the untried action with the greatest score (the first of equals), and mark it as tried.

    Returns:
        NONE if all actions were tried.
    """
    best = NONE
    score = TRIED
    for action in range(scores.shape[0]):
        if load(scores, action) > score:
            score = load(scores, action)
            best = action
    if best != NONE:
        store(scores, best, TRIED)
    return best


def list_actions(stack, history, ply, first):
    """Write the scores of the actions at `ply`, by which they are tried.

    Args:
        history: as in `search`.
        first: the action that is tried before all others; NONE for none.
    """
    row = stack.rows[ply]
    legal_mask(row, stack.mask)
    side = mover_index(row)
    for action in range(stack.mask.shape[0]):
        score = TRIED
        if load(stack.mask, action):
            score = INFINITE if action == first else history[side, action]
        stack.scores[ply, action] = score


def open_child(stack, ply, action):
    """Play an action of the node at `ply`, which leads to a new node at `ply` + 1; set its alpha-beta window."""
    after = stack.rows[ply + 1]
    stack.current[ply] = action
    copy(stack.rows[ply], after)
    play(after, action)
    # In the opponent's view the window (alpha, beta) is (-beta, -alpha); alpha is at least the best value so far.
    stack.alpha[ply + 1] = -stack.beta[ply]
    stack.beta[ply + 1] = -max(stack.alpha[ply], stack.best[ply])


def enter(depth, number, stack, table, history, ply):
    """Visit a new node, at `ply`; return whether its value is known at once, and the value.

    If the value is not known, the actions of the node are listed, to be searched.  The other arguments are explained at
    `search`.
    """
    row = stack.rows[ply]
    if load(row, OVER) != 0:
        return True, final_value(row)
    if ply == depth:
        stack.progress[CUT_OFF] += 1
        return True, evaluate(row)
    known, value, first = probe(stack, table, ply, depth, number)
    if not known:
        list_actions(stack, history, ply, first)
        stack.best[ply] = -INFINITE
    return known, value


@inlined
def leave(depth, number, stack, table, history, ply):
    """Write the result of the completely searched node at `ply` into table and history; return its value.

    What was in the table's entry is overwritten.  The other arguments are explained at `search`.
    """
    value = stack.best[ply]
    bound = EXACT
    # `alpha` is still the value with which the search of the node began: only `best` grows.
    if value <= stack.alpha[ply]:
        bound = UPPER
    elif value >= stack.beta[ply]:
        bound = LOWER
    row = stack.rows[ply]
    plies_left = depth - ply
    key = hash_position(row)
    entry = entry_index(key, table)
    table[entry, KEY] = key
    table[entry, VALUE] = value
    note = (number * DEPTHS + plies_left) * BOUNDS + bound
    table[entry, NOTE] = note * ACTIONS + stack.best_action[ply]
    history[mover_index(row), stack.best_action[ply]] += plies_left * plies_left  # large subtrees count more
    return value


@inlined
def take_value(stack, ply, value):
    """Update the best value at `ply` by the value of the current action.

    Args:
        value: of the node at `ply` + 1, from the view of its mover, who is the opponent of the mover at `ply`.
    """
    if -value > stack.best[ply]:
        stack.best[ply] = -value
        stack.best_action[ply] = stack.current[ply]


def search(depth, number, stack, table, history, most_nodes):
    """Continue a search to `depth`, visiting at most `most_nodes` nodes; return whether the search is complete.

    When the search is complete, stack.best[0] is the value of the root and stack.best_action[0] its best action.

    Args:
        depth: plies from the root at which positions are evaluated.
        number: of the search; table entries that another search has written are ignored.
        stack: a `Stack` (alphabeta.py), initialised with the root in row 0 and an infinite window.
        table: int64 [entries, 3], where `entries` is a power of two.
        history: int64 [2, A], by side (`mover_index`): how often each action was the best one, weighted as in `leave`.
        most_nodes: the nodes that this call may visit.
    """
    ply = stack.progress[AT]
    entering = stack.progress[ENTERING] != 0
    nodes = 0
    # Each turn enters the node at `ply` if it is new.  Then it either opens the next child, which the next turn enters,
    # or gives the node's value to the parent, with which the next turn goes on.
    while nodes < most_nodes or not entering:  # the search pauses only before a new node
        known = False
        value = 0
        if entering:
            nodes += 1
            entering = False
            known, value = enter(depth, number, stack, table, history, ply)  # never known at the root, see `probe`
        if not known:
            action = NONE
            if stack.best[ply] < stack.beta[ply]:  # else the parent will not choose this node: no further action
                action = next_action(stack.scores[ply])
            if action != NONE:
                open_child(stack, ply, action)
                ply += 1
                entering = True
                continue
            value = leave(depth, number, stack, table, history, ply)
            if ply == 0:  # the root has its value: the search is complete
                break
        ply -= 1
        take_value(stack, ply, value)
    stack.progress[AT] = ply
    stack.progress[ENTERING] = entering
    stack.progress[NODES] += nodes
    return not entering  # after `break`; a search that pauses is about to enter a node


def compile_search(rules: Any, evaluation: Any, copy: Any = layout.copy) -> Any:
    """Return `search` compiled for a game.

    Args:
        rules: the module with the game's kernels `play` and `legal_mask`.
        evaluation: the game's evaluation, in place of `evaluate`.
        copy: kernel that copies a row.
    """
    # The same functions, with the game's kernels in place of the names `legal_mask`, `play`, `copy` and `evaluate`.
    own_list_actions = inlined(specialise(list_actions, legal_mask=rules.legal_mask))
    own_open_child = inlined(specialise(open_child, play=rules.play, copy=copy))
    own_enter = inlined(specialise(enter, list_actions=own_list_actions, evaluate=evaluation))
    return kernel(specialise(search, open_child=own_open_child, enter=own_enter))


search_oware = compile_search(oware, layout.score, oware.copy)  # captured seeds minus the other side's captured seeds
search_reversi = compile_search(reversi, evaluations.weighted_squares)
search_gomoku = compile_search(gomoku, evaluations.gomoku_lines)
search_connect_four = compile_search(connect_four, evaluations.connect_four_lines)
