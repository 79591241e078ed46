"""`alphago bench` and `alphago info`."""

import json
from pathlib import Path

import numpy as np
import pytest

from alphago.cli import main, rates, signature
from alphago.cli.rates import rate
from alphago.cli.signature import RULES, search_positions
from alphago.env.games import GAMES
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet
from alphago.training.judges.resignation import Resignation
from tests.golden.make import SIGNATURE


class TestBench:
    def test_signature(self, capsys: pytest.CaptureFixture[str]) -> None:
        """As it was when tests/golden/signature.json was written."""
        assert main(["bench"]) == 0
        lines = capsys.readouterr().out.splitlines()
        known = json.loads(SIGNATURE.read_text())
        rows = {" ".join(line.split()[:2]): int(line.split()[2]) for line in lines[1:-3]}
        assert rows == known["searches"], (
            "the search chooses differently than before, or a game plays differently.  If that is meant: write the "
            "file anew with `python -m tests.golden.make`, and say in the commit message what changes, and why"
        )
        assert lines[-1].split() == ["signature", str(known["signature"])]
        assert len(rows) == len(GAMES) * len(RULES)

    def test_it_sees_a_change_of_the_search(self) -> None:
        checksums = [
            search_positions(GoEnv(5), settings, 16)[0]
            for settings in (RULES["puct"], signature.SearchSettings(c_puct=1.0), RULES["puct"])
        ]
        assert checksums[0] == checksums[2] != checksums[1]

    def test_games_that_end_in_the_opening(self) -> None:
        _, simulations = search_positions(GoEnv(2, max_moves=3), RULES["puct"], 8)
        assert simulations == sum(4 * (plies < 3) + 4 * (plies < 2) for plies in np.arange(32) % 8)


class TestInfo:
    def test_facts(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["info", "--seconds", "0"]) == 0
        text = capsys.readouterr().out
        for name in ("alphago", "python", "torch", "numba", "numpy", "openvino", "cores", "bfloat16 on the CPU"):
            assert f"\n  {name} " in text
        assert "rates" not in text

    def test_rates(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setitem(rates.RECIPES["9x9"].network, "tower_height", 0)
        assert main(["info", "--seconds", "0.01", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert all(value > 0 for value in told["rates"].values())
        names = [name.split(" ")[0] for name in told["rates"]]
        assert names[:2] == ["playouts,", "search"]
        assert names[-1] == "training"
        assert set(names[2:-1]) == {"positions"}
        assert {"versions", "machine", "rates"} == set(told)

    def test_a_wrong_time(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["info", "--seconds", "-1"]) == 2
        assert capsys.readouterr().err == "alphago info: --seconds must be a number >= 0, got -1\n"

    def test_rate(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first call does not count; at least one does."""
        clock = iter(range(0, 100, 2))
        monkeypatch.setattr("time.perf_counter", lambda: next(clock))
        calls = []
        assert rate(lambda: calls.append(1) or 6.0, 5) == 18 / 8
        assert len(calls) == 1 + 3

    def test_of_a_run(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Where its time went; rates only where they are asked for."""
        times = {"net_share": 0.75, "tree_share": 0.25, "processor_share": 0.9, "gpu_busy": 0.5}
        rows = [{"seconds": float(second), **times} for second in range(3)]
        (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert main(["info", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        told = text.partition("\ntime\n")[2].splitlines()
        assert [" ".join(line.split()) for line in told[:4]] == [
            "net 75.0%", "tree 25.0%", "threads on the processor 90.0%", "GPU busy 50.0%",
        ]  # fmt: skip
        assert told[4:] == ["resignation", "  not known yet"]
        assert main(["info", str(tmp_path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["time"] == {
            "net": 0.75, "tree": 0.25, "threads on the processor": 0.9, "GPU busy": 0.5,
        }  # fmt: skip

    def test_of_a_run_whose_network_may_resign(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [{"seconds": float(second), "net_share": 1.0} for second in range(3)]
        (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        net = NeuralNet(GoEnv(2), tower_height=0, channels=1)
        net.save(tmp_path / "weights.safetensors", Resignation(-0.875, 123, 0.0456).notes())
        assert main(["info", str(tmp_path)]) == 0
        told = capsys.readouterr().out.partition("\nresignation\n")[2].splitlines()
        assert [" ".join(line.split()) for line in told] == [
            "mover's value below -0.875", "resignations judged 123", "of them not lost 4.6%",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [(None, "a run must be a folder with metrics.jsonl"), ('{"seconds": 1}\n', "1 iterations do not tell how the time")],
    )
    def test_of_no_run(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, sentence: str
    ) -> None:
        if text:
            (tmp_path / "metrics.jsonl").write_text(text)
        assert main(["info", str(tmp_path)]) == 2
        told = capsys.readouterr().err
        assert told.startswith("alphago info: ")
        assert sentence in told
        assert told.count("\n") == 1
