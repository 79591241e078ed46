"""`alphago sgf` and `alphago supervised`."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from alphago import Dataset, load_model
from alphago.cli import main
from alphago.training.history import read_history
from tests.nn.katago_files import network

DATA = Path(__file__).parents[1] / "data"


def test_into_a_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "games").mkdir()
    shutil.copytree(DATA / "9x9", tmp_path / "games" / "9x9")
    (tmp_path / "games" / "bad.sgf").write_text("(;SZ[9];B[aa];W[aa])")
    target = tmp_path / "games.dataset"
    words = ["sgf", str(tmp_path / "games"), "--to", str(target), "--workers", "1", "--min-moves", "10"]
    assert main([*words, "--any-result", "--validation", "0.2"]) == 0
    printed = capsys.readouterr().out
    dataset = Dataset(target)
    assert f"{len(dataset)} games are new, 1 were left out, {len(dataset)} in all" in printed
    assert "1  occupied point, such as" in printed
    assert dataset.index["split"]["validation"] == 0.2
    assert main(["sgf", str(target)]) == 0
    assert "left out: occupied point" in capsys.readouterr().out


def test_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.sgf").write_text("(;SZ[9];B[aa];W[aa])")
    assert main(["sgf", str(tmp_path / "bad.sgf"), "--workers", "1"]) == 0
    assert capsys.readouterr().out == (
        "0 games could be taken, 1 not\n"
        f"       1  occupied point, such as {tmp_path}/bad.sgf, node 2: move 2, White A9, is illegal: Black has a "
        "stone there\n"
    )


def test_supervised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "d")
    options = "--workers 1 --min-moves 1 --any-result --validation 0.3 --test 0.2"
    assert main(["sgf", str(DATA / "9x9"), "--to", target, *options.split()]) == 0
    options = "--epochs 1 --tower-height 1 --channels 8 --checks 1 --device cpu --batch-size 32 --threads 1"
    assert main(["supervised", target, "--folder", str(tmp_path / "run"), *options.split()]) == 0
    assert re.search(r"test games: \d+\.\d% of \d+ moves", capsys.readouterr().out)
    assert load_model(tmp_path / "run").env.N == 9
    assert main(["info", str(tmp_path / "run")]) == 0
    line = re.search(r"to go on +(alphago .*)", capsys.readouterr().out)
    words = shlex.split(line[1])
    games = read_history(tmp_path / "run").metrics[-1]["games"]
    assert words == ["alphago", "supervised", target, "--folder", str(tmp_path / "run"), "--games", str(2 * games)]
    assert main([*words[1:], "--device", "cpu"]) == 0
    assert read_history(tmp_path / "run").metrics[-1]["games"] == 2 * games
    capsys.readouterr()
    assert main(["supervised", target, "--model", str(tmp_path / "run"), "--test"]) == 0
    assert re.search(r"^test games: \d", capsys.readouterr().out)
    assert main(["supervised", target, "--test"]) == 2
    assert "--test must have a network to test" in capsys.readouterr().err
    assert main(["supervised", target, "--folder", str(tmp_path / "run"), "--board-size", "13"]) == 2
    assert "has board_size 9, got 13" in capsys.readouterr().err
    assert main(["supervised", str(tmp_path / "none")]) == 2


def test_supervised_from_katagos_weights(tmp_path: Path) -> None:
    options = "--workers 1 --min-moves 1 --any-result --validation 0.3"
    assert main(["sgf", str(DATA / "9x9"), "--to", str(tmp_path / "d"), *options.split()]) == 0
    (tmp_path / "net.bin.gz").write_bytes(network(17))
    options = f"--folder {tmp_path}/run --epochs 0.1 --checks 1 --device cpu --batch-size 32 --threads 1"
    assert main(["supervised", f"{tmp_path}/d", "--model", f"katago:{tmp_path}/net.bin.gz", *options.split()]) == 0
    net = load_model(tmp_path / "run")
    assert net.env.planes == 30
    assert net.taught_by.startswith("KataGo ")
