"""The judge of supervised learning keeps the network that predicts most moves."""

import threading
from pathlib import Path

import pytest

from alphago import GameRecord
from alphago.system.interrupts import Stopped
from alphago.training.judges.prediction import HeldOut
from alphago.training.run import Run
from tests.training.small_runs import GO4, RandomGames, evaluations, net_of, opened, same
from tests.training.workers.crews import STOPPED


def reach(run: Run, step: int) -> None:
    """As if the run had played so many games, and taken as many gradient steps."""
    run.set_counts(games=step)
    run.learner.steps = step


def test_the_best_of_several(records: list[GameRecord], tmp_path: Path) -> None:
    """Seed defect 5: a network that was accepted was never saved."""
    nets = [net_of(seed, GO4) for seed in range(5)]
    judge, again = (HeldOut(records, 10).make_judge(GO4, net, tmp_path) for net in nets[:2])
    with opened(tmp_path, 4, GO4, source=RandomGames, extra=[judge]) as run:
        for step, net in enumerate(nets):
            reach(run, step)
            run.learner.net = net
            assert judge.due(run)
            judge.judge(run, threading.Event())
            assert not judge.due(run)
        again.restore(run, judge.tensors(), judge.state())
    rows = evaluations(tmp_path)
    assert {row["positions_judged"] for row in rows} == {sum(int((record.weights > 0).sum()) for record in records)}
    accuracies = [row["accuracy"] for row in rows]
    best = max(accuracies)
    assert [row["best"] for row in rows] == [a > max(accuracies[:i], default=-1) for i, a in enumerate(accuracies)]
    assert f"{best:.1%}" in judge.conclusion("")
    assert again.state() == judge.state()
    for one in (judge, again):
        assert one.accuracy == best
        assert same(one.best, nets[accuracies.index(best)])


def test_when(records: list[GameRecord], tmp_path: Path) -> None:
    """At intervals; and not when it is stopped."""
    judge, due = HeldOut(records[:3], 4).make_judge(GO4, net_of(0, GO4), tmp_path), []
    with opened(tmp_path, 20, GO4, source=RandomGames, extra=[judge]) as run:
        for step in range(21):
            reach(run, step)
            if judge.due(run):
                due.append(step)
                judge.judge(run, threading.Event())
        with pytest.raises(Stopped):
            judge.judge(run, STOPPED)
    assert due == [0, 5, 10, 15, 20]
    assert len(evaluations(tmp_path)) == 5
    with opened(tmp_path, 40, GO4, source=RandomGames, extra=[judge]) as run:  # it is prolonged
        reach(run, 25)
        assert judge.due(run)
    with pytest.raises(ValueError, match="judges must have names of their own"):
        opened(tmp_path, 60, GO4, source=RandomGames, extra=[judge, judge]).__enter__()
