"""Analysis beside the evaluator that it asks, and how soon the next command is answered while it goes on.

    python benchmarks/analysis.py

`analyze` on positions without search, and the JSON protocol with visits for each: evaluations per second, over the rate
of the network's evaluator in batches of its own, on as many threads. Both are measured in turns and the medians are
compared; the evaluations of the JSON protocol are counted, since visits of finished games ask for none.

GTP: `alphago gtp` analyses, with a report every 10 ms, and is sent `name` after a random time; the time until its
reply, beside that of an engine that is idle. The positions are those of games of random moves.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from statistics import median
from typing import Any

import numpy as np

from alphago import GoEnv, NeuralNet, Position, analyze, load_model
from alphago.cli.rates import network_rate
from alphago.system.cores import available_cores
from alphago.ui.analysis_engine import AnalysisEngine

BATCH = 256  # positions of one call of the evaluator: more are not faster


def random_positions(env: GoEnv, count: int) -> list[Position]:
    """Return positions of games of random moves, all different."""
    generator = np.random.default_rng(0)
    found: list[Position] = []
    while len(found) < count:
        position = env.position()
        for _ in range(int(generator.integers(5, env.N * env.N // 2))):
            legal = np.flatnonzero(position.legal_mask[:-1])
            if not len(legal):
                break
            position = position.play(int(generator.choice(legal)))
        found.append(position)
    return found


def analyze_rate(net: NeuralNet, positions: list[Position], cores: int) -> float:
    """Return the positions per second of `analyze` without search."""
    begin = time.perf_counter()
    analyze(positions, net, 0, device="cpu", threads=cores)
    return len(positions) / (time.perf_counter() - begin)


class Counting:
    """A network whose evaluator counts what it is asked for."""

    def __init__(self, net: NeuralNet) -> None:
        self.inner = net.forecast_evaluator()
        self.makes_forecasts, self.device = self.inner.makes_forecasts, self.inner.device
        self.lock, self.count = threading.Lock(), 0

    def evaluate(self, *arguments: Any) -> None:
        self.inner.evaluate(*arguments)

    def evaluate_forecasts(self, batch: Any, slots: np.ndarray, *rest: Any) -> None:
        self.inner.evaluate_forecasts(batch, slots, *rest)
        with self.lock:
            self.count += len(slots)


def json_rate(net: NeuralNet, positions: list[Position], visits: int, cores: int) -> float:
    """Return the evaluations per second of the JSON protocol, from the first query to the last reply."""
    counting, replies = Counting(net), []
    engine = AnalysisEngine(net.env, counting, replies.append, visits=visits, device="cpu", threads=cores)
    queries = [query_of(position, number) for number, position in enumerate(positions)]
    begin = time.perf_counter()
    for query in queries:
        engine.receive(query)
    engine.close()
    seconds = time.perf_counter() - begin
    assert len(replies) == len(positions)
    return counting.count / seconds


def query_of(position: Position, number: int) -> str:
    """Return a position as a query."""
    size, moves = position.env.N, [position.env.to_text(action) for action in position.moves]
    fields = {"id": str(number), "rules": "chinese", "boardXSize": size, "boardYSize": size, "includeOwnership": True}
    return json.dumps(fields | {"moves": [["BW"[i % 2], move] for i, move in enumerate(moves)]})


def answer_times(network: str, analysing: bool, count: int) -> list[float]:
    """Return the seconds from sending `name` to its reply, each time after an analysis of its own, or idle."""
    command = [sys.executable, "-m", "alphago", "gtp", network, "--device", "cpu"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None

        def send(line: str) -> None:
            engine.stdin.write(f"{line}\n".encode())
            engine.stdin.flush()

        send("1 version")
        while not engine.stdout.readline().startswith(b"=1"):
            pass
        times = []
        for number in range(2, count + 2):
            if analysing:
                send("kata-analyze b 1 ownership true")
            time.sleep(random.uniform(0.02, 0.3))
            begin = time.perf_counter()
            send(f"{number} name")
            while not engine.stdout.readline().startswith(f"={number} ".encode()):
                pass
            times.append(time.perf_counter() - begin)
        send("quit")
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures analysis beside the evaluator that it asks.")
    parser.add_argument("--net", default="9x9", help="the network (9x9)")
    parser.add_argument("--positions", type=int, default=4096, help="of `analyze` without search (4096)")
    parser.add_argument("--queries", type=int, default=1000, help="of the JSON protocol (1000)")
    parser.add_argument("--visits", type=int, default=50, help="of each query (50)")
    parser.add_argument("--commands", type=int, default=50, help="that interrupt an analysis (50)")
    parser.add_argument("--turns", type=int, default=5, help="of each measurement (5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the evaluator's measurement (2)")
    options = parser.parse_args()
    net = load_model(options.net)
    env, cores = net.env, available_cores()
    positions = random_positions(env, max(options.positions, options.queries))
    evaluator = net.evaluator()
    analyze_rate(net, positions[:64], cores)  # compiles
    rates: dict[str, list[float]] = {"evaluator": [], "analyze": [], "json": []}
    for _ in range(options.turns):
        rates["evaluator"].append(network_rate(evaluator, env, BATCH, cores, options.seconds))
        rates["analyze"].append(analyze_rate(net, positions[: options.positions], cores))
        rates["json"].append(json_rate(net, positions[: options.queries], options.visits, cores))
    own = median(rates["evaluator"])
    print(f"{options.net}, {cores} threads, median of {options.turns} turns: evaluations a second, over the evaluator's")
    print(f"{'the evaluator alone':40} {own:>9,.0f}  1.00")
    for name, text, wanted in (
        ("analyze", f"analyze, {options.positions} positions, no search", 0.95),
        ("json", f"JSON, {options.queries} positions, {options.visits} visits", 0.85),
    ):
        ratio = median(a / b for a, b in zip(rates[name], rates["evaluator"], strict=True))
        print(f"{text:40} {median(rates[name]):>9,.0f}  {ratio:.2f}  (at least {wanted} wanted)")
    idle = answer_times(options.net, False, options.commands)
    busy = answer_times(options.net, True, options.commands)
    print(
        f"`name` while analysing: median {1000 * median(busy):.1f} ms, at most {1000 * max(busy):.1f} ms (50 wanted);"
        f" idle {1000 * median(idle):.1f} and {1000 * max(idle):.1f} ms"
    )


if __name__ == "__main__":
    main()
