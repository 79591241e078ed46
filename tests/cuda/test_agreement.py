"""The kernels and numba's agree on every answer and every word of the rows."""

from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.cuda.contract import Backend
from alphago.env.kernels.playouts import playout
from benchmarks.row_playouts import PLAYOUTS
from tests.cuda.boards import Twins, batch_on
from tests.naive.go import random_board

RULES = [{"ko": ko, "suicide": suicide} for ko in ("simple", "positional", "situational") for suicide in (False, True)]
GO = [
    *(
        GoEnv(size, planes="turns", max_moves=7 * size * size // 5 + 40, margin_weight=0.3, **rules)
        for size in (2, 3, 5, 7, 9, 13, 19, 25)
        for rules in RULES
    ),
    # Nobody passes.
    *(GoEnv(size, "turns", max_moves=200, first_pass=200, **rules) for size in (2, 3, 4) for rules in RULES[1::2]),
    *(GoEnv(size, "katago", max_moves=200, **rules) for size in (2, 5, 9) for rules in RULES),
    GoEnv(19, "katago", max_moves=400, ko="simple"),
    *(GoEnv(5, 3), GoEnv(7, 17), GoEnv(9, 17, ko="simple")),
    GoEnv(5, "turns", turns=20, komi=0),
    GoEnv(5, first_pass=20),
    GoEnv(7, komi=-3, margin_weight=1.0),
    GoEnv(3, max_moves=0, komi=1000),
]
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


# Some games of Oware end by repetition or by the limit, in some a side has no move left.
@pytest.mark.parametrize(("env", "games"), [*((env, 5) for env in GO + SMALL), *((env, 40) for env in OWARE)], ids=repr)
def test_random_games(backend: Backend, env: GameEnv, games: int) -> None:
    plies = min(env.max_moves, 1000)
    Twins(env, games, backend).play_on(np.random.default_rng(env.N), plies, every=max(1, plies // 25))


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


@pytest.mark.parametrize("size", [2, 3, 5, 9, 19])
@pytest.mark.parametrize("options", [{}, {"ko": "simple", "suicide": True, "planes": "turns"}])
def test_set_ups_of_go(backend: Backend, size: int, options: dict) -> None:
    """Crowded boards, each side to move and komi of their own in every slot."""
    random = np.random.default_rng(size)
    twins = Twins(GoEnv(size, **options), 6, backend)
    for slot in twins.slots:
        filled = 0.3 + 0.1 * slot
        twins.do(
            "reset",
            np.array([slot]),
            stones=random_board(size, [filled / 2, 1 - filled, filled / 2], random),
            to_play=["black", "white"][slot % 2],
            komi=[0, 3.5, -7][slot % 3],
        )
    twins.play_on(random, 30, every=4)
    twins.do("reset", twins.slots[::2], to_play="white")
    twins.compare()


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


OF_16_BITS = [GoEnv(size, planes=planes) for size in (2, 9, 25) for planes in ("rules", "turns", "katago", 3)]
OF_16_BITS += [ReversiEnv(6), GomokuEnv(5, 4, 7)]


@pytest.mark.parametrize("env", OF_16_BITS, ids=repr)
def test_planes_of_16_bits(backend: Backend, env: GameEnv) -> None:
    """bfloat16 in every layout, and at an address that two numbers at once may not have."""
    torch = pytest.importorskip("torch")
    twins = Twins(env, 5, backend)
    twins.play_on(np.random.default_rng(env.N), 30, every=30)
    wide = twins.ours.planes(twins.slots, np.empty((5, env.planes, env.N, env.N), np.float32))
    exact = torch.from_numpy(wide).bfloat16().view(torch.int16).numpy()
    for first in (0, 1):
        for axes in ((0, 1, 2, 3), (0, 3, 1, 2)):
            shape = (5, env.N, env.N, env.planes) if axes[1] == 3 else exact.shape
            memory = backend.zeros((first + exact.size,), exact.dtype)
            out = memory[first:].reshape(shape).transpose(axes)
            twins.theirs.planes(twins.slots, out)
            assert np.array_equal(backend.download(out), exact)
            assert not backend.download(memory[:first]).any()


@pytest.mark.parametrize(
    ("env", "fill_eyes"),
    [
        *((GoEnv(size, ko="situational"), size < 9) for size in (2, 5, 9, 19)),
        (GoEnv(9), True),
        *((env, False) for env in (ReversiEnv(4), ReversiEnv(8), ReversiEnv(12), GomokuEnv(9), *OTHERS)),
    ],
    ids=repr,
)
def test_random_playouts(backend: Backend, env: GameEnv, fill_eyes: bool) -> None:
    """The same streams of random numbers give the same games, and stand where numba's stand in the end."""
    twins = Twins(env, 20, backend)
    twins.play_on(np.random.default_rng(5), 3, every=3)
    states = np.random.default_rng(6).integers(-(2**63), 2**63, 20)
    numbas, mask, moves = states.copy(), np.zeros(env.action_space, np.bool_), []
    for slot in twins.slots:
        rows, state = twins.ours.rows, numbas[slot : slot + 1]
        if env.name == "go":
            moves.append(playout(rows[slot], state, fill_eyes))
        else:
            moves.append(PLAYOUTS[env.name](rows, np.array([slot]), mask, state))
    assert np.array_equal(twins.theirs.playout(twins.slots, states, fill_eyes), moves)
    assert np.array_equal(states, numbas)
    assert not twins.compare().any()


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
