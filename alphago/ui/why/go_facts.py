"""The facts about a move of Go, by searches and by reading the board."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Line, Reading, Stones, neighbours
from alphago.ui.why.facts import (
    DOOMED,
    FORESEEN_PLIES,
    SAFE,
    Atari,
    Candidate,
    Capturable,
    Captures,
    Fact,
    Loss,
    NamedChain,
    Reply,
    SaferChain,
    SearchResults,
)

MOST_BOARDS = 300  # most boards of one `Reading` of a ladder


def go_facts(move: Candidate[GoPosition], results: SearchResults, loss: Loss) -> list[Fact]:
    """Return what the move, the answer to it and the best move do.

    Of a move that is surely the best one, the facts are what it captures or catches.  Of a mistake, they are what the
    answer to it does, which chains can be taken after it, and what the best move would capture or catch.  If there are
    none, it is the chain that the best move saves.  Other moves have no facts.

    Args:
        loss: what the move loses.
    """
    own_captures = captures_and_ataris(move.position, move.action, results.after.line)
    if not loss.is_mistake:
        return list(keep_lasting(own_captures, results.after.ownership)) if loss.is_surely_best else []
    risks = capturable(move, results)
    facts: list[Fact] = [*answer(move, results, loss, risks), *risks]
    # The best move may be expected after the played move too: then it prevents or wins nothing by itself.
    if loss.best not in results.after.line[:FORESEEN_PLIES]:
        # Captures by both moves explain no loss, nor do ataris by both.
        own_kinds = {type(fact) for fact in own_captures}
        facts += [fact for fact in best_captures(move, results, risks) if type(fact) not in own_kinds]
    return facts or list(safer_chain(move, results))


def answer(move: Candidate[GoPosition], results: SearchResults, loss: Loss, risks: Sequence[Capturable]) -> list[Fact]:
    """Return what the answer to a bad move captures or catches, or else that it is on the best move's point.

    What it captures counts only if the search clearly prefers this answer.  There is no fact about an answer that the
    other side would play after the best move too.

    Args:
        loss: what the bad move loses, and the best move, `loss.best`.
        risks: facts about chains that can be taken; an answer that begins to take one needs no fact of its own.
    """
    line = results.after.line  # of expected moves; the first is the answer, by the other side
    # What the other side is expected to play after the best move: every second move of that line, from the first on.
    expected_anyway = results.after_best.line[:FORESEEN_PLIES:2]
    told_by_risks = [fact.line[0] for fact in risks]
    if not line or line[0] in (*expected_anyway, *told_by_risks, move.position.env.pass_action):
        return []
    captures = captures_and_ataris(move.after, line[0], line[1:]) if results.after.is_clear else []
    if lasting := keep_lasting(captures, results.after.ownership):
        return list(lasting)  # these facts name the answer as their move
    if line[0] != loss.best:
        return []
    # A point vital for both sides.  `colour` and `action` are of the bad move, `mover` and `line` of the answer.
    return [Reply(colour=move.mover, action=move.action, line=line[:1], mover=-move.mover, is_key=True)]


def best_captures(move: Candidate[GoPosition], results: SearchResults, risks: Sequence[Capturable]) -> list[Fact]:
    """Return what the best move captures or catches, without chains that die after the played move too.

    Args:
        risks: facts about chains that the best move prevents from being taken; they need no other fact.
    """
    captures = captures_and_ataris(move.position, move.best, results.after_best.line)
    facts = list[Fact]()
    for fact in keep_lasting(captures, results.after_best.ownership):
        taken = fact.chains if isinstance(fact, Captures) else (fact.chain,)
        has_fact = any(other.chain in taken for other in risks)
        dies_anyway = all(owned_share(results.after.ownership, [chain.point], chain.colour) < DOOMED for chain in taken)
        if not has_fact and not dies_anyway:
            facts.append(fact)
    return facts


def keep_lasting(facts: Sequence[Captures | Atari], owners: np.ndarray | None) -> list[Captures | Atari]:
    """Return those facts of a move that gain points which the player is expected to own in the end.

    Args:
        owners: the expected ownership after the move, [H, W], 1 Black's, -1 White's; None if unknown: then all facts
            are returned.
    """
    return [fact for fact in facts if owned_share(owners, gained_points(fact), fact.colour) > SAFE]


def gained_points(fact: Captures | Atari) -> list[int]:
    """Return the points that the player must keep, or else the fact gains nothing.

    They are a point of each chain that is captured or cannot escape.  For another atari it is the move's own point,
    since the atari lasts only as long as the stone that gives it.
    """
    if isinstance(fact, Captures):
        return [chain.point for chain in fact.chains]
    cannot_escape = len(fact.line) > 0
    return [fact.chain.point if cannot_escape else fact.action]


def capturable(move: Candidate[GoPosition], results: SearchResults) -> list[Capturable]:
    """Return the chains of the mover that the other side can take after the move, but not after the best move.

    Left out are chains that are expected to be lost after the best move too, and the stone of the move itself, which
    may be meant to be given up.  If the best move is a pass, there are none.
    """
    if move.best in (move.action, move.position.env.pass_action):
        return []
    facts = list[Capturable]()
    in_danger_anyway = {point for chain, _ in in_danger(move.after_best) for point in chain.stones}
    for chain, line in in_danger(move.after):
        old_stones = chain.stones - {move.action}  # those that stood before the move
        if chain.stones & in_danger_anyway or not old_stones:
            continue
        is_kept = owned_share(results.after_best.ownership, old_stones, move.mover) > 0.5
        is_expected = line[0] in results.after.line[:1]  # the answer that the search expects begins to take it
        if is_kept and (len(chain.stones) > 1 or is_expected):  # a single stone is often given up on purpose
            facts.append(Capturable(move.mover, move.action, best=move.best, chain=name_chain(chain), line=line))
    return sorted(facts, key=lambda fact: -fact.chain.stone_count)


def safer_chain(move: Candidate[GoPosition], results: SearchResults) -> list[SaferChain]:
    """Return the chain that the best move saves and the played move does not, as a list with one fact.

    It is the chain with the most stones times the gain of its chance to survive.  Stones that are in a ko do not count,
    nor do chains that can be taken after the best move too.  Returns [] if there is none, or if the network forecasts
    no ownership.
    """
    facts = list[SaferChain]()
    stones, after_best = read_stones(move.position), read_stones(move.after_best)
    for chain in stones.chains():
        if chain.colour != move.mover or is_in_ko(stones, chain):
            continue
        best_share = owned_share(results.after_best.ownership, chain.stones, move.mover)
        share = owned_share(results.after.ownership, chain.stones, move.mover)
        is_saved = best_share > SAFE and share <= 0.5
        # `attack` returns None if the other side cannot take the chain.
        if is_saved and Reading(MOST_BOARDS).attack(after_best, min(chain.stones)) is None:
            facts.append(SaferChain(move.mover, move.action, move.best, name_chain(chain), best_share, share))
    return sorted(facts, key=lambda fact: -fact.chain.stone_count * (fact.best_share - fact.share))[:1]


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
    facts: list[Captures | Atari] = []
    # A captured chain leaves its points empty.
    if captured := [chain for chain in others if not after.colours[min(chain.stones)]]:
        facts.append(Captures(position.to_play, action, tuple(map(name_chain, captured)), after.ko is not None))
    for chain in others:
        remaining = after.chain(min(chain.stones)) if chain not in captured else None
        if remaining is not None and len(remaining.liberties) == 1:
            facts += atari(after, action, remaining, line)
    return facts


def atari(after: Stones, action: int, chain: Chain, line: Sequence[int]) -> list[Atari]:
    """Return the atari that a move gives to a chain, as a list with one fact; [] if the atari does not matter.

    It does not matter if the chain can take a chain that attacks it.  Otherwise it matters in each of these cases: the
    chain cannot escape; the first expected move saves the chain; the expected moves capture it; no moves are expected.

    Args:
        after: the stones after the move.
        chain: the chain in atari.
        line: the moves that are expected to follow the move.
    """
    point = min(chain.stones)  # the chain's point by which it is found on later boards
    for attacker in after.touching(chain):
        # The chain's side can take the attacker by playing on its last liberty.
        if len(attacker.liberties) == 1 and after.play(chain.colour, min(attacker.liberties)) is not None:
            return []
    # `defend` returns None if the chain escapes, else the moves that catch it.
    catching_line = Reading(MOST_BOARDS).defend(after, point) or ()
    if line and not catching_line:
        is_saved = len(play_line(after, chain.colour, line[:1]).chain(point).liberties) > 1
        is_captured = play_line(after, chain.colour, line).colours[point] != chain.colour
        if not is_saved and not is_captured:
            return []
    return [Atari(-chain.colour, action, name_chain(chain), last=min(chain.liberties), line=catching_line)]


def play_line(stones: Stones, colour: int, line: Sequence[int]) -> Stones:
    """Return the stones after a line of moves that `colour` begins; it ends before a move that cannot be played."""
    for action in line:
        if action < stones.size**2:  # a point; the pass has the number after the last point's
            if stones.colours[action] or (after := stones.play(colour, action)) is None:  # taken, suicide or ko
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
    """Yield each chain of the side that has just moved which the other side can take, with a line that takes it.

    The first move of the line is legal by the game's rules.  All its moves but the last give atari.  The stone that
    takes the chain cannot be taken at once, nor after a ko threat.
    """
    stones = read_stones(position)
    for chain in stones.chains():
        if chain.colour == position.to_play or len(chain.liberties) > 2:  # the first move could give it no atari
            continue
        line = Reading(MOST_BOARDS).attack(stones, min(chain.stones))
        if line is None or not position.legal_mask[line[0]]:
            continue
        end = play_line(stones, position.to_play, line)
        # The stone that takes the chain cannot be taken at once if its chain has two liberties or more.
        if len(end.chain(line[-1]).liberties) > 1:
            yield chain, line


def is_in_ko(stones: Stones, chain: Chain) -> bool:
    """Return whether a chain is one stone that the other side can take in a ko."""
    if len(chain.stones) > 1 or len(chain.liberties) > 1:
        return False
    after = stones.play(-chain.colour, min(chain.liberties))
    return after is not None and after.ko is not None


def owned_share(ownership: np.ndarray | None, points: Collection[int], colour: int) -> float:
    """Return which part of some points, 0 .. 1, a side is expected to own; 1 if no ownership is known.

    Args:
        ownership: [H, W], 1 for Black's points, -1 for White's.
        points: numbers of points.
        colour: the side, +1 Black, -1 White.
    """
    if ownership is None:
        return 1.0
    return float(1 + colour * ownership.ravel()[sorted(points)].mean()) / 2
