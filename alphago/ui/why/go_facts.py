"""The facts about a move of Go, by searches and by reading the board."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Line, Reading
from alphago.ui.why.deeds import BOARDS, deeds, group_of, groups, in_danger, play_line, share_of, stones_of
from alphago.ui.why.facts import (
    FORESEEN,
    LEADS,
    SHOWN_PLIES,
    SURE,
    Atari,
    Capturable,
    Captures,
    ChangesOwner,
    Connects,
    Cuts,
    Fact,
    LosesEye,
    Loss,
    Lost,
    NamedChain,
    Race,
    Reply,
    Sente,
)
from alphago.ui.why.races import won_races
from alphago.ui.why.safer import kept_by_best
from alphago.ui.why.tried import Searched, Tried

THREAT, TIMES = 4.0, 1.5  # a threat gains at least TIMES as many points as a move elsewhere, and THREAT more
GOOD = 2.0  # a move that loses less than this, in points, is good by itself, and is not called another move's threat
DEAD = 0.2  # a played stone whose chance to survive is less is expected to be lost
READ = 8  # plies of a line that are played to see what it takes
MOST_CHAINS = 3  # most chains of `dangers` that are told


def go_facts(tried: Tried[GoPosition], seen: Searched, loss: Loss) -> list[Fact]:
    """Return what the move, the answer to it and the best move do.

    Good things about the move are told only if the search is sure that it is the best.  If the move is worse than the
    best one, the facts are what speaks against it, what the answer to it does, and what only the best move would do.

    loss: what the move loses.
    """
    own_deeds = deeds(tried.position, tried.action, seen.after.line)
    if not loss.worse:
        praise = list[Fact]()
        if loss.praised:
            praise = [*lasting(own_deeds, seen.after.ownership), *sente(tried, seen, tried.action, which=1)]
        return [*praise, *dangers(tried, seen, saved=1 - SURE)]
    found: list[Fact] = lost_races(tried, seen)
    found += [fact for fact in own_deeds if isinstance(fact, LosesEye) and fact.owner == tried.mover]
    taken_now = dangers(tried, seen)
    answer = answer_facts(tried, seen, loss, taken_now)
    found += [*answer, *taken_now]
    own_kinds = {type(fact) for fact in own_deeds}
    only_best = [fact for fact in best_deeds(tried, seen, loss, taken_now) if type(fact) not in own_kinds]
    is_answered_there = bool(answer) and seen.after.line[0] == loss.best  # what a stone there does was told
    comes_later = loss.best in seen.after.line[1:FORESEEN:2]  # the mover still gets to play there
    if not is_answered_there and not comes_later:
        found += [fact for fact in only_best if loss.clear or takes(fact)]
        if loss.clear:
            found += sente(tried, seen, loss.best, which=2)
    kept = list[Fact]()
    for fact in kept_by_best(tried, seen):  # an area, or a chain that is only safer, says less than the other facts
        if isinstance(fact, ChangesOwner):
            is_told = loss.large and (fact.decides or not found)
        else:
            is_told = not found and (loss.clear or not loss.large)  # what a doubtful move gains was often wrong
        if is_told:
            kept.append(fact)
    told = [*(fact for fact in kept if not is_taken(fact, tried, found)), *found]
    return told or only_best or lost_stone(tried, seen)


def answer_facts(tried: Tried[GoPosition], seen: Searched, loss: Loss, taken_now: Sequence[Capturable]) -> list[Fact]:
    """Return the answer to a bad move, and what it does; [] if neither says why the move is bad.

    taken_now: chains of which is told how they can be taken; an answer that begins to take one is told by that.
    """
    reply = reply_of(tried, seen, loss)
    if reply is None or any(reply.line[0] == fact.line[0] for fact in taken_now):
        return []
    start, line = reply.line[0], seen.after.line
    does = unrepeated(lasting(deeds(tried.after, start, line[1:]), seen.after.ownership), reply.taken)
    if does and not reply.taken and reply.how != Reply.PUNISHES:
        return does  # which name the answer
    says_why = does or reply.taken or (reply.how == Reply.KEY and loss.large)
    return [reply, *does] if says_why else []


def best_deeds(tried: Tried[GoPosition], seen: Searched, loss: Loss, taken_now: Sequence[Capturable]) -> list[Fact]:
    """Return what the best move does to the chains around it, but not that it takes what is lost anyway.

    taken_now: chains of which is told that the move prevents that they are taken.
    """
    does = lasting(deeds(tried.position, loss.best, seen.after_best.line), seen.after_best.ownership)
    does = unrepeated(does, [fact.group for fact in taken_now])
    owners = seen.after.ownership
    if owners is None:
        return does
    found = []
    for fact in does:
        taken = fact.groups if isinstance(fact, Captures) else [fact.group] if isinstance(fact, Atari) else []
        lost_anyway = [share_of(owners, frozenset([group.point]), group.colour) < SURE for group in taken]
        if not taken or not all(lost_anyway):
            found.append(fact)
    return found


def takes(fact: Fact) -> bool:
    """Return whether a fact is that a move captures chains, or gives an atari from which a chain cannot escape."""
    return isinstance(fact, Captures) or (isinstance(fact, Atari) and len(fact.line) > 0)


def unrepeated(facts: Sequence[Fact], taken: Sequence[NamedChain] = ()) -> list[Fact]:
    """Return the facts of a move without ataris, cuts and connections of chains of which is told that they are taken.

    Cuts of chains that an atari of the move catches are left out too.

    taken: the chains of which it is told, by other facts.
    """
    caught = {fact.group for fact in facts if isinstance(fact, Atari) and fact.line}.union(taken)
    found = [fact for fact in facts if not (isinstance(fact, Atari) and fact.group in taken)]
    return [fact for fact in found if not (isinstance(fact, Cuts | Connects) and caught.intersection(fact.groups))]


def is_taken(fact: Fact, tried: Tried[GoPosition], others: Sequence[Fact]) -> bool:
    """Return whether a fact is that a chain is safer after the best move, and others tell how it is taken or cut."""
    if not isinstance(fact, ChangesOwner):
        return False
    stones = stones_of(tried.after).chain(fact.group.point)
    if any(isinstance(other, Capturable) and stones.liberties == {other.line[0]} for other in others):
        return True  # one move takes several chains
    chain = group_of(stones)
    taken = list[NamedChain]()
    for other in others:
        match other:
            case Capturable(group=group) | Atari(group=group) | Race(loser=group):
                taken.append(group)
            case Captures(groups=groups_taken) | Cuts(groups=groups_taken) | Reply(taken=groups_taken):
                taken += groups_taken
    return chain in taken


def reply_of(tried: Tried[GoPosition], seen: Searched, loss: Loss) -> Reply | None:
    """Return the answer to a bad move, with its line up to a capture, or only its first move without a capture.

    Returns None for a pass, if the answer is not clear, and if the other side plays it after the best move too.  An
    answer that captures nothing is told only if the best move is clear, or if the answer is the very same point.
    """
    mover, action, answer = tried.mover, tried.action, seen.after.line
    pass_action = tried.position.env.pass_action
    if not answer or answer[0] == pass_action or not seen.after.is_clear:
        return None
    follows_best_too = answer[0] in seen.after_best.line[:FORESEEN:2]  # among the other side's moves
    if follows_best_too:
        return None
    line, taken = harvest(tried.after, answer, tried.after_best, seen.after_best.line)
    # The mover resists the capture if he neither passes nor plays elsewhere, and the chains can be caught anyway.
    is_resisted = pass_action not in line and all(tried.is_near(*pair) for pair in pairwise(line))
    after = stones_of(tried.after)
    are_caught = all(Reading(BOARDS).attack(after, chain.point) is not None for chain in taken)
    if not line or not is_resisted or not are_caught:
        line, taken = answer[:1], ()
    if not taken and not loss.clear and answer[0] != loss.best:
        return None
    if answer[0] == loss.best:
        how = Reply.KEY
    elif loss.large and tried.is_near(action, answer[0]):
        how = Reply.PUNISHES
    else:
        how = Reply.ANSWERS
    return Reply(mover, action, line=line, mover=-mover, how=how, taken=taken)


def lasting(facts: Sequence[Fact], owners: np.ndarray | None) -> list[Fact]:
    """Return those of a move's facts that are of use by the forecast of ownership.

    Points of the fact must be expected to become the player's: of the chains that the move joins, captures or catches;
    of other facts, the point of the move.  A lost eye is always told.

    owners: the ownership after the move, Black's view [H, W]; None if unknown.
    """
    if owners is None:
        return list(facts)
    found = []
    for fact in facts:
        points = frozenset([fact.action])
        if isinstance(fact, Captures | Connects):
            points = frozenset(group.point for group in fact.groups)
        elif isinstance(fact, Atari) and fact.line:
            points = frozenset([fact.group.point])
        if isinstance(fact, LosesEye) or share_of(owners, points, fact.colour) > 1 - SURE:
            found.append(fact)
    return found


def harvest(
    start: GoPosition, line: Sequence[int], other_start: GoPosition, other_line: Sequence[int]
) -> tuple[Line, tuple[NamedChain, ...]]:
    """Return a line up to the last capture by the side that begins it, and the chains of the start that it takes.

    Chains that the other line takes too do not count.  Returns ((), ()) if the side loses as many stones as it takes,
    or needs more than SHOWN_PLIES.  No chains are returned if the first move takes them: that is another fact.

    start, other_start: the positions before the two lines, in which the same side is to move.
    """
    side, stones = start.to_play, stones_of(start)
    boards = [play_line(stones, side, line[:plies]) for plies in range(min(len(line), READ) + 1)]
    other_end = play_line(stones_of(other_start), side, other_line[:READ])
    chains = [chain for chain in stones.chains() if chain.colour == -side]
    captured = [[chain for chain in chains if board.colours[min(chain.stones)] != -side] for board in boards]
    taken = [chain for chain in captured[-1] if other_end.colours[min(chain.stones)] == -side]
    counts = [len(chains_captured) for chains_captured in captured]
    plies = counts.index(counts[-1])  # up to the last capture: where the count of captured chains is first complete
    stones_taken = sum(len(chain.stones) for chain in taken)
    stones_played = (plies + 1) // 2  # by the side
    stones_lost = stones.colours.count(side) + stones_played - boards[plies].colours.count(side)
    if stones_taken <= stones_lost or plies > SHOWN_PLIES:
        return (), ()
    return tuple(line[:plies]), groups(taken) if plies > 1 else ()


def lost_races(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return a capturing race that the mover loses after the move but not after the best move, as a list with one fact.

    If ownership is forecast, the losing chain must also be expected to die.  Returns [] if there is no such race.
    """
    owners = seen.after.ownership
    lost_anyway = won_races(tried.after_best)
    for (winner, loser), liberties in won_races(tried.after).items():
        if any(winner.stones & first.stones and loser.stones & second.stones for first, second in lost_anyway):
            continue
        if owners is None or share_of(owners, loser.stones, loser.colour) < SURE:
            return [Race(tried.mover, tried.action, group_of(winner), group_of(loser), liberties)]
    return []


def lost_stone(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return a list with one fact if the move is a single stone that is expected to be lost, else []."""
    mover, action, owners = tried.mover, tried.action, seen.after.ownership
    if owners is None or action == tried.position.env.pass_action:
        return []
    own = stones_of(tried.after).chain(action)
    share = share_of(owners, own.stones, mover)
    return [Lost(mover, action, group_of(own), share)] if share < DEAD and len(own.stones) == 1 else []


def dangers(tried: Tried[GoPosition], seen: Searched, saved: float = 0.5) -> list[Capturable]:
    """Return the chains of the mover that the other side can take after the move, but not after the best move.

    Left out are chains that are expected to be lost after the best move too, the stone of the move itself, which may be
    meant to be given up, and all if the search is not sure of the best move, or if that is a pass.

    saved: what a chain's chance to survive after the best move must exceed.
    """
    if tried.best in (tried.action, tried.position.env.pass_action) or seen.before.part_of(tried.best) < LEADS:
        return []
    owners, found = seen.after_best.ownership, list[Capturable]()
    in_danger_anyway = {point for chain, _ in in_danger(tried.after_best) for point in chain.stones}
    for chain, line in in_danger(tried.after):
        if chain.stones & in_danger_anyway:
            continue
        old_stones = chain.stones - {tried.action}
        if not old_stones or (owners is not None and share_of(owners, old_stones, tried.mover) <= saved):
            continue
        is_expected = line[0] in seen.after.line[:1]
        if len(chain.stones) > 1 or is_expected:  # a single stone is often given up on purpose
            found.append(Capturable(tried.mover, tried.action, best=tried.best, group=group_of(chain), line=line))
    return sorted(found, key=lambda fact: -fact.group.stones)[:MOST_CHAINS]


def sente(tried: Tried[GoPosition], seen: Searched, action: int, which: int) -> list[Fact]:
    """Return a list with one fact if a move is sente, else []; without scores it is [].

    A move is sente if it threatens another move nearby that gains much more than a move elsewhere, and if the other
    side is expected to answer.  The threat is the mover's next move if the other side passes.

    which: the index of the position after move and pass in `Tried.passed`: 1 for the played move, 2 for the best move.
    """
    if not seen.passed or not seen.passed[which].line:
        return []
    after_pass = seen.passed[which]
    after_move = seen.after if which == 1 else seen.after_best
    threat, replies = after_pass.line[0], after_move.line[:1]
    is_answered = any(tried.is_near(action, reply) or tried.is_near(threat, reply) for reply in replies)
    if not is_answered or not tried.is_near(action, threat):
        return []
    scores = seen.before.analysis.score[seen.before.i]  # after each move, in the mover's view
    is_good_by_itself = threat == tried.best or scores[tried.best] - scores[threat] < GOOD
    if is_good_by_itself:
        return []
    elsewhere = max(tried.mover * (seen.after_best.score - seen.passed[0].score), 0.0)
    gain = tried.mover * (after_pass.score - after_move.score)
    if not gain >= TIMES * elsewhere + THREAT:  # the gain is not enough, or NaN
        return []
    return [Sente(tried.mover, action, threat=threat, points=gain, elsewhere=elsewhere)]
