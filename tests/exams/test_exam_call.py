"""`alphago.exam`: which networks take which exam, and the grades of those that come with the package."""

from pathlib import Path

import numpy as np
import pytest

import alphago
from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.mcts.evaluator import HashEvaluator
from tests.exams.small_exams import row, write
from tests.networks import prefers

TINY = {"tower_height": 1, "channels": 8}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "exam", row("B2 A1", {"C3": [0.0, 0.0]}), row("B2", {"C3": [0.0, 0.0], "C2": [9.0, 0.4]}))


def save(path: Path, env: GoEnv) -> str:
    NeuralNet(env, **TINY).save(path)
    return str(path)


class TestNames:
    def test_every_network_with_every_number_of_readouts(self, file: Path, tmp_path: Path) -> None:
        first = save(tmp_path / "a.safetensors", GoEnv(3))
        second = save(tmp_path / "b.safetensors", GoEnv(3, planes=17))
        told: list[tuple[str, int, int]] = []
        names = [first, f"{second}@4,gumbel", f"{first}@2"]
        found = alphago.exam(names, (0, 8), file=file, threads=1, tell=lambda *all: told.append(all))
        assert found.names == (f"{first}@0", f"{first}@8", f"{second}@4,gumbel", f"{first}@2")
        assert told == [(name, 8, 1) for name in found.names for _ in range(2)]
        assert len(found.grades) == 4

    def test_functions_and_evaluators(self, file: Path) -> None:
        found = alphago.exam([prefers("C3"), prefers("C2"), HashEvaluator()], 0, file=file)
        assert found.names == ("network 1@0", "network 2@0", "network 3@0")
        assert [grade.points.value for grade in found.grades[:2]] == [0, 5]
        assert np.isnan(found.grades[0].lead_error.value)

    def test_a_network_of_another_board(self, file: Path, tmp_path: Path) -> None:
        """A size-free network is loaded for the exam's board; a network that was handed over is resized."""
        saved = save(tmp_path / "five.safetensors", GoEnv(5))
        net = NeuralNet(GoEnv(4), **TINY)
        assert [grade.positions for grade in alphago.exam([saved, net], 0, file=file).grades] == [2, 2]

    def test_dtype(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str | None] = []
        made = NeuralNet.forecast_evaluator

        def keep(self: NeuralNet, device: str = "cpu", *, dtype: str | None = None) -> object:
            asked.append(dtype)
            return made(self, device, dtype=dtype)

        monkeypatch.setattr(NeuralNet, "forecast_evaluator", keep)
        net = NeuralNet(GoEnv(3), **TINY)
        assert alphago.exam(net, 4, file=file).names == ("network@4",)
        alphago.exam(net, 0, file=file, dtype=None)
        assert asked == ["float32", None]


def test_errors_are_told(file: Path, tmp_path: Path) -> None:
    three, four = (save(tmp_path / f"{n}.safetensors", GoEnv(n)) for n in (3, 4))
    for message, networks, readouts, exam in (
        ("the networks must have one board, got 3x3 of .*, 4x4 of .*; choose an exam", [three, four], 0, None),
        ("file must name the exam for networks that do not know their board", prefers("A1"), 0, None),
        ("env must be Go for an exam, got ConnectFourEnv", NeuralNet(ConnectFourEnv(), **TINY), 0, file),
        ("an exam must be taken by networks, got random", "random", 0, file),
        ("every network must have a name of its own, got .*3.safetensors@0 twice", [three, three], 0, file),
        ("there must be a network and readouts, got", three, (), file),
        ("there must be a network and readouts, got", [], 0, file),
    ):
        with pytest.raises(ValueError, match=message):
            alphago.exam(networks, readouts, file=exam)


def test_the_packaged_network_of_7x7() -> None:
    """In float32 on another processor a near tie may fall otherwise; a network that was changed is far off."""
    found = alphago.exam("7x7")
    policy, search = found.grades
    assert found.names == ("7x7@0", "7x7@64")
    assert policy.points.value == pytest.approx(0.52, abs=0.1)
    assert policy.win_error.value == pytest.approx(0.255, abs=0.005)
    assert policy.lead_error.value == pytest.approx(2.8, abs=0.1)
    assert search.points.value == pytest.approx(0.37, abs=0.1)
    assert search.win_error.value == pytest.approx(0.191, abs=0.01)
    assert found.paired().win_error.high < 0
    assert sum(grade.positions for grade in found.by_kind().values()) == 80
