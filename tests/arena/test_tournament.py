"""Evaluations: the files they leave, that they resume where they stopped, and their final report."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from alphago import GoEnv
from alphago.arena import tournament as tournament_module
from alphago.arena.entrant import Entrant
from alphago.arena.match_result import MatchGame
from alphago.arena.result_folder import ResultFolder
from alphago.arena.standings import read_anchor, standings
from alphago.arena.tournament import SPRT_GAMES, Tournament, TournamentSettings
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.mcts.levels import LevelTerms
from alphago.records.sgf import read_sgf
from alphago.system.files import lock

GO = GoEnv(5, komi=0.5)
HASH, UNIFORM = Entrant(HashEvaluator(), 4, name="hash"), Entrant(UniformEvaluator(), 0, name="uniform")
RANDOM = Entrant("random", name="random")
# Values of a line of games.jsonl that are none of a game.
OTHERS = {"game": -1, "outcome": "{}", "margin": '"x"', "moves": 5, "fault": 5, "counted": '"x"', "disagreement": "[]"}


class Heard:
    """A progress bar that stops everything after some games, as Ctrl-C does."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.games = 0
        self.stop_after = stop_after

    def __call__(self, total: int, initial: int, unit: str) -> "nullcontext[Heard]":
        self.total, self.initial = total, initial
        return nullcontext(self)

    def set_description(self, text: str, refresh: bool) -> None:
        self.match = text

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.text = text

    def update(self) -> None:
        self.games += 1
        if self.games == self.stop_after:
            raise KeyboardInterrupt


def tournament(folder: Path, *entrants: Entrant, games: int = 6, **options) -> Tournament:
    settings = TournamentSettings(games, **{"random_opening": 2, **options})
    return Tournament(GO, entrants or (HASH, UNIFORM, RANDOM), settings, folder / "out")


def played(folder: Path, *entrants: Entrant, **settings) -> Tournament:
    one = tournament(folder, *entrants, **settings)
    one.play(Heard())
    return one


def lines(folder: Path) -> list[dict]:
    """What games.jsonl holds, by match and number."""
    rows = [json.loads(line) for line in (folder / "out" / "games.jsonl").read_text().splitlines()]
    return sorted(rows, key=lambda row: (row["match"], row["game"]))


class TestFolder:
    def test_sgf_files_tell_the_same(self, tmp_path: Path) -> None:
        played(tmp_path)
        names = ["hash", "uniform", "random"]
        for row in lines(tmp_path):
            i, j = row["match"]
            game = read_sgf(tmp_path / "out" / "games" / f"{i + 1}-{j + 1}-{row['game'] + 1:04d}.sgf")
            position = game.position()
            assert position.is_over
            assert " ".join(map(GO.to_text, game.moves)) == row["moves"]
            assert game.margin == position.score() == row["margin"]
            assert game.result == row["result"]
            assert game.players == ((names[i], names[j]) if row["game"] % 2 == 0 else (names[j], names[i]))
            assert row["outcome"] == position.result * (1 if row["game"] % 2 == 0 else -1)
            assert (game.komi, game.rules) == (0.5, "Chinese")
        assert len(list((tmp_path / "out" / "games").iterdir())) == 18
        openings = [tuple(row["moves"].split()[:2]) for row in lines(tmp_path)]  # all matches share them
        assert openings[:6] == openings[6:12] == openings[12:]
        assert len(set(openings)) == 3

    def test_the_default_folder_is_named_after_the_evaluation(self, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)

        def folder(*entrants: Entrant, **settings) -> str:
            return str(Tournament(GO, entrants, TournamentSettings(4, **settings)).folder.path)

        same, learned, gumbel = folder(HASH, RANDOM), replace(HASH, weights="abc"), replace(HASH, search="gumbel")
        assert same.startswith("runs/evaluate-")
        others = [folder(RANDOM, HASH), folder(HASH, RANDOM, seed=1), folder(learned, RANDOM), folder(gumbel, RANDOM)]
        assert len({same, folder(HASH, RANDOM), *others}) == 5


class TestResume:
    @pytest.mark.parametrize("after", [1, 5, 7])
    def test_games_are_the_same_as_without_a_stop(self, tmp_path: Path, after: int) -> None:
        played(tmp_path / "whole")
        part = tmp_path / "part"
        with pytest.raises(KeyboardInterrupt):
            tournament(part).play(Heard(stop_after=after))
        done = len(lines(part))
        assert after <= done < 18
        heard = Heard()
        tournament(part).play(heard)
        assert (heard.total, heard.initial) == (18, done)
        assert heard.games == 18 - done
        assert lines(part) == lines(tmp_path / "whole")

    def test_half_a_line(self, tmp_path: Path) -> None:
        """What a crash leaves is cut off, and its game played again."""
        played(tmp_path)
        expected, path = lines(tmp_path), tmp_path / "out" / "games.jsonl"
        path.write_bytes(path.read_bytes()[:-20])
        heard = Heard()
        tournament(tmp_path).play(heard)
        assert heard.games == 1
        assert lines(tmp_path) == expected

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b'"moves"', b'"sevom"'),
            (b'"match": [0, 1]', b'"match": [0, 7]'),
            (b'"match": [0, 1]', b'"match": "x"'),
            *((f'"{name}": '.encode(), f'"{name}": {other}, "x": '.encode()) for name, other in OTHERS.items()),
            (b"}\n", b"}\n\xff\n"),
            (b"{", b"[{"),
        ],
    )
    def test_damaged_lines(self, tmp_path: Path, before: bytes, after: bytes) -> None:
        played(tmp_path)
        path = tmp_path / "out" / "games.jsonl"
        data = path.read_bytes()
        assert before in data
        path.write_bytes(data.replace(before, after, 1))
        with pytest.raises(ValueError, match=r"games\.jsonl is damaged in line [12]: "):
            tournament(tmp_path)

    def test_sgf_files_are_made_again(self, tmp_path: Path) -> None:
        """From games.jsonl, also where their folder is gone."""
        played(tmp_path)
        folder = tmp_path / "out" / "games"
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        shutil.rmtree(folder)
        tournament(tmp_path)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == files

    def test_one_process_plays_in_it(self, tmp_path: Path) -> None:
        with lock(played(tmp_path).folder.path), pytest.raises(BlockingIOError, match="another process writes to"):
            tournament(tmp_path).play(Heard())

    @pytest.mark.parametrize(
        ("entrants", "settings", "why"),
        [
            ((HASH, UNIFORM), {"seed": 3}, "seed 3, where it was begun with 0"),
            ((HASH, UNIFORM), {"sprt": (0, 50)}, r"sprt \[0, 50\], where it was begun with None"),
            ((HASH, RANDOM), {}, r"players \['hash', 'random'\], where it was begun with \['hash', 'uniform'\]"),
        ],
    )
    def test_another_evaluation_is_refused(self, tmp_path: Path, entrants: tuple, settings: dict, why: str) -> None:
        played(tmp_path, HASH, UNIFORM)
        before = lines(tmp_path)
        with pytest.raises(ValueError, match=f"begun by the same call, got {why}"):
            tournament(tmp_path, *entrants, **settings)
        assert lines(tmp_path) == before

    def test_a_level_that_aims_at_another_loss_is_refused(self, tmp_path: Path, monkeypatch) -> None:
        level3 = Entrant(HashEvaluator(), name="hash@level=3", level=3)
        played(tmp_path, level3, RANDOM, games=2)
        monkeypatch.setattr(tournament_module, "level_conditions", lambda *_: LevelTerms(0.2, "win rate", 8))
        with pytest.raises(ValueError, match=r"levels \[\[0.2, .*, where it was begun with \[\[0.16, 'win"):
            tournament(tmp_path, level3, RANDOM, games=2)

    def test_more_games_and_fewer(self, tmp_path: Path) -> None:
        """More are played on; of fewer the first count, the same as in a match of so many."""
        played(tmp_path, HASH, UNIFORM, games=4)
        longer = tournament(tmp_path, HASH, UNIFORM, games=8)
        heard = Heard()
        longer.play(heard)
        assert (heard.total, heard.initial, heard.games) == (8, 4, 4)
        assert (heard.match, heard.text[:8]) == ("hash - uniform", "4 pairs:")
        assert len(longer.result((0, 1)).games) == 8
        shorter = tournament(tmp_path, HASH, UNIFORM, games=4)
        assert shorter.result((0, 1)).games == longer.result((0, 1)).games[:4]
        again = Heard()
        shorter.play(again)
        assert (again.total, again.initial) == (4, 4)
        assert len(lines(tmp_path)) == 8

    def test_a_folder_with_other_contents(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "config.json").write_text("{}")
        with pytest.raises(ValueError, match="out must be a new or empty folder or an evaluation"):
            tournament(tmp_path)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["config.json"]
        for text in ("[1]", "[" * 100_000, "{"):
            (tmp_path / "out" / "evaluation.json").write_text(text)
            with pytest.raises(ValueError, match=r"evaluation\.json is damaged"):
                tournament(tmp_path)


class TestSequentialTest:
    def test_a_match_ends_early(self, tmp_path: Path) -> None:
        """White, the first player in odd games, cannot lose at this komi: pairs are all 1 to 1."""
        env = GoEnv(3, komi=9.5)
        one = Tournament(env, [HASH, RANDOM], TournamentSettings(400, sprt=(0, 200)), tmp_path / "out")
        heard = Heard()
        one.play(heard)
        assert heard.games == heard.total == SPRT_GAMES
        assert one.verdict((0, 1)).state == "reject"
        assert "hash - random: below +200 Elo by the sequential test of +0 against +200 Elo (pairs" in standings(one)
        again = Heard()
        Tournament(env, [HASH, RANDOM], one.settings, tmp_path / "out").play(again)
        assert again.games == 0

    def test_it_goes_by_pairs_in_order(self, tmp_path: Path) -> None:
        """Games after a gap do not count yet, nor one without its partner."""
        one = tournament(tmp_path, HASH, RANDOM, games=40, sprt=(0, 400))
        for number in (*range(9), *range(10, 40)):
            one.folder.add((0, 1), MatchGame(number, 1.0, (12, number % 25), 1.5))
        verdict = one.verdict((0, 1))
        assert (verdict.state, verdict.samples) == ("continue", 4)
        one.folder.add((0, 1), MatchGame(9, 1.0, (12, 9), -1.5))
        verdict = one.verdict((0, 1))
        assert (verdict.state, verdict.samples) == ("accept", 5)

    def test_games_lost_by_a_fault_prove_nothing(self, tmp_path: Path) -> None:
        """Nor do those that share their openings."""
        one = tournament(tmp_path, HASH, RANDOM, games=40, sprt=(0, 400))
        for number in range(40):
            fault = "it left" if number % 4 == 2 else ""
            one.folder.add((0, 1), MatchGame(number, 1.0, (12, number % 25), fault=fault))
        assert one.verdict((0, 1), 16) == one.verdict((0, 1), 14)
        assert one.verdict((0, 1), 16).samples == 4


class TestStandings:
    def test_faults_are_saved_and_reported(self, tmp_path: Path) -> None:
        """That a player resigns is no fault."""
        one = tournament(tmp_path, HASH, RANDOM, games=2)
        one.folder.add((0, 1), MatchGame(0, -1.0, (12,)))
        one.folder.add((0, 1), MatchGame(1, -1.0, (12,), fault="it left"))
        assert [(row["result"], row["margin"], row["fault"]) for row in lines(tmp_path)] == [
            ("W+R", None, ""),
            ("B+F", None, "it left"),
        ]
        game = read_sgf(tmp_path / "out" / "games" / "1-2-0002.sgf")
        assert (game.result, game.comment) == ("B+F", "it left")
        assert "hash: games lost by a fault of its own: 1\n  1-2-0002: it left" in standings(one)
        assert tournament(tmp_path, HASH, RANDOM, games=2).folder.games == one.folder.games

    def test_text(self, tmp_path: Path) -> None:
        """All of it, for results put in by hand."""
        one = tournament(tmp_path, games=8)
        for number in range(8):
            one.folder.add((0, 1), MatchGame(number, 1.0, (12, number // 4), 1.5 - number, counted=True))
        for number, outcome in enumerate((1, -1, 0, 1)):
            both = "W+3.5 on the board, B+8.5 says hash" if number < 2 else ""
            one.folder.add((1, 2), MatchGame(number, outcome, (number,), 2.5, counted=True, disagreement=both))
        one.folder.add((0, 2), MatchGame(3, 1.0, (12,), 2.5))
        assert standings(one, anchor=2, anchor_elo=100) == (
            "5x5, komi 0.5, 8 games a match, openings of 2 random plies, each with both colours, seed 0\n"
            "\n"
            "match             games  won  drawn  lost  win rate             95 %  as Black  as White  distinct\n"
            "hash - uniform        8    8      0     0    100.0%  34.2% to 100.0%     4-0-0     4-0-0         2\n"
            "uniform - random      4    2      1     1     62.5%   18.5% to 92.4%     1-1-0     1-0-1         3\n"
            "\n"
            "player    Elo          95 %  games\n"
            "hash     +663  +78 to +1248      8\n"
            "uniform  +170  -140 to +481     12\n"
            "random   +100        anchor      4\n"
            "\n"
            "hash - uniform: 2 of 8 games are distinct; the interval counts these, ratings count all\n"
            "hash - uniform: an engine scored 8 final boards too, 0 of them differently; the win rate is by the board\n"
            "uniform - random: 3 of 4 games are distinct; the interval counts these, ratings count all\n"
            "uniform - random: an engine scored 4 final boards too, 2 of them differently; "
            "the win rate is by the board\n"
            "  2-3-0001: W+3.5 on the board, B+8.5 says hash\n"
            "  2-3-0002: W+3.5 on the board, B+8.5 says hash\n"
            "games that do not count yet, because their opening was played with one colour only: 1\n"
            f"games are in {tmp_path / 'out'}"
        )

    def test_anchor(self) -> None:
        names = ["a@64", "gnugo:10", "x=1", "random"]
        for others in ("a@64 random", "uct:9 rave:9 random", "rave:9 gnugo random", "raven uct random"):
            assert read_anchor(None, others.split()) == (1, 0.0)
        given = {"a@64": (0, 0.0), "gnugo:10=1800": (1, 1800.0), "x=1": (2, 0.0), "x=1=-20.5": (2, -20.5)}
        assert {text: read_anchor(text, names) for text in given} == given
        with pytest.raises(ValueError, match="no player is called 'b': there are a@64, gnugo:10, x=1, random"):
            read_anchor("b=3", names)
        with pytest.raises(ValueError, match="the anchor's rating must be a number, got 'much'"):
            read_anchor("random=much", names)


def test_what_cannot_be_begun(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="a match must have two players or more, got 1"):
        Tournament(GO, [HASH], TournamentSettings(2), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(OSError, match=r"the folder .*out cannot be made: Not a directory"):
        ResultFolder(tmp_path / "file" / "out", GO, [], {})
    with pytest.raises(ValueError, match="file must be a new or empty folder or an evaluation"):
        ResultFolder(tmp_path / "file", GO, [], {})
