"""Analysis beside the evaluator that it asks, and how soon the next command is answered while it goes on.

    python benchmarks/analysis.py

`analyze` on positions without search, and the JSON protocol with visits for each: evaluations per second, over the rate
of the network's evaluator on the same positions in whole batches, on as many threads. They are measured in turns, and
the median of the turns' ratios is told: by the clock, and by the processor's time, which other work on the machine
hardly changes. The evaluations of the JSON protocol are counted, since visits of finished games ask for none.

GTP: `alphago gtp` analyses, with a report every 10 ms, and is sent `name` after a random time; the time until its
reply, beside that of an engine that is idle. The positions are those of games of random moves.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import NamedTuple

import numpy as np
from figures import Counted, Figures, add_option

from alphago import GoEnv, NeuralNet, Position, analyze, load_model
from alphago.nn.forecasts import stack
from alphago.system.cores import available_cores
from alphago.ui.analysis_engine import AnalysisEngine, Networks

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


class Rate(NamedTuple):
    """Evaluations per second of the clock, and of the processor."""

    clock: float
    processor: float


def timed(work: Callable[[], int]) -> Rate:
    """Return the rate of some work, which returns its number of evaluations."""
    clock, processor = time.perf_counter(), time.process_time()
    count = work()
    return Rate(count / (time.perf_counter() - clock), count / (time.process_time() - processor))


def evaluator_rate(net: NeuralNet, positions: list[Position], cores: int) -> Rate:
    """Return the rate of the network's evaluator on positions that stand in a batch already."""
    evaluator, batch = net.evaluator(), stack(positions, net.env)

    def chunk(begin: int) -> int:
        slots = np.arange(begin, min(begin + BATCH, len(positions)))
        priors, values = np.empty((len(slots), net.env.action_space), np.float32), np.empty(len(slots), np.float32)
        evaluator.evaluate(batch, slots, priors, values)
        return len(slots)

    def work() -> int:
        with ThreadPoolExecutor(cores) as pool:
            return sum(pool.map(chunk, range(0, len(positions), BATCH)))

    return timed(work)


def analyze_rate(net: NeuralNet, positions: list[Position], cores: int) -> Rate:
    """Return the rate of `analyze` without search."""
    return timed(lambda: len(analyze(positions, net, 0, device="cpu", threads=cores)))


def json_rate(net: NeuralNet, positions: list[Position], visits: int, cores: int) -> Rate:
    """Return the rate of the JSON protocol, from the first query to the last reply."""
    counted = Counted(net.forecast_evaluator())
    replies: list[str] = []
    engine = AnalysisEngine(Networks(net.env, counted, "cpu"), replies.append, visits=visits, threads=cores)
    queries = [query_of(position, number) for number, position in enumerate(positions)]

    def work() -> int:
        for query in queries:
            engine.receive(query)
        engine.close(wait=True)
        assert len(replies) == len(positions)
        return counted.positions

    return timed(work)


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
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    net = load_model(options.net)
    env, cores = net.env, available_cores()
    positions = random_positions(env, max(options.positions, options.queries))
    searched = positions[: options.positions]
    for warm_up in (evaluator_rate, analyze_rate):
        warm_up(net, searched[:64], cores)
    json_rate(net, searched[:4], 2, cores)
    turns = []
    for _ in range(options.turns):
        own = evaluator_rate(net, searched, cores)
        rest = analyze_rate(net, searched, cores), json_rate(net, positions[: options.queries], options.visits, cores)
        turns.append((own, *rest))
    print(f"{options.net}, {cores} threads, {options.turns} turns: evaluations a second; ratios by clock and processor")
    texts = [
        ("the evaluator alone", ""),
        (f"analyze, {options.positions} positions, no search", "  (at least 0.95 wanted)"),
        (f"JSON, {options.queries} positions, {options.visits} visits", "  (at least 0.85 wanted)"),
    ]
    for i, (text, wanted) in enumerate(texts):
        clock, processor = (median(turn[i][kind] / turn[0][kind] for turn in turns) for kind in (0, 1))
        ratios = [turn[i].clock / turn[0].clock for turn in turns]
        figures.add(("evaluator", "analyze", "analysis-json")[i], clock, min(ratios), max(ratios))
        print(f"{text:40} {median(turn[i].clock for turn in turns):>9,.0f}  {clock:.2f}  {processor:.2f}{wanted}")
    idle = answer_times(options.net, False, options.commands)
    busy = answer_times(options.net, True, options.commands)
    figures.add("analysis-next", 1000 * median(busy), 1000 * min(busy), 1000 * max(busy))
    figures.save()
    print(
        f"`name` while analysing: median {1000 * median(busy):.1f} ms, at most {1000 * max(busy):.1f} ms (50 wanted);"
        f" idle {1000 * median(idle):.1f} and {1000 * max(idle):.1f} ms"
    )


if __name__ == "__main__":
    main()
