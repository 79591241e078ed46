"""The facts about a move of Go that searches and the board give together."""

from collections.abc import Sequence

from alphago.env.go_position import GoPosition
from alphago.ui.why.deeds import deeds, group_of, in_danger, share_of, stones_of
from alphago.ui.why.facts import Capturable, ChangesOwner, Fact, LosesEye, Lost, NamedChain, Sente
from alphago.ui.why.tried import Searched, Tried

THREAT, TIMES = 4.0, 1.5  # a threat is worth at least so many points more than this multiple of any other move
GOOD = 2.0  # points within which a move is about as good as the best one, and so no threat that another one makes
SURE = 0.35  # a chain is expected to die below this share, and to live above 1 - SURE
DEAD = 0.25  # the stone that was played is expected to be lost below this share
MOST_CHAINS = 3  # of each kind of fact


def board_facts(tried: Tried[GoPosition], seen: Searched, answer: Sequence[int], bad: bool) -> list[Fact]:
    """Return what the move does on the board and what it leaves in danger; of a bad one, what the answer does.

    bad: whether the move loses something; then nothing is told in its favour.
    """
    done = deeds(tried.position, tried.action)
    if not bad:
        return [*done, *dangers(tried, ()), *sente(tried, seen, tried.action, 1)]
    harm: list[Fact] = [fact for fact in done if isinstance(fact, LosesEye) and fact.owner == tried.mover]
    return [*harm, *dangers(tried, answer[:1]), *(deeds(tried.after, answer[0]) if answer else [])]


def fates(tried: Tried[GoPosition], seen: Searched) -> list[Fact]:
    """Return the chains that live after one of the two moves and die after the other, and whether the stone dies."""
    best_owners, owners = seen.best.ownership, seen.after.ownership
    if best_owners is None or owners is None:
        return []
    mover, action, found = tried.mover, tried.action, list[ChangesOwner]()
    for chain in stones_of(tried.position).chains():
        shares = share_of(best_owners, chain.stones, chain.colour), share_of(owners, chain.stones, chain.colour)
        if min(shares) < SURE and max(shares) > 1 - SURE:
            found.append(ChangesOwner(mover, action, tried.best, group_of(chain), *shares))
    found.sort(key=lambda fact: -fact.harm)
    lost: list[Fact] = []
    if action != tried.position.env.pass_action:
        own = stones_of(tried.after).chain(action)
        share = share_of(owners, own.stones, mover)
        if share < DEAD and len(own.stones) == 1:
            lost.append(Lost(mover, action, NamedChain(mover, action, 1), share))
    return [*found[:MOST_CHAINS], *lost]


def dangers(tried: Tried[GoPosition], told: Sequence[int]) -> list[Fact]:
    """Return the chains of the mover that can be taken after the move, and could not after the best one.

    told: moves of the other side whose deeds are told in any case.
    """
    if tried.action == tried.best:
        return []
    safe = {point for chain, _ in in_danger(tried.after_best) for point in chain.stones}
    found = [(chain, line) for chain, line in in_danger(tried.after) if not chain.stones & safe and line[0] not in told]
    found.sort(key=lambda one: -len(one[0].stones))
    return [Capturable(tried.mover, tried.action, group_of(chain), line) for chain, line in found[:MOST_CHAINS]]


def sente(tried: Tried[GoPosition], seen: Searched, action: int, which: int) -> list[Fact]:
    """Return whether a move makes a threat nearby that is worth more than a move elsewhere; needs scores.

    which: the index of the move's position in `Tried.passed`.
    """
    if not seen.passed or not (line := seen.passed[which].line):
        return []
    scores = seen.before.analysis.score[seen.before.i]
    if not tried.is_near(action, line[0]) or line[0] == tried.best or scores[tried.best] - scores[line[0]] < GOOD:
        return []
    reached = seen.after if which == 1 else seen.best
    elsewhere = tried.mover * (seen.best.score - seen.passed[0].score)
    gain = tried.mover * (seen.passed[which].score - reached.score)
    if not gain >= TIMES * max(elsewhere, 0) + THREAT:
        return []
    return [Sente(tried.mover, action, line[0], gain, max(elsewhere, 0.0))]
