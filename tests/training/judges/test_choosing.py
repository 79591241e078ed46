"""When the gate, the judge that chooses self-play's network, judges a candidate."""

import threading
from pathlib import Path

from alphago.training.judges.gate import Gatekeeper
from alphago.training.selfplay_run import SelfPlayRun
from alphago.training.settings.judge_settings import Gate
from tests.training.small_runs import RandomGames, net_of, opened


def keeper_of(run: SelfPlayRun) -> Gatekeeper:
    (judge,) = run.judges
    assert isinstance(judge, Gatekeeper)
    return judge


def due(run: SelfPlayRun, games: int, steps: int) -> bool:
    run.set_counts(games=games)
    run.learner.steps = steps
    return keeper_of(run).due(run)


def test_a_stop_decides_nothing(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with opened(tmp_path, source=RandomGames, gate=Gate(games=4, every=4, readouts=2)) as run:
        assert not keeper_of(run).judge(run, stop)
        assert keeper_of(run).candidates == 0
    assert not (tmp_path / "evaluations.jsonl").exists()


def test_a_candidate_is_due(tmp_path: Path) -> None:
    """Once there are games enough and anything has been learned, and at the end of a run."""
    with opened(tmp_path, 1000, source=RandomGames, gate=Gate(every=10)) as run:
        found = [due(run, *counts) for counts in [(9, 5), (10, 5), (10, 0), (1000, 5), (1000, 0)]]
        assert found == [False, True, False, True, False]


def test_the_next_one_is_due(tmp_path: Path) -> None:
    """So many games after the last, and if nothing else is said as often as checkpoints."""
    with opened(tmp_path, 1000, source=RandomGames, gate=Gate(every=10)) as run:
        keeper = keeper_of(run)
        keeper.begin(net_of(1), 12, 5)
        assert [due(run, *counts) for counts in [(19, 9), (20, 9), (20, 5)]] == [False, True, False]
    with opened(tmp_path / "usual", 1000, source=RandomGames, gate=Gate()) as run:
        assert [due(run, 4, 5), due(run, 5, 5)] == [False, True]


def test_it_says_nothing_at_the_end() -> None:
    keeper = Gatekeeper(Gate(), net_of(1))
    assert (keeper.conclusion("--games 2"), keeper.ends_run) == ("", False)
