"""What the rules of the game say of each fact of an explanation, found by playing."""

from typing import Any

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.ui.why.explain import Explanation
from alphago.ui.why.facts import Atari, Capturable, Captures, Fact, Loss, NamedChain, Reply, SaferChain
from tests.naive import go


def check_facts(position: GoPosition, told: Explanation) -> None:
    """Check each fact about a move; position: before it."""
    after = position.play(told.action)
    for fact in told.facts:
        start = position if fact.colour == position.to_play else after
        assert fact.colour == start.to_play, fact
        CHECKS[type(fact)](start, fact)


def chain(position: GoPosition, point: int) -> tuple[set[int], set[int]]:
    """The stones and liberties of the chain on a point, by walking over the board."""
    stones, around = go.chain(tuple(position.board.ravel().tolist()), point, position.env.N)
    return stones, {other for other in around if position.board.flat[other] == 0}


def is_chain(position: GoPosition, group: NamedChain) -> bool:
    """Whether the group is a chain of the board, with all its stones."""
    colour, point, stone_count = group
    return position.board.flat[point] == colour and len(chain(position, point)[0]) == stone_count


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
    """The line is legal."""
    position.play(fact.action).after(fact.line)


def safer(position: GoPosition, fact: SaferChain) -> None:
    assert is_chain(position, fact.chain)
    assert fact.chain.colour == fact.colour
    assert fact.share <= 0.5 < 0.75 <= fact.best_share


def captures(position: GoPosition, fact: Captures) -> None:
    after = position.play(fact.action)
    assert fact.ko == bool(len(after.ko_points))
    gone = {point for group in fact.chains for point in chain(position, group.point)[0]}
    assert all(is_chain(position, group) and group.colour == -fact.colour for group in fact.chains)
    assert gone == set(np.flatnonzero((position.board.ravel() == -fact.colour) & (after.board.ravel() == 0)))


def atari(position: GoPosition, fact: Atari) -> None:
    after = position.play(fact.action)
    assert is_chain(after, fact.chain)
    assert chain(after, fact.chain.point)[1] == {fact.last}
    if fact.line:
        assert is_caught(after, fact.chain.point)
        after.after(fact.line)


def capturable(position: GoPosition, fact: Capturable) -> None:
    after = position.play(fact.action)
    assert is_chain(after, fact.chain)
    assert takes(after, fact.line[0], fact.chain.point)
    end = after.after(fact.line)
    assert end.board.flat[fact.chain.point] == 0


CHECKS: dict[type[Fact], Any] = {Loss: loss, Reply: answer, SaferChain: safer, Captures: captures, Atari: atari}
CHECKS[Capturable] = capturable
