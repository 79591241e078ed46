"""The board in the browser: click to answer, many boards at once, the first paint, and a server's first move.

*Click to answer*: a move over the WebSocket until the engine's answer, on 9x9 at 64 readouts, beside the same search of
the same positions without server; in turns.  *Boards at once*: positions a second that the common evaluator computes
for boards that all analyse, as a share of what as many threads as cores compute of it in full batches; in turns.
*First paint*: what Chromium reports, where there is one.  *First move*: from the start of a process `alphago web` to
the answer to a first move that is made at once, with the kernels that an earlier process has compiled (warm), and
with none, as after an installation (cold).
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from figures import Counted, Figures, add_option
from websockets.sync.client import ClientConnection, connect

from alphago.env.go import GoEnv
from alphago.env.position import Position
from alphago.mcts.player import USUAL_LEAVES
from alphago.mcts.puct import Puct
from alphago.mcts.search import Search
from alphago.system.cores import available_cores
from alphago.ui.web.engines import Choice, Engines, SharedEngine
from alphago.ui.web.guard import Guard
from alphago.ui.web.server import listen, make_app, new_server

MOVES = ("E5", "C3", "G7", "C7", "G3", "E3", "E7", "C5", "G5", "D4", "F6", "D6", "F4", "B4", "H6")
BATCH = 64


@contextlib.contextmanager
def serving(engines: Engines, env: GoEnv) -> Iterator[int]:
    """Serve in a thread, and give the port."""
    listener = listen("127.0.0.1", 0)
    server = new_server(make_app(engines, {"go": env}, Guard("127.0.0.1")))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


def page(port: int) -> ClientConnection:
    return connect(f"ws://127.0.0.1:{port}/board", max_size=None, proxy=None)


def ask(socket: ClientConnection, **query: Any) -> dict[str, Any]:
    """The last answer to a query of a page."""
    socket.send(json.dumps({"id": 1, **query}))
    while True:
        answer: dict[str, Any] = json.loads(socket.recv())
        if answer.get("id") == 1 and not answer.get("isDuringSearch"):
            return answer


def move_and_answer(socket: ClientConnection, game: dict[str, Any], moves: list[list[str]], readouts: int) -> list[str]:
    """What a page asks after a click: the board after the move, the engine's move, and the board after that."""
    ask(socket, action="view", game=game["game"], moves=moves)
    query = {"game": game["game"], "moves": moves, "network": game["view"]["usual"], "play": True}
    chosen = ask(socket, **query, maxVisits=readouts + 1, reportDuringSearchEvery=0.12)["play"]
    ask(socket, action="view", game=game["game"], moves=[*moves, ["W", chosen]])
    return ["W", chosen]


def chosen(position: Position) -> str:
    """The first of MOVES that is legal, else any."""
    names = [position.env.to_text(int(action)) for action in np.flatnonzero(position.legal_mask)]
    return next((move for move in MOVES if move in names), names[0])


def answers(engine: SharedEngine, port: int, env: GoEnv, clicks: int, readouts: int) -> tuple[list[float], list[float]]:
    """Seconds from a move to its answer, and of the search alone at the same positions."""
    spent, alone = [], []
    with page(port) as socket:
        game = ask(socket, action="new")
        moves: list[list[str]] = []
        position: Position = env.position()
        for _ in range(clicks):
            moves.append(["B", chosen(position)])
            position = position.play(moves[-1][1])
            alone_at = position.again_in(engine.env)
            search = Search(alone_at.env, engine.evaluator, 1, Puct(leaves=USUAL_LEAVES))
            search.start(0, alone_at)
            began = time.perf_counter()
            search.run(np.array([readouts], np.int32))
            alone.append(time.perf_counter() - began)
            began = time.perf_counter()
            moves.append(move_and_answer(socket, game, moves, readouts))
            spent.append(time.perf_counter() - began)
            if moves[-1][1] == "resign" or (position := position.play(moves[-1][1])).is_over:
                break
    return spent, alone


def evaluator_rate(engine: SharedEngine, seconds: float) -> float:
    """Positions a second of the evaluator itself, in full batches, by a thread a core."""
    evaluator, counts = engine.evaluator, []

    def work() -> None:
        batch, slots = engine.env.new_batch(BATCH), np.arange(BATCH)
        actions = engine.env.action_space
        priors, values = np.empty((BATCH, actions), np.float32), np.empty(BATCH, np.float32)
        owners = np.empty((BATCH, engine.env.N**2), np.float32)
        done, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            evaluator.evaluate(batch, slots, priors, values, (values.copy(), owners))  # type: ignore[call-arg]
            done += BATCH
        counts.append(done)

    threads = [threading.Thread(target=work) for _ in range(available_cores())]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


def analysing_pages(port: int, boards: int, names: list[str], ready: Any, finished: Any) -> None:
    """Open so many pages, each of which analyses another position, and read what the server sends until `finished`."""
    with contextlib.ExitStack() as stack:
        for number in range(boards):
            socket = stack.enter_context(page(port))
            game = ask(socket, action="new")
            moves = [["BW"[ply % 2], move] for ply, move in enumerate(names[: number % len(names)])]
            query = {"id": 2, "game": game["game"], "moves": moves, "network": game["view"]["usual"]}
            threading.Thread(target=lambda own=socket: [None for _ in own], daemon=True).start()
            socket.send(json.dumps({**query, "reportDuringSearchEvery": 0.12, "includeOwnership": True}))
        ready.set()
        finished.wait()


def boards_rate(engine: SharedEngine, port: int, boards: int, seconds: float) -> tuple[float, float]:
    """Positions a second while so many boards analyse, each another position, and the mean size of a batch.

    The pages are in a process of their own, as browsers are.
    """
    counted = Counted(engine.evaluator)
    engine.analyst.evaluators = lambda env: counted
    spawn = multiprocessing.get_context("spawn")
    ready, finished = spawn.Event(), spawn.Event()
    names = [move for move in MOVES if move in engine.env.action_names]
    process = spawn.Process(target=analysing_pages, args=(port, boards, names, ready, finished), daemon=True)
    process.start()
    try:
        if not ready.wait(120):
            raise SystemExit("web: the pages could not be opened in 120 s")
        time.sleep(min(1.0, seconds))
        before, batches, began = counted.positions, counted.batches, time.perf_counter()
        time.sleep(seconds)
        done, spent = counted.positions - before, time.perf_counter() - began
        return done / spent, done / max(counted.batches - batches, 1)
    finally:
        finished.set()
        process.join(10)


def first_paint(port: int) -> float | None:
    """Milliseconds to the first paint, the median of five visits; None without Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    paints = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(6):
            visit = browser.new_page()
            visit.goto(f"http://127.0.0.1:{port}/")
            visit.locator(".ag-svg").wait_for()
            script = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance"
            script += ".getEntriesByName('first-contentful-paint')[0]?.startTime ?? null), 200)))"
            paints.append(visit.evaluate(script))
            visit.close()
        browser.close()
    known = [paint for paint in paints[1:] if paint is not None]  # the first visit warms the browser
    return median(known) if known else None


def first_move(readouts: int, cold: bool = False) -> tuple[float, float]:
    """Seconds from the start of the command to the engine's first move, and those of the processor.

    cold: with an empty folder for compiled kernels.
    """
    with contextlib.ExitStack() as stack:
        environment = dict(os.environ)
        if cold:
            environment["NUMBA_CACHE_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        probe = stack.enter_context(socket.socket())
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        before, began = os.times(), time.perf_counter()
        command = [sys.executable, "-m", "alphago", "web", "--no-browser", "--port", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
        try:
            with connected(port, process) as own:
                move_and_answer(own, ask(own, action="new"), [["B", "E5"]], readouts)
                wall = time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()
            after = os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def connected(port: int, process: "subprocess.Popen[bytes]") -> ClientConnection:
    """A page of a server that is starting."""
    while True:
        try:
            return page(port)
        except OSError:
            if process.poll() is not None:
                raise SystemExit("web: the server has ended") from None
            time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="9x9", metavar="MODEL", help="the network (9x9)")
    parser.add_argument("--size", type=int, default=9, metavar="N", help="points along a side (9)")
    parser.add_argument("--readouts", type=int, default=64, metavar="N", help="simulations a move (64)")
    parser.add_argument("--clicks", type=int, default=20, metavar="N", help="moves that are answered (20)")
    parser.add_argument("--boards", type=int, default=20, metavar="N", help="boards at once (20)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="of each measurement of rates (5)")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="turns of the rates and of first moves (3)")
    parser.add_argument("--no-start", action="store_true", help="leave out first paint and first move")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    env = GoEnv(options.size).match_variant()
    engines = Engines([Choice("net", options.net, "go")], "cpu")
    engine = engines.engine("net", env)
    with serving(engines, env) as port:
        answers(engine, port, env, 2, options.readouts)  # compiles and warms
        spent, alone = answers(engine, port, env, options.clicks, options.readouts)
        most = 1.3 * median(alone) + 0.03
        figures.add("web-answer", median(spent) / median(alone))
        figures.add("web-answer-ms", 1000 * median(spent), 1000 * min(spent), 1000 * max(spent))
        told = "met" if median(spent) <= most else "missed"
        print(f"click to answer, {options.size}x{options.size}, {options.readouts} readouts:", end=" ")
        print(f"{1000 * median(spent):.0f} ms, the search alone {1000 * median(alone):.0f} ms", end=" ")
        print(f"(at most {1000 * most:.0f} wanted: {told})", flush=True)
        shares = []
        for _ in range(options.turns):
            own = evaluator_rate(engine, options.seconds)
            rate, size = boards_rate(engine, port, options.boards, options.seconds)
            shares.append(rate / own)
            print(f"{options.boards} boards: {rate:,.0f} positions/s in batches of {size:.0f}", end=", ")
            print(f"the evaluator {own:,.0f}: {rate / own:.2f}", flush=True)
        figures.add("web-boards", median(shares), min(shares), max(shares))
        print(f"{options.boards} boards at once: {median(shares):.2f} of the evaluator's rate (at least 0.8 wanted)")
        if not options.no_start:
            paint = first_paint(port)
            print(
                "first paint: no Chromium here"
                if paint is None
                else f"first paint: {paint:.0f} ms (at most 300 wanted)"
            )
            if paint is not None:
                figures.add("web-paint", paint)
    if not options.no_start:
        first_move(options.readouts)  # compiles
        for row, cold, title in (("web-start", False, "kernels on disk"), ("web-start-cold", True, "none on disk")):
            turns = [first_move(options.readouts, cold) for _ in range(options.turns)]
            starts, processor = ([turn[i] for turn in turns] for i in (0, 1))
            figures.add(row, median(starts), min(starts), max(starts))
            print(f"server start to first move, {title}: {median(starts):.1f} s (at most 5 wanted)", end=", ")
            print(f"{median(processor):.1f} s of the processor", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
