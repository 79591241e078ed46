"""Known numbers of games and of boards, which others have counted."""

from itertools import product

import numpy as np
import pytest
from plain_connect_four import PlainConnectFourEnv

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.env.batch import FIRST_SLOT
from alphago.examples.tic_tac_toe import TicTacToeEnv

# All 255 168 games: those of 5 to 9 plies that end there are 1440, 5328, 47952, 72576 and 127872.
TIC_TAC_TOE = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
# 7 to the power of the ply, but for the 7 ways to put a seventh stone into one column.
CONNECT_FOUR = [7, 49, 343, 2401, 16807, 117649, 823536]
# As Othello programs count them; the first pass is at ply 9.
OTHELLO = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288]
# As OpenSpiel and CGZero count them, among others; no rule in which they differ matters so early.
OWARE = [6, 36, 190, 1014, 5219, 27332, 139157]


def games(env: GameEnv, counts: list[int], *marks: pytest.MarkDecorator) -> object:
    return pytest.param(env, counts, marks=marks, id=repr(env))


@pytest.mark.parametrize(
    ("env", "counts"),
    [
        games(ConnectFourEnv(), CONNECT_FOUR),
        games(PlainConnectFourEnv(), CONNECT_FOUR[:4]),
        games(GomokuEnv(3, 3, 3), TIC_TAC_TOE),
        games(TicTacToeEnv(), TIC_TAC_TOE[:6]),
        games(ReversiEnv(), OTHELLO[:7]),
        games(ReversiEnv(), OTHELLO, pytest.mark.slow),
        games(OwareEnv(), OWARE),
        games(OwareEnv(rules="cgzero"), OWARE),
        # Two plies can be counted on paper; more are counted by plain Python, too.
        games(GoEnv(2, max_moves=50), [5, 4 * 4 + 5, 68, 156, 316]),
        games(GoEnv(3, max_moves=50), [10, 9 * 9 + 10, 738, 5281]),
        games(GoEnv(9), [82, 81 * 81 + 82]),
        games(GoEnv(19), [362, 361 * 361 + 362]),
    ],
)
def test_games_of_a_few_plies(env: GameEnv, counts: list[int]) -> None:
    """How many different games there are after 1, 2, ... plies ("perft")."""
    batch, found = env.new_batch(1), []
    while len(found) < len(counts):
        mask = np.empty((batch.count, env.action_space), np.bool_)
        parents, actions = np.nonzero(batch.legal_mask(np.arange(batch.count), mask))
        found.append(len(parents))
        if len(found) < len(counts):  # the last boards need not be made
            after = env.new_batch(len(parents))
            after.copy(parents, np.arange(len(parents)), of=batch)
            after.play(np.arange(len(parents)), actions.astype(np.int32))
            batch = after
    assert found == counts


@pytest.mark.parametrize(("size", "legal"), [(2, 57), (3, 12_675)])
def test_legal_boards(size: int, legal: int) -> None:
    """Of all colourings, those in which every chain has a liberty can be set up; no others (Tromp and Farnebäck)."""
    batch, refused = GoEnv(size, ko="simple").new_batch(1), 0
    for colours in product((-1, 0, 1), repeat=size * size):
        try:
            batch.reset(FIRST_SLOT, stones=np.reshape(colours, (size, size)))
        except ValueError:
            refused += 1
    assert 3 ** (size * size) - refused == legal
