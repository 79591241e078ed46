"""What is trusted: planted code, archives that inflate, and results that were begun by something else."""

import hashlib
import os
import pickle
import random
import resource
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from alphago import GoEnv, NeuralNet, sweep
from alphago.cli import main
from alphago.records.record import load_records
from tests.campaign.tally import Area, hang_guard, rounds
from tests.campaign.test_damaged_files import OWNED, Evil
from tests.campaign.test_kernel_caches import begun, told
from tests.exams.small_exams import save_games
from tests.training.small_runs import run
from tests.training.sweeps.calls import fail, score
from tests.training.sweeps.test_sweep import edited

pytestmark = pytest.mark.campaign
BOMB = 2_000  # mebibytes, deflated to two


def plant(cache: Path, chance: random.Random) -> str:
    """Put pickles that make a folder in place of all kernels, in a cache that others may write to or that is a link."""
    pickled = pickle.dumps(Evil())
    for path in cache.rglob("*.kernel"):
        path.write_bytes(hashlib.sha256(pickled).digest() + pickled)
    places = [cache, *(path for path in cache.rglob("*") if path.is_dir())]
    place = chance.choice(places)
    how = chance.choice(["group", "all", "link"])
    if how == "link" and place != cache:
        moved = place.with_name("moved")
        place.rename(moved)
        place.symlink_to(moved)
    else:
        place.chmod(0o777 if how == "all" or place == cache else 0o775)
    return f"{place.relative_to(cache)} {how}"


def test_planted_kernels() -> None:
    chance, whole = random.Random(1), Path("whole").absolute()
    with Area("planted kernels") as area:
        expected = told(begun(whole))
        for number in rounds(20):
            copy = Path(f"planted-{number}").absolute()
            shutil.copytree(whole, copy)
            what = plant(copy, chance)
            said = told(begun(copy))
            area.check(f"{what}: {said}", said == expected and not Path(OWNED).exists())


def test_planted_modules() -> None:
    """Files in the current folder with the names of libraries, where a command starts other processes."""
    commands = (
        "train --board-size 3 --games 4 --tower-height 0 --channels 4 --readouts 2 --learners 2 --folder run",
        "play --board-size 3 --readouts 2 --level 1",
    )
    with Area("planted modules") as area:
        for name in ("json", "numpy", "torch", "numba", "alphago", "pickle"):
            Path(f"{name}.py").write_text(f"import os; os.mkdir({OWNED!r})\n")
        for number in rounds(4):
            words = commands[number % len(commands)].split()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            subprocess.run(
                [sys.executable, "-P", "-m", "alphago", *words],
                env=environment, input=b"quit\n", capture_output=True, timeout=900, check=False,
            )  # fmt: skip
            area.check(" ".join(words), not Path(OWNED).exists())


def test_bombs() -> None:
    """Opening them takes neither time nor memory."""
    chance = random.Random(2)
    run(Path("run"), 8)
    (games, *_) = sorted(Path("run/games").glob("*.npz"))
    with Area("bombs") as area:
        for number in rounds(10):
            name = f"{chance.choice(['moves', 'policies', 'lengths', 'x'])}.npy"
            with zipfile.ZipFile(games, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
                for _ in range(BOMB):
                    member.write(bytes(2**20))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            with area.attempt(f"{number}: load_records", ValueError, seconds=60):
                load_records(games)
            area.command(f"{number}", ["plot", "--games", "run", "--out", "a.svg"])
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024  # MB
            area.check(f"{number}: {grown:.0f} MB", grown < 200)


def test_identities() -> None:
    """What was begun by one network or function is not continued by another one."""
    Path("games").mkdir()
    games = save_games(Path("games"), 4, 12)
    env = GoEnv(3, komi=0.5)
    for name in "ab":
        NeuralNet(env, tower_height=0, channels=4).save(f"{name}.safetensors")
    both = f"--games {games} --board-size 3"
    begun_by = {
        "label": f"label {games} --to labels --board-size 3 --positions N --network X.safetensors",
        "exam": f"exam --make exam.jsonl --engine '{sys.executable} -P -m alphago analysis X.safetensors' {both} "
        "--positions N --visits 2",
        "evaluate": "evaluate X.safetensors random --games N --folder played",
    }
    with Area("identities") as area:
        for verb, command in begun_by.items():
            words = {name: shlex.split(command.replace("X", name)) for name in "ab"}
            for name, count, code in (("a", 2, 0), ("b", 4, 2), ("a", 4, 0)):
                with area.attempt(f"{verb} {name}"), hang_guard():
                    done = main([word if word != "N" else str(count) for word in words[name]])
                    assert done == code, f"code {done}"
        variants = {"usual": {}, "more": {"gain": 1.0}}
        first = sweep(score, variants, 2, folder="swept", processes=1)
        for other in (fail, edited(score, code=fail.__code__), edited(score, defaults=(1.0, 1.0, None))):
            with area.attempt(str(other)), pytest.raises(ValueError, match="choose another"):
                sweep(other, variants, 2, folder="swept", processes=1)
        area.check("again", sweep(score, variants, 2, folder="swept", processes=1).numbers == first.numbers)
