"""Every script of benchmarks/ at the smallest scale, whose figures mean nothing: that none of them rots."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GoEnv, GomokuEnv, NeuralNet, OwareEnv, ReversiEnv
from alphago.nn.base import DenseBase
from tests.benchmarks.bench import BENCHMARKS, Bench
from tests.ui.clients.installed import client, node

# By script: what makes it small, and patterns that its output has to match, in this order.
SMALL = {
    "scale_simulation.py": (
        "--workers 1,2 --lag 4 --deaths 2",
        [r"workers   games/s   playing  learning      MB/s   too old\n", r"      1 +\d", r"      2 +\d"],
    ),
    "analysis.py": (
        "--net 7x7 --positions 8 --queries 4 --visits 3 --commands 2 --turns 1",
        [
            r"the evaluator alone +[\d,]+  1\.00  1\.00\n",
            r"analyze, 8 positions, no search +[\d,]+  \d+\.\d\d  \d+\.\d\d  \(at least 0\.95 wanted\)\n",
            r"JSON, 4 positions, 3 visits +[\d,]+  \d+\.\d\d  \d+\.\d\d  \(at least 0\.85 wanted\)\n",
            r"`name` while analysing: median \d+\.\d ms, at most \d+\.\d ms \(50 wanted\); idle ",
        ],
    ),
    "explanations.py": ("--size 7 --positions 2 --readouts 4", [r"a move: median \d\.\d+ s, nine of ten", r"Loss 2"]),
    "evaluator.py": (
        "--size 5 --height 1 --channels 8 --batches 2 4 --turns 1 --seconds 0.001 --games 2 --readouts 1",
        [
            r"network, \d+ positions of 2 games",
            r"folded, float32 +0\.0000\d\d +0\.000\d\d\d +0\.000\d\d +0\.000\d\d\n",  # float32 rounds little
            r"5x5, 1 x 8, on 1 of the cores",
            r"eager, float32 +[\d,]+ +[24] +0\.000s +1\.00\n",
            r"folded, float32 +[\d,]+ +[24] +\d+\.\d{3}s +\d+\.\d\d\n",
        ],
    ),
    "quick.py": (
        "--scale 0.001 --width 2 --games 2",
        [
            r"9x9 light \(own eyes spared\) +[\d,]+\n",
            r"hash network +[\d,]+ +[1-9]\d*\.\d\n",
            r"7x7, 4 x 32, 32 readouts +[\d,]+ +[\d,]+ +[\d,]+ +\d+\.\d\d\n",
        ],
    ),
    "ten_lines.py": (
        "--board-size 3 --games 2 --matches 2",
        [r"over after \d+ s\n", r"policy alone against random moves: \d wins"],
    ),
    "leaves.py": (
        "--size 5 --games 2 --readouts 2 --leaves 2",
        [r"Gumbel, 2 leaves: \d wins", r"Puct, 2 leaves: \d wins"],
    ),
    "connect_four.py": (
        "--positions 6 --plies 30 34 --games 2 --readouts 2 --depth 2",
        [r"6 positions of random games", r"sign of 2 readouts: \d of \d", r"alphabeta:2.*2 distinct games\n"],
    ),
    "reversi.py": (
        "--positions 6 --empty 4 8 --games 2 --readouts 2 --depth 2 --perfect 8",
        [
            r"6 positions of random games with 4 to 8 empty points, solved in \d+ s: won",
            r"sign of 2 readouts: \d of \d",
            r"alphabeta:2, perfect with at most 8 empty points, whose first 3 moves are drawn: \d won",
            r"; 2 distinct games\n",
        ],
    ),
    "gomoku.py": (
        "--readouts 2 --depth 2",
        [
            r"as Black: \d+ won, \d+ drawn, \d+ lost\n",
            r"as White: \d+ won.*\n(.*\n)*[\d.]+ of 32 points, [\d.]+%, with 2",
        ],
    ),
    "decisive_moves.py": (
        "connect-four --opponents alphabeta:2 --games 2 --readouts 2 --seconds 0.001",
        [
            r"looking \d+\.\d\d us a position, the network \d+\.\d us: \d\.\d{3}; \d+% of \d+ random positions",
            r"\nwith, against alphabeta:2: \d wins.*\nwithout, against alphabeta:2: \d wins",
        ],
    ),
    "kept_evaluations.py": (
        "--plies 1 --turns 1",
        [r"7x7, 16 readouts +\d+\.\d\d +\d+\.\d\d \(-\d+%\) +[\d,]+ +[\d,]+ +\d+\.\d\d\n", r"9x9, 24 readouts "],
    ),
    "games_side_by_side.py": (
        "--games 1 --turns 1 --flights 1 2",
        [
            r"cores; plies a second, 16 readouts each\n",
            r" +1 side by side: +[\d,]+  \d+\.\d\d of the last row's\n +2 side by side: +[\d,]+  1\.00 of ",
        ],
    ),
    "policy_targets.py": (
        "--net 7x7 --judge 7x7 --size 7 --positions 1 --repeats 2 --readouts 2 --settings 4/2/1 4/4/2",
        [
            r"policy +\d\.\d{4} \(",
            r"4/2/1 +\d\.\d{4} \(\+0\.0000 \+- 0\.0000\)",
            r"4/4/2 +\d\.\d{4} \([+-]0\.\d{4} \+- ",
        ],
    ),
    "wild_sgf.py": (
        "--hostile 5 --scale 0.01",
        [
            r"7 files, 5 with accidents, 10 slow ones; at most 60 s for each\n",
            r"wild: 7 files, 7 games, 81 moves; 7 games without a fault\n0 crashes, 0 hangs; the slowest file took ",
            r"with accidents: 5 files, ",
            r"0 crashes, 0 hangs; ",
            r"slow: 10 files, 10 games, 14\d\d moves; ",
            r"0 crashes, 0 hangs; ",
        ],
    ),
    "reading_games.py": (
        "--games 12 --length 20 --workers 1 --memory",
        [
            r"sgfmill, one process: [\d,]+ games per second of processor\n",
            r"SGF, one process: [\d,]+ games per second of processor, \d+\.\d\d times as many\n",
            r"SGF, 1 processes: [\d,]+ games/s",
            r"text, 1 processes: [\d,]+ games/s",
            r"memory of this process: \d+ MiB after a tenth, \d+ MiB after all: \d\.\d\d\n",
        ],
    ),
    "selfplay_host.py": (
        "--size 5 --games 4 --readouts 4 --plies 2 --turns 2",
        [r"games +\d+\.\d\d us a move\n", r"Python alone allows [\d,]+ games/s,\ntrees [\d,]+ games/s for each core"],
    ),
    "start.py": (
        "--repeats 1 --warm-only",
        [r"warm, median of 1: ", r"within the program: \d+\.\d\d s \(at most 0\.5 s are wanted: (met|missed)\)\n"],
    ),
    "frames.py": (
        "--net 7x7 --size 7 --plies 6 --seconds 0.3",
        [
            r"[\d.]+ frames a second, the longest \d+ ms; of the processor for each report: script -?[\d.]+ ms, ",
            r"in all -?[\d.]+ ms\n",
        ],
    ),
    "one_file.py": ("7x7 --readouts 8 --turns 1", [r"^[\d,]+ bytes; .*answer \d+ ms after a click;\n\d+ simulations"]),
    "web.py": (
        "--net 7x7 --size 5 --readouts 2 --clicks 1 --boards 2 --seconds 0.05 --turns 1 --no-start",
        [
            r"click to answer, 5x5, 2 readouts: \d+ ms, the search alone \d+ ms \(at most \d+ wanted: (met|missed)\)\n",
            r"2 boards: [\d,]+ positions/s in batches of \d+, the evaluator [\d,]+: \d+\.\d\d\n",
            r"2 boards at once: \d+\.\d\d of the evaluator's rate",
        ],
    ),
    "training_step.py": (
        "--steps 1 --presets 7x7",
        [r"7x7, \d+ positions, \w+: \d+\.\d with, \d+\.\d without: \d+\.\d\d; [\d,]+ positions a core second\n"],
    ),
}
TRAINING = {  # the same, of those that train
    "learning.py": (
        "--minutes 0.001 --seeds 0 --games 2 --readouts 0 --only PUCT",
        [r"seed 0, 0\.001 minutes, PUCT: \d+\.\d%, Elo .* with 0 readouts\n"],
    ),
    "recipe_changes.py": (
        "--game oware --games-each 12 --seeds 0 --generation 100 --pit 2 --games 2 --readouts 0 --readouts-each 2 "
        "--change champions falling",
        [
            r"oware, seed 0, pool, falling rates: .*, [\d,]+ merged samples in the end\n",
            r"oware, seed 0, champions: .* steps, [\d.]+ of the .*, \d+ of \d+ candidates accepted\n",
            r"oware, seed 0, 12 games, champions, 0 readouts: [\d.]+ of 2 \(\d distinct\), Elo [+-]\d+ \(",
        ],
    ),
    "strength.py": (
        "--minutes 0.001 --games 2 --anchor rave:1",
        [r"\| 0\.001 min, \d+ cores, seed 0 \| \d+% \(\d+% to \d+%\) \| \d+% \(\d+% to \d+%\) \|\n"],
    ),
}
# Scripts that take a network of the game.
PLAYERS = {"connect_four.py": ConnectFourEnv(), "gomoku.py": GomokuEnv(4, 3), "reversi.py": ReversiEnv(6)}
PEERS = {
    "against_mctx.py": "jax",
    "openspiel_playouts.py": "pyspiel",
    "openspiel_small_games.py": "pyspiel",
    "pgx_search.py": "jax",
    "pgx_selfplay.py": "jax",
}
ELSEWHERE = {
    "cluster_kills.py",
    "cluster_memory.py",
    "workers.py",
    "levels.py",
    "bot_match.py",
    "gpu.py",
    "gpu_equal.py",
    "gpu_figures.py",
    "gpu_networks.py",
    "gpu_peers.py",
    "gpu_profile.py",
    "gpu_runs.py",
    "gpu_slices.py",
    "gpu_training.py",
    "memory.py",
    "training_share.py",
    "figures.py",
    "openspiel.py",
    "solved_games.py",
    "measure.py",
}  # tested below


def test_no_script_is_forgotten() -> None:
    assert {path.name for path in BENCHMARKS.glob("*.py")} == {*SMALL, *TRAINING, *PEERS, *ELSEWHERE}


SLOW = {
    *TRAINING,
    *("analysis.py", "games_side_by_side.py", "kept_evaluations.py", "policy_targets.py", "ten_lines.py", "web.py"),
    *(
        "frames.py",
        "one_file.py",
        "evaluator.py",
        "quick.py",
        "reversi.py",
        "start.py",
        "connect_four.py",
        "training_step.py",
        "wild_sgf.py",
    ),
}


@pytest.mark.filterwarnings("ignore:this run is over")  # a run of a twentieth of a second takes no step
@pytest.mark.parametrize(
    "script",
    [pytest.param(script, marks=pytest.mark.slow) if script in SLOW else script for script in (*SMALL, *TRAINING)],
)
def test_at_the_smallest_scale(bench: Bench, tmp_path: Path, script: str) -> None:
    arguments, patterns = {**SMALL, **TRAINING}[script]
    chosen = arguments.split()
    if script in {"frames.py", "one_file.py"}:
        pytest.importorskip("playwright")
    if script == "evaluator.py":  # which would take the packaged network
        NeuralNet(GoEnv(5), tower_height=1, channels=8).save(tmp_path / "net.safetensors")
        chosen += ["--weights", str(tmp_path / "net.safetensors")]
    if script in PLAYERS:
        NeuralNet(PLAYERS[script], tower_height=0, channels=4).save(tmp_path / "net.safetensors")
        chosen += [str(tmp_path / "net.safetensors")]
    told = bench.run(script, *chosen)
    assert re.search(".*".join(patterns), told, re.DOTALL), told


@pytest.mark.parametrize("script", PEERS)
def test_without_the_peer(bench: Bench, script: str) -> None:
    """A sentence says how to get it."""
    bench.patch.setitem(sys.modules, PEERS[script], None)
    with pytest.raises(SystemExit, match=rf"^{PEERS[script]} is not installed: pip install -r benchmarks/requirements"):
        bench.run(script)


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
def test_games_as_sabaki_reads_them(bench: Bench, tmp_path: Path) -> None:
    """All moves, or those up to a named fault; its parser is in the folder that ALPHAGO_CLIENTS names."""
    folder = client("@sabaki/sgf", "node_modules", "@sabaki", "sgf").parents[2]
    node()
    (tmp_path / "a.sgf").write_text("(;SZ[9];B[aa];B[bb];W[tt];B[cc])(;SZ[9];W[aa];B[aa];W[bb])(;SZ[9];b[aa])")
    (tmp_path / "b.sgf").write_text("(;SZ[9];B[aa];AE[aa];W[bb];B[dd](;W[ee])(;W[ff]))")
    (tmp_path / "cut.sgf").write_text("(;SZ[9];B[aa];W[b")
    told = bench.run("wild_sgf.py", str(tmp_path), "--hostile", "5", "--scale", "0.01", "--sabaki", str(folder))
    wild = told.split("with accidents:")[0]
    assert "Sabaki's parser opens 2 of 3 files, with 3 games that have moves\n" in wild
    assert re.findall(r"(?m)^ +(\d+)  read ", wild) == ["1", "2", "0", "0"]
    assert re.search(r"as far as legal: 1 (occupied point|set-up after a move), 1 ", wild)


@pytest.mark.slow
def test_a_bot_plays_alpha_beta(bench: Bench, tmp_path: Path) -> None:
    """A packed bot answers every turn with a legal move."""
    pack = runpy.run_path(str(BENCHMARKS.parent / "examples" / "bots" / "pack.py"))["pack"]
    net = NeuralNet(OwareEnv(rules="cgzero"), DenseBase(16, (2, 6), (8,)))
    (tmp_path / "bot.py").write_text(pack("oware", net), "utf-8")
    told = bench.run("bot_match.py", str(tmp_path / "bot.py"), "--opponent", "alphabeta:1", "--games", "2")
    assert re.search(r"against alphabeta:1: .* in 2 games \(2 distinct\): .*; \d+ simulations a move; \d+ ms", told)


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
