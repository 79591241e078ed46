"""What bounds a run, told from where its time goes."""

from pathlib import Path

import pytest
from alphago.training.watch.time_shares import KINDS, bound, mean_shares, overhead, time_shares, told

from alphago.training.watch.report import ConsoleReport
from tests.training.small_runs import run


def test_threads_and_the_run() -> None:
    """Ten seconds: six of self-play on two threads, three of gradient steps, one around them."""
    run_seconds = {"playing": 6.0, "optimizer": 3.0, "other": 1.0, "examination": 100.0}
    threads = {"net": 6.0, "tree": 2.0, "boards": 1.0, "games": 1.0}  # the other two of twelve they waited
    shares = time_shares(run_seconds, threads, 2)
    assert set(shares) == {f"{kind}_share" for kind in KINDS}
    assert sum(shares.values()) == pytest.approx(1)
    expected = {"net": 0.3, "tree": 0.1, "boards": 0.05, "games": 0.05, "waiting": 0.1, "optimizer": 0.3, "other": 0.1}
    assert {kind: shares[f"{kind}_share"] for kind in expected} == pytest.approx(expected)
    assert shares["saving_share"] == 0


def test_nothing_was_done() -> None:
    assert set(time_shares({}, {}, 2).values()) == {0.0}


def test_what_bounds() -> None:
    row = {"net_share": 0.2, "tree_share": 0.7, "boards_share": 0.1, "selfplay_share": 0.9}
    assert bound(row) == ("tree", 0.7)
    assert told(row) == {"bound": "tree 70%"}
    assert told(row | {"gpu_busy": 0.874}) == {"bound": "tree 70%", "gpu": "87%"}
    assert told({"seconds": 1, "gpu_busy": None}) == {}


def test_means() -> None:
    """Shares of iterations count by their length; the first one only says when the others began."""
    rows = [
        {"seconds": 5.0, "tree_share": 1.0},
        {"seconds": 6.0, "net_share": 0.5, "optimizer_share": 0.4, "tree_share": 0.1},
        {"seconds": 9.0, "net_share": 0.6, "optimizer_share": 0.2, "tree_share": 0.2},
    ]
    shares = mean_shares(rows)
    assert shares == pytest.approx(dict.fromkeys(KINDS, 0.0) | {"net": 2.3 / 4, "optimizer": 0.25, "tree": 0.7 / 4})
    assert overhead(shares) == pytest.approx(0.7 / 4)
    with pytest.raises(ValueError, match="1 iterations do not tell how the time was spent"):
        mean_shares(rows[:1])


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of its time is told, and that of the kinds of work that it has is not 0."""
    report = ConsoleReport()
    report.start(tmp_path, {"max_minutes": None, "num_games": 16})
    _, listener = run(tmp_path, 16)
    for row in listener.rows:
        shares = {kind: row[f"{kind}_share"] for kind in KINDS}
        assert sum(shares.values()) == pytest.approx(1)
        assert min(shares.values()) >= 0
        assert {kind for kind, share in shares.items() if share > 0} >= {"net", "tree", "boards", "games", "sampling"}
        assert shares["transfer"] == 0
        assert row["gpu_busy"] is None
        assert row["processor_share"] > 0
    worked = [row["processor_seconds"] for row in listener.rows]
    assert worked == sorted(worked)
    assert 0 < worked[0] < worked[-1]
    assert max(row["optimizer_share"] for row in listener.rows) > 0
    report.iteration(listener.last)
    report.finish(listener.last, tmp_path, False)
    assert f"bound={bound(listener.last)[0]} " in capsys.readouterr().err
