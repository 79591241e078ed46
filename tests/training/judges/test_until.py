"""`train(until=…)`: examinations, and the run's end when an opponent is beaten for sure."""

import json
import math
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from alphago.arena.match_games import play_games
from alphago.env.go import GoEnv
from alphago.training.history import read_history
from alphago.training.judges.proof import Examiner, Opponent
from alphago.training.session import train
from tests.training.small_runs import GO, TINY, Listener


class TestUntil:
    """The run ends when an opponent is beaten for sure; against random moves that takes little."""

    def test_proof(self, tmp_path: Path) -> None:
        listener = Listener()
        opponent = Opponent("random", readouts=32, first=0.0, every=0.02)
        env = GoEnv(3, komi=3.5)
        train(env, 2000, folder=tmp_path / "run", reports=[listener], until=opponent, **TINY)
        assert listener.last["games"] < 2000
        assert "proved to be stronger" in listener.notes[-2]
        proof = json.loads((tmp_path / "run" / "proof.json").read_text())
        assert proof["opponent"] == "random"
        assert proof["sprt"] == "accept"
        assert proof["wins"] + proof["draws"] + proof["losses"] == proof["played"] == len(proof["moves"])
        for game in proof["moves"]:  # every game can be played again, with the result that it had
            position = env.replace(max_moves=200).position()
            for move in game["moves"].split():
                position = position.play(env.from_text(move))
        rows = read_history(tmp_path / "run").evaluations
        assert rows[-1]["seconds"] == proof["seconds"]
        assert [row["sprt"] for row in rows].count("accept") == 1

    def test_a_player_without_a_network(self, tmp_path: Path) -> None:
        opponent = Opponent("uct:2", readouts=8, first=60.0, every=60.0, most_games=20)
        train(GO, 8, folder=tmp_path / "run", reports=[], until=opponent, **TINY)
        rows = read_history(tmp_path / "run").evaluations
        assert [(row["opponent"], row["played"]) for row in rows] == [("uct:2", 20)]
        (row,) = rows
        assert row["elo_low"] < row["elo"] < row["elo_high"]
        assert -9.5 <= row["score"] <= 8.5
        assert (row["elo"] > 0) == (row["win_rate"] > 0.5)
        assert min(row["captures"], row["captured"]) >= 0

    def test_ctrl_c_ends_an_examination(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """At the next move, and with everything saved; nothing of it is written down, and it is made again."""
        asked: list[bool] = []
        once = threading.Lock()  # there is a thread for each part of the match

        def interrupted(*arguments: Any) -> None:
            if once.acquire(blocking=False):
                os.kill(os.getpid(), signal.SIGINT)
                asked.append(arguments[-1].wait(600))
            play_games(*arguments)

        monkeypatch.setattr("alphago.arena.match.play_games", interrupted)
        opponent = Opponent("random", readouts=2, first=0.0, every=60.0, most_games=20)
        train(GO, 24, folder=tmp_path, reports=[], until=opponent, **TINY)
        assert asked[0]
        assert read_history(tmp_path).evaluations == []
        listener = Listener()
        train(GO, folder=tmp_path, reports=[listener])
        made, final = read_history(tmp_path).evaluations
        assert made["games"] < final["games"] == listener.last["games"] == 24

    def test_examinations_are_not_training_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def slow(examiner: Examiner, *_: Any) -> bool:
            time.sleep(1.0)
            examiner.next_at = math.inf
            return False

        monkeypatch.setattr(Examiner, "examine", slow)
        listener = Listener()
        opponent = Opponent("random", first=0.0)
        began = time.monotonic()
        train(GO, 24, folder=tmp_path / "run", reports=[listener], until=opponent, **TINY)
        assert listener.last["seconds"] < time.monotonic() - began - 0.9

    def test_an_unknown_opponent_is_refused_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no player is called 'gnu'"):
            train(GO, 24, folder=tmp_path / "run", reports=[], until="gnu", **TINY)
