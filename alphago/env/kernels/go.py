"""Go on packed rows (see `go_row`): set up and play one game.  Actions are not checked for legality."""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_chains import list_empty, put
from alphago.env.kernels.go_ko import record_board
from alphago.env.kernels.go_row import cell, load_long, point_of, store_long
from alphago.system.kernels.hashing import mix
from alphago.system.kernels.jit import kernel, load, part, store


@kernel
def lay_out(row):
    """Make a row the empty board with Black to move.

    Before the call, the row must have the rules in its header, and zeros elsewhere.
    """
    size = load(row, layout.SIZE)
    store(row, layout.PER_SIZE, 65536 // size + 1)  # for divisions, see `go_row`
    store(row, layout.PER_STRIDE, 65536 // (size + 1) + 1)
    store(row, layout.TO_PLAY, layout.BLACK)
    last_word = layout.THIRD_LAST + load(row, layout.FURTHER_LAST_MOVES)  # of the words of the latest actions
    for word in range(layout.LAST, last_word + 1):
        store(row, word, layout.NO_ACTION)
    points = (size + 1) * (size + 2) + 1  # as `bordered_points`, which is not compiled
    after_cells = layout.HEADER + layout.CELL * points
    at_boards = after_cells + 3 * size  # after a word per board row for `vacated`, and two for the scratch
    after_boards = at_boards + 2 * size * load(row, layout.DEPTH)  # of each board, a word per board row and colour
    store(row, layout.AT_VACATED, after_cells)
    store(row, layout.AT_SCRATCH, after_cells + size)
    store(row, layout.AT_BOARDS, at_boards)
    store(row, layout.AT_FILTER, after_boards)
    store(row, layout.AT_HASHES, after_boards + load(row, layout.FILTER_BITS) // 32)
    for point in range(points):
        store(row, cell(point) + layout.COLOUR, layout.BORDER)
    for action in range(size * size):
        store(row, cell(point_of(row, action)) + layout.COLOUR, layout.EMPTY)
        list_empty(row, point_of(row, action))
    store_long(row, layout.BEFORE_LOW, -1)  # no board
    if load(row, layout.KO_RULE) != layout.SIMPLE:
        record_board(row)


@kernel
def set_up(row, colours, to_play):
    """Place stones on an empty board, and give the move to `to_play`; the row must be that of an empty board.

    Nothing is captured if every chain of the finished board has a liberty. While stones are being placed, each part of
    such a chain has a liberty too: that of the finished chain, or a point of the chain that is still empty. If
    `find_misplaced` finds a stone afterwards, the row is invalid. For the ko rule the game begins with this board;
    older boards of history planes stay empty.

    Args:
        colours: int8 [N * N], 1 Black, -1 White, 0 empty.
        to_play: layout.BLACK or layout.WHITE.
    """
    size = load(row, layout.SIZE)
    for action in range(size * size):
        colour = load(colours, action)
        if colour != 0:
            put(row, point_of(row, action), layout.BLACK if colour > 0 else layout.WHITE)
    store(row, layout.TO_PLAY, to_play)
    if load(row, layout.KO_RULE) == layout.SIMPLE:
        return
    store(row, layout.BOARDS_SEEN, 0)  # the empty board never occurred
    for i in range(load(row, layout.FILTER_BITS) // 32):
        store(row, load(row, layout.AT_FILTER) + i, 0)
    record_board(row)


@kernel
def find_misplaced(row, colours):
    """Return the action of a stone that `set_up` could not place: it was captured, or has no liberty.

    Args:
        colours: as in `set_up`.

    Returns:
        NO_ACTION if there is no such stone.
    """
    for action in range(load(row, layout.SIZE) * load(row, layout.SIZE)):
        if load(colours, action) == 0:
            continue
        at = cell(point_of(row, action))
        at_head = cell(load(row, at + layout.HEAD))
        if load(row, at + layout.COLOUR) == layout.EMPTY or load_long(row, at_head + layout.LIBERTIES_LOW) == 0:
            return action
    return layout.NO_ACTION


@kernel
def advance_boards(row):
    """Copy the newest board to the next place of the ring buffer; the copy is the newest then, for a move to change."""
    words = 2 * load(row, layout.SIZE)  # of a board
    depth = load(row, layout.DEPTH)
    if depth == 1:  # no older board is kept
        return
    newest = load(row, layout.NEWEST)
    target = newest + 1 if newest + 1 < depth else 0
    at = load(row, layout.AT_BOARDS)
    for i in range(words):
        store(row, at + target * words + i, load(row, at + newest * words + i))
    store(row, layout.NEWEST, target)


@part
def note_action(row, action):
    """Record an action as the latest one; NO_ACTION for a skipped turn.  The oldest one that the row keeps is lost."""
    for word in range(layout.THIRD_LAST + load(row, layout.FURTHER_LAST_MOVES), layout.LAST, -1):
        store(row, word, load(row, word - 1))
    store(row, layout.LAST, action)


@kernel
def play(row, action):
    """Play a legal action for the side to move."""
    size = load(row, layout.SIZE)
    colour = load(row, layout.TO_PLAY)
    rule = load(row, layout.KO_RULE)
    advance_boards(row)
    store(row, layout.TO_PLAY, 3 - colour)  # the other side
    store(row, layout.BEFORE_LOW, load(row, layout.HASH_LOW))
    store(row, layout.BEFORE_HIGH, load(row, layout.HASH_HIGH))
    if action == size * size:
        store(row, layout.PASSES, load(row, layout.PASSES) + 1)
        if rule == layout.SITUATIONAL:  # the same board with the other side to move is a new one
            record_board(row)
    else:
        store(row, layout.PASSES, 0)
        put(row, point_of(row, action), colour)
        if rule != layout.SIMPLE:
            record_board(row)
    store(row, layout.PLY, load(row, layout.PLY) + 1)
    note_action(row, action)


@kernel
def give_turn(row, mover):
    """Let `mover` (layout.BLACK or layout.WHITE) play next; passes so far no longer end the game.

    If it is the other side's turn, this turn is skipped. A skipped turn is no move, no ply and no pass; it ends a
    simple ko.
    """
    store(row, layout.PASSES, 0)
    if load(row, layout.TO_PLAY) != mover:
        store(row, layout.TO_PLAY, mover)
        store_long(row, layout.BEFORE_LOW, -1)  # no board
        note_action(row, layout.NO_ACTION)


@kernel
def play_step(row, step):
    """Play a step of a path.

    A step >= 0 is an action of the side to move.  A step < 0 is the action -1 - step of the other side, played after
    the turn of the side to move is skipped.
    """
    action = step
    if step < 0:
        other_side = 3 - load(row, layout.TO_PLAY)
        give_turn(row, other_side)
        action = -1 - step
    play(row, action)


@kernel
def board(row, out):
    """Write the stones, int8 [N * N]: 1 Black, -1 White, 0 empty."""
    for action in range(load(row, layout.SIZE) * load(row, layout.SIZE)):
        colour = load(row, cell(point_of(row, action)) + layout.COLOUR)
        store(out, action, (colour == layout.BLACK) - (colour == layout.WHITE))


@kernel
def position_hash(row):
    """Return a hash of the stones, the side to move, and whether the last move was a pass."""
    return mix(load_long(row, layout.HASH_LOW) ^ (2 * load(row, layout.TO_PLAY) + (load(row, layout.PASSES) > 0)))
