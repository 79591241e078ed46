"""Simulations per second of a search without a network, beside mctx on pgx's Go: 9x9, the same games and readouts.

Both sides search the same number of games at once by PUCT, from positions after 10 random moves, with a network that
costs nothing and says the same everywhere: all legal moves alike, value 0.  What is compared are rules, tree and what
leads from one to the other.

- alphago: `Search` with `UniformEvaluator`; the games are shared out to as many threads as there are cores.
- mctx + pgx: `mctx.muzero_policy` whose embedding is pgx's state and whose step is pgx's `env.step`, all games in one
  compiled call, on as many threads as XLA takes.  Nobody reads pgx's planes there, so XLA may leave them out.

Neither side adds noise, and compilation is not counted.  `taskset -c 0` before the command compares one core each.

It wants an environment of its own, since JAX is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/pgx_search.py

The sides run in turns; the ratio is the median of the turns, since other work on the machine changes what both reach.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from figures import Figures, add_option, rate

from alphago import GoEnv, Puct
from alphago.cli.rates import random_starts
from alphago.mcts.evaluator import UniformEvaluator
from alphago.mcts.search import Search
from alphago.nn.inference.hardware import processor
from alphago.nn.threads import Workers
from alphago.system.cores import available_cores

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

OPENING_PLIES = 10
WANTED = 5.0  # times mctx + pgx, at least


class OurSearch:
    """Searches of this package, as many as there are threads."""

    def __init__(self, games: int, readouts: int, workers: Workers) -> None:
        env, each = GoEnv(9), games // workers.count
        self.workers, self.readouts = workers, np.full(each, readouts, np.int32)
        self.searches = [Search(env, UniformEvaluator(), each, Puct()) for _ in range(workers.count)]
        for search in self.searches:
            random_starts(search.batch, each, OPENING_PLIES)

    def simulate(self) -> int:
        """Searches every game once, from an empty tree, and returns the number of simulations."""

        def work(search: Search) -> None:
            search.forget(np.arange(search.games))
            search.run(self.readouts)

        self.workers.run([partial(work, search) for search in self.searches])
        return len(self.searches) * int(self.readouts.sum())


class PgxSearch:
    """Searches of mctx on pgx's Go, all games in one compiled call."""

    def __init__(self, games: int, readouts: int) -> None:
        env = pgx.make("go_9x9")
        self.games, self.readouts, self.key = games, readouts, jax.random.key(1)
        self.state = jax.jit(jax.vmap(env.init))(jax.random.split(self.key, games))
        step = jax.jit(jax.vmap(env.step))
        for _ in range(OPENING_PLIES):
            self.key, key = jax.random.split(self.key)
            points = self.state.legal_action_mask.at[:, -1].set(False)  # no passes
            self.state = step(self.state, jax.random.categorical(key, jnp.log(points)))
        self.search = jax.jit(partial(search, env, readouts))

    def simulate(self) -> int:
        """Searches every game once and returns the number of simulations."""
        jax.block_until_ready(self.search(self.key, self.state))
        return self.games * self.readouts


def uniform(state: pgx.State) -> tuple[jax.Array, jax.Array]:
    """Logits [B, 82] and values [B]: every legal action alike, every value 0."""
    logits = jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)
    return logits, jnp.zeros(len(logits))


def search(env: pgx.Env, readouts: int, key: jax.Array, state: pgx.State) -> jax.Array:
    """Weights [B, 82] of the root's actions after a search by PUCT."""
    policy = partial(mctx.muzero_policy, dirichlet_fraction=0.0)
    return searched(policy, uniform, env, readouts, key, state).action_weights


def searched(
    policy: Callable, evaluated: Callable, env: pgx.Env, readouts: int, key: jax.Array, state: pgx.State
) -> mctx.PolicyOutput:
    """What a policy of mctx finds by so many simulations; evaluated: the logits [B, 82] and values [B] of states."""

    def expand(params: tuple, key: jax.Array, action: jax.Array, state: pgx.State) -> tuple:
        mover = state.current_player
        state = jax.vmap(env.step)(state, action)
        logits, value = evaluated(state)
        over = state.terminated
        reward = state.rewards[jnp.arange(len(mover)), mover]
        discount, value = jnp.where(over, 0.0, -1.0), jnp.where(over, 0.0, value)  # the players alternate
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), state

    logits, value = evaluated(state)
    return policy(
        params=(),
        rng_key=key,
        root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
        recurrent_fn=expand,
        num_simulations=readouts,
        invalid_actions=~state.legal_action_mask,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=64, help="searched at once, a multiple of the cores (64)")
    parser.add_argument("--readouts", type=int, default=400, help="simulations a search (400)")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measurement (5)")
    parser.add_argument("--turns", type=int, default=5, help="how often each side runs (5)")
    add_option(parser)
    options = parser.parse_args()
    cores = available_cores()
    if options.games < 1 or options.games % cores:
        parser.error(f"--games is a multiple of the {cores} cores, got {options.games}")
    print(f"{platform.platform()}, {processor()}, {cores} of {os.cpu_count()} cores")
    print(f"jax {jax.__version__}, pgx {pgx.__version__}, mctx {mctx.__version__}", flush=True)
    with Workers(cores) as workers:
        ours, theirs = OurSearch(options.games, options.readouts, workers), PgxSearch(options.games, options.readouts)
        ours.simulate()  # compiles
        theirs.simulate()
        sides = (ours.simulate, theirs.simulate)
        turns = [tuple(rate(side, options.seconds) for side in sides) for _ in range(options.turns)]
    ratios = [mine / other for mine, other in turns]
    print(f"\n9x9, {options.games} games x {options.readouts} readouts, median of {len(turns)}      simulations/s")
    print(f"  alphago, {cores} threads                        {median(mine for mine, _ in turns):16,.0f}")
    print(f"  mctx + pgx                                {median(other for _, other in turns):16,.0f}")
    figures = Figures(options.json)
    figures.add("mctx-one" if cores == 1 else "mctx-two", median(ratios), min(ratios), max(ratios))
    figures.save()
    print(f"  ratio {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f}); at least {WANTED:g} is wanted")


if __name__ == "__main__":
    main()
