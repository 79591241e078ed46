"""`Forbidden`: moves that a search must not try."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphago.env.position import Position
from alphago.system.validation import shown


class Forbidden(NamedTuple):
    """Actions that a search must not try for a player (+1 or -1) within `plies` plies of the root.

    With `plies` = 1 they are forbidden only at the root.
    """

    player: int
    actions: frozenset[int]
    plies: int = 1


def usable(rules: Sequence[Forbidden]) -> tuple[Forbidden, ...]:
    """Return the rules that forbid at least one action."""
    return tuple(rule for rule in rules if rule.actions and rule.plies > 0)


def excluded(rules: Sequence[Forbidden], player: int, depth: int) -> list[int]:
    """Return the actions that rules forbid a player (+1 or -1) at a node; depth: the node's distance from the root."""
    return list({action for rule in rules if rule.player == player and depth < rule.plies for action in rule.actions})


def check_move_left(position: Position, rules: Sequence[Forbidden]) -> None:
    """Raise ValueError if rules forbid all legal moves of a position."""
    if rules and not np.delete(position.legal_mask, excluded(rules, position.to_play, depth=0)).any():
        raise ValueError(f"a legal move must be left to search, got all of them forbidden in {shown(position)}")
