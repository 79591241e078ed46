"""The leaves that a search gives to a batch of positions in each wave, and the batch's answer about them."""

from typing import NamedTuple

import numpy as np


class Leaves(NamedTuple):
    """The leaves of a search wave: leaf i is reached by the actions `paths[i, :lengths[i]]` from slot `roots[i]`.

    The leaf's position is stored in slot `slots[i]`.
    """

    roots: np.ndarray  # int64 [n], slots of a batch
    paths: np.ndarray  # int32 [n, depth]
    lengths: np.ndarray  # int32 [n]
    slots: np.ndarray  # int64 [n], of the same batch; none of them a root


class Reached(NamedTuple):
    """The state of the leaves that a search reached, one entry per leaf."""

    over: np.ndarray  # bool [n]
    movers: np.ndarray  # int8 [n], +1 or -1
    outcomes: np.ndarray  # float32 [n], from the mover's view; valid only if the game is over
