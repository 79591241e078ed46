"""What a move does on a board of Go: it captures, gives atari, joins, cuts, takes an eye, leaves a chain in danger."""

from collections.abc import Iterator, Sequence

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Line, Reading, Stones, neighbours
from alphago.ui.why.facts import Atari, Captures, Connects, Cuts, Fact, LosesEye, NamedChain

BOARDS = 300  # most boards of one reading


def deeds(position: GoPosition, action: int, line: Sequence[int] = ()) -> list[Fact]:
    """Return what a move does to the chains around it; [] for a pass.

    position: before the move, which must be legal.  line: the moves that are expected to follow the move.
    """
    if action == position.env.pass_action:
        return []
    mover = position.to_play
    before, after = stones_of(position), stones_of(position.play(action))
    around = {before.chain(p) for p in neighbours(before.size)[action] if before.colours[p]}
    own = sorted((chain for chain in around if chain.colour == mover), key=size_first)
    others = sorted((chain for chain in around if chain.colour != mover), key=size_first)
    found: list[Fact] = []
    if taken := [chain for chain in others if not after.colours[min(chain.stones)]]:
        found.append(Captures(mover, action, groups(taken), after.ko is not None))
    others_left = chains_in(after, others)
    for chain in others_left:
        if len(chain.liberties) == 1:
            found += atari(after, action, chain, line)
    # The move connects what a stone of the other side on its point would cut.
    others_move = before.play(-mover, action)  # None if the other side could not play there
    if others_move is not None and (parts := lasting_parts(others_move, chains_in(others_move, own), -mover)):
        found.append(Connects(mover, action, groups(parts)))
    if parts := lasting_parts(after, others_left, mover, line):
        found.append(Cuts(mover, action, groups(parts)))
    for side in (1, -1):
        found += [LosesEye(mover, action, side, eye) for eye in sorted(eyes(before, side) - eyes(after, side))]
    return found


def atari(after: Stones, action: int, chain: Chain, line: Sequence[int]) -> list[Fact]:
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
    return [Atari(mover, action, group_of(chain), last=min(chain.liberties), line=caught)]


def lasting_parts(stones: Stones, chains: list[Chain], cutter: int, line: Sequence[int] = ()) -> list[Chain]:
    """Return the groups into which chains are cut, as `cut_apart` does; [] if they are not cut, or not for good.

    cutter, line: as in `stays_cut`.
    """
    parts = cut_apart(stones, chains)
    return parts if len(parts) > 1 and stays_cut(stones, cutter, parts, line) else []


def stays_cut(stones: Stones, cutter: int, parts: list[Chain], line: Sequence[int] = ()) -> bool:
    """Return whether parts of a side's stones stay cut.

    They do if no chain of the cutter that touches them can be caught, and if they are still apart after the line, or if
    one of them is captured in it.

    cutter: the side that cuts, +1 or -1.
    line: the moves that are expected to follow; the first one is the other side's.
    """
    cutting_chains = {chain for part in parts for chain in stones.touching(part)}
    if any(Reading(BOARDS).attack(stones, min(chain.stones)) is not None for chain in cutting_chains):
        return False
    end = play_line(stones, -cutter, line)
    parts_left = [chain for chain in chains_in(end, parts) if chain.colour == -cutter]
    some_captured = len(parts_left) < len(parts)
    return some_captured or len(cut_apart(end, parts_left)) == len(parts)


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


def chains_in(stones: Stones, chains: list[Chain]) -> list[Chain]:
    """Return chains of an earlier board as they are on this board, without those that were captured."""
    points = [min(chain.stones) for chain in chains]
    return [stones.chain(point) for point in points if stones.colours[point]]


def group_of(chain: Chain) -> NamedChain:
    """Return the name of a chain: its colour, its first point from the top, and its number of stones."""
    return NamedChain(chain.colour, min(chain.stones), len(chain.stones))


def groups(chains: list[Chain]) -> tuple[NamedChain, ...]:
    """Return the names of chains."""
    return tuple(map(group_of, chains))


def size_first(chain: Chain) -> tuple[int, int]:
    """Return the key by which larger chains come first."""
    return -len(chain.stones), min(chain.stones)


def cut_apart(stones: Stones, chains: list[Chain]) -> list[Chain]:
    """Return one chain of each group into which chains of one colour fall.

    Two chains are linked if they share a liberty, on which one move would join them.  A group is what is linked,
    directly or by other chains of the colour.
    """
    if len(chains) < 2:
        return chains
    ungrouped = [chain for chain in stones.chains() if chain.colour == chains[0].colour]
    parts = []
    for first in chains:
        if first not in ungrouped:
            continue
        parts.append(first)
        to_follow = [first]  # chains of this group whose links are not followed yet
        while to_follow:
            chain = to_follow.pop()
            linked = [other for other in ungrouped if other.liberties & chain.liberties or other == chain]
            ungrouped = [other for other in ungrouped if other not in linked]
            to_follow += [other for other in linked if other != chain]
    return parts


def eyes(stones: Stones, colour: int) -> set[int]:
    """Return the one-point eyes of a side: empty points with the side's stones on all points beside them.

    At most one of the four diagonal points may have a stone of the other side, and at the edge of the board none.
    """
    size, found = stones.size, set()
    for point, owner in enumerate(stones.colours):
        if owner or any(stones.colours[p] != colour for p in neighbours(size)[point]):
            continue
        row, column = divmod(point, size)
        corners = [(row + dr, column + dc) for dr in (-1, 1) for dc in (-1, 1)]
        on_board = [r * size + c for r, c in corners if 0 <= r < size and 0 <= c < size]
        most_enemies = 1 if len(on_board) == 4 else 0
        if sum(stones.colours[p] == -colour for p in on_board) <= most_enemies:
            found.add(point)
    return found


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


def share_of(ownership: np.ndarray, points: frozenset[int], colour: int) -> float:
    """Return which part of some points, 0 .. 1, is expected to become a side's.  ownership: [H, W], Black's view."""
    return float(1 + colour * ownership.ravel()[sorted(points)].mean()) / 2
