"""`make gpu` on a machine without one: so little that it takes seconds, on the host build of the kernels."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv
from tests.benchmarks.conftest import Bench
from tests.devices import needs_compiler

HOST = ("--device", "host", "--quick")


def table_of(output: str) -> dict[str, list[str]]:
    """The rows of the table at the end, by the name of the figure."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("figure "))
    return {row[0]: row[1:] for row in ([cell.strip() for cell in line.split("  ") if cell] for line in lines[start:])}


@needs_compiler
def test_boards(bench: Bench) -> None:
    table = table_of(bench.run("gpu.py", *HOST, "--only", "wave", "--only", "memcheck"))
    assert table["compute-sanitizer, memcheck"][0] == "not run: the host build runs without it"
    measured, wanted, held = table["a wave of 32, go 9x9: moves, legal moves, planes"]
    assert float(measured.removesuffix(" us")) > 0
    assert (wanted, held in ("yes", "no")) == ("at most 80 us", True)


@pytest.mark.slow
@needs_compiler
def test_equal(bench: Bench) -> None:
    """Games of every task, and a difference in any of them, however small, is told."""
    table = table_of(bench.run("gpu.py", *HOST, "--only", "equal"))
    rows = [row for name, row in table.items() if "row for row" in name]
    assert len(rows) == 6
    assert all(row[0].startswith("0 of ") and row[1:] == ["0 differ", "yes"] for row in rows)
    import gpu_equal

    bench.patch.setattr(gpu_equal, "TASKS", [gpu_equal.Task("5x5", 50, [GoEnv(5)])])
    bench.patch.setattr(gpu_equal, "play_games", lambda device, games: None)
    play = gpu_equal.playouts

    def one_word_off(env: Any, rows: np.ndarray, slots: np.ndarray, states: np.ndarray) -> np.ndarray:
        moves = play(env, rows, slots, states)
        rows[slots[slots == 3], -1] += 1
        return moves

    bench.patch.setattr(gpu_equal, "playouts", one_word_off)
    different = next(gpu_equal.equal(gpu_equal.Scale("host", equal=1e-3)))
    assert different.measured.startswith("1 of 1,000 games differ")
    assert different.held is False


@needs_compiler
@pytest.mark.slow
def test_all_of_it(bench: Bench) -> None:
    table = table_of(bench.run("gpu.py", *HOST))
    assert table["tests"][1:] == ["all pass", "yes"]
    assert len(table) > 25
    sound = {"goes on", "all end", "0 differ", "a hint and a move"}
    assert [name for name, row in table.items() if len(row) > 2 and row[1] in sound and row[2] != "yes"] == []
    assert not any("failed" in cell for row in table.values() for cell in row)


@needs_compiler
def test_what_compute_sanitizer_looks_at(bench: Bench) -> None:
    """Games that agree with numba's, and no table."""
    assert bench.run("gpu.py", "--device", "host", "--games-only") == ""


@needs_compiler
def test_cut_off(bench: Bench) -> None:
    """Ctrl-C, or the end of somebody's time on a GPU: the table has the figures so far."""

    def interrupt(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    bench.patch.setattr("alphago.env.go_cuda.CudaGoBatch.observe", interrupt)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit, match=r"^make gpu: it was cut off$"):
        bench.run("gpu.py", *HOST, "--only", "wave", "--only", "memcheck")
    assert signal.getsignal(signal.SIGTERM) is before
    told = bench.capsys.readouterr().out
    assert "  compute-sanitizer, memcheck: not run: the host build runs without it (0 errors: -)" in told
    assert list(table_of(told)) == ["figure", "compute-sanitizer, memcheck"]


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a GPU")
def test_no_gpu(bench: Bench) -> None:
    with pytest.raises(SystemExit, match=r"^make gpu: .*CUDA device"):
        bench.run("gpu.py", "--quick")


def test_training_share(bench: Bench, tmp_path: Path) -> None:
    times = '"net_share": 0.6, "optimizer_share": 0.3, "tree_share": 0.1'
    lines = [f'{{"seconds": {second}.0, {times}}}\n' for second in range(6)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines))
    told = bench.run("training_share.py", str(tmp_path))
    assert "share of training's wall time" in told
    assert "neither inference nor gradient steps: 10.0% (at most 12% are wanted)" in told


def test_slices_have_all_parts(bench: Bench) -> None:
    """No part takes longer than a slice of ten minutes."""
    import gpu

    lines = [line.split() for line in bench.run("gpu_slices.py", "--list").splitlines()]
    assert [name for _, _, name in lines[:3]] == ["tests", "self-play", "anatomy"]
    assert sorted(line[2] for line in lines) == sorted([*gpu.PARTS, "pgx-16", "pgx-64", "gpu-9x9", "gpu-19x19"])
    assert all(float(minutes) < 9 for minutes, _, _ in lines)
