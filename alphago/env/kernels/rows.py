"""The layout of packed rows shared by the small games: one position is one row of int64 words.

  header     HEADER words: side to move, ply, whether the game is over, Black's margin, and the board's height and width
  cells      one word per point of the board, row by row from the top
  the rest   defined by each game

This file has those operations of a GameBatch that do not depend on the rules. A game's own file defines `reset`,
`play`, `legal_mask` and `planes`, and gets its loops over many games from `loops_over`. In a `_batch` function `rows`
is int64 [count, words], `slots` (int64 [n]) lists the rows to process, and out[i] is the answer for rows[slots[i]].
Some of these functions are templates, which call stubs: `loops_over` replaces the stubs by a game's own kernels.
"""

from typing import Any

import numpy as np

from alphago.system.kernels.hashing import GOLDEN, mix
from alphago.system.kernels.jit import kernel, load, part, specialise, store, wrap

# Header words.  MARGIN is Black's margin if the game ended here: points, or 1, 0, -1.
TO_PLAY, PLY, OVER, MARGIN, HEIGHT, WIDTH = 0, 1, 2, 3, 4, 5
HEADER = 8  # words 6 and 7 are defined by each game

BLACK, WHITE, EMPTY = 1, -1, 0
NO_ACTION = -1


@part
def clear(row, height, width):
    """Set the row to an empty board of this size with Black to move, and all other words to 0."""
    for i in range(row.shape[0]):
        store(row, i, 0)
    store(row, TO_PLAY, BLACK)
    store(row, HEIGHT, height)
    store(row, WIDTH, width)


@part
def points(row):
    """Return the number of points of the board."""
    return load(row, HEIGHT) * load(row, WIDTH)


@part
def end_turn(row):
    """Count a ply and give the turn to the other side."""
    store(row, PLY, load(row, PLY) + 1)
    store(row, TO_PLAY, -load(row, TO_PLAY))


@part
def longest_line(row, point):
    """Return the length of the longest straight line of one colour through the stone at `point`, in stones."""
    height, width = load(row, HEIGHT), load(row, WIDTH)
    colour = load(row, HEADER + point)
    longest = 1
    for direction in range(4):  # (down, right): (0, 1), (1, -1), (1, 0), (1, 1)
        down = 0 if direction == 0 else 1
        right = 1 if direction == 0 else direction - 2
        length = 1
        for sign in (1, -1):
            r = point // width + sign * down
            c = point % width + sign * right
            while 0 <= r < height and 0 <= c < width and load(row, HEADER + r * width + c) == colour:
                length += 1
                r += sign * down
                c += sign * right
        longest = max(longest, length)
    return longest


@part
def put_stone(row, point, connect):
    """Place a stone of the mover: `connect` stones in a line win, and a full board ends the game."""
    mover = load(row, TO_PLAY)
    store(row, HEADER + point, mover)
    end_turn(row)
    has_won = longest_line(row, point) >= connect
    if has_won:
        store(row, MARGIN, mover)
    store(row, OVER, has_won or load(row, PLY) == points(row))


@kernel
def has_line(row, colour, length):
    """Return whether the side `colour` has at least `length` stones in a straight line."""
    for point in range(points(row)):
        if load(row, HEADER + point) == colour and longest_line(row, point) >= length:
            return True
    return False


@part
def stone_planes(row, out, at):
    """Write two planes, the mover's stones and the other side's, into `out` from index `at`."""
    mover = load(row, TO_PLAY)
    count = points(row)
    for i in range(count):
        owner = load(row, HEADER + i) * mover
        store(out, at + i, np.float32(owner == 1))
        store(out, at + count + i, np.float32(owner == -1))


@kernel
def position_hash(row):
    """Return a hash of side to move, board and margin; positions that differ only in history hash alike."""
    value = mix(load(row, TO_PLAY) + 2)  # of 1 or 3, since `mix` of -1 is 0
    value = mix(wrap(value + load(row, MARGIN)))
    for i in range(points(row)):
        value = mix(wrap(wrap(value * GOLDEN) + load(row, HEADER + i)))
    return value


@part
def copy(source, target):
    """Make the row `target` equal to the row `source`."""
    for i in range(source.shape[0]):
        store(target, i, load(source, i))


# Stubs, which `loops_over` replaces with a game's kernels.


def play(row, action):
    """Play a legal action for the side to move."""
    raise NotImplementedError


def legal_mask(row, out):
    """Write into `out` whether each action is legal; all are 0 once the game is over."""
    raise NotImplementedError


def verb(row, *out):
    """Answer a question about a row: write into `out`, such as `legal_mask`, or return a number, such as a hash."""
    raise NotImplementedError


def wins(row, action, scratch):
    """Return whether a legal action wins the game at once; scratch: int64 [words], memory for a copy of the row."""
    raise NotImplementedError


def wins_on_a_copy(row, action, scratch):
    """Return whether a legal action wins the game at once: `wins` for games without a faster function of their own."""
    copy(row, scratch)
    play(scratch, action)
    return load(scratch, OVER) != 0 and load(scratch, MARGIN) * load(row, TO_PLAY) > 0


# The loops that call them.


def play_batch(rows, slots, actions):
    """Play an action in each slot."""
    for i in range(slots.shape[0]):
        play(rows[slots[i]], wrap(int(actions[i])))  # an int64, so that the rules are compiled once


def replay_batch(rows, roots, paths, lengths, targets):
    """Copy each root and play the first `lengths[i]` actions of `paths[i]` on the copy."""
    for i in range(roots.shape[0]):
        row = rows[targets[i]]
        copy(rows[roots[i]], row)
        for ply in range(lengths[i]):
            play(row, wrap(int(paths[i, ply])))  # an int64, so that the rules are compiled once


def copy_rows(from_rows, sources, rows, targets):
    """Copy the slots `sources` of `from_rows` to the slots `targets` of `rows`."""
    for i in range(sources.shape[0]):
        copy(from_rows[sources[i]], rows[targets[i]])


def write_batch(rows, slots, out):
    """Let the kernel `verb` write its answer for each slot into a row of `out`."""
    for i in range(slots.shape[0]):
        verb(rows[slots[i]], out[i])


def answer_batch(rows, slots, out):
    """Write the number that the kernel `verb` returns for each slot."""
    for i in range(slots.shape[0]):
        out[i] = verb(rows[slots[i]])


def decisive_moves_batch(rows, slots, mask, scratch, out):
    """Write for each slot the first action that wins at once, or NO_ACTION.

    Args:
        mask: bool [A], scratch memory for the legal actions.
        scratch: int64 [words], scratch memory for a copy of a row.
    """
    for i in range(slots.shape[0]):
        row = rows[slots[i]]
        legal_mask(row, mask)
        out[i] = NO_ACTION
        for action in range(mask.shape[0]):
            if load(mask, action) and wins(row, wrap(action), scratch):  # an int64, so that `wins` is compiled once
                out[i] = action
                break


def loops_over(play: Any, legal_mask: Any, planes: Any, wins: Any = None) -> tuple[Any, ...]:
    """Return a game's compiled loops, in the order play, replay, legal_mask, planes, decisive_moves.

    Args:
        play, legal_mask, planes: the game's own kernels, for one row.
        wins: as the stub `wins`; None for `wins_on_a_copy`.
    """
    # `specialise` replaces the stubs that a function calls itself, but not those in the functions that it calls.
    # So `play` is replaced in `wins_on_a_copy` here, and `wins` in the loops below.
    wins = part(specialise(wins_on_a_copy, play=play)) if wins is None else wins
    stubs = {"play": play, "legal_mask": legal_mask, "wins": wins}
    loops = (play_batch, replay_batch, decisive_moves_batch)
    play_loop, replay_loop, decisive_loop = (kernel(specialise(loop, **stubs)) for loop in loops)
    return play_loop, replay_loop, over_slots(write_batch, legal_mask), over_slots(write_batch, planes), decisive_loop


def over_slots(loop: Any, verb: Any) -> Any:
    """Compile `loop`, `write_batch` or `answer_batch`, with a kernel of one row in place of its stub `verb`."""
    made = specialise(loop, verb=verb)
    made.__name__ = made.__qualname__ = f"{verb.__name__}_batch"  # the compiled code is cached by this name
    return kernel(made)


@part
def to_play(row):
    """Return the side to move: 1 Black, -1 White."""
    return load(row, TO_PLAY)


@part
def is_over(row):
    """Return whether the game is over."""
    return load(row, OVER) != 0


@part
def score(row):
    """Return the mover's margin if the game ended now."""
    return load(row, MARGIN) * load(row, TO_PLAY)


@part
def outcome(row):
    """Return the sign of the mover's margin: 1, 0 or -1."""
    return (score(row) > 0) - (score(row) < 0)


@part
def ownership(row, out):
    """Write the owner of the stone on each point: 1 the mover, -1 the other side, 0 for an empty point."""
    for point in range(points(row)):
        store(out, point, load(row, HEADER + point) * load(row, TO_PLAY))


copy_batch = kernel(copy_rows)
to_play_batch = over_slots(answer_batch, to_play)
is_over_batch = over_slots(answer_batch, is_over)
hash_batch = over_slots(answer_batch, position_hash)
score_batch = over_slots(answer_batch, score)
outcome_batch = over_slots(answer_batch, outcome)
ownership_batch = over_slots(write_batch, ownership)
