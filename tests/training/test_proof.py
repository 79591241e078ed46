"""What proves that a network is stronger, and what does not."""

import json
import sys
import threading
from pathlib import Path

import pytest

from alphago.arena.gtp import EngineError, GtpProgram
from alphago.arena.sprt import Sprt
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.training.history import EVALUATIONS, read_rows
from alphago.training.proof import Examiner, Opponent

# An engine that always passes; it dies at its first move in the games whose seed its argument names.
ENGINE = """
import sys
dies = eval(sys.argv[1])(int(sys.argv[2]))
for line in sys.stdin:
    if line.startswith("genmove") and dies:
        sys.exit("out of cheese")
    print("= pass\\n" if line.startswith("genmove") else "= \\n", flush=True)
"""
GO = GoEnv(3, komi=0.5)


class TestEnginesThatFail:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Where an examination of few games at once is written."""
        monkeypatch.setattr("alphago.training.proof.GAMES_AT_ONCE", 4)
        return tmp_path

    def examined(self, folder: Path, dies: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bool | None, list[str]]:
        """Whether "broken" is beaten for sure in 8 games at most, and what was told."""
        program = GtpProgram("broken", (sys.executable, "-c", ENGINE, f"lambda seed: {dies}", "{seed}"))
        monkeypatch.setattr("alphago.arena.players.named_program", lambda name: program)
        told: list[str] = []
        opponent = Opponent("broken", readouts=0, most_games=8, random_opening=0)
        examiner = Examiner(GO, opponent, folder, told.append)
        return examiner.examine(UniformEvaluator(), 60.0, 5, threading.Event()), told

    def test_games_without_a_fault_count(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _, told = self.examined(folder, "False", monkeypatch)
        (row,) = read_rows(folder / EVALUATIONS, "opponent")
        assert (row["played"], row["forfeits"]) == (8, 0)
        assert "fault" not in told[0]

    def test_forfeits_and_their_partners_do_not(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first game of each four, and with it the second: wins that are none."""
        proved, (told,) = self.examined(folder, "seed % 4 == 1", monkeypatch)
        (row,) = read_rows(folder / EVALUATIONS, "opponent")
        assert (row["played"], row["forfeits"]) == (4, 2)
        assert row["wins"] + row["draws"] + row["losses"] == 4
        assert " in 4 games (" in told
        assert "; not counted: 2 games that broken lost by a fault; undecided" in told
        assert not proved

    def test_nothing_but_forfeits(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(EngineError, match=r"^broken played no pair of games without a fault of its own: broken: "):
            self.examined(folder, "seed % 2", monkeypatch)
        assert not (folder / EVALUATIONS).exists()
        assert not (folder / "proof.json").exists()

    def test_the_proof(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It has the games that counted, and says how many did not."""
        monkeypatch.setattr("alphago.training.proof.TEST", Sprt(0.0, 400.0, 0.4, 0.4))  # content with a pair
        proved, _ = self.examined(folder, "seed == 3", monkeypatch)
        assert proved
        proof = json.loads((folder / "proof.json").read_text())
        assert (proof["played"], proof["forfeits"], len(proof["moves"])) == (2, 1, 2)
