"""Every script of benchmarks/ at the smallest scale, whose figures mean nothing: that none of them rots."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from alphago import GoEnv, GomokuEnv, NeuralNet
from tests.benchmarks.conftest import BENCHMARKS, Bench

# By script: what makes it small, and a pattern of the figure that it tells last.
SMALL = {
    "analysis.py": (
        "--net 7x7 --positions 8 --queries 4 --visits 3 --commands 2 --turns 1",
        r"`name` while analysing: median \d+\.\d ms, at most \d+\.\d ms \(50 wanted\); idle ",
    ),
    "explanations.py": ("--size 7 --positions 2 --readouts 4", r"a move: median \d\.\d+ s, nine of ten.*Loss 2"),
    "evaluator.py": (
        "--size 5 --height 1 --channels 8 --batches 2 4 --turns 1 --seconds 0.001 --games 2 --readouts 1",
        r"folded, float32 +[\d,]+ +[24] +\d+\.\d{3}s +\d+\.\d\d\n",
    ),
    "quick.py": ("--scale 0.001 --width 2 --games 2", r"7x7, 4 x 32, 32 readouts +[\d,]+ +[\d,]+ +[\d,]+ +\d+\.\d\d\n"),
    "ten_lines.py": ("--board-size 3 --games 2 --matches 2", r"policy alone against random moves: \d wins"),
    "gomoku.py": ("--readouts 2 --depth 2", r"as White: \d+ won.*\n[\d.]+ of 32 points, [\d.]+%, with 2"),
    "start.py": (
        "--repeats 1 --warm-only",
        r"within the program: \d+\.\d\d s \(at most 0\.5 s are wanted: (met|missed)\)\n",
    ),
    "web.py": (
        "--net 7x7 --size 5 --readouts 2 --clicks 1 --boards 2 --seconds 0.05 --turns 1 --no-start",
        r"2 boards at once: \d+\.\d\d of the evaluator's rate",
    ),
    "training_step.py": (
        "--steps 1 --presets 7x7",
        r"7x7, \d+ positions, \w+: \d+\.\d; [\d,]+ positions a core second\n",
    ),
}
# Scripts that take a network: its game, and the option before its file.
NETWORKS = {"evaluator.py": (GoEnv(5), ["--weights"]), "gomoku.py": (GomokuEnv(4, 3), [])}
PEERS = {"boards.py": "jax", "openspiel.py": "pyspiel", "pgx_search.py": "jax", "pgx_selfplay.py": "jax"}
# With what begins with "gpu".
OTHERS = {"baseline.py", "row_playouts.py", "levels.py", "memory.py", "training_share.py", "figures.py", "measure.py"}


def test_no_script_is_forgotten() -> None:
    names = {path.name for path in BENCHMARKS.glob("*.py") if not path.name.startswith("gpu")}
    assert names == {*SMALL, *PEERS, *OTHERS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:this run is over")  # two games of 3x3 take no step
@pytest.mark.parametrize("script", SMALL)
def test_at_the_smallest_scale(bench: Bench, tmp_path: Path, script: str) -> None:
    arguments, pattern = SMALL[script]
    chosen = arguments.split()
    if script in NETWORKS:
        env, option = NETWORKS[script]
        NeuralNet(env, tower_height=1, channels=8).save(tmp_path / "net.safetensors")
        chosen += [*option, str(tmp_path / "net.safetensors")]
    told = bench.run(script, *chosen)
    assert re.search(pattern, told, re.DOTALL), told


@pytest.mark.parametrize("script", PEERS)
def test_without_the_peer(bench: Bench, script: str) -> None:
    """A sentence says how to get it."""
    bench.patch.setitem(sys.modules, PEERS[script], None)
    with pytest.raises(SystemExit, match=rf"^{PEERS[script]} is not installed: pip install -r benchmarks/requirements"):
        bench.run(script)


@pytest.mark.slow
def test_what_half_a_million_positions_take(bench: Bench, tmp_path: Path) -> None:
    """At most 250 MB in memory, and as much on disk: 500 bytes for a position of 9x9; written to its row.

    Every move counts here, trained on or not: the share that is, is chance in so few games.
    """
    rows = tmp_path / "speed.json"
    rows.write_text('[{"id": "memory-ram", "value": null, "what": "so many"}, {"id": "start-warm", "value": 1}]')
    told = bench.run("memory.py", "--games", "4", "--readouts", "2", "--json", str(rows))
    row, other = json.loads(rows.read_text())
    assert row["value"] > 0
    assert row["what"] == "so many"
    assert row["status"] == "measured"
    assert other == {"id": "start-warm", "value": 1}
    moves, positions = map(int, re.search(r"(\d+) moves, (\d+) positions", told).groups())
    sizes = re.findall(r"(in memory|on disk): (\d+) bytes a position", told)
    each = {where: int(size) * positions / moves for where, size in sizes}
    assert 0 < each["on disk"] < each["in memory"] <= 500


@pytest.mark.slow
def test_a_row_of_strength_is_measured(bench: Bench, tmp_path: Path) -> None:
    """Its training and its match run, and the result is written to it; other rows stay."""
    train = "alphago train --board-size 5 --games 4 --minutes none --tower-height 1 --channels 8 --readouts 2"
    match = "alphago evaluate runs/five@0 random --games 2"
    row = {"id": "five", "status": "missing", "train": f"{train} --folder runs/five", "match": match, "training": {}}
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([row, {**row, "id": "other"}]))
    bench.patch.chdir(tmp_path)
    bench.patch.setenv("PYTHONPATH", str(BENCHMARKS.parent))
    bench.run("measure.py", "five", "--rows", str(rows))
    five, other = json.loads(rows.read_text())
    assert other["status"] == "missing"
    assert five["status"] == "measured"
    assert five["wins"] + five["draws"] + five["losses"] == five["games"] == 2
    assert five["training"]["games"] == 4


def test_a_row_of_the_baseline_keeps_its_method(bench: Bench, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    row = {"price": "7x7:10", "name": "mine", "settings": "--readouts 8", "network": None, "entries": [{"seed": 1}]}
    rows.write_text(json.dumps([row]))
    bench.patch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="mine has the settings '--readouts 8' there, got '--readouts 9': give it"):
        bench.run("baseline.py", "--rows", str(rows), "7x7:10", "mine", "--", "--readouts", "9")
    assert json.loads(rows.read_text()) == [row]


@pytest.mark.slow
def test_a_row_of_the_baseline(bench: Bench, tmp_path: Path) -> None:
    """Seeds are added to it, and what is there is neither trained nor judged again; so are published networks."""
    rows = tmp_path / "rows.json"
    bench.patch.chdir(tmp_path)
    bench.patch.setenv("PYTHONPATH", str(BENCHMARKS.parent))
    bench.patch.delenv("ALPHAGO_KATAGO", raising=False)
    small = shlex.split("-- --readouts 2 --tower-height 1 --channels 8 --games-in-flight 4 --groups 1")
    for seeds in ("1", "2"):
        bench.run("baseline.py", "7x7:0.01", "tiny", "--seeds", seeds, "--games", "0", "--rows", str(rows), *small)
    bench.run("baseline.py", "7x7", "packaged", "--network", "7x7", "--games", "0", "--rows", str(rows))
    packaged, tiny = json.loads(rows.read_text())
    assert [entry["seed"] for entry in tiny["entries"]] == [1, 2]
    assert all(entry["processor_seconds"] >= 0.6 for entry in tiny["entries"])
    assert tiny["entries"][0]["digest"] != tiny["entries"][1]["digest"]
    (grade,) = packaged["entries"]
    assert 0.4 < grade["points_0"][0] < 0.7 < tiny["entries"][0]["points_0"][0]
    exams = [*tmp_path.glob("runs/baseline/7x7-0.01/tiny/*/exam.jsonl")]
    before = [exam.stat().st_mtime_ns for exam in exams]
    bench.run("baseline.py", "7x7:0.01", "tiny", "--seeds", "1", "--games", "0", "--rows", str(rows), *small)
    assert json.loads(rows.read_text())[1]["entries"][1] == tiny["entries"][1]
    assert [exam.stat().st_mtime_ns for exam in exams] == before
