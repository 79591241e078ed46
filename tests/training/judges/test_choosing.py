"""What the gate and the champions, the judges that choose self-play's network, have in common."""

import threading
from pathlib import Path
from typing import Any

import pytest

from alphago.training.cgzero.champions import ChampionKeeper, Champions
from alphago.training.cgzero.pool import Pool
from alphago.training.judges.gate import Gate, Gatekeeper
from alphago.training.selfplay_run import SelfPlayRun
from tests.training.small_runs import RandomGames, net_of, opened

both = pytest.mark.parametrize("kind", [Gate, Champions])


def chooser(run: SelfPlayRun) -> Gatekeeper | ChampionKeeper:
    (judge,) = run.judges
    assert isinstance(judge, (Gatekeeper, ChampionKeeper))
    return judge


def due(run: SelfPlayRun, games: int, steps: int) -> bool:
    run.set_counts(games=games)
    run.learner.steps = steps
    return chooser(run).due(run)


@both
def test_a_stop_decides_nothing(tmp_path: Path, kind: Any) -> None:
    stop = threading.Event()
    stop.set()
    with opened(tmp_path, source=RandomGames, judges=[kind(games=4, every=4, readouts=2)]) as run:
        assert not chooser(run).judge(run, stop)
        assert chooser(run).candidates == 0
    assert not (tmp_path / "evaluations.jsonl").exists()


@both
def test_a_candidate_is_due(tmp_path: Path, kind: Any) -> None:
    """Once there are games enough and anything has been learned, and at the end of a run."""
    with opened(tmp_path, 1000, source=RandomGames, judges=[kind(every=10)]) as run:
        found = [due(run, *counts) for counts in [(9, 5), (10, 5), (10, 0), (1000, 5), (1000, 0)]]
        assert found == [False, True, False, True, False]


def test_the_next_one_is_due(tmp_path: Path) -> None:
    """So many games after the last, and if nothing else is said as often as checkpoints."""
    with opened(tmp_path, 1000, source=RandomGames, judges=[Gate(every=10)]) as run:
        keeper = chooser(run)
        assert isinstance(keeper, Gatekeeper)
        keeper.begin(net_of(1), 12, 5)
        assert [due(run, *counts) for counts in [(19, 9), (20, 9), (20, 5)]] == [False, True, False]
    with opened(tmp_path / "usual", 1000, source=RandomGames, judges=[Gate()]) as run:
        assert [due(run, 4, 5), due(run, 5, 5)] == [False, True]


def test_a_generation_of_a_pool_is_due(tmp_path: Path) -> None:
    """It is over as soon as steps were taken."""
    with opened(tmp_path, 1000, source=RandomGames, judges=[Champions()], memory=Pool(100)) as run:
        assert [due(run, 1, 0), due(run, 1, 5)] == [False, True]


@pytest.mark.parametrize(
    "keeper", [Gatekeeper(Gate(), net_of(1)), ChampionKeeper(Champions(), net_of(1))], ids=["gate", "champions"]
)
def test_it_says_nothing_at_the_end(keeper: Any) -> None:
    assert (keeper.conclusion("--games 2"), keeper.ends_run) == ("", False)
