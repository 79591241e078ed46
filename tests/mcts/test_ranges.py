"""A wave on several threads finds what one thread finds, to the last bit."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from alphago import GoEnv, Gumbel, Puct, SearchSettings
from alphago.mcts import ranges
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.ranges import LEAST, Ranges, numba_threads, whole_games
from alphago.mcts.search import Search

ENV = GoEnv(3, komi=0.5, max_moves=14)
GAMES = 5 * LEAST


def searched(settings: SearchSettings, threads: int) -> Search:
    """Games that are a few plies from their longest length, some of which get no readouts."""
    search = Search(ENV, HashEvaluator(), GAMES, settings, threads)
    random = np.random.default_rng(1)
    noise = random.gumbel(size=(GAMES, ENV.action_space))
    if isinstance(settings, Gumbel):
        search.rule.noise[:] = noise
    slots = np.arange(GAMES)
    for ply in range(11):
        mask = search.batch.legal_mask(slots, np.empty((GAMES, ENV.action_space), np.bool_))
        going = slots[(slots % 12 >= ply) & mask.any(axis=1)]
        search.batch.play(going, (random.random(mask.shape) * mask)[going].argmax(axis=1).astype(np.int32))
    going = ~search.batch.is_over(slots, np.empty(GAMES, np.bool_))
    for _ in range(2):
        search.run(np.where(going, slots * 3 % 40, 0).astype(np.int32))
    return search


@pytest.mark.parametrize(
    "settings", [pytest.param(Puct(), marks=pytest.mark.slow), Gumbel(considered=4)], ids=["puct", "gumbel"]
)
@pytest.mark.parametrize("leaves", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("threads", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_trees_are_the_same(threads: int, leaves: int, settings: SearchSettings) -> None:
    settings = replace(settings, leaves=leaves)
    one = searched(settings, 1)
    several = searched(settings, threads)
    for name, mine, other in zip(one.tree._fields, one.tree, several.tree, strict=True):
        assert np.array_equal(mine, other), name
    assert (one.tree.state == 3).any()  # TERMINAL
    assert np.array_equal(one.batch.rows[:GAMES], several.batch.rows[:GAMES])


def test_few_games_stay_on_one_thread() -> None:
    def bounds(threads: int, games: int) -> list[int]:
        several = Ranges(None, threads)
        several.threads = threads  # also where numba lacks OpenMP
        return several.bounds(games)

    assert bounds(8, 2 * LEAST - 1) == [0, 2 * LEAST - 1]
    assert bounds(8, 4 * LEAST) == [part * LEAST for part in range(5)]
    assert bounds(2, 4 * LEAST) == [0, 2 * LEAST, 4 * LEAST]


@pytest.mark.parametrize("lacking", ["OpenMP", "leave"])
def test_without_safe_threads_there_is_one(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads of Python that begin work of numba's own pool at the same time would end the process."""
    assert Ranges(None, 8).threads == (8 if ranges.has_safe_threads() else 1)
    if lacking == "OpenMP":
        monkeypatch.setattr(ranges, "OPENMP", "numba.np.ufunc.a_pool_that_is_not_there")
    else:
        monkeypatch.setattr("numba.config.THREADING_LAYER", "workqueue")
    assert Ranges(None, 8).bounds(8 * LEAST) == [0, 8 * LEAST]


def test_numbas_number_of_threads_is_put_back() -> None:
    before = numba.get_num_threads()
    with numba_threads(1):
        assert numba.get_num_threads() == 1
    with pytest.raises(ValueError, match="broken"), numba_threads(1000):
        raise ValueError("broken")
    assert numba.get_num_threads() == before


def test_a_game_is_in_one_range() -> None:
    games = np.array([0, 0, 1, 1, 1, 2])
    assert [whole_games(games, bound) for bound in range(7)] == [0, 2, 2, 5, 5, 5, 6]
