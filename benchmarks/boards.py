"""Steps per processor second of many boards at once, without a search: `VectorEnv` beside pgx's Go, on a CPU.

Both sides play random legal moves on 4,096 boards of 9x9 that begin anew when a game has ended, and look at every board
after every move: 17 planes of the last eight boards, as AlphaGo Zero saw them, and the legal moves.

- alphago: `VectorEnv(GoEnv(9, planes=17), …)`, moves drawn by NumPy, one thread.
- pgx: `auto_reset(env.step, env.init)` and the draw of the moves in one compiled call, on as many threads as XLA takes.

Counted are the seconds of all threads, since pgx uses the cores that there are.  Compilation is not counted.

It wants an environment of its own, since JAX is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/boards.py

The sides run in turns; the ratio is the median of the turns.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from alphago import GoEnv, VectorEnv
from alphago.system.cores import available_cores

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

HISTORY_PLANES = 17
WANTED = 8.0  # times pgx, at least


class OurBoards:
    """`VectorEnv` on random moves."""

    def __init__(self, boards: int) -> None:
        self.boards, self.random = boards, np.random.default_rng(1)
        self.envs = VectorEnv(GoEnv(9, planes=HISTORY_PLANES), boards)
        self.legal_mask = self.envs.reset().info["legal_mask"]

    def step(self) -> None:
        """One move on every board."""
        draws = self.random.random(self.legal_mask.shape, np.float32) * self.legal_mask
        self.legal_mask = self.envs.step(draws.argmax(axis=1))[-1]["legal_mask"]


class PgxBoards:
    """pgx on random moves, all boards in one compiled call."""

    def __init__(self, boards: int) -> None:
        env = pgx.make("go_9x9")
        self.key, self.boards = jax.random.key(1), boards
        self.state = jax.jit(jax.vmap(env.init))(jax.random.split(self.key, boards))
        step = jax.vmap(auto_reset(env.step, env.init))

        def move(state: pgx.State, key: jax.Array) -> pgx.State:
            draw, begin = jax.random.split(key)
            actions = jax.random.categorical(draw, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
            return step(state, actions, jax.random.split(begin, boards))

        self.move = jax.jit(move)

    def step(self) -> None:
        """One move on every board."""
        self.key, key = jax.random.split(self.key)
        self.state = jax.block_until_ready(self.move(self.state, key))


def rate(step: Callable[[], None], boards: int, seconds: float) -> float:
    """Return the moves per processor second of `step`, repeated for about so many seconds."""
    moves, start, end = 0, time.process_time(), time.monotonic() + seconds
    while not moves or time.monotonic() < end:
        step()
        moves += boards
    return moves / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=4096, help="at once (4096)")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measurement (5)")
    parser.add_argument("--turns", type=int, default=5, help="how often each side runs (5)")
    options = parser.parse_args()
    print(f"{platform.platform()}, {available_cores()} cores, jax {jax.__version__}, pgx {pgx.__version__}", flush=True)
    sides = [OurBoards(options.boards), PgxBoards(options.boards)]
    for side in sides:
        for _ in range(100):  # compiles, and leads to games of many ages
            side.step()
    turns = [[rate(side.step, options.boards, options.seconds) for side in sides] for _ in range(options.turns)]
    ratios = [mine / other for mine, other in turns]
    print(f"\n{options.boards:,} boards of 9x9, median of {len(turns)}     steps / processor second")
    print(f"  alphago                                   {median(mine for mine, _ in turns):16,.0f}")
    print(f"  pgx                                       {median(other for _, other in turns):16,.0f}")
    print(f"  ratio {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f}); at least {WANTED:g} is wanted")


if __name__ == "__main__":
    main()
