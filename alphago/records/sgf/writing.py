"""Write values of SGF properties as this package, Sabaki and KaTrain read them.

Source: "SGF file format FF[4]", https://www.red-bean.com/sgf/
"""

from collections.abc import Mapping, Sequence

import numpy as np

from alphago.env.board import StonesEnv
from alphago.records.sgf.grammar import Node
from alphago.records.sgf.values import LARGEST_KOMI


def stone_properties(env: StonesEnv, stones: np.ndarray) -> Node:
    """Return the properties that place stones, int8 [height, width]: 1 black, -1 white."""
    return point_properties(env, {name: np.flatnonzero(stones == sign) for name, sign in (("AB", 1), ("AW", -1))})


def point_properties(env: StonesEnv, points: Mapping[str, Sequence[int] | np.ndarray]) -> Node:
    """Return properties whose values are points; points: actions by property, of which empty ones are left out."""
    return {
        name: [point_text(env, int(action)) for action in actions] for name, actions in points.items() if len(actions)
    }


def komi_text(komi: float) -> str:
    """Return komi as text that `read_komi` and other programs read correctly: 6.5, 7, 150.0."""
    return f"{komi:g}" if abs(komi) <= LARGEST_KOMI else f"{komi:.1f}"


def point_text(env: StonesEnv, action: int) -> str:
    """Return an action in SGF notation: letters for column and row, from the top left; empty for a pass."""
    if action == env.pass_action:
        return ""
    row, column = divmod(action, env.plane_shape[1])
    return chr(ord("a") + column) + chr(ord("a") + row)
