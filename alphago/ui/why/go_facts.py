"""The facts about a move of Go, by searches and by reading the board."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Line, Reading, Stones, neighbours
from alphago.ui.why.facts import (
    FORESEEN,
    SURE,
    Atari,
    Candidate,
    Capturable,
    Captures,
    Fact,
    Loss,
    NamedChain,
    Reply,
    SaferChain,
    Searched,
)

BOARDS = 300  # most boards of one reading


def go_facts(tried: Candidate[GoPosition], seen: Searched, loss: Loss) -> list[Fact]:
    """Return what the move, the answer to it and the best move do.

    Good things about the move are told only if the search is sure that it is the best.  If the move is worse than the
    best one, the facts are what speaks against it, what the answer to it does, and what only the best move would do.

    Args:
        loss: what the move loses.
    """
    own = captures_and_ataris(tried.position, tried.action, seen.after.line)
    if not loss.worse:
        return list(keep_lasting(own, seen.after.ownership)) if loss.praised else []
    taken = capturable(tried, seen)
    found: list[Fact] = [*answer(tried, seen, loss, taken), *taken]
    best_is_played = loss.best in seen.after.line[:FORESEEN]  # by the other side, of which is told, or by the mover
    if not best_is_played:
        kinds = {type(fact) for fact in own}
        found += [fact for fact in best_captures(tried, seen, taken) if type(fact) not in kinds]
    return found or list(safer_chain(tried, seen))


def answer(tried: Candidate[GoPosition], seen: Searched, loss: Loss, taken: Sequence[Capturable]) -> list[Fact]:
    """Return what the clear answer to a bad move captures or catches, else whether it is on the best move's point.

    An answer that the other side plays after the best move too is not told.

    Args:
        taken: chains of which is told how they can be taken; an answer that begins to take one is told by that.
    """
    line = seen.after.line
    # Every second move of the line after the best move is the other side's.
    known = {*seen.after_best.line[:FORESEEN:2], *(fact.line[0] for fact in taken), tried.position.env.pass_action}
    if not line or line[0] in known:
        return []
    does = captures_and_ataris(tried.after, line[0], line[1:]) if seen.after.is_clear else []
    if told := keep_lasting(does, seen.after.ownership):
        return list(told)  # these facts name the answer as their move
    reply = Reply(tried.mover, tried.action, line[:1], mover=-tried.mover, is_key=True)
    return [reply] if line[0] == loss.best else []


def best_captures(tried: Candidate[GoPosition], seen: Searched, taken: Sequence[Capturable]) -> list[Captures | Atari]:
    """Return what the best move captures or catches, but not what is lost anyway.

    Args:
        taken: chains of which is told that the move prevents that they are taken.
    """
    does = captures_and_ataris(tried.position, tried.best, seen.after_best.line)
    found = []
    for fact in keep_lasting(does, seen.after_best.ownership):
        chains = fact.chains if isinstance(fact, Captures) else (fact.chain,)
        is_told = any(fact.chain in chains for fact in taken)
        # The chains' side loses their points after the played move too.
        is_lost = all(owned_share(seen.after.ownership, [chain.point], chain.colour) < SURE for chain in chains)
        if not is_told and not is_lost:
            found.append(fact)
    return found


def keep_lasting(facts: Sequence[Captures | Atari], owners: np.ndarray | None) -> list[Captures | Atari]:
    """Return those facts of a move by which the player gets points, by the forecast of ownership.

    They are the points of the chains that it captures or catches, or the move's own point.

    Args:
        owners: as in `owned_share`, after the move.
    """
    found = []
    for fact in facts:
        points = [fact.action]
        if isinstance(fact, Captures):
            points = [chain.point for chain in fact.chains]
        elif fact.line:
            points = [fact.chain.point]
        if owned_share(owners, points, fact.colour) > 1 - SURE:
            found.append(fact)
    return found


def capturable(tried: Candidate[GoPosition], seen: Searched) -> list[Capturable]:
    """Return the chains of the mover that the other side can take after the move, but not after the best move.

    Left out are chains that are expected to be lost after the best move too, the stone of the move itself, which may be
    meant to be given up, and all if the best move is a pass.
    """
    if tried.best in (tried.action, tried.position.env.pass_action):
        return []
    found = list[Capturable]()
    in_danger_anyway = {point for chain, _ in in_danger(tried.after_best) for point in chain.stones}
    for chain, line in in_danger(tried.after):
        old_stones = chain.stones - {tried.action}  # those that stood before the move
        if chain.stones & in_danger_anyway or not old_stones:
            continue
        is_kept = owned_share(seen.after_best.ownership, old_stones, tried.mover) > 0.5
        is_expected = line[0] in seen.after.line[:1]  # the answer that the search expects begins to take it
        if is_kept and (len(chain.stones) > 1 or is_expected):  # a single stone is often given up on purpose
            found.append(Capturable(tried.mover, tried.action, best=tried.best, chain=name_chain(chain), line=line))
    return sorted(found, key=lambda fact: -fact.chain.stones)


def safer_chain(tried: Candidate[GoPosition], seen: Searched) -> list[SaferChain]:
    """Return the chain that the best move saves and the played move does not, as a list with one fact.

    It is the one with most at stake; neither a stone that is in a ko, nor a chain that can be taken after the best move
    too.  Returns [] if there is none, or if the network forecasts no ownership.
    """
    found = list[SaferChain]()
    stones, after_best = read_stones(tried.position), read_stones(tried.after_best)
    for chain in stones.chains():
        if chain.colour != tried.mover or is_in_ko(stones, chain):
            continue
        best_share = owned_share(seen.after_best.ownership, chain.stones, tried.mover)
        share = owned_share(seen.after.ownership, chain.stones, tried.mover)
        is_saved = best_share > 1 - SURE and share <= 0.5
        # `attack` returns None if the other side cannot take the chain.
        if is_saved and Reading(BOARDS).attack(after_best, min(chain.stones)) is None:
            found.append(SaferChain(tried.mover, tried.action, tried.best, name_chain(chain), best_share, share))
    return sorted(found, key=lambda fact: -fact.chain.stones * (fact.best_share - fact.share))[:1]


# --- by reading the board --------------------------------------------------------------------------


def captures_and_ataris(position: GoPosition, action: int, line: Sequence[int] = ()) -> list[Captures | Atari]:
    """Return which chains of the other side a move captures, and to which it gives atari; [] for a pass.

    Args:
        position: before the move, which must be legal.
        line: the moves that are expected to follow the move.
    """
    if action == position.env.pass_action:
        return []
    before, after = read_stones(position), read_stones(position.play(action))
    around = {before.chain(p) for p in neighbours(before.size)[action] if before.colours[p] == -position.to_play}
    others = sorted(around, key=lambda chain: (-len(chain.stones), min(chain.stones)))
    found: list[Captures | Atari] = []
    # A captured chain leaves its points empty.
    if taken := [chain for chain in others if not after.colours[min(chain.stones)]]:
        found.append(Captures(position.to_play, action, tuple(map(name_chain, taken)), after.ko is not None))
    for chain in others:
        left = after.chain(min(chain.stones)) if chain not in taken else None
        if left is not None and len(left.liberties) == 1:
            found += atari(after, action, left, line)
    return found


def atari(after: Stones, action: int, chain: Chain, line: Sequence[int]) -> list[Atari]:
    """Return the atari that a move gives to a chain, as a list with one fact; [] if the atari does not matter.

    It does not matter if the chain can take a chain that attacks it.  Else it matters if the chain cannot escape, if
    the expected moves answer it, by saving the chain at once, or use it, by a capture, and if no moves are known.

    Args:
        line: the moves that are expected to follow the move.
    """
    mover = -chain.colour
    point = min(chain.stones)  # the chain's point by which it is found on later boards
    for attacker in after.touching(chain):
        # The chain's side can take it by its last liberty.
        if len(attacker.liberties) == 1 and after.play(chain.colour, min(attacker.liberties)) is not None:
            return []
    caught = Reading(BOARDS).defend(after, point) or ()  # the moves that catch the chain; () if it escapes
    if line and not caught:
        is_answered = len(play_line(after, chain.colour, line[:1]).chain(point).liberties) > 1
        is_used = play_line(after, chain.colour, line).colours[point] != chain.colour
        if not is_answered and not is_used:
            return []
    return [Atari(mover, action, name_chain(chain), last=min(chain.liberties), line=caught)]


def play_line(stones: Stones, colour: int, line: Sequence[int]) -> Stones:
    """Return the stones after a line of moves that `colour` begins, up to the first one that cannot be played."""
    for action in line:
        if action < stones.size**2:  # a point; the pass has the number after the last point's
            if stones.colours[action] or (after := stones.play(colour, action)) is None:
                break
            stones = after
        elif stones.ko is not None:  # a pass ends the ko
            stones = Stones(stones.size, stones.colours)
        colour = -colour
    return stones


def read_stones(position: GoPosition) -> Stones:
    """Return the stones of a position, and the point that ko forbids."""
    ko = position.ko_points
    return Stones(position.env.N, tuple(position.board.ravel().tolist()), ko[0] if ko else None)


def name_chain(chain: Chain) -> NamedChain:
    """Return the name of a chain: its colour, its first point from the top, and its number of stones."""
    return NamedChain(chain.colour, min(chain.stones), len(chain.stones))


def in_danger(position: GoPosition) -> Iterator[tuple[Chain, Line]]:
    """Yield chains of the side that has just moved which the other side can take now, each with a line that does it.

    The first move of the line is legal by the game's rules.  All its moves but the last give atari.  The stone that
    takes the chain cannot be taken at once, nor after a ko threat.
    """
    stones = read_stones(position)
    for chain in stones.chains():
        if chain.colour == position.to_play or len(chain.liberties) > 2:  # the first move could give it no atari
            continue
        line = Reading(BOARDS).attack(stones, min(chain.stones))
        if line is None or not position.legal_mask[line[0]]:
            continue
        end = play_line(stones, position.to_play, line)
        # More than one liberty: the stone that takes the chain stays.
        if len(end.chain(line[-1]).liberties) > 1:
            yield chain, line


def is_in_ko(stones: Stones, chain: Chain) -> bool:
    """Return whether the other side can take a stone in a ko: the stone that takes it could be taken back."""
    if len(chain.stones) > 1 or len(chain.liberties) > 1:
        return False
    after = stones.play(-chain.colour, min(chain.liberties))
    return after is not None and after.ko is not None


def owned_share(ownership: np.ndarray | None, points: Collection[int], colour: int) -> float:
    """Return which part of some points, 0 .. 1, is expected to become a side's; 1 if no ownership is known.

    Args:
        ownership: [H, W], Black's view.
    """
    if ownership is None:
        return 1.0
    return float(1 + colour * ownership.ravel()[sorted(points)].mean()) / 2
