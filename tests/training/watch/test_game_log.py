"""Games of self-play as text: what a line says, and what the search thought of each move."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GameRecord, GoEnv, NeuralNet
from alphago.cli import main
from alphago.records.record import RecordBuilder
from alphago.training.watch.game_log import GameReport, game_line, game_text, worker_facts
from tests.training.small_runs import GO

ENV = GoEnv(2, komi=0.5)


@pytest.fixture
def record() -> GameRecord:
    """An opening move, a move other than the greedy one, the greedy pass, and the end."""
    builder = RecordBuilder(seed=(3, 12))
    for action, mover, policy, value in ((0, 1, None, 0.0), (3, -1, (2, 0.75), -0.5), (4, 1, (4, 0.5), 0.5)):
        row = np.zeros(5, np.float32)
        if policy is not None:
            row[action], row[policy[0]] = 1 - policy[1], policy[1]
        builder.add(action, row, value, 4, mover, weight=float(policy is not None))
    builder.add(4, np.eye(5, dtype=np.float32)[4], 0.5, 4, -1)
    return replace(builder.finish(-1.0, -0.5, False, 5), seconds=3.14)


def test_a_line(record: GameRecord) -> None:
    assert game_line(ENV, record) == (
        "game 12 on 2x2: W+0.5 after 4 moves in 3.1 s; opening A2; greedy moves of 75% on average, 67% of them played"
    )
    opening_alone = replace(record, policies=np.zeros_like(record.policies), seed=None, seconds=None)
    assert game_line(ENV, opening_alone) == "a game on 2x2: W+0.5 after 4 moves; opening A2 B1 pass pass"


def test_every_move(record: GameRecord) -> None:
    lines = game_text(ENV, record, moves=True).splitlines()
    assert [line.split() for line in lines[2:5]] == [
        ["1", "B", "A2", "-", "50.0%"],
        ["2", "W", "B1", "A1", "75.0%", "25.0%"],
        ["3", "B", "pass", "pass", "50.0%", "75.0%"],
    ]
    assert any("game over, W+0.5" in line for line in lines[-2:])


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    NeuralNet(GO, tower_height=0, channels=4).save(tmp_path / "net.safetensors")
    command = ["selfplay", str(tmp_path / "net.safetensors"), "--games", "2", "--readouts", "2", "--verbose"]
    assert main([*command, "--folder", str(tmp_path / "games")]) == 0
    shown = capsys.readouterr().err
    assert len(re.findall(r"game \d on 3x3: .*\n +move +greedy +win rate\n", shown)) == 2
    assert shown.count("game over") == 2


ROW: dict[str, Any] = {"workers_moves_per_second": {"a": 50.0, "b": 12.5}, "game_length": 25.0, "lag": None}
ROW |= {"tasks_done": 1200, "tasks_repeated": 2, "tasks_bytes": 2500000}


def test_of_each_worker_and_of_all() -> None:
    of_tasks = {"tasks done": "1,200", "of them again": "2", "sent and received": "2.50 MB"}
    assert worker_facts(ROW) == {"a": "50.0 moves/s, 2 games/s", "b": "12.5 moves/s, 0.5 games/s", **of_tasks}
    assert worker_facts({**ROW, "game_length": None, "lag": 0.5})["b"] == "12.5 moves/s"


def test_verbose_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    for row in ({}, ROW):
        GameReport().iteration(row)
    assert capsys.readouterr().err.startswith("workers: a 50.0 moves/s, 2 games/s; b 12.5 moves/s")
