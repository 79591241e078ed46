"""The facts about a move of Go that searches and the board give together."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Line
from alphago.ui.why.deeds import deeds, group_of, groups, in_danger, play_line, share_of, stones_of
from alphago.ui.why.facts import (
    FORESEEN,
    SHOWN_PLIES,
    SURE,
    Atari,
    Capturable,
    Captures,
    Connects,
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
from alphago.ui.why.tried import Searched, Tried

THREAT, TIMES = 4.0, 1.5  # a threat is worth at least so many points more than this multiple of any other move
GOOD = 2.0  # points within which a move is about as good as the best one, and so no threat that another one makes
DEAD = 0.2  # the stone that was played is expected to be lost below this share
READ = 8  # plies of a line that are played to see what it takes
MOST_CHAINS = 3  # of each kind of fact


def go_facts(tried: Tried[GoPosition], seen: Searched, loss: Loss, kept: list[Fact]) -> list[Fact]:
    """Return what the move, the answer to it and the best move do.

    loss: what the move loses.  kept: see `kept_by_best`.

    In favour of a move something is told only if the search would play it.  Of the answer to a worse one and of the
    best move is told what makes a difference.
    """
    mover, action, best, answer = tried.mover, tried.action, tried.best, seen.after.line
    own_deeds = deeds(tried.position, action, answer)
    owners, best_owners = seen.after.ownership, seen.best.ownership
    if not loss.worse:
        praise = [*lasting(own_deeds, owners), *sente(tried, seen, action, which=1)] if action == best else []
        return praise + dangers(tried, seen)
    found = [*(kept if loss.named else []), *lost_stone(tried, seen), *lost_races(tried, seen)]
    found += [fact for fact in own_deeds if isinstance(fact, LosesEye) and fact.owner == mover]
    if reply := reply_of(tried, seen, loss):
        found += [reply, *lasting(deeds(tried.after, answer[0], answer[1:]), owners)]
    found += dangers(tried, seen, told=reply.line[:1] if reply else ())
    takes = reply is not None and reply.line[0] == best  # then what a stone there does is told already
    comes_later = best in answer[1:FORESEEN:2]  # the mover still plays it
    if loss.clear and not takes and not comes_later:
        done = {type(fact) for fact in own_deeds}
        best_deeds = lasting(deeds(tried.position, best, seen.best.line), best_owners)
        found += [fact for fact in best_deeds if type(fact) not in done]
        found += sente(tried, seen, best, which=2)
    return found


def reply_of(tried: Tried[GoPosition], seen: Searched, loss: Loss) -> Reply | None:
    """Return the answer to a bad move: its line up to a capture, else its first move; None if that is not clear.

    Nor is one told that follows the best move too, or one that takes nothing if the best move is not clear.
    """
    mover, action, answer = tried.mover, tried.action, seen.after.line
    passing = tried.position.env.pass_action
    if not answer or answer[0] == passing or not seen.after.is_clear or answer[0] in seen.best.line[:FORESEEN:2]:
        return None
    line, taken = harvest(tried.after, answer, tried.after_best, seen.best.line)
    if not line or passing in line or not all(tried.is_near(*pair) for pair in pairwise(line)):
        line, taken = answer[:1], ()  # no capture, or one that the mover does not resist
    if not taken and not loss.clear:
        return None
    takes = answer[0] == loss.best
    punishes = loss.large and tried.is_near(action, answer[0])
    how = Reply.PUNISHES if punishes else Reply.ANSWERS
    return Reply(mover, action, line, -mover, Reply.TAKES if takes else how, taken)


def lasting(facts: Sequence[Fact], owners: np.ndarray | None) -> list[Fact]:
    """Return what a stone does without what is of no use, as the stones that do it are expected to die.

    Chains that are joined must live, the points of chains that are caught become the player's, and a stone that cuts or
    gives atari must live.

    owners: the ownership after the stone, Black's view [H, W]; None if unknown.
    """
    if owners is None:
        return list(facts)
    found = []
    for fact in facts:
        groups = fact.groups if isinstance(fact, Captures | Connects) else ()
        if isinstance(fact, Atari) and fact.line:
            groups = (fact.group,)
        points = frozenset(group.point for group in groups) or frozenset([fact.action])
        if isinstance(fact, LosesEye) or share_of(owners, points, fact.colour) > 1 - SURE:
            found.append(fact)
    return found


def harvest(
    start: GoPosition, line: Sequence[int], other_start: GoPosition, other: Sequence[int]
) -> tuple[Line, tuple[NamedChain, ...]]:
    """Return a line up to the last capture by its first side, and the chains of the start that it takes.

    Nothing if the side loses as many stones as it takes, if the other line takes the same ones, or after more than
    SHOWN_PLIES.  No chains if the first move takes them: what can be taken at once is a fact of its own.
    """
    side, stones = start.to_play, stones_of(start)
    boards = [play_line(stones, side, line[:plies]) for plies in range(min(len(line), READ) + 1)]
    other_end = play_line(stones_of(other_start), side, other[:READ])
    chains = [chain for chain in stones.chains() if chain.colour == -side]
    captured = [[chain for chain in chains if board.colours[min(chain.stones)] != -side] for board in boards]
    taken = [chain for chain in captured[-1] if other_end.colours[min(chain.stones)] == -side]
    plies = next(i for i, gone in enumerate(captured) if len(gone) == len(captured[-1]))  # up to the last capture
    won = sum(len(chain.stones) for chain in taken)
    placed = (plies + 1) // 2  # stones of the side
    lost = stones.colours.count(side) + placed - boards[plies].colours.count(side)
    if won <= lost or plies > SHOWN_PLIES:
        return (), ()
    return tuple(line[:plies]), groups(taken) if plies > 1 else ()


def lost_races(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return one capturing race that the mover loses after the move but not after the best one; [] if there is none.

    The opponent is to move after either.  If there is a forecast, the loser's stones must be unlikely to survive too.
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
    """Return whether the stone that the move puts down alone is expected to be lost, as a list of one; else []."""
    mover, action, owners = tried.mover, tried.action, seen.after.ownership
    if owners is None or action == tried.position.env.pass_action:
        return []
    own = stones_of(tried.after).chain(action)
    share = share_of(owners, own.stones, mover)
    return [Lost(mover, action, group_of(own), share)] if share < DEAD and len(own.stones) == 1 else []


def dangers(tried: Tried[GoPosition], seen: Searched, told: Sequence[int] = ()) -> list[Fact]:
    """Return the chains of the mover that can be taken after the move, and could not after the best one.

    A chain that is expected to be lost after the best move too is none.

    told: moves of the other side whose deeds are told in any case.
    """
    if tried.action == tried.best:
        return []
    owners, found = seen.best.ownership, []
    anyway = {point for chain, _ in in_danger(tried.after_best) for point in chain.stones}
    for chain, line in in_danger(tried.after):
        if chain.stones & anyway or line[0] in told:
            continue
        old_stones = chain.stones - {tried.action}
        if owners is not None and old_stones and share_of(owners, old_stones, tried.mover) <= 0.5:
            continue
        if len(chain.stones) > 1 or line[0] in seen.after.line[:1]:  # a single stone is often given up
            found.append(Capturable(tried.mover, tried.action, group_of(chain), line))
    return [*sorted(found, key=lambda fact: -fact.group.stones)[:MOST_CHAINS]]


def sente(tried: Tried[GoPosition], seen: Searched, action: int, which: int) -> list[Fact]:
    """Return whether a move makes a threat nearby that is worth more than a move elsewhere; needs scores.

    The threat is the mover's next move if the other side passes.  which: 1 for the move played, 2 for the best one, as
    in `Tried.passed`.
    """
    if not seen.passed or not (line := seen.passed[which].line):
        return []
    threat, reached = line[0], {1: seen.after, 2: seen.best}[which]
    is_answered = any(tried.is_near(point, reply) for point in (action, threat) for reply in reached.line[:1])
    if not is_answered or not tried.is_near(action, threat):
        return []
    scores = seen.before.analysis.score[seen.before.i]
    if threat == tried.best or scores[tried.best] - scores[threat] < GOOD:
        return []  # it is a good move without this one
    elsewhere = tried.mover * (seen.best.score - seen.passed[0].score)
    gain = tried.mover * (seen.passed[which].score - reached.score)
    if not gain >= TIMES * max(elsewhere, 0) + THREAT:  # nor if the scores are unknown, NaN
        return []
    return [Sente(tried.mover, action, threat, gain, max(elsewhere, 0.0))]
