"""Training, matches and a server for a long time: memory, descriptors, threads and files do not grow."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from alphago.arena.match import evaluate
from tests.campaign.tally import SCALE, Area, memory
from tests.training.small_runs import GO, run
from tests.ui.web.served import ask, serving

pytestmark = pytest.mark.campaign
MINUTES = 10.0
GROWTH = {"megabytes": 30.0, "descriptors": 3.0, "threads": 1.0, "files beside the runs": 0.0}


def measured() -> dict[str, float]:
    return {
        "megabytes": memory(),
        "descriptors": float(len(os.listdir("/proc/self/fd"))),
        "threads": float(threading.active_count()),
        "files beside the runs": float(len(list(Path().iterdir()))),
    }


def test_train_evaluate_and_serve() -> None:
    rows: list[dict[str, float]] = []
    end = time.monotonic() + 60 * MINUTES * SCALE
    with serving() as served, served.page() as page:
        game = ask(page, action="new")["game"]
        while len(rows) < 8 or time.monotonic() < end:
            run(Path("run"), 8)
            evaluate(GO, "random", "uct:20", num_games=4)
            ask(page, action="view", game=game, moves=[["B", "C3"]])
            ask(page, game=game, moves=[["B", "C3"]], network="hash", maxVisits=20, play=True)
            served.get("/watch")
            shutil.rmtree("run")
            rows.append(measured())
    with Area("soak") as area:
        half = rows[len(rows) // 2]
        for name, most in GROWTH.items():
            grown = rows[-1][name] - half[name]
            every = ", ".join(f"{row[name]:.0f}" for row in rows[:: max(1, len(rows) // 10)])
            area.check(f"{name} grow by {grown:.1f} in {len(rows) // 2} rounds: {every}", grown <= most)
        area.counts[0] += len(rows)
