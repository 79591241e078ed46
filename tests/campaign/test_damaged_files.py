"""Every file that the package reads, damaged in every way, in every command that reads it."""

import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from alphago.cli import main
from alphago.exams.positions import find_exam
from alphago.records.dataset_import import import_games
from tests.campaign.tally import Area, rounds
from tests.exams.small_exams import row, write
from tests.training.small_runs import run, spoil

pytestmark = pytest.mark.campaign
GAMES = Path(__file__).parents[1] / "data"
OWNED = "owned"  # the file that a pickle of ours makes, if anything loads it


class Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (OWNED,)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a damage that keeps them a file."""
    at = chance.randrange(len(data) + 1)
    kinds: list[Callable[[], bytes]] = [
        lambda: data[:at],
        lambda: data[:at] + bytes([chance.randrange(256)]) * chance.choice([1, 9, 5000]) + data[at + 1 :],
        lambda: flipped(data, chance),
        lambda: data[at:] + data[:at],
        lambda: data + data,
        lambda: b"[" * 100_000,
        lambda: b'{"a":' * 50_000,
        lambda: pickle.dumps(Evil()),
        lambda: data.replace(b"1", b"9" * 5000, 1),
        lambda: data.replace(b":", b":NaN,", 1),
        lambda: b"\xff\xfe" + data[: at // 2],
    ]
    return chance.choice(kinds)()


def flipped(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one or thirty bits changed."""
    changed = bytearray(data or b"\0")
    for _ in range(chance.choice([1, 1, 1, 30])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def spoil_one(folder: Path, chance: random.Random) -> str:
    """Damage one file of a folder in some way; return what was done."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    path = chance.choice(paths)
    how = chance.choice(["bytes"] * 8 + ["swapped", "gone", "pipe", "link", "huge", "folder"])
    if how == "bytes":
        path.write_bytes(damaged(path.read_bytes(), chance))
    elif how == "swapped":
        path.write_bytes(chance.choice(paths).read_bytes())
    elif how in ("folder", "gone"):
        path.unlink()
        if how == "folder":
            path.mkdir()
    else:
        spoil(path, how)
    return f"{path.relative_to(folder)} {how}"


def attack(name: str, whole: Path, count: int, *commands: str) -> None:
    """Damage copies of a folder, and run each of the commands on each: in them X is the copy."""
    chance, copy = random.Random(name), Path("copy").absolute()
    with Area(name) as area:
        for number in rounds(count):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(whole, copy)
            what = f"{number}, {spoil_one(copy, chance)}"
            for command in commands:
                area.command(what, [word.replace("X", str(copy)) for word in command.split()])
            assert not Path(OWNED).exists(), what


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "whole"
    run(folder, 16)
    return folder


def test_runs(trained: Path) -> None:
    commands = ["info X", "plot X --out a.svg", "plot --games X --out b.svg", "train --folder X --games 18"]
    attack("files of a run", trained, 400, *commands)


def test_networks(trained: Path) -> None:
    only = Path("net").absolute()
    only.mkdir()
    shutil.copy(trained / "weights.safetensors", only / "n.safetensors")
    net = "X/n.safetensors"
    commands = [f"info {net}", f"export {net} --format w32 --out n.w32", f"plot --network {net} --out n.svg"]
    attack("networks", only, 1500, *commands)


def test_datasets() -> None:
    import_games([GAMES], "dataset")
    attack("datasets", Path("dataset"), 300, "sgf X", f"sgf {GAMES} --to X")


def test_exams() -> None:
    Path("exam").mkdir()
    write(Path("exam") / "e.jsonl", row(), row("B2 A1"))
    chance = random.Random(4)
    with Area("exams") as area:
        for number in rounds(3000):
            path = Path("damaged.jsonl")
            path.write_bytes(damaged((Path("exam") / "e.jsonl").read_bytes(), chance))
            with area.attempt(str(number), ValueError):
                find_exam(str(path))


def test_evaluations() -> None:
    command = "evaluate random uct:1 --board-size 3 --games 4 --folder X"
    assert main(command.replace("X", "played").split()) == 0
    attack("games of evaluations", Path("played"), 300, command)


def test_names_of_folders(trained: Path) -> None:
    """Letters of all scripts, spaces, quotes, and a line break."""
    names = ["囲碁 α", "it's", '"', "a b", "-x", "ñ\u0301", "☃" * 60, "#?&%20", "a\nb", ".hidden"]
    with Area("names of folders") as area:
        for name in names:
            shutil.copytree(trained, Path("names") / name)
            own = str(Path("names").absolute() / name)
            for words in (["info"], ["plot", "--out", f"{own}/p.svg"], ["train", "--games", "18", "--folder"]):
                with area.attempt(f"{name!r}: {words[0]}", SystemExit):
                    assert main([*words, own]) == 0
