"""Every program in examples/ is short and runs, at small scale."""

import json
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet
from alphago.records.sgf import parse_sgf

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    path.stem: path
    for folder in (ROOT / "examples", ROOT / "alphago" / "examples")  # programs, and games that the package has
    for path in folder.glob("[!_]*.py")
}
# By program: what makes it small, and what it tells; those that tell "" have tests of their own.
RUNS = {
    "plain_connect_four": ("", "keeps the contract"),
    "custom_tower": ("--games 4 --readouts 2", "in 20 games"),
    "demo": ("--minutes 0.01 --games 1 --folder demo", "Play it at any time"),
    "evaluate_checkpoints": ("run --checkpoints 2 --games 2 --readouts 0", "games-0000020"),
    "log_to_a_program": ("--games 2 --to 'tee log.jsonl'", ""),
    "read_a_position": ("--readouts 8", "the search plays"),
    "selfplay_records": ("--games 2 --readouts 2", ""),
    "tic_tac_toe": ("", "keeps the contract"),
    "train_small": ("--games 4 --readouts 2", "finished after 4 games"),
}
GAMES = {"go_on_a_graph", "go_variants", "gomoku_swap2", "hex"}  # several in a file, which tests/examples has
OTHERS = {"download_games", "two_processes", "widening"}  # tests/examples has them too


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for a run with three checkpoints; and GNU Go is not installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda name, path: None)
    for games in (0, 10, 20):
        path = tmp_path / "run" / "weights" / f"games-{games:07d}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        NeuralNet(GoEnv(3), tower_height=1, channels=8).save(path)
    return tmp_path


def run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *shlex.split(RUNS[name][0])])
    runpy.run_path(str(EXAMPLES[name]), run_name="__main__")


def test_all_of_them_are_here_and_short() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in EXAMPLES.items()}
    assert lengths.keys() == {*RUNS, *GAMES, *OTHERS}
    long = {*GAMES, "download_games"}  # with its addresses
    assert max(length for name, length in lengths.items() if name not in long) < 100
    assert max(lengths.values()) <= 210


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "train_small" else pytest.mark.docs)
        for name, (_, told) in RUNS.items()
        if told
    ],
)
def test_it_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, monkeypatch)
    assert RUNS[name][1] in capsys.readouterr().out


@pytest.mark.docs
def test_written_games_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("selfplay_records", monkeypatch)
    assert "planes  float32 [16, 16, 7, 7]" in capsys.readouterr().out
    assert len([parse_sgf(path.read_bytes()) for path in (folder / "games").glob("*.sgf")]) == 2


@pytest.mark.docs
def test_another_program_gets_what_a_run_reports(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run("log_to_a_program", monkeypatch)
    events = [json.loads(line)["event"] for line in (folder / "log.jsonl").read_text().splitlines()]
    assert events[0] == "start"
    assert "iteration" in events
    assert events[-1] == "finish"
    assert "finish" in capfd.readouterr().out


@pytest.mark.docs
def test_a_run_without_checkpoints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (folder / "run" / "weights").iterdir():
        path.unlink()
    with pytest.raises(SystemExit, match="must have two or more checkpoints"):
        run("evaluate_checkpoints", monkeypatch)
