"""What a move does on a board of Go: it captures, gives atari, leaves a chain in danger."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Line, Reading, Stones, neighbours
from alphago.ui.why.facts import Atari, Captures, NamedChain

BOARDS = 300  # most boards of one reading


def captures_and_ataris(position: GoPosition, action: int, line: Sequence[int] = ()) -> list[Captures | Atari]:
    """Return which chains of the other side a move captures, and to which it gives atari; [] for a pass.

    position: before the move, which must be legal.  line: the moves that are expected to follow the move.
    """
    if action == position.env.pass_action:
        return []
    before, after = stones_of(position), stones_of(position.play(action))
    around = {before.chain(p) for p in neighbours(before.size)[action] if before.colours[p] == -position.to_play}
    others = sorted(around, key=lambda chain: (-len(chain.stones), min(chain.stones)))
    found: list[Captures | Atari] = []
    if taken := [chain for chain in others if not after.colours[min(chain.stones)]]:
        found.append(Captures(position.to_play, action, tuple(map(named, taken)), after.ko is not None))
    for chain in others:
        left = after.chain(min(chain.stones)) if chain not in taken else None
        if left is not None and len(left.liberties) == 1:
            found += atari(after, action, left, line)
    return found


def atari(after: Stones, action: int, chain: Chain, line: Sequence[int]) -> list[Atari]:
    """Return the atari that a move gives to a chain, as a list with one fact; [] if the atari does not matter.

    An atari does not matter if the chain can take a chain that attacks it.  Otherwise it matters if the chain cannot
    escape, if the line saves the chain at once or captures it, or if there is no line.

    line: the moves that are expected to follow the move.
    """
    mover = -chain.colour
    point = min(chain.stones)  # the chain's point by which it is found on later boards
    for attacker in after.touching(chain):
        if len(attacker.liberties) == 1 and after.play(chain.colour, min(attacker.liberties)) is not None:
            return []
    caught = Reading(BOARDS).defend(after, point) or ()  # the moves that catch the chain; () if it escapes
    if line and not caught:
        saved_at_once = len(play_line(after, chain.colour, line[:1]).chain(point).liberties) > 1
        is_captured = play_line(after, chain.colour, line).colours[point] != chain.colour
        if not saved_at_once and not is_captured:
            return []
    return [Atari(mover, action, named(chain), last=min(chain.liberties), line=caught)]


def play_line(stones: Stones, colour: int, line: Sequence[int]) -> Stones:
    """Return the stones after a line of moves that `colour` begins, up to the first one that cannot be played."""
    for action in line:
        if action < stones.size**2:
            if stones.colours[action] or (after := stones.play(colour, action)) is None:
                break
            stones = after
        elif stones.ko is not None:  # a pass ends the ko
            stones = Stones(stones.size, stones.colours)
        colour = -colour
    return stones


def stones_of(position: GoPosition) -> Stones:
    """Return the stones of a position, and the point that ko forbids."""
    ko = position.ko_points
    return Stones(position.env.N, tuple(position.board.ravel().tolist()), ko[0] if ko else None)


def named(chain: Chain) -> NamedChain:
    """Return the name of a chain: its colour, its first point from the top, and its number of stones."""
    return NamedChain(chain.colour, min(chain.stones), len(chain.stones))


def in_danger(position: GoPosition) -> Iterator[tuple[Chain, Line]]:
    """Yield chains of the side that has just moved which the other side can take now, each with a line that does it.

    The first move of the line is legal by the game's rules.  All its moves but the last give atari.  The stone that
    takes the chain cannot be taken at once, nor after a ko threat.
    """
    stones = stones_of(position)
    for chain in stones.chains():
        if chain.colour == position.to_play or len(chain.liberties) > 2:
            continue
        line = Reading(BOARDS).attack(stones, min(chain.stones))
        if line is None or not position.legal_mask[line[0]]:
            continue
        end = play_line(stones, position.to_play, line)
        if len(end.chain(line[-1]).liberties) > 1:
            yield chain, line


def is_in_ko(stones: Stones, chain: Chain) -> bool:
    """Return whether the other side can take a stone in a ko: the stone that takes it could be taken back."""
    if len(chain.stones) > 1 or len(chain.liberties) > 1:
        return False
    after = stones.play(-chain.colour, min(chain.liberties))
    return after is not None and after.ko is not None


def share_of(ownership: np.ndarray, points: Collection[int], colour: int) -> float:
    """Return which part of some points, 0 .. 1, is expected to become a side's.  ownership: [H, W], Black's view."""
    return float(1 + colour * ownership.ravel()[sorted(points)].mean()) / 2
