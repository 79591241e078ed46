"""The gate: the best network plays, a candidate has to beat it.

What went wrong in AlphaGOZero-TF's pipeline stands here as what must not: its gate looked at one position as if it
were many games, gave the candidate Black in all of them, and never saved whom it had accepted.
"""

import copy
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.arena.match import MatchResult
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet, load_model
from alphago.training.group import Group
from alphago.training.history import read_history
from alphago.training.judges import gate as gates
from alphago.training.judges.gate import Gate, Gatekeeper
from alphago.training.learner import Learner
from alphago.training.runs.resume import seeded
from alphago.training.session import train
from alphago.training.settings import TrainingSettings
from tests.training.small_runs import GO, TINY, Listener, go_on, run, run_killed, same

QUICK = Gate(0.55, games=4, every=4, readouts=2)
FOUR = GoEnv(4, komi=0.5)


def net_of(seed: int) -> NeuralNet:
    with seeded(seed):
        return NeuralNet(GO, tower_height=0, channels=8).eval()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, NeuralNet, Listener]:
    """A run with a gate that nothing happens to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder, *run(folder, gate=QUICK)


def outcomes(monkeypatch: pytest.MonkeyPatch, *scores: float) -> list[dict[str, Any]]:
    """Lets matches end as these outcomes say, over and over; returns what they were asked for."""
    asked: list[dict[str, Any]] = []

    def played(env: GoEnv, first: NeuralNet, second: NeuralNet, games: int, readouts: int, **how: Any) -> MatchResult:
        begun = sum(match["games"] for match in asked)
        candidate = copy.deepcopy(first)  # it goes on learning
        asked.append({"env": env, "first": candidate, "second": second, "games": games, "readouts": readouts, **how})
        ended = np.array([scores[(begun + i) % len(scores)] for i in range(games)], np.float32)
        return MatchResult(ended, tuple((i,) for i in range(games)))

    monkeypatch.setattr(gates, "evaluate", played)
    return asked


def judge(
    gate: Gate, folder: Path, boards: tuple[tuple[GoEnv, float], ...] = ((GO, 1.0),)
) -> tuple[Gatekeeper, bool | None, list[str]]:
    told: list[str] = []
    keeper = Gatekeeper(gate, net_of(1), folder, told.append)
    verdict = keeper.judge(net_of(2), boards, 8, threading.Event(), seconds=1.0, games=10, steps=5)
    return keeper, verdict, told


class TestMatch:
    @pytest.mark.parametrize(
        ("scores", "rate", "passes"),
        [
            ([1.0] * 11 + [-1.0] * 9, 0.55, True),
            ([1.0] * 10 + [0.0] + [-1.0] * 9, 0.525, False),
            ([1.0] * 10 + [-1.0] * 10, 0.5, False),
            ([0.0] * 20, 0.5, False),
            ([1.0, 0.0] * 10, 0.75, True),
        ],
    )
    def test_the_win_rate(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: list[float], rate: float, passes: bool
    ) -> None:
        """55 % is enough, a draw counts half; below that the best stays."""
        outcomes(monkeypatch, *scores)
        keeper, verdict, told = judge(Gate(0.55, games=20), tmp_path)
        assert verdict is passes
        assert same(keeper.best, net_of(2 if passes else 1))
        (row,) = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").read_text().splitlines()]
        assert row["win_rate"] == pytest.approx(rate, abs=1e-9)
        assert (row["opponent"], row["played"], row["accepted"], row["readouts"]) == ("best so far", 20, passes, 8)
        assert row["wins"] + row["draws"] + row["losses"] == 20
        assert ("it is the best now" if passes else "the best stays") in told[0]

    def test_games_are_played_and_differ(self, tmp_path: Path) -> None:
        """Not one position looked at many times."""
        keeper, _, _ = judge(Gate(games=40, readouts=4), tmp_path, ((FOUR, 1.0),))
        (row,) = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").read_text().splitlines()]
        assert row["played"] == 40
        assert row["distinct"] > 20
        assert keeper.candidates == 1

    def test_both_colours(self, tmp_path: Path) -> None:
        """Black wins every game at this komi, so the candidate wins half, however often it is Black elsewhere."""
        _, verdict, _ = judge(Gate(0.51, games=20, readouts=2), tmp_path, ((GoEnv(3, komi=-50), 1.0),))
        (row,) = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").read_text().splitlines()]
        assert (row["wins"], row["losses"], verdict) == (10, 10, False)

    def test_boards_share_the_games(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = outcomes(monkeypatch, 1.0)
        judge(Gate(games=40), tmp_path, ((GO, 0.2), (FOUR, 0.8)))
        assert [(match["env"], match["games"]) for match in asked] == [(GO, 6), (FOUR, 14)] * 2
        assert len({match["seed"] for match in asked}) == 4
        (row,) = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").read_text().splitlines()]
        assert row["win_rate_3x3"] == row["win_rate_4x4"] == 1.0

    @pytest.mark.parametrize(("score", "passes"), [(1.0, True), (-1.0, False)])
    def test_a_sequential_test_ends_it_early(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: float, passes: bool
    ) -> None:
        outcomes(monkeypatch, score, score, score, -score)
        _, verdict, _ = judge(Gate(games=1000, sprt=(0, 100)), tmp_path)
        (row,) = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").read_text().splitlines()]
        assert verdict is passes
        assert 20 <= row["played"] < 300

    def test_undecided(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        outcomes(monkeypatch, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0)
        keeper, verdict, _ = judge(Gate(games=20, sprt=(0, 10)), tmp_path)
        assert verdict is False
        assert same(keeper.best, net_of(1))

    def test_stop(self, tmp_path: Path) -> None:
        """Nothing is judged, nothing is written."""
        stop = threading.Event()
        stop.set()
        keeper = Gatekeeper(QUICK, net_of(1), tmp_path, lambda _: None)
        assert keeper.judge(net_of(2), ((GO, 1.0),), 8, stop, seconds=1.0, games=10, steps=5) is None
        assert (keeper.candidates, list(tmp_path.iterdir())) == (0, [])


class TestSchedule:
    def test_when(self, tmp_path: Path) -> None:
        keeper = Gatekeeper(Gate(every=10), net_of(1), tmp_path, print)
        for games, steps, over, due in (
            (9, 5, False, False), (10, 5, False, True), (10, 0, False, False), (9, 5, True, True), (9, 0, True, False),
        ):  # fmt: skip
            assert keeper.due(games, steps, 3, over) is due, (games, steps, over)
        keeper.begin(net_of(1), 12, 5)
        assert not keeper.due(19, 9, 3, False)
        assert keeper.due(20, 9, 3, False)
        assert Gatekeeper(Gate(), net_of(1), tmp_path, print).due(3, 5, 3, False)  # as often as checkpoints

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"win_rate": 0.0}, "win_rate is more than 0 and at most 1, got 0.0"),
            ({"games": 5}, "games are an even number from 2, got 5"),
            ({"games": 0}, "games are an even number from 2, got 0"),
            ({"every": 0}, "every is 1 game or more, or None, got 0"),
            ({"readouts": -1}, "readouts are 0 or more, or None, got -1"),
            ({"sprt": (10, 0)}, "elo0 is less than elo1"),
        ],
        ids=str,
    )
    def test_refusals(self, given: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            Gate(**given)

    def test_a_number_is_a_win_rate(self) -> None:
        assert TrainingSettings(gate=0.6).gate == Gate(0.6)
        assert TrainingSettings().gate is None


class TestRun:
    def test_who_plays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Rejected candidates never play and are never saved, and yet the network goes on learning from them."""
        asked = outcomes(monkeypatch, -1.0)
        players, use = [], Group.use

        def used(group: Group, evaluator: Any) -> None:
            players.append(evaluator)
            use(group, evaluator)

        monkeypatch.setattr(Group, "use", used)
        net, listener = run(tmp_path, gate=QUICK)
        with seeded(0):
            first = NeuralNet(GO, tower_height=0, channels=8)
        assert len(asked) > 2
        assert len({id(player) for player in players}) == 1
        assert same(net, first)
        assert same(load_model(tmp_path, GO), first)
        assert listener.last["steps"] > 20
        assert not same(asked[0]["first"], asked[-1]["first"])
        assert all(same(match["second"], first) for match in asked)
        assert [row["accepted"] for row in read_history(tmp_path).evaluations] == [False] * len(asked)

    def test_whom_it_accepts_is_saved_and_plays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As the weights on disk say, and the next candidate plays against it."""
        asked = outcomes(monkeypatch, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0)
        net, _ = run(tmp_path, gate=QUICK)
        history = read_history(tmp_path).evaluations
        assert [row["accepted"] for row in history] == [i % 2 == 0 for i in range(len(asked))]
        assert len(asked) >= 3
        assert same(asked[1]["second"], asked[2]["second"])
        assert not same(asked[0]["second"], asked[1]["second"])
        best = asked[-1]["first" if history[-1]["accepted"] else "second"]
        assert same(net, best)
        assert same(load_model(tmp_path, GO), best)

    @pytest.mark.parametrize("saves", [40, 75])
    def test_it_goes_on_to_the_bit(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener], saves: int
    ) -> None:
        folder, net, listener = undisturbed
        run_killed(tmp_path, saves, gate=QUICK)
        again, _ = go_on(tmp_path)
        assert same(again, net)
        told = [
            [
                {name: value for name, value in row.items() if "seconds" not in name}
                for row in read_history(path).evaluations
            ]
            for path in (folder, tmp_path)
        ]
        assert told[0] == told[1]
        assert len(told[0]) == sum(note.startswith("candidate after") for note in listener.notes) > 1

    def test_a_candidate_waits_for_the_run_to_go_on(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener]
    ) -> None:
        """An interrupt right before its match puts that off, and changes nothing."""
        for _ in range(100):
            listener = Listener(lambda _: os.kill(os.getpid(), signal.SIGINT))
            net = train(GO, 16, folder=tmp_path / "cut", reports=[listener], gate=QUICK, **TINY)
            if not listener.stopped:
                break
        assert same(net, undisturbed[1])

    def test_one_that_comes_later(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The network as it stands then is the first best one."""
        asked = outcomes(monkeypatch, -1.0)
        net, _ = run(tmp_path, 8)
        gated, listener = go_on(tmp_path, 16, gate=QUICK)
        assert any(note.startswith("gate is Gate(") for note in listener.notes)
        assert len(asked) > 0
        assert same(gated, net)
        assert json.loads((tmp_path / "config.json").read_text())["settings"]["gate"]["every"] == 4
        assert all(same(match["second"], net) for match in asked)


def test_labels_reach_the_gradient_in_their_order() -> None:
    """That pipeline stored every loss as a win, and shuffled positions without their results."""
    from alphago.mcts.evaluator import HashEvaluator
    from alphago.nn.threads import Workers
    from alphago.training.memory import ReplayMemory
    from alphago.training.selfplay import selfplay

    memory = ReplayMemory(FOUR)
    memory.add(selfplay(FOUR, HashEvaluator(), 4, 20, groups=1))
    sample = memory.sample(64, np.random.default_rng(0))
    assert (sample.value > 0).any()
    assert (sample.value < 0).any()
    torch.manual_seed(1)
    settings = TrainingSettings(learning_rate=0.02, weight_decay=0.0, weight_averaging=0.0)
    with Workers(2) as workers:
        learner = Learner(NeuralNet(FOUR, tower_height=1, channels=16), settings, workers)
        for _ in range(80):
            last = learner.step(sample)
    assert last is not None
    assert last["value_correlation"] > 0.8
