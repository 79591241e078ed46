"""Play recorded games, such as those in files, up to their first illegal move."""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go import give_turn, play
from alphago.env.kernels.go_legal import allowed, legal_bits
from alphago.env.kernels.go_row import cell, is_over, is_vacated, point_of
from alphago.system.kernels.jit import kernel, load, part


@part
def pass_is_legal(row):
    """Return whether the mover may pass in a game that is not over."""
    if load(row, layout.PLY) >= load(row, layout.FIRST_PASS):
        return True
    columns = 0  # the columns in which any row has a legal point, as bits
    for r in range(load(row, layout.SIZE)):
        columns |= legal_bits(row, r)
    return columns == 0


@kernel
def is_legal(row, action):
    """Return whether the side to move may play an action, 0 .. N * N; never once the game is over."""
    size = load(row, layout.SIZE)
    if is_over(row):
        return False
    if action == size * size:
        return pass_is_legal(row)
    point = point_of(row, action)
    if load(row, cell(point) + layout.COLOUR) != layout.EMPTY:
        return False
    # A move that is no suicide can repeat a board only on a point from which a stone was removed: only there the ko
    # rule is checked for it.
    return allowed(row, point, load(row, layout.TO_PLAY), is_vacated(row, point))


@kernel
def follow(row, colours, actions):
    """Play actions on the row until one is illegal; return how many were legal.

    After the end of the game, passes count as legal, but they are not played.

    Args:
        colours: int32 [n], 1 Black, -1 White; where a colour plays twice in a row, the other colour's turn is skipped.
        actions: int32 [n], 0 .. N * N.
    """
    size = load(row, layout.SIZE)
    followed = 0
    legal = True
    while legal and followed < actions.shape[0]:
        action = load(actions, followed)
        colour = layout.BLACK if load(colours, followed) > 0 else layout.WHITE
        if is_over(row):
            legal = action == size * size  # whether it is a pass
        else:
            if load(row, layout.TO_PLAY) != colour:
                give_turn(row, colour)
            legal = is_legal(row, action)
            if legal:
                play(row, action)
        if legal:
            followed += 1
    return followed
