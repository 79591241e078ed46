"""The champions: two best networks, who plays whom, and what happens to a candidate."""

import threading
from pathlib import Path
from typing import Any

import pytest
from champions import ChampionKeeper, Champions
from games import CGZeroGames

from alphago.training.history import read_history, read_rows
from tests.training import small_runs

QUICK: dict[str, Any] = {"win_rate": 0.25, "games": 2, "every": 5, "readouts": 2, "recent": 3, "recent_share": 0.6}
PLAYED: dict[str, Any] = {"source": CGZeroGames(), "opening_plies": 0.0, "plies_per_iteration": 12}


@pytest.mark.parametrize(
    ("rates", "shares"),
    [
        ((0.5, 0.5), (0.45, 0.45, 0.1)),
        ((0.4, 0.6), (0.54, 0.36, 0.1)),
        ((1.0, 0.0), (0.2, 0.7, 0.1)),  # a fifth at least
        ((0.0, 0.0), (0.45, 0.45, 0.1)),
    ],
)
def test_more_games_against_the_harder_one(rates: tuple[float, float], shares: tuple[float, float, float]) -> None:
    keeper = ChampionKeeper(Champions(), small_runs.net_of(1))
    assert keeper.lineup is None  # one champion plays alone
    keeper.rates = list(rates)
    assert keeper.shares == pytest.approx(shares)


def judged(path: Path, *seeds: int, **champions: Any) -> ChampionKeeper:
    """After candidates of these seeds, one after the other, each of which wins half of its games."""
    settings = {"games": 4, "readouts": 0, **champions}
    with small_runs.opened(
        path, env=small_runs.BLACK_WINS, source=small_runs.RandomGames, judges=[Champions(**settings)]
    ) as made:
        (keeper,) = made.judges
        assert isinstance(keeper, ChampionKeeper)
        for seed in seeds:
            made.learner.net.load_state_dict(small_runs.net_of(seed, small_runs.BLACK_WINS).state_dict())
            made.learner.steps += 1
            keeper.judge(made, threading.Event())
        for number in (keeper.best_number, keeper.second_number):
            assert small_runs.same(keeper.nets[number], small_runs.net_of((0, *seeds)[number], small_runs.BLACK_WINS))
        return keeper


@pytest.mark.parametrize(
    ("champions", "seeds", "numbers"),
    [
        ({"win_rate": 0.5}, (5, 6), (2, 1)),  # a promotion: the best so far becomes the second, and so on
        ({"win_rate": 0.5, "second_rate": 0.51}, (5, 6), (2, 0)),  # a second that the candidate loses to stays
        ({"win_rate": 0.556}, (5, 6), (0, 0)),  # a rejection
    ],
    ids=str,
)
def test_who_is_champion(
    tmp_path: Path, champions: dict[str, Any], seeds: tuple[int, ...], numbers: tuple[int, int]
) -> None:
    keeper = judged(tmp_path, *seeds, **champions)
    assert (keeper.best_number, keeper.second_number) == numbers
    rows = read_rows(tmp_path / "evaluations.jsonl", "opponent")
    assert {row["opponent"] for row in rows} <= {"best so far", "second best"}
    assert all((row["wins"], row["losses"], row["played"]) == (2, 2, 4) for row in rows)


@pytest.mark.slow
def test_it_goes_on_to_the_bit(tmp_path: Path) -> None:
    """Killed three times, each time after so many saves, over two boards."""
    settings = {"num_games": 22, "judges": [Champions(**QUICK)], "curriculum": ((2, 0.4),), **PLAYED}
    net, _ = small_runs.run(tmp_path / "whole", **settings)
    assert net.env == small_runs.GO
    for saves in (25, 15, 15):
        small_runs.run_killed(tmp_path / "killed", saves, **settings)
    again, _ = small_runs.go_on(tmp_path / "killed", source=CGZeroGames())
    assert small_runs.same(again, net)
    rows = [small_runs.without_times(read_history(tmp_path / name).evaluations) for name in ("whole", "killed")]
    assert rows[0] == rows[1]
    assert {row["opponent"] for row in rows[0]} == {"best so far", "second best"}
