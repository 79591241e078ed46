"""`alphago evaluate`: matches as a newcomer plays them, and its errors."""

import json
import re
import signal
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet
from alphago.cli import main
from alphago.records.sgf import read_sgf
from tests.arena.playing import install_fake_gnugo


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny networks for 3x3: two kinds of input planes, fixed turns, another board; and a run folder."""
    path = tmp_path_factory.mktemp("nets")
    tiny = {"tower_height": 1, "channels": 8}
    NeuralNet(GoEnv(3, komi=0.5), **tiny).save(path / "new.safetensors")
    NeuralNet(GoEnv(3, komi=0.5, planes=17), **tiny).save(path / "old.safetensors")
    NeuralNet(GoEnv(4, komi=0.5), **tiny).save(path / "four.safetensors")
    NeuralNet(GoEnv(3, komi=0, turns=5, first_pass=10, planes="turns"), **tiny).save(path / "turns.safetensors")
    (path / "run").mkdir()
    NeuralNet(GoEnv(3, komi=0.5), **tiny).save(path / "run" / "weights.safetensors")
    return path


def evaluate(command: str) -> int:
    return main(["evaluate", *command.split()])


def test_networks(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy, a search by either rule, a run folder; input planes may differ."""
    new, old, run = (str(nets / name) for name in ("new.safetensors", "old.safetensors", "run"))
    command = f"{new}@8 {old}@0 {run}@4,gumbel random --games 2 --folder out"
    assert evaluate(command) == 0
    text, bar = capsys.readouterr()
    assert text.startswith("3x3, komi 0.5, 2 games a match, openings of 4 random plies, each with both colours, ")
    for row in (f"{new}@8 - {old}@0 ", f"{old}@0 - {run}@4,gumbel ", f"{run}@4,gumbel - random "):
        assert row in text
    assert re.search(r"^random +\+0 +anchor +6$", text, re.MULTILINE)
    assert text.endswith("games are in out\nas a page: out/standings.html\n")
    assert "12/12" in bar
    assert len((Path("out") / "games.jsonl").read_text().splitlines()) == 12
    assert evaluate(command) == 0
    assert capsys.readouterr().out == text


def test_options(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "--games 4 --readouts 6 --search gumbel --board-size 4 --komi 1.5 --random-opening 1"
    command += " --opening-plies 3 --seed 7 --sprt=-300:100.5 --anchor random=-50"
    assert evaluate(f"{nets / 'four.safetensors'} random {command}") == 0
    (path,) = Path("runs").iterdir()
    known = json.loads((path / "evaluation.json").read_text())
    assert known.pop("file or version of")["random"] == ""
    players = [f"{nets / 'four.safetensors'}@6,gumbel", "random"]
    expected = {"players": players, "readouts": [6, 0], "search": ["gumbel", ""], "board_size": 4, "komi": 1.5}
    expected |= {"game": "go", "ko": "positional", "suicide": False, "turns": None, "levels": [None, None]}
    expected |= {"seed": 7, "random_opening": 1, "opening_plies": 3, "adjudicator": None, "sprt": [-300, 100.5]}
    assert known == expected
    text = capsys.readouterr().out
    assert re.search(r"^random +-50 +anchor +4$", text, re.MULTILINE)
    assert "the sequential test of -300 against +100.5 Elo" in text


@pytest.mark.slow
def test_interrupted(nets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The finished games are reported, and the same command plays the rest."""
    command = f"{nets / 'new.safetensors'}@4 random --games 8 --folder out --adjudicator gnugo:1"
    interrupts = "echo >> count; [ $(wc -l < count) -ge 6 ] && mkdir once && kill -INT $PPID && sleep 1"
    install_fake_gnugo(monkeypatch, Path(), rf"final_score) {interrupts}; printf '= B+1\n\n' ;;")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        assert evaluate(command) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    text, bar = capsys.readouterr()
    assert re.search(r"^\S+ - random +[2468] ", text, re.MULTILINE)
    assert "Traceback" not in bar
    assert bar.endswith("stopped; the same command resumes\n")
    assert evaluate(command) == 0
    assert re.search(r"^\S+ - random +8 ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.slow
def test_fixed_turns_and_rules(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The networks' own turns, or the given ones, or none."""
    turns = f"{nets / 'turns.safetensors'}@0 random --games 2"
    assert evaluate(f"{turns} --folder own") == 0
    assert capsys.readouterr().out.startswith("3x3, komi 0, 5 turns each, 2 games a match,")
    assert evaluate(f"{turns} --turns 3 --rules nz --folder other") == 0
    assert capsys.readouterr().out.startswith("3x3, komi 0, NZ rules, 3 turns each, 2 games a match,")
    assert evaluate(f"{turns} --turns none --folder open") == 0
    assert capsys.readouterr().out.startswith("3x3, komi 0, 2 games a match,")
    games = [read_sgf(Path(name) / "games" / "1-2-0001.sgf") for name in ("own", "other")]
    assert [len(game.moves) for game in games] == [10, 6]
    known = json.loads((Path("other") / "evaluation.json").read_text())
    assert (known["ko"], known["suicide"], known["turns"], games[1].rules) == ("situational", True, 3, "NZ")
