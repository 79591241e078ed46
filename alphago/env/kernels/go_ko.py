"""The ko rules of Go: simple ko, positional superko and situational superko.

For superko, a row records the boards of the game in a filter and in a list of hashes (see `go_row`). Simple ko needs no
record: it forbids only the board before the last move.
"""

from alphago.env.kernels import go_row as layout
from alphago.env.kernels.go_row import load_long, store_long
from alphago.system.kernels.jit import load, part, store


@part
def superko_key(row, board_hash, mover):
    """Return the number by which superko compares boards: the board's hash; if situational, combined with the mover.

    Args:
        mover: the side to move on this board, BLACK or WHITE.
    """
    return board_hash ^ (mover * layout.SIDE_FACTOR) if load(row, layout.KO_RULE) == layout.SITUATIONAL else board_hash


@part
def record_board(row):
    """Add the current board, with its side to move, to the record for superko."""
    key = superko_key(row, load_long(row, layout.HASH_LOW), load(row, layout.TO_PLAY))
    seen = load(row, layout.BOARDS_SEEN)
    store_long(row, load(row, layout.AT_HASHES) + 2 * seen, key)
    store(row, layout.BOARDS_SEEN, seen + 1)
    bit = key & (load(row, layout.FILTER_BITS) - 1)
    at = load(row, layout.AT_FILTER) + (bit >> 5)  # 32 bits a word
    store(row, at, load(row, at) | (1 << (bit & 31)))


@part
def ko_forbids(row, board_hash, next_mover):
    """Return whether the ko rule forbids a move.

    Args:
        board_hash: hash of the board after the move.
        next_mover: the side to move after it.
    """
    if load(row, layout.KO_RULE) == layout.SIMPLE:
        return board_hash == load_long(row, layout.BEFORE_LOW)
    key = superko_key(row, board_hash, next_mover)
    bit = key & (load(row, layout.FILTER_BITS) - 1)
    filter_word = load(row, load(row, layout.AT_FILTER) + (bit >> 5))
    if (filter_word >> (bit & 31)) & 1 == 0:
        return False  # the board is certainly new, without a search among all boards
    at_hashes = load(row, layout.AT_HASHES)
    for i in range(load(row, layout.BOARDS_SEEN)):
        if load_long(row, at_hashes + 2 * i) == key:
            return True
    return False
