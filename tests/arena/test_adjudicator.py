"""Engines that count finished games: their results decide, and where the board differs both are reported."""

from dataclasses import replace
from pathlib import Path

import pytest

from alphago.arena.engine import Engine, EngineError, gnugo
from alphago.arena.match import adjudicate, evaluate, find_adjudicator
from alphago.arena.match_result import MatchGame
from alphago.arena.standings import standings
from alphago.arena.tournament import Tournament, TournamentSettings
from alphago.env.go import GoEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.records.sgf import read_sgf
from tests.arena.playing import install_fake_gnugo, installed_gnugo, scripted
from tests.arena.test_tournament import RANDOM, Heard, lines

GO = GoEnv(3, komi=0.5)


def judge_of(folder: Path, score: str) -> Engine:
    """An engine that gives every game this score."""
    return scripted(folder, final_score=f"reply({score!r})", name="judge")


def game(env: GoEnv, moves: str, number: int = 0) -> MatchGame:
    """A game by the board as it stands."""
    actions = tuple(map(env.from_text, moves.split()))
    margin = env.position().after(actions).score()
    return MatchGame(number, (1 if margin > 0 else -1) * (1 if number % 2 == 0 else -1), actions, margin)


class TestScore:
    def test_it_receives_the_whole_game(self, tmp_path: Path) -> None:
        """This one counts the moves that it received."""
        moves = {"play": "moves.append(line.strip()); reply()", "final_score": 'reply("W+%d" % len(moves))'}
        assert adjudicate(GO, scripted(tmp_path, **moves), game(GO, "B2 A1 pass pass"), 1).margin == -4

    @pytest.mark.parametrize(
        ("number", "score", "outcome", "margin"),
        [(0, "W+3.5", -1, -3.5), (1, "W+3.5", 1, -3.5), (1, "B+1", -1, 1), (0, "0", 0, 0), (0, "B+8.5", 1, 8.5)],
    )
    def test_its_result_counts(self, tmp_path: Path, number: int, score: str, outcome: float, margin: float) -> None:
        before = game(GO, "B2 pass pass", number)
        assert before.margin == 8.5
        after = adjudicate(GO, judge_of(tmp_path, score), before, 1)
        both = f"B+8.5 on the board, {score} counts judge" if margin != 8.5 else ""
        assert after == replace(before, outcome=outcome, margin=margin, counted=True, disagreement=both)

    def test_a_game_that_was_given_up(self, tmp_path: Path) -> None:
        before = MatchGame(0, -1.0, (4,), None, fault="crashed")
        assert adjudicate(GO, judge_of(tmp_path, "B+1"), before, 1) is before

    @pytest.mark.parametrize(
        ("bodies", "why"),
        [
            ({"final_score": 'reply("who knows")'}, "answered 'who knows' to final_score of game 6, not a score"),
            ({"final_score": "sys.exit(3)"}, r"'final_score' was sent, the process has ended \(exit status 3\)"),
            ({"play": 'print("? illegal move\\n", flush=True)'}, "engine refused 'play b B2': illegal move"),
        ],
    )
    def test_one_that_does_not_count(self, tmp_path: Path, bodies: dict, why: str) -> None:
        with pytest.raises(EngineError, match=why):
            adjudicate(GO, scripted(tmp_path, **bodies), game(GO, "B2 pass pass", 6), 1)

    def test_games_that_it_does_not_know(self, tmp_path: Path) -> None:
        judge = judge_of(tmp_path, "B+1")
        with pytest.raises(ValueError, match="env must be Go for judge, got"):
            find_adjudicator(judge, TicTacToeEnv())
        with pytest.raises(ValueError, match="judge scores games that end by two passes, got games of fixed turns"):
            find_adjudicator(judge, GoEnv(3, turns=2))

    def test_names(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: "/usr/games/gnugo")
        assert find_adjudicator("gnugo:3", GO) == gnugo(3)
        assert find_adjudicator(None, GO) is None
        judge = judge_of(tmp_path, "B+1")
        assert find_adjudicator(judge, GO) is judge
        with pytest.raises(ValueError, match="an Engine or None, got 'rave'"):
            find_adjudicator("rave", GO)

    def test_gnu_go_takes_dead_stones(self) -> None:
        """White's stone in the corner has no hope; on the board it makes all of Black's area neutral."""
        before = game(GoEnv(5, komi=0.5), "C3 A1 B2 pass C2 pass D3 pass pass")
        after = adjudicate(GoEnv(5, komi=0.5), installed_gnugo(), before, 1)
        assert before.margin == 4 - 1 - 0.5
        assert after.margin == 24.5
        assert after.disagreement == "B+2.5 on the board, B+24.5 counts gnugo:1"


def test_players_that_do_not_count(tmp_path: Path) -> None:
    """`black` has Black in games 0 and 2."""
    match = evaluate(GO, "random", "random", 4, adjudicator=judge_of(tmp_path, "W+40"))
    assert match.outcomes.tolist() == [-1, 1, -1, 1]
    assert match.counted == len(match.disagreements) == 4


class TestTournament:
    def test_its_results_are_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install_fake_gnugo(monkeypatch, tmp_path, r"final_score) printf '= W+40\n\n' ;;")
        settings = TournamentSettings(4, adjudicator="gnugo:1")
        one = Tournament(GO, [RANDOM, replace(RANDOM, name="other")], settings, tmp_path / "out")
        one.play(Heard())
        assert [(row["margin"], row["outcome"]) for row in lines(tmp_path)] == [(-40, -1), (-40, 1)] * 2
        record = read_sgf(one.folder.path / "games" / "1-2-0001.sgf")
        assert record.result == "W+40"
        text = standings(one)
        assert "an engine scored 4 final boards too, 4 of them differently; the win rate is by gnugo:1" in text
        assert "1-2-0001: " in text
        with pytest.raises(ValueError, match="got adjudicator None, where it was begun with gnugo:1"):
            Tournament(GO, one.entrants, TournamentSettings(4), one.folder.path)

    def test_it_is_looked_for_before_a_folder_is_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: None)
        with pytest.raises(EngineError, match=r"^GNU Go is not installed"):
            Tournament(GO, [RANDOM, RANDOM], TournamentSettings(2, adjudicator="gnugo"), tmp_path / "out")
        assert not (tmp_path / "out").exists()
