"""A game's naive twin: the game with positions in plain Python."""

import copy
from collections.abc import Callable
from typing import Any, Self

from alphago import GameEnv
from alphago.env.plain_batch import PlainBatch


class NaiveState:
    """Base class of a position in plain Python whose lists, sets and dictionaries hold what never changes."""

    def copy(self) -> Self:
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (list, set, dict)):
                setattr(twin, name, value.copy())
        return twin


def with_states(env: GameEnv, state: Callable[..., Any]) -> Any:
    """Return the same game, whose batches hold plain states: `state(env, **setup)` makes one."""
    twin: Any = copy.copy(env)
    twin.new = lambda **setup: state(env, **setup)
    twin.new_batch = lambda count, device="cpu": PlainBatch(twin, count)
    return twin
