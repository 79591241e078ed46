"""What the rules of the game say of each fact of an explanation, found by playing."""

from collections.abc import Callable
from typing import Any

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.ui.why.explain import Explanation
from alphago.ui.why.facts import (
    Atari,
    Capturable,
    Captures,
    ChangesOwner,
    Connects,
    Cuts,
    Fact,
    Gains,
    LosesEye,
    Loss,
    Lost,
    NamedChain,
    Race,
    Reply,
    Sente,
)
from alphago.ui.why.go_facts import THREAT
from alphago.ui.why.safer import LEAST_AREA, SAFER


def check_facts(position: GoPosition, told: Explanation) -> None:
    """Check each fact about a move; position: before it."""
    after = position.play(told.action)
    for fact in told.facts:
        start = position if fact.colour == position.to_play else after
        assert fact.colour == start.to_play, fact
        CHECKS[type(fact)](start, fact)


def chain(position: GoPosition, point: int) -> tuple[set[int], set[int]]:
    """The stones and liberties of the chain on a point, by walking over the board."""
    board, size = position.board, position.env.N
    colour, stones, liberties, left = board.flat[point], {point}, set(), [point]
    while left:
        for other in around(left.pop(), size):
            if board.flat[other] == 0:
                liberties.add(other)
            elif board.flat[other] == colour and other not in stones:
                stones.add(other)
                left.append(other)
    return stones, liberties


def around(point: int, size: int) -> list[int]:
    row, column = divmod(point, size)
    steps = [(row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)]
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def is_chain(position: GoPosition, group: NamedChain) -> bool:
    """Whether the group is a chain of the board, with all its stones."""
    return position.board.flat[group.point] == group.colour and len(chain(position, group.point)[0]) == group.stones


def is_caught(position: GoPosition, point: int) -> bool:
    """Whether no legal move of the side to move saves its chain on a point, which has one liberty, from ataris."""
    liberties = chain(position, point)[1]
    if len(liberties) != 1:
        return False
    for action in np.flatnonzero(position.legal_mask):
        after = position.play(int(action))
        if after.is_over:
            continue
        left = chain(after, point)[1]
        if len(left) > 2 or not any(takes(after, liberty, point) for liberty in left if after.legal_mask[liberty]):
            return False
    return True


def takes(position: GoPosition, action: int, point: int) -> bool:
    """Whether a move captures the other side's chain on a point, or catches it."""
    after = position.play(action)
    return after.board.flat[point] == 0 or is_caught(after, point)


def loss(position: GoPosition, fact: Loss) -> None:
    assert position.legal_mask[[fact.action, fact.best]].all()
    assert -2 <= fact.rate <= 1
    assert fact.action != fact.best or fact.rate == 0


def answer(position: GoPosition, fact: Reply) -> None:
    """The line is legal, its last move captures, and the chains that it takes are gone at its end."""
    start = position.play(fact.action)
    *_, before, end = start.after(fact.line).replay()
    for group in fact.taken:
        assert is_chain(start, group)
        assert end.board.flat[group.point] != group.colour == -start.to_play
    if fact.taken:
        assert (end.board == -start.to_play).sum() < (before.board == -start.to_play).sum()


def race(position: GoPosition, fact: Race) -> None:
    """Both chains are on the board with these liberties, touch, and share at most one of them."""
    after = position.play(fact.action)
    assert is_chain(after, fact.winner)
    assert is_chain(after, fact.loser)
    (own, ours), (other, theirs) = (chain(after, group.point) for group in (fact.winner, fact.loser))
    assert fact.winner.colour == after.to_play == -fact.loser.colour
    assert (len(ours), len(theirs)) == fact.liberties
    assert len(ours) >= len(theirs)
    assert len(ours & theirs) <= 1
    assert own & {near for point in other for near in around(point, after.env.N)}


def changes_owner(position: GoPosition, fact: ChangesOwner) -> None:
    assert is_chain(position, fact.group)
    gain = (fact.best_share - fact.share) * fact.group.colour * fact.colour  # of the other side's chain it is a loss
    assert SAFER <= gain <= 1


def gains(position: GoPosition, fact: Gains) -> None:
    assert fact.action != fact.best
    assert 0 <= fact.centre < position.env.N**2
    assert LEAST_AREA <= fact.points <= 2 * position.env.N**2


def lost(position: GoPosition, fact: Lost) -> None:
    assert is_chain(position.play(fact.action), fact.group)
    assert fact.group.point == fact.action


def captures(position: GoPosition, fact: Captures) -> None:
    after = position.play(fact.action)
    assert fact.ko == bool(len(after.ko_points))
    gone = {point for group in fact.groups for point in chain(position, group.point)[0]}
    assert all(is_chain(position, group) and group.colour == -fact.colour for group in fact.groups)
    assert gone == set(np.flatnonzero((position.board.ravel() == -fact.colour) & (after.board.ravel() == 0)))


def atari(position: GoPosition, fact: Atari) -> None:
    after = position.play(fact.action)
    assert is_chain(after, fact.group)
    assert chain(after, fact.group.point)[1] == {fact.last}
    if fact.line:
        assert is_caught(after, fact.group.point)
        after.after(fact.line)


def capturable(position: GoPosition, fact: Capturable) -> None:
    after = position.play(fact.action)
    assert is_chain(after, fact.group)
    assert takes(after, fact.line[0], fact.group.point)
    end = after.after(fact.line)
    assert end.board.flat[fact.group.point] == 0


def connects(position: GoPosition, fact: Connects) -> None:
    joined = chain(position.play(fact.action), fact.action)[0]
    separate = [chain(position, group.point)[0] for group in fact.groups]
    assert all(is_chain(position, group) and group.point in joined for group in fact.groups)
    assert sum(map(len, separate)) == len(set().union(*separate))


def cuts(position: GoPosition, fact: Cuts) -> None:
    after = position.play(fact.action)
    left = [chain(after, group.point)[1] for group in fact.groups]
    assert all(is_chain(after, group) and group.colour == -fact.colour for group in fact.groups)
    assert sum(map(len, left)) == len(set().union(*left))  # no point joins two
    assert all(fact.action in chain(position, group.point)[1] for group in fact.groups)  # this one would have


def loses_eye(position: GoPosition, fact: LosesEye) -> None:
    size = position.env.N
    assert position.board.flat[fact.eye] == 0
    assert all(position.board.flat[point] == fact.owner for point in around(fact.eye, size))
    (row, column), (r, c) = divmod(fact.eye, size), divmod(fact.action, size)
    assert max(abs(row - r), abs(column - c)) <= 1 or position.play(fact.action).board.flat[fact.eye] == 0


def sente(position: GoPosition, fact: Sente) -> None:
    after = position.play(fact.action).play(position.env.pass_action)
    assert after.legal_mask[fact.threat]
    assert fact.points >= fact.elsewhere + THREAT


CHECKS: dict[type[Fact], Callable[[GoPosition, Any], None]] = {
    Loss: loss,
    Reply: answer,
    ChangesOwner: changes_owner,
    Gains: gains,
    Lost: lost,
    Captures: captures,
    Atari: atari,
    Capturable: capturable,
    Connects: connects,
    Cuts: cuts,
    LosesEye: loses_eye,
    Race: race,
    Sente: sente,
}
