"""What a stone does on a board of Go: it captures, gives atari, joins, cuts, takes an eye, leaves a chain in danger."""

from collections.abc import Iterator, Sequence

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Line, Reading, Stones, neighbours
from alphago.ui.why.facts import Atari, Captures, Connects, Cuts, Fact, LosesEye, NamedChain

BOARDS = 300  # most boards of one reading


def deeds(position: GoPosition, action: int, line: Sequence[int] = ()) -> list[Fact]:
    """Return what a move does to the chains around it; nothing for a pass.

    position: before the move, which must be legal.  line: the moves that are expected to follow.
    """
    if action == position.env.pass_action:
        return []
    mover, after = position.to_play, stones_of(position.play(action))
    before = stones_of(position)
    around = {before.chain(p) for p in neighbours(before.size)[action] if before.colours[p]}
    own = sorted((chain for chain in around if chain.colour == mover), key=size_first)
    others = sorted((chain for chain in around if chain.colour != mover), key=size_first)
    found: list[Fact] = []
    if taken := [chain for chain in others if not after.colours[min(chain.stones)]]:
        found.append(Captures(mover, action, groups(taken), after.ko is not None))
    left = chains_in(after, others)
    found += [fact for chain in left if len(chain.liberties) == 1 for fact in atari(after, action, chain, line)]
    prevented = before.play(-mover, action)  # the other side's stone there instead; None if it could not play there
    if prevented is not None and (parts := lasting_parts(prevented, chains_in(prevented, own), -mover)):
        found.append(Connects(mover, action, groups(parts)))
    if parts := lasting_parts(after, left, mover, line):
        found.append(Cuts(mover, action, groups(parts)))
    for side in (1, -1):
        found += [LosesEye(mover, action, side, eye) for eye in sorted(eyes(before, side) - eyes(after, side))]
    return found


def atari(after: Stones, action: int, chain: Chain, line: Sequence[int]) -> list[Fact]:
    """Return the atari that a move has given to a chain, as a list of one; [] if the atari does not matter.

    It matters if the chain cannot escape, if the line saves or loses it, and if there is no line to tell; never if the
    chain can take a stone that gives the atari.

    line: the moves that are expected to follow.
    """
    mover, point = -chain.colour, min(chain.stones)
    for attacker in after.touching(chain):
        if len(attacker.liberties) == 1 and after.play(chain.colour, min(attacker.liberties)) is not None:
            return []
    caught = Reading(BOARDS).defend(after, point) or ()  # the moves that catch the chain; () if it escapes
    if line and not caught:
        saved_at_once = len(play_line(after, chain.colour, line[:1]).chain(point).liberties) > 1
        stays = play_line(after, chain.colour, line).colours[point] == chain.colour
        if stays and not saved_at_once:
            return []  # the line neither saves it at once nor takes it
    return [Atari(mover, action, group_of(chain), min(chain.liberties), caught)]


def lasting_parts(stones: Stones, chains: list[Chain], cutter: int, line: Sequence[int] = ()) -> list[Chain]:
    """Return the groups into which chains are cut, as `cut_apart`; [] if they are one, or not cut for good.

    cutter, line: as in `stays_cut`.
    """
    parts = cut_apart(stones, chains)
    return parts if len(parts) > 1 and stays_cut(stones, cutter, parts, line) else []


def stays_cut(stones: Stones, cutter: int, parts: list[Chain], line: Sequence[int] = ()) -> bool:
    """Return whether no chain of the cutter beside the parts can be caught, and the line does not join the parts.

    A part that is captured within the line joins no other.

    line: the moves that are expected to follow, by the other side first.
    """
    beside = {chain for part in parts for chain in stones.touching(part)}
    if any(Reading(BOARDS).attack(stones, min(chain.stones)) is not None for chain in beside):
        return False
    end = play_line(stones, -cutter, line)
    left = [chain for chain in chains_in(end, parts) if chain.colour == -cutter]
    some_captured = len(left) < len(parts)
    return some_captured or len(cut_apart(end, left)) == len(parts)


def play_line(stones: Stones, colour: int, line: Sequence[int]) -> Stones:
    """Return the stones after the moves of a line, in turn from a colour on, up to one that cannot be played."""
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
    """Return the stones of a position, with the point that its ko rule forbids."""
    ko = position.ko_points
    return Stones(position.env.N, tuple(position.board.ravel().tolist()), ko[0] if ko else None)


def chains_in(stones: Stones, chains: list[Chain]) -> list[Chain]:
    """Return chains of an earlier board as they are on this one, without those that were captured."""
    points = [min(chain.stones) for chain in chains]
    return [stones.chain(point) for point in points if stones.colours[point]]


def group_of(chain: Chain) -> NamedChain:
    """Return the name of a chain: its first point, from the top."""
    return NamedChain(chain.colour, min(chain.stones), len(chain.stones))


def groups(chains: list[Chain]) -> tuple[NamedChain, ...]:
    """Return the names of chains."""
    return tuple(map(group_of, chains))


def size_first(chain: Chain) -> tuple[int, int]:
    """Return the key by which larger chains come first."""
    return -len(chain.stones), min(chain.stones)


def cut_apart(stones: Stones, chains: list[Chain]) -> list[Chain]:
    """Return the first chain of each of the groups into which chains of one colour fall.

    Chains belong together if a single move of theirs joins them, directly or through other chains.
    """
    if len(chains) < 2:
        return chains
    left = [chain for chain in stones.chains() if chain.colour == chains[0].colour]
    parts = []
    for first in chains:
        if first not in left:
            continue
        parts.append(first)
        reached = [first]
        while reached:
            one = reached.pop()
            linked = [other for other in left if other.liberties & one.liberties or other == one]
            left = [other for other in left if other not in linked]
            reached += [other for other in linked if other != one]
    return parts


def eyes(stones: Stones, colour: int) -> set[int]:
    """Return the one-point eyes of a side: its stones around them, and of the other side's on the corners at most one.

    At the edge no corner may have a stone of the other side.
    """
    size, found = stones.size, set()
    for point, owner in enumerate(stones.colours):
        if owner or any(stones.colours[p] != colour for p in neighbours(size)[point]):
            continue
        row, column = divmod(point, size)
        corners = [(row + dr, column + dc) for dr in (-1, 1) for dc in (-1, 1)]
        inside = [r * size + c for r, c in corners if 0 <= r < size and 0 <= c < size]
        most = 1 if len(inside) == 4 else 0
        if sum(stones.colours[p] == -colour for p in inside) <= most:
            found.add(point)
    return found


def in_danger(position: GoPosition) -> Iterator[tuple[Chain, Line]]:
    """Yield the chains of the side that has just moved that the other side can take now, and how.

    The taker's first move is checked by the game's rules; what follows are ataris, up to the capture.
    """
    stones = stones_of(position)
    for chain in stones.chains():
        if chain.colour == position.to_play or len(chain.liberties) > 2:
            continue
        line = Reading(BOARDS).attack(stones, min(chain.stones))
        if line is not None and position.legal_mask[line[0]]:
            yield chain, line


def share_of(ownership: np.ndarray, points: frozenset[int], colour: int) -> float:
    """Return the part of some points that is expected to become a side's, 0 .. 1; ownership: Black's view [H, W]."""
    return float(1 + colour * ownership.ravel()[sorted(points)].mean()) / 2
