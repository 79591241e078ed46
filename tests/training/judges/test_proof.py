"""What proves that a network is stronger, and what does not."""

import json
import math
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from alphago.arena.engine import Engine, EngineError
from alphago.arena.sprt import Sprt, Verdict
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.mcts.evaluator import UniformEvaluator
from alphago.training.history import EVALUATIONS, read_rows
from alphago.training.judges.proof import Examiner, Opponent, expectation
from alphago.training.recipes import Preset
from alphago.training.session import train
from alphago.training.watch.diagnosis import Diagnosis
from tests.training.small_runs import TINY, go_on, run

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
        monkeypatch.setattr("alphago.training.judges.proof.GAMES_AT_ONCE", 4)
        return tmp_path

    def examined(self, folder: Path, dies: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bool | None, list[str]]:
        """Whether "broken" is beaten for sure in 8 games at most, and what was told."""
        program = Engine("broken", (sys.executable, "-c", ENGINE, f"lambda seed: {dies}", "{seed}"))
        monkeypatch.setattr("alphago.arena.players.find_engine", lambda name: program)
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
        monkeypatch.setattr("alphago.training.judges.proof.TEST", Sprt(0.0, 400.0, 0.4, 0.4))  # content with a pair
        proved, _ = self.examined(folder, "seed == 3", monkeypatch)
        assert proved
        proof = json.loads((folder / "proof.json").read_text())
        assert (proof["played"], proof["forfeits"], len(proof["moves"])) == (2, 1, 2)


# It is examined when the run is over, in one pair of games by the policies alone.
AT_THE_END = Opponent("random", readouts=0, first=1e9, most_games=2)


class TestWithoutProof:
    """A run that its length ends has its final network examined, and says what came of it."""

    @pytest.fixture(autouse=True)
    def pairs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("alphago.training.judges.proof.GAMES_AT_ONCE", 2)

    def rows(self, folder: Path) -> list[Any]:
        return [(row["games"], row["played"]) for row in read_rows(folder / EVALUATIONS, "opponent")]

    def test_the_final_network(self, tmp_path: Path) -> None:
        """Once: not again when nothing is left to do, but when the run was prolonged."""
        _, listener = run(tmp_path, 12, until=AT_THE_END)
        assert self.rows(tmp_path) == [(12, 2)]
        *_, match, end = listener.notes
        assert " minutes against random: " in match
        (row,) = read_rows(tmp_path / EVALUATIONS, "opponent")
        assert end == (
            "the run ends without a proof that the network is stronger than random: it won "
            f"{row['win_rate']:.1%} of its latest matches, the last one of 2 games (95 % interval {row['low']:.1%} to "
            f"{row['high']:.1%}); more time may do, as with: alphago train --folder {tmp_path} --games 24"
        )
        _, listener = go_on(tmp_path)
        assert len(self.rows(tmp_path)) == 1
        assert not any("ends without" in note for note in listener.notes)
        _, listener = go_on(tmp_path, 16)
        assert self.rows(tmp_path) == [(12, 2), (16, 2)]
        assert f"it won {row['win_rate']:.1%}, " in listener.notes[-1]

    def test_a_network_that_was_examined(self, tmp_path: Path) -> None:
        """After each iteration, the last one among them: there is nothing to look at again."""
        opponent = Opponent("random", readouts=0, first=0, every=0, most_games=2)
        _, listener = run(tmp_path, 12, until=opponent)
        assert len(self.rows(tmp_path)) == len(listener.rows)
        assert "ends without a proof" in listener.notes[-1]

    def test_a_proof_at_the_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last network may be the one that is strong enough."""
        monkeypatch.setattr(Sprt, "judge", lambda self, scores: Verdict("accept", 3.0, len(scores)))
        _, listener = run(tmp_path, 12, until=AT_THE_END)
        proof = tmp_path / "proof.json"
        assert json.loads(proof.read_text())["games"] == 12
        assert listener.notes[-1] == f"the run ends with its proof that the network is stronger than random: {proof}"
        _, listener = go_on(tmp_path)
        assert "this run was over after 12 games" in listener.notes[-1]
        assert ", with a proof: " in listener.notes[-1]

    def test_a_run_by_the_clock(self, tmp_path: Path) -> None:
        """Time may end it within the curriculum: the network is examined on the run's own board all the same."""
        settings = {"max_minutes": 0.002, "curriculum": ((3, 0.9),)}
        _, listener = run(tmp_path, None, GoEnv(4, komi=0.5), until=AT_THE_END, **settings)
        (row,) = read_rows(tmp_path / EVALUATIONS, "opponent")
        assert row["games"] == listener.last["games"]
        assert listener.notes[-1].endswith(f"alphago train --folder {tmp_path} --minutes 0.004")


def test_a_proof_through_a_curriculum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is examined on the small board; the proof is of the large one, and ends the run."""
    monkeypatch.setattr("alphago.training.judges.proof.GAMES_AT_ONCE", 8)
    monkeypatch.setattr("alphago.training.judges.proof.TEST", Sprt(0.0, 400.0, 0.2, 0.2))
    env = GoEnv(4, komi=0.5)
    opponent = Opponent("random", readouts=8, first=0, every=0, most_games=16)
    _, listener = run(tmp_path, 400, env, until=opponent, curriculum=((3, 0.05),))
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert (proof["game"], proof["board_size"], proof["komi"]) == ("GoEnv(4, komi=0.5)", 4, 0.5)
    assert all(row["games"] >= 20 for row in read_rows(tmp_path / EVALUATIONS, "opponent"))
    assert listener.last["games"] == proof["games"] < 400
    assert listener.notes[-1] == (
        f"the run ends with its proof that the network is stronger than random: {tmp_path / 'proof.json'}"
    )


class TestWhatIsTold:
    def test_when_to_expect_it(self) -> None:
        assert expectation({"positions": 3000, "seconds": 30.0}, 320_000, "gnugo") == (
            "100 positions a second here; another run was proved to be stronger than gnugo after 320,000 positions, "
            "which would be 53.3 minutes of training"
        )

    def test_in_a_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Once a call, as soon as the speed is known and unless it has had as many; beside the diagnosis."""
        monkeypatch.setattr("alphago.training.judges.proof.GAMES_AT_ONCE", 2)
        monkeypatch.setattr("alphago.training.session.MEASURED_MINUTES", 0.0)
        monkeypatch.setattr(Preset, "needed", lambda recipe, opponent, env: 100_000)
        remembered: list[int] = []
        monkeypatch.setattr(Diagnosis, "remember", lambda self, rows: remembered.append(len(rows)))
        monkeypatch.setattr(Diagnosis, "update", lambda self, row: [f"ill after {row['games']} games"])
        settings = {**TINY, "max_minutes": 1e9, "preset": "7x7"}
        _, first = run(tmp_path, 8, until=AT_THE_END, **settings)
        _, second = go_on(tmp_path, 12, **settings)
        for listener in (first, second):
            assert sum("after 100,000 positions, which would be" in note for note in listener.notes) == 1
            assert [note for note in listener.notes if note.startswith("ill")] == [
                f"ill after {row['games']} games" for row in listener.rows
            ]
        assert remembered == [0, len(first.rows)]
        monkeypatch.setattr(Preset, "needed", lambda recipe, opponent, env: 1)
        _, third = go_on(tmp_path, 16, **settings)
        assert not any("which would be" in note for note in third.notes)


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"readouts": -3}, "an opponent's readouts must be an integer >= 0, got -3"),
            ({"most_games": 0}, "an opponent's most_games must be an integer >= 1, got 0"),
            ({"random_opening": 1.5}, "an opponent's random_opening must be an integer >= 0, got 1.5"),
            ({"every": -1}, "an opponent's every must be a number >= 0, got -1"),
            ({"first": math.nan}, "an opponent's first must be a number >= 0, got nan"),
        ],
    )
    def test_numbers(self, given: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match=f"^{sentence}$"):
            Opponent("random", **given)

    @pytest.mark.parametrize("name", ["rave:100", "uct", "broken"])
    def test_another_game(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine(monkeypatch)
        self.refused(ConnectFourEnv(), name, rf"^env must be Go for {name}, got ConnectFourEnv\(", tmp_path)

    def test_another_board(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine(monkeypatch)
        self.refused(GoEnv(4), "broken", "^broken refused 'boardsize 4': unacceptable size$", tmp_path)

    def engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An engine called "broken", which has no board."""
        code = "for line in open(0): print('? unacceptable size\\n' if 'boardsize' in line else '= \\n', flush=True)"
        program = Engine("broken", (sys.executable, "-c", code))
        known = {"broken": program}
        monkeypatch.setattr("alphago.arena.players.find_engine", known.get)

    def refused(self, env: GameEnv, name: str, sentence: str, folder: Path) -> None:
        """Before anything is written."""
        with pytest.raises((ValueError, EngineError), match=sentence):
            train(env, 4, folder=folder / "run", reports=[], until=name, **TINY)
        assert not (folder / "run").exists()
