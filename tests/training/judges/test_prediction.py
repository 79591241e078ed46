"""The judge of supervised learning keeps the network that predicts most moves."""

import contextlib
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from alphago import GameRecord, GoEnv, NeuralNet, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.judges.prediction import HeldOut

ENV = GoEnv(4, komi=0.5)
NEVER = threading.Event()


class FakeRun(SimpleNamespace):
    """What the judge asks of a run."""

    def __init__(self, net: NeuralNet, steps: int, progress: float) -> None:
        rows: list[dict[str, Any]] = []
        super().__init__(
            learner=SimpleNamespace(net=net, steps=steps),
            progress=progress,
            is_over=progress >= 1,
            games=10 * steps,
            env=ENV,
            device="cpu",
            rows=rows,
            notes=[],
            clock=SimpleNamespace(stopped=contextlib.nullcontext),
            standing={"seconds": 1.0, "games": 10 * steps},
        )

    def add_match(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def note(self, *sentences: str) -> None:
        self.notes.extend(sentences)


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return selfplay(ENV, HashEvaluator(), 4, 80, seed=1, groups=1, opening_plies=0)


def test_the_best_of_several(records: list[GameRecord]) -> None:
    """Seed defect 5: a network that was accepted was never saved."""
    accuracies, nets = [], [NeuralNet(ENV, tower_height=1, channels=8) for _ in range(5)]
    judge = HeldOut(ENV, nets[0], records, 10)
    for step, net in enumerate(nets):
        run: Any = FakeRun(net, step, step / 4)
        assert judge.due(run)
        assert judge.judge(run, NEVER)
        assert not judge.due(run)
        accuracies.append(run.rows[0]["accuracy"])
        assert run.rows[0]["positions_judged"] == sum(int((record.weights > 0).sum()) for record in records)
        assert run.rows[0]["best"] == (accuracies[-1] == max(accuracies) and accuracies.count(accuracies[-1]) == 1)
    assert judge.accuracy == max(accuracies)
    best = nets[accuracies.index(max(accuracies))]
    assert judge.best is not None
    assert all(np.array_equal(judge.best.state_dict()[name], tensor) for name, tensor in best.state_dict().items())
    assert f"{max(accuracies):.1%}" in judge.conclusion("")
    again = HeldOut(ENV, nets[1], records, 10)
    again.restore(FakeRun(nets[0], 4, 1.0), judge.tensors(), judge.state())  # type: ignore[arg-type]
    assert again.best is not None
    assert again.state() == judge.state()
    assert all(np.array_equal(again.best.state_dict()[name], tensor) for name, tensor in best.state_dict().items())


def test_when(records: list[GameRecord]) -> None:
    net = NeuralNet(ENV, tower_height=1, channels=8)
    judge = HeldOut(ENV, net, records[:3], 4)
    due = []
    for step in range(21):
        run: Any = FakeRun(net, step, step / 20)
        if judge.due(run):
            due.append(step)
            judge.judge(run, NEVER)
    assert due == [0, 5, 10, 15, 20]


def test_a_stop(records: list[GameRecord]) -> None:
    stop = threading.Event()
    stop.set()
    judge = HeldOut(ENV, NeuralNet(ENV, tower_height=1, channels=8), records, 4)
    run: Any = FakeRun(NeuralNet(ENV, tower_height=1, channels=8), 1, 0.5)
    assert not judge.judge(run, stop)
    assert run.rows == []
