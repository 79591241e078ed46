"""The small games on a back end: every answer and every word of the rows is numba's."""

from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.cuda.contract import Backend
from benchmarks.row_playouts import PLAYOUTS
from tests.cuda.boards import Twins, batch_on

SMALL = [
    *(ReversiEnv(size) for size in (4, 6, 8, 10, 12, 16)),
    *(GomokuEnv(*options) for options in ((2, 1, 3), (3, 3, 3), (5, 4, 5), (6, 3, 17), (9, 5, 17), (15, 5, 5))),
    ConnectFourEnv(),
]
OWARE = [
    OwareEnv(),
    OwareEnv(rules="cgzero", planes="one-hot"),
    OwareEnv(graded=True),
    OwareEnv(30, remainder="nobody"),
    OwareEnv(20),
]


@pytest.mark.parametrize("env", SMALL, ids=repr)
def test_random_games(backend: Backend, env: GameEnv) -> None:
    Twins(env, 5, backend).play_on(np.random.default_rng(env.N), env.max_moves, every=max(1, env.N**2 // 8))


@pytest.mark.parametrize("env", OWARE, ids=repr)
def test_random_games_of_oware(backend: Backend, env: OwareEnv) -> None:
    """Some end by repetition or by the limit, in some a side has no move left; graded outcomes are fractions."""
    twins = Twins(env, 40, backend)
    twins.play_on(np.random.default_rng(env.max_moves), env.max_moves, every=7)
    outcomes = twins.theirs.outcome(twins.slots, np.zeros(40, np.float32))
    assert (np.abs(outcomes) % 1 != 0).any() == env.graded


@pytest.mark.gpu
@pytest.mark.parametrize("env", [*SMALL, *OWARE, GomokuEnv(25, 5, 3), GomokuEnv(19, 6, 65)], ids=repr)
def test_thousands_of_random_games(env: GameEnv) -> None:
    from alphago.cuda.device import Device

    Twins(env, 4096, Device()).play_on(np.random.default_rng(2), env.max_moves, every=max(1, env.N**2 // 4))


GOS = [GoEnv(size, planes="turns", margin_weight=0.3) for size in (2, 7)]


OTHERS = [ConnectFourEnv(), OwareEnv(), OwareEnv(rules="cgzero", planes="one-hot")]


@pytest.mark.parametrize("env", [ReversiEnv(6), ReversiEnv(10), GomokuEnv(7, 4, 9), *OTHERS, *GOS], ids=repr)
def test_every_verb_with_answers_on_the_device(backend: Backend, env: GameEnv) -> None:
    Twins(env, 12, backend).exercise(np.random.default_rng(4), 25 if env in GOS else 9)


@pytest.mark.parametrize("env", [ReversiEnv(4), ReversiEnv(8), ReversiEnv(12), GomokuEnv(9), *OTHERS], ids=repr)
def test_random_playouts(backend: Backend, env: GameEnv) -> None:
    """The same streams of random numbers give the same games, and stand where numba's stand in the end."""
    twins = Twins(env, 20, backend)
    twins.play_on(np.random.default_rng(5), 3, every=3)
    states = np.random.default_rng(6).integers(-(2**63), 2**63, 20)
    numbas, mask = states.copy(), np.zeros(env.action_space, np.bool_)
    play = PLAYOUTS[env.name]
    moves = [play(twins.ours.rows, np.array([slot]), mask, numbas[slot : slot + 1]) for slot in twins.slots]
    assert np.array_equal(twins.theirs.playout(twins.slots, states), moves)
    assert np.array_equal(states, numbas)
    assert not twins.compare().any()


@pytest.mark.parametrize(
    ("env", "setup"),
    [
        (GomokuEnv(4, 3, 7), {"board": [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0] * 4]}),
        (GomokuEnv(3, 2, 5), {"to_play": "white"}),
        (GomokuEnv(3, 2, 5), {"board": [[1, 1, 0], [-1, 0, 0], [0, 0, 0]]}),
        (ReversiEnv(4), {"board": [[0, 1, 1, 1], [0, -1, 1, 0], [0, 1, -1, 0], [0] * 4], "to_play": -1}),
        (ReversiEnv(4), {"board": [[0] * 4, [0, 1, 1, 0], [0, 1, 1, 0], [0] * 4]}),
        (ConnectFourEnv(), {"board": [[0] * 7] * 4 + [[1, 0, 0, 0, 0, 0, 0], [-1, 1, -1, 0, 0, 1, 0]]}),
        (OwareEnv(), {"houses": [0, 0, 0, 0, 0, 8, 2, 1, 2, 0, 0, 1], "margin": 0, "to_play": "black"}),
        (OwareEnv(rules="cgzero"), {"houses": [1, 0, 0, 0, 2, 18, 0, 0, 0, 0, 0, 1], "margin": -6, "move_number": 190}),
    ],
)
def test_set_ups(backend: Backend, env: GameEnv, setup: dict[str, Any]) -> None:
    """In some slots; what was played before is forgotten, and what is played after is remembered."""
    twins = Twins(env, 6, backend)
    twins.play_on(np.random.default_rng(7), 3)
    twins.do("reset", twins.slots[1:5], **setup)
    twins.play_on(np.random.default_rng(8), env.max_moves)
    twins.do("reset", twins.slots[::2])
    twins.compare()


def test_a_board_that_no_game_has_is_refused(backend: Backend) -> None:
    batch = batch_on(backend, ReversiEnv(4), 2)
    before = batch.rows.copy()
    with pytest.raises(ValueError, match="must have stones on the four points in the middle"):
        batch.reset(np.arange(2), board=np.zeros((4, 4)))
    assert np.array_equal(batch.rows, before)


@pytest.mark.parametrize("env", [ReversiEnv(6), GomokuEnv(5, 4, 7), ConnectFourEnv(), OwareEnv(), GoEnv(5)], ids=repr)
def test_positions_come_back_to_the_cpu(backend: Backend, env: GameEnv) -> None:
    """From one batch to another, and as positions to read."""
    twins = Twins(env, 3, backend)
    twins.play_on(np.random.default_rng(10), 6, every=6)
    slots, back = np.arange(3), env.new_batch(3)
    there = batch_on(backend, env, 3)
    there.copy(slots[::-1].copy(), slots, of=twins.ours)
    back.copy(slots, slots, of=there)
    assert np.array_equal(back.rows, twins.ours.rows[::-1])
    for slot in slots:
        assert str(env.position_of(twins.theirs, slot)) == str(env.position_of(twins.ours, slot))
