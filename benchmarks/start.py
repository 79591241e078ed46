"""How long the first moment takes: importing the package and a first position, and compiling the kernels.

Every figure is of a fresh process.  *Warm*: `import alphago`, a position of 9x9, a move and what is legal after it,
where the kernels were compiled before; the seconds count from the first line of the program, Python's own start comes
on top of them.  *Cold*: the same kernels and more are compiled into an empty cache folder; the second process, which
finds them there, is told beside it, so that the difference is the compiler's.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import NamedTuple

from figures import Figures, add_option

from alphago.env.games import GAMES

WARM_WANTED, COLD_WANTED = 0.5, 12.0  # seconds, at most

FIRST_POSITION = """
import time
start = time.perf_counter()
from alphago import GoEnv
legal = GoEnv(9).position().play(40).legal_mask
print(time.perf_counter() - start)
import sys
assert legal.sum() == 81
assert "torch" not in sys.modules, "a first position has imported torch"
"""

KERNELS = """
import sys
import numpy as np
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import Search
from alphago.mcts.search_specs import SEARCHES
from alphago.env.games import make_game
from alphago.env.kernels.playouts import playout_batch
for name in sys.argv[1:]:
    env = make_game(name)
    batch, slots = env.new_batch(2), np.arange(2)
    for settings in SEARCHES.values():
        search = Search(env, HashEvaluator(), 2, settings())
        search.run(np.full(2, 2, np.int32))
        search.advance(slots, search.visits(slots).argmax(axis=1).astype(np.int32))
    batch.planes(slots, np.empty((2, env.planes, *env.plane_shape), np.float32))
    if name == "go":
        playout_batch(batch.rows, slots, np.array([1], np.int64), False)
    batch.outcome(slots, np.empty(2, np.float32))
"""


class Spent(NamedTuple):
    """What a process took, in seconds, and what it printed."""

    wall: float
    processor: float
    output: str


def run(program: str, *arguments: str, cache: str | None = None) -> Spent:
    """Runs a program of Python in a process of its own; SystemExit with its last line where it fails."""
    environment = {**os.environ} if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise SystemExit(f"start: {done.stderr.strip().splitlines()[-1]}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(wall, spent, done.stdout)


def told(figure: float, wanted: float) -> str:
    return f"{figure:.2f} s (at most {wanted:g} s are wanted: {'met' if figure <= wanted else 'missed'})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="processes of each warm figure (7)")
    parser.add_argument("--warm-only", action="store_true", help="leave out the compilation")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    run(FIRST_POSITION)  # compiles
    runs = [run(FIRST_POSITION) for _ in range(options.repeats)]
    print(f"warm, median of {len(runs)}: import and a first position of 9x9, without torch")
    within = median(float(spent.output) for spent in runs)
    figures.add("start-warm", within)
    print(f"  within the program: {told(within, WARM_WANTED)}")
    wall, processor = (median(spent[i] for spent in runs) for i in (0, 1))
    print(f"  the whole process:  {wall:.2f} s, {processor:.2f} s of the processor", flush=True)
    if options.warm_only:
        figures.save()
        return
    print("cold, into an empty cache: rules, planes, search by PUCT and Gumbel, playouts of Go")
    for name, games in (("Go", ["go"]), (f"all {len(GAMES)} games", list(GAMES))):
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (run(KERNELS, *games, cache=cache) for _ in range(2))
        figures.add("start-cold-go" if name == "Go" else "start-cold-all", cold.processor)
        print(f"  {name}: {told(cold.processor, COLD_WANTED)} of the processor, {cold.wall:.1f} s of wall time;")
        print(f"    once compiled {warm.processor:.2f} s of the processor, {warm.wall:.2f} s of wall time", flush=True)
    figures.save()


if __name__ == "__main__":
    main()
