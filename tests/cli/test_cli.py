"""The command `alphago`: its verbs as a newcomer uses them, and what it says to whom is wrong."""

import json
import re
from pathlib import Path

import pytest

from alphago.arena import match
from alphago.arena.entrant import parse_entrant
from alphago.cli import main
from alphago.env.go import GoEnv
from alphago.nn.net import NeuralNet
from alphago.records.sgf import read_sgf


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands are given in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny networks for 3x3: two kinds of input planes, another komi, another board; and a run folder."""
    path = tmp_path_factory.mktemp("nets")
    tiny = {"tower_height": 1, "channels": 8}
    NeuralNet(GoEnv(3, komi=0.5), **tiny).save(path / "new.safetensors")
    NeuralNet(GoEnv(3, komi=0.5, planes=17), **tiny).save(path / "old.safetensors")
    NeuralNet(GoEnv(3, komi=2.5), **tiny).save(path / "komi.safetensors")
    NeuralNet(GoEnv(4, komi=0.5), **tiny).save(path / "four.safetensors")
    NeuralNet(GoEnv(3, komi=0, turns=5, first_pass=10, planes="turns"), **tiny).save(path / "turns.safetensors")
    (path / "run").mkdir()
    NeuralNet(GoEnv(3, komi=0.5), **tiny).save(path / "run" / "weights.safetensors")
    return path


def evaluate(command: str) -> int:
    return main(["evaluate", *command.split()])


class TestEvaluate:
    def test_networks(self, nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A policy, a search by either rule, a run folder; input planes may differ."""
        new, old, run = (str(nets / name) for name in ("new.safetensors", "old.safetensors", "run"))
        command = f"{new}@8 {old}@0 {run}@4,gumbel random --games 2 --folder out"
        assert evaluate(command) == 0
        text, bar = capsys.readouterr()
        assert text.startswith("3x3, komi 0.5, 2 games a match, openings of 2 random plies, each with both colours, ")
        for row in (f"{new}@8 - {old}@0 ", f"{old}@0 - {run}@4,gumbel ", f"{run}@4,gumbel - random "):
            assert row in text
        assert re.search(r"^random +\+0 +anchor +6$", text, re.MULTILINE)
        assert text.endswith("games are in out\n")
        assert "12/12" in bar
        assert len((Path("out") / "games.jsonl").read_text().splitlines()) == 12
        assert evaluate(command) == 0
        assert capsys.readouterr().out == text

    def test_players_among_options(self, nets: Path) -> None:
        assert evaluate(f"random --games 2 {nets / 'four.safetensors'}@0 --folder out --seed 1") == 0
        known = json.loads((Path("out") / "evaluation.json").read_text())
        assert known["players"] == ["random", f"{nets / 'four.safetensors'}@0"]

    def test_options(self, nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """They reach the games, whose folder says so."""
        command = "--games 4 --readouts 6 --search gumbel --board-size 4 --komi 1.5 --random-opening 1"
        command += " --opening-plies 3 --seed 7 --sprt -300 100.5 --anchor random=-50"
        assert evaluate(f"{nets / 'four.safetensors'} random {command}") == 0
        (path,) = Path("runs").iterdir()
        known = json.loads((path / "evaluation.json").read_text())
        assert known.pop("weights")[1] == ""
        assert known == {
            "players": [f"{nets / 'four.safetensors'}@6,gumbel", "random"],
            "readouts": [6, 0],
            "search": ["gumbel", ""],
            "board_size": 4,
            "komi": 1.5,
            "game": "go",
            "ko": "positional",
            "suicide": False,
            "turns": None,
            "games": 4,
            "random_opening": 1,
            "opening_plies": 3,
            "adjudicator": None,
            "seed": 7,
            "sprt": [-300, 100.5],
        }
        text = capsys.readouterr().out
        assert re.search(r"^random +-50 +anchor +4$", text, re.MULTILINE)
        assert "the sequential test of -300 against +100.5 Elo" in text

    def test_interrupted(self, nets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """What is finished is told, and the same command plays the rest."""
        monkeypatch.setattr("alphago.arena.tournament.SIDE_BY_SIDE", 2)
        original, calls = match.play_games, []

        def interrupted(*arguments) -> None:
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            original(*arguments)

        command = f"{nets / 'new.safetensors'}@4 random --games 8 --folder out"
        with monkeypatch.context() as patch:
            patch.setattr(match, "play_games", interrupted)
            patch.setattr(match, "available_cores", lambda: 1)
            assert evaluate(command) == 130
        text, bar = capsys.readouterr()
        assert re.search(r"^\S+ - random +6 ", text, re.MULTILINE)
        assert "Traceback" not in bar
        assert bar.endswith("stopped; the same command goes on\n")
        assert evaluate(command) == 0
        assert re.search(r"^\S+ - random +8 ", capsys.readouterr().out, re.MULTILINE)

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ("random", "a match needs two players, got 1"),
            ("random random", "random is named twice"),
            ("gnug random", "gnug: there is no file gnug, and no player is called 'gnug'"),
            ("rav:9 random", "rav:9: there is no file rav:9, and no player is called 'rav:9'"),
            ("rave:0 random", "rave:0: there is no file rave:0, and playouts are 1 or more, got rave:0"),
            ("rave:9@3 random", "rave:9@3: there is no file rave:9, and only networks take readouts"),
            ("none.safetensors random", "there is no file none.safetensors"),
            ("runs/none random", "there is no file runs/none"),
            ("random@3 random", "random@3: there is no file random, and only networks take readouts"),
            ("{nets} random", "{nets} is a folder, wanted a network saved with NeuralNet.save"),
            ("{nets}/new.safetensors@ random", "{nets}/new.safetensors@: after @ come readouts, puct or gumbel, or"),
            ("{nets}/new.safetensors@x random", "{nets}/new.safetensors@x: after @ come readouts"),
            ("{nets}/new.safetensors@5000000000 random", "readouts must be an integer from 0 to 10000000, got 5"),
            ("{nets}/new.safetensors@-3 random", "{nets}/new.safetensors@-3: after @ come readouts"),
            ("{nets}/new.safetensors {nets}/new.safetensors@64", "{nets}/new.safetensors@64 is named twice"),
            ("{nets}/new.safetensors {nets}/komi.safetensors",
             "the networks differ in komi: 0.5 of {nets}/new.safetensors, 2.5 of {nets}/komi.safetensors; choose one "
             "with --komi"),
            ("{nets}/new.safetensors {nets}/four.safetensors",
             "the networks differ in board_size: 3 of {nets}/new.safetensors, 4 of {nets}/four.safetensors; choose"),
            ("{nets}/new.safetensors {nets}/turns.safetensors --komi 0",
             "the networks differ in turns: None of {nets}/new.safetensors, 5 of {nets}/turns.safetensors; choose one "
             "with --turns"),
            ("random {nets}/new.safetensors --turns -2", "turns must be an integer >= 1, got -2"),
            ("random {nets}/new.safetensors --rules x", "no rules are called 'x': there are Chinese, Tromp-Taylor,"),
            ("random {nets}/new.safetensors --readouts -1", "readouts must be an integer >= 0, got -1"),
            ("random {nets}/new.safetensors --games 3", "games is an even number from 2"),
            ("random {nets}/new.safetensors --sprt 5 5", "elo0 is less than elo1"),
            ("random {nets}/new.safetensors --anchor me", "no player is called 'me': there are random, {nets}/new"),
            ("random {nets}/new.safetensors --board-size 30", "board_size must be an integer from 2 to 25, got 30"),
            ("random {nets}/new.safetensors --komi 0.3", "komi must be a multiple of 0.5 from -1000 to 1000, got 0.3"),
            ("random {nets}/new.safetensors --adjudicator uct", "adjudicator is 'gnugo', 'gnugo:LEVEL', a"),
            ("random {nets}/new.safetensors --folder {nets}", "{nets} holds something else than an evaluation: choose"),
        ],
    )  # fmt: skip
    def test_errors(self, nets: Path, words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
        """One line, exit code 2, and nothing is left behind."""
        assert evaluate(words.format(nets=nets)) == 2
        text, error = capsys.readouterr()
        assert error.startswith("alphago evaluate: " + sentence.format(nets=nets))
        assert error.count("\n") == 1
        assert text == ""
        assert list(Path().iterdir()) == []

    def test_gnugo_that_is_not_installed(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: None)
        assert evaluate("gnugo:1 random") == 2
        assert capsys.readouterr().err.startswith("alphago evaluate: GNU Go is not installed: there is no program")

    def test_another_evaluation(self, nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        command = f"{nets / 'new.safetensors'}@0 random --games 2 --folder out"
        assert evaluate(command) == 0
        capsys.readouterr()
        assert evaluate(f"{command} --seed 1") == 2
        assert capsys.readouterr().err == (
            "alphago evaluate: out holds another evaluation (its seed is 0, now 1 came): choose another folder\n"
        )

    def test_fixed_turns_and_rules(self, nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The networks' own turns, or those asked for; the header and the folder tell them."""
        turns = f"{nets / 'turns.safetensors'}@0 random --games 2"
        assert evaluate(f"{turns} --folder own") == 0
        assert capsys.readouterr().out.startswith("3x3, komi 0, 5 turns each, 2 games a match,")
        assert evaluate(f"{turns} --turns 3 --rules nz --folder other") == 0
        assert capsys.readouterr().out.startswith("3x3, komi 0, NZ rules, 3 turns each, 2 games a match,")
        assert evaluate("random rave:2 --board-size 3 --komi 0 --game go --turns 2 --games 2") == 0
        assert capsys.readouterr().out.startswith("3x3, komi 0, 2 turns each, 2 games a match,")
        assert evaluate(f"{turns} --turns 0 --folder open") == 0
        assert capsys.readouterr().out.startswith("3x3, komi 0, 2 games a match,")
        lengths = {}
        for name in ("own", "other"):
            rows = [json.loads(line) for line in (Path(name) / "games.jsonl").read_text().splitlines()]
            lengths[name] = [len(row["moves"].split()) for row in rows]
        assert lengths == {"own": [10, 10], "other": [6, 6]}
        known = json.loads((Path("other") / "evaluation.json").read_text())
        assert {name: known[name] for name in ("ko", "suicide", "turns")} == {
            "ko": "situational",
            "suicide": True,
            "turns": 3,
        }
        assert read_sgf(Path("other") / "games" / "1-2-0001.sgf").rules == "NZ"

    def test_a_komi_for_networks_that_differ(self, nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert evaluate(f"{nets / 'new.safetensors'}@0 {nets / 'komi.safetensors'}@0 --games 2 --komi 1.5") == 0
        assert capsys.readouterr().out.startswith("3x3, komi 1.5,")


class TestPlayers:
    @pytest.mark.parametrize(
        ("text", "readouts", "search", "name"),
        [
            ("", 64, "puct", "@64"),
            ("@0", 0, "puct", "@0"),
            ("@400", 400, "puct", "@400"),
            ("@gumbel", 64, "gumbel", "@64,gumbel"),
            ("@32,gumbel", 32, "gumbel", "@32,gumbel"),
            ("@32,puct", 32, "puct", "@32"),
        ],
    )
    def test_networks(self, nets: Path, text: str, readouts: int, search: str, name: str) -> None:
        path = f"{nets / 'new.safetensors'}"
        entry = parse_entrant(path + text)
        assert (entry.readouts, entry.search, entry.name) == (readouts, search, path + name)
        assert entry.model == Path(path)

    def test_run_folders(self, nets: Path) -> None:
        entry = parse_entrant(f"{nets / 'run'}@8")
        assert entry.model == nets / "run" / "weights.safetensors"
        assert entry.name == f"{nets / 'run'}@8"

    def test_others(self) -> None:
        entry = parse_entrant("random", readouts=8, search="gumbel")
        assert (entry.name, entry.model, entry.readouts, entry.search) == ("random", None, 0, "")

    def test_a_file_that_is_called_like_a_player(self, folder: Path) -> None:
        """The player goes first; a path or readouts tell the file."""
        (folder / "random").write_text("")
        assert parse_entrant("random").model is None
        assert parse_entrant("./random").model == Path("random")
        assert parse_entrant("random@3").model == Path("random")

    def test_an_at_sign_in_a_path(self) -> None:
        folder = Path("me@home")
        folder.mkdir()
        path = str(folder / "new.safetensors")
        Path(path).touch()
        assert (parse_entrant(path, 8).model, parse_entrant(path, 8).readouts) == (Path(path), 8)
        assert (parse_entrant(f"{path}@3").base, parse_entrant(f"{path}@3").readouts) == (path, 3)
        with pytest.raises(ValueError, match="me@house/x: after @ come readouts"):
            parse_entrant("./me@house/x")
