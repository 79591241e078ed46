"""Tuning: who plays whom, what is said of values that cannot be told apart, and that it resumes where it stopped."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.arena.match import MatchResult
from alphago.arena.pits import Pit
from alphago.arena.sprt import Verdict
from alphago.arena.tuned_values import between_neighbours, check_effect, checked_value, spread
from alphago.arena.tuning import Tuning, climb, tune
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct
from alphago.mcts.rule import SearchSettings
from alphago.system.files import lock
from tests.arena.test_tournament import Heard

GO, GOMOKU = GoEnv(3, komi=0.5), GomokuEnv(3, 3)
SMALL: dict[str, Any] = {"readouts": 4, "games": 4}


def result(wins: int, losses: int, draws: int = 0) -> MatchResult:
    outcomes = np.array([1.0] * wins + [-1.0] * losses + [0.0] * draws, np.float32)
    return MatchResult(outcomes, tuple((i,) for i in range(len(outcomes))))


def by_strength(strengths: dict[Any, float], games: int = 200) -> Any:
    """Pits whose results are those that Elo points lead to, and whose tests know the truth."""

    def play(candidate: Any, champion: Any) -> Pit:
        difference = strengths[candidate] - strengths[champion]
        wins = round(games / (1 + 10 ** (-difference / 400)))
        state = "accept" if difference >= 40 else "reject" if difference <= 0 else "continue"
        return Pit(candidate, champion, result(wins, games - wins), Verdict(state, 0.0, games // 2))

    return play


def climbed(strengths: dict[Any, float]) -> tuple[Tuning, list[Tuning]]:
    notes: list[Tuning] = []
    first, *others = strengths
    return climb(Tuning("c_puct", (first,), (), first), others, by_strength(strengths), notes.append), notes


class TestClimbing:
    def test_who_is_stronger_is_the_next_champion(self) -> None:
        tuning, notes = climbed({1.0: 0, 0.5: -100, 2.0: 120, 4.0: 20, 3.0: 130})
        pairs = [(pit.candidate, pit.champion) for pit in tuning.pits]
        assert pairs == [(0.5, 1.0), (2.0, 1.0), (4.0, 2.0), (3.0, 2.0)]
        assert tuning.winner == 2.0  # 3.0 is a little stronger, which the test could not tell
        assert [len(note.pits) for note in notes] == [1, 2, 3, 4]
        assert notes[-1] == tuning

    def test_what_cannot_be_told_apart_is_said(self) -> None:
        tuning, _ = climbed({1.0: 0, 0.5: -100, 2.0: 120, 4.0: 20, 3.0: 130})
        assert tuning.level == [3.0]
        ratings = tuning.ratings
        assert (ratings[2.0].elo, ratings[2.0].low) == (0, 0)
        assert ratings[0.5].high < ratings[1.0].high < 0
        assert ratings[3.0].low < 0 < ratings[3.0].high
        text = repr(tuning)
        assert text.endswith("c_puct 2 won; not told apart from it: 3")
        rows = {line.split()[0]: line for line in text.split("\n\n")[0].splitlines()}
        assert rows["2"].endswith("winner")
        assert rows["3"].endswith("not told apart")
        assert rows["0.5"].endswith("weaker")
        assert "undecided" in text
        assert repr(climbed({1.0: 0, 0.5: -100})[0]).endswith("c_puct 1 won; all others are weaker")

    def test_a_value_that_others_show_to_be_stronger(self) -> None:
        """It lost no pit that could tell, so that the test never made it champion: it is not called level or weaker."""
        pits = (Pit(2.0, 1.0, result(300, 200), Verdict("continue", 0.0, 250)),)
        tuning = Tuning("c_puct", (1.0, 2.0), pits, 1.0)
        assert tuning.ratings[2.0].low > 0
        assert "stronger in all games together" in repr(tuning)
        assert tuning.level == [2.0]

    def test_nothing_played(self) -> None:
        tuning = Tuning("c_puct", (1.0,), (), 1.0)
        assert (repr(tuning), tuning.level) == ("c_puct 1: no pit has been played", [])


class TestValues:
    def test_a_range(self) -> None:
        """By ratios, the value in use first, then those nearest to it."""
        assert spread(Puct(), "c_puct", (0.5, 2.0), 3) == [0.96, 0.5, 1.0, 2.0]
        assert spread(Puct(), "c_puct", (2.0, 8.0), 3) == [2.0, 4.0, 8.0]
        assert spread(Puct(), "first_play_reduction", (0.0, 0.4), 3) == [0.2, 0.0, 0.4]
        assert spread(Gumbel(), "considered", (2, 32), 5) == [16, 8, 32, 4, 2]
        assert all(isinstance(value, int) for value in spread(Puct(), "virtual_loss", (1, 4), 4))

    def test_halfway(self) -> None:
        search = Puct()
        assert between_neighbours(search, "c_puct", [0.5, 1.0, 2.0], 1.0) == [0.707, 1.41]
        assert between_neighbours(search, "c_puct", [0.5, 1.0, 2.0], 2.0) == [1.41]
        assert between_neighbours(search, "first_play_reduction", [0.0, 0.2], 0.0) == [0.1]
        assert between_neighbours(search, "virtual_loss", [1, 2], 1) == []

    def test_a_value_is_checked_as_the_search_does(self) -> None:
        assert checked_value(Puct(), "c_puct", 1) == 1.0
        with pytest.raises(ValueError, match="c_puct must be a number >= 0, got -1"):
            checked_value(Puct(), "c_puct", -1)

    @pytest.mark.parametrize(
        ("name", "search", "sentence"),
        [
            ("cpuct", Puct(), "name must be a search setting, got 'cpuct': did you mean c_puct"),
            ("dirichlet_alpha", Puct(), "name must be a setting that matters in matches, got dirichlet_alpha"),
            ("c_scale", Puct(), "c_scale is a setting of Gumbel, but this search is Puct: give search='gumbel'"),
            ("c_puct", Gumbel(), "c_puct is a setting of Puct, but this search is Gumbel: give search='puct'"),
            ("virtual_loss", Gumbel(), "virtual_loss is a setting of Puct, but this search is Gumbel"),
            ("near_best", Puct(), "name must be a search setting, got 'near_best'"),
            ("decisive_moves", Puct(), "name must be a setting that has an effect, got decisive_moves: GoEnv("),
        ],
    )
    def test_settings_without_effect(self, name: str, search: SearchSettings, sentence: str) -> None:
        with pytest.raises(ValueError, match="^" + re.escape(sentence)):
            check_effect(name, search, GO)

    @pytest.mark.parametrize(
        ("keywords", "sentence"),
        [
            ({"values": [1.0]}, "values must be at least two, got 1"),
            ({"values": [1.0, 1.0]}, "values must be at least two, got 1"),
            ({}, "values must be given, or between: one of the two"),
            ({"values": [1.0, 2.0], "between": (1.0, 2.0)}, "values must be given, or between"),
            ({"values": np.array([[1.0, 2.0]])}, "c_puct must be a number >= 0, got array([1., 2.])"),
            ({"between": np.arange(3)}, "between must be two numbers, the smaller first, got array([0, 1, 2])"),
            ({"between": (2.0, 1.0)}, "between must be two numbers, the smaller first, got 2 and 1"),
            ({"values": [1.0, math.nan]}, "c_puct must be a number >= 0"),
            ({"values": [1.0, 2.0], "readouts": 0}, "readouts must be an integer from 1"),
            ({"values": [1.0, 2.0], "games": 3}, "games must be even"),
        ],
    )
    def test_errors(self, tmp_path: Path, keywords: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match="^" + re.escape(sentence)):
            tune(GO, HashEvaluator(), "c_puct", **{**SMALL, "folder": tmp_path / "t", **keywords})
        assert not (tmp_path / "t").exists()

    def test_what_is_no_number_has_no_range(self) -> None:
        with pytest.raises(ValueError, match=r"^between must be left out for decisive_moves, which is True and no"):
            tune(GOMOKU, HashEvaluator(), "decisive_moves", between=(0, 1), **SMALL)

    def test_who_is_not_searched(self, tmp_path: Path) -> None:
        for name in (np.array(["c_puct"]), np.array([1.5, 2.0])):
            with pytest.raises(TypeError, match=r"^name must be str, got array"):
                tune(GO, HashEvaluator(), name, [1.0, 2.0])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="no keyword 'seeed': did you mean seed"):
            tune(GO, HashEvaluator(), "c_puct", [1.0, 2.0], seeed=1)
        (tmp_path / "other.txt").write_text("")
        with pytest.raises(ValueError, match="must be a new or empty folder or a tuning's"):
            tune(GO, HashEvaluator(), "c_puct", [1.0, 2.0], folder=tmp_path, **SMALL)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "pits.jsonl").read_text().splitlines()]


class TestPlaying:
    def test_from_values_to_a_table(self, tmp_path: Path) -> None:
        told: list[Tuning] = []
        tuning = tune(GO, HashEvaluator(), "c_puct", [0.5, 0.96, 2], folder=tmp_path / "t", on_pit=told.append, **SMALL)
        assert tuning.values == (0.96, 0.5, 2.0)
        assert [len(note.pits) for note in told] == [1, 2]
        assert all(len(pit.result.games) == 4 for pit in tuning.pits)
        assert tuning.winner == 0.96  # four games decide nothing
        assert tuning.level == [0.5, 2.0]
        assert [row["verdict"] for row in rows(tmp_path / "t")] == ["continue", "continue"]
        assert [(row["candidate"], row["champion"]) for row in rows(tmp_path / "t")] == [(0.5, 0.96), (2.0, 0.96)]
        assert "not told apart from it: 0.5, 2" in repr(tuning)

    def test_values_of_any_kind(self, tmp_path: Path) -> None:
        search = {"decisive_moves": False}
        given = {"search": search, "folder": tmp_path / "t", **SMALL}
        assert tune(GOMOKU, HashEvaluator(), "decisive_moves", [True, False], **given).values == (False, True)

    def test_a_stronger_value_is_champion(self, tmp_path: Path) -> None:
        """Here the test asks whether a value is less than 400 points weaker, which any of them is."""
        settings = {**SMALL, "games": 96, "sprt": (-800.0, -400.0)}
        tuning = tune(GO, HashEvaluator(), "c_puct", [0.96, 1.5], folder=tmp_path / "t", **settings)
        assert tuning.pits[0].verdict.state == "accept"
        assert tuning.winner == 1.5
        assert len(tuning.pits[0].result.games) < 96

    def test_a_range_is_searched_more_closely_around_the_winner(self, tmp_path: Path) -> None:
        options: dict[str, Any] = {**SMALL, "between": (0.24, 3.84), "steps": 3, "rounds": 2}
        tuning = tune(GO, HashEvaluator(), "c_puct", folder=tmp_path / "t", **options)
        assert tuning.values == (0.96, 0.24, 3.84, 0.48, 1.92, 0.679, 1.36)

    def test_it_resumes(self, tmp_path: Path) -> None:
        whole = tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5, 2.0], folder=tmp_path / "whole", **SMALL)
        for stop_after in (2, 4):
            with pytest.raises(KeyboardInterrupt):
                tune(
                    GO,
                    HashEvaluator(),
                    "c_puct",
                    [0.96, 0.5, 2.0],
                    folder=tmp_path / "part",
                    listener=Heard(stop_after),
                    **SMALL,
                )
        heard = Heard()
        part = tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5, 2.0], folder=tmp_path / "part", listener=heard, **SMALL)
        assert heard.games < 8
        assert repr(part) == repr(whole)
        assert [pit.result.games for pit in part.pits] == [pit.result.games for pit in whole.pits]
        assert rows(tmp_path / "part") == rows(tmp_path / "whole")

    def test_it_goes_on_with_further_values(self, tmp_path: Path) -> None:
        tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5], folder=tmp_path / "t", **SMALL)
        heard = Heard()
        tuning = tune(GO, HashEvaluator(), "c_puct", [0.96, 2.0], folder=tmp_path / "t", listener=heard, **SMALL)
        assert (heard.games, tuning.values) == (4, (0.96, 2.0))
        assert len(rows(tmp_path / "t")) == 2
        with (tmp_path / "t" / "pits.jsonl").open("a") as file:
            file.write('{"candidate": 3, "cham')
        heard = Heard()
        tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5, 2.0], folder=tmp_path / "t", listener=heard, **SMALL)
        assert heard.games == 0
        assert len(rows(tmp_path / "t")) == 2

    def test_another_tuning_needs_another_folder(self, tmp_path: Path) -> None:
        tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5], folder=tmp_path / "t", **SMALL)
        with pytest.raises(ValueError, match=r"another tuning \(its readouts is 4, got 5\): choose another folder"):
            tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5], folder=tmp_path / "t", **{**SMALL, "readouts": 5})
        with lock(tmp_path / "t"), pytest.raises(BlockingIOError, match="another process writes to"):
            tune(GO, HashEvaluator(), "c_puct", [0.96, 0.5], folder=tmp_path / "t", **SMALL)
