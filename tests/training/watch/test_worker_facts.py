"""What is told of a run's workers."""

from typing import Any

import pytest

from alphago.training.watch.game_log import GameReport
from alphago.training.watch.worker_facts import worker_facts

ROW: dict[str, Any] = {
    "workers_moves_per_second": {"a": 50.0, "b": 12.5},
    "game_length": 25.0,
    "tasks_done": 1200,
    "tasks_repeated": 2,
    "tasks_bytes": 2500000,
    "lag": None,
}


def test_of_each_worker_and_of_all() -> None:
    assert worker_facts(ROW) == {
        "a": "50.0 moves/s, 2 games/s",
        "b": "12.5 moves/s, 0.5 games/s",
        "tasks done": "1,200",
        "of them again": "2",
        "sent and received": "2.50 MB",
    }
    assert worker_facts({**ROW, "game_length": None, "lag": 0.5})["b"] == "12.5 moves/s"


def test_verbose_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    for row in ({}, ROW):
        GameReport().iteration(row)
    assert capsys.readouterr().err.startswith("workers: a 50.0 moves/s, 2 games/s; b 12.5 moves/s")
