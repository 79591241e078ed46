"""Self-play moves per second beside pgx + mctx: 9x9 Go, the same network size, readouts and cores.

pgx is Go in JAX, mctx DeepMind's Gumbel search in JAX; together they are how self-play is written there
(B games in one compiled call).  Both sides play with AlphaGo Zero's network, 5 blocks of 64 channels by
default, with random weights and batch norm folded, in float32 or bfloat16, whichever is faster; 64
readouts, Gumbel search with 16 considered actions, no resignation, no tree kept between moves and no cache.
Compilation is not counted.

It wants an environment of its own, since JAX is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/pgx_selfplay.py

First every form is measured once, then each side's fastest ones run in turns; the ratio is the median of
the turns, since other work on the machine changes what both reach.
"""

import argparse
import os
import platform
import time
from functools import partial
from statistics import median

import numpy as np
import torch
from figures import Figures, add_option
from pgx_search import jax, jnp, mctx, pgx, searched

from alphago import GoEnv, NeuralNet
from alphago.nn.inference.hardware import processor
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings, default_groups

CONSIDERED = 16


class OurGames:
    """Self-play of this package, `width` games side by side on all cores."""

    def __init__(
        self, height: int, channels: int, readouts: int, width: int, workers: Workers, dtype: str, device: str
    ) -> None:
        env = GoEnv(9)
        net = NeuralNet(env, tower_height=height, channels=channels, preset="paper")  # the heads of AlphaGo Zero
        self.name = f"alphago, {width} games, {dtype}"
        settings = SelfPlaySettings(readouts=readouts, resign_threshold=-1, opening_plies=0)
        settings = settings.completed(width, workers.count)
        self.games = SelfPlay(env, settings, range(1_000_000), workers, seed=1, device=device)
        self.games.evaluator = net.evaluator(dtype, device)
        self.games.begin(1)  # compiles
        self.games.advance()

    def rate(self, seconds: float) -> float:
        """Moves per second, measured for about so long."""
        before, start = self.games.moves, time.monotonic()
        self.games.begin(None)
        self.games.advance(until=start + seconds)
        return (self.games.moves - before) / (time.monotonic() - start)


class PgxGames:
    """Self-play of pgx + mctx, `width` games in one compiled call."""

    def __init__(self, height: int, channels: int, readouts: int, width: int, dtype: str) -> None:
        self.name = f"pgx + mctx, {width} games, {dtype}"
        self.width = width
        self.env = pgx.make("go_9x9")
        self.weights = random_weights(height, channels, self.env.observation_shape[-1], dtype)
        self.key, key = jax.random.split(jax.random.key(1))
        self.state = jax.jit(jax.vmap(self.env.init))(jax.random.split(key, width))
        self.play = jax.jit(partial(play, self.env, readouts), donate_argnums=2)
        self.step()  # compiles

    def step(self) -> None:
        """One move in every game; a game that ends starts again."""
        self.key, key = jax.random.split(self.key)
        self.state = jax.block_until_ready(self.play(self.weights, key, self.state))

    def rate(self, seconds: float) -> float:
        """Moves per second, measured for about so long."""
        moves, start = 0, time.monotonic()
        while time.monotonic() < start + seconds:
            self.step()
            moves += self.width
        return moves / (time.monotonic() - start)


def random_weights(height: int, channels: int, planes: int, dtype: str) -> dict:
    """AlphaGo Zero's network for 9x9: {name: (kernel, bias)}, kernels [3, 3, in, out] or [in, out]."""
    shapes = {"stem": (3, 3, planes, channels)}
    shapes |= {f"block {b}, {half}": (3, 3, channels, channels) for b in range(height) for half in (1, 2)}
    shapes |= {"policy": (channels, 2), "policy, dense": (162, 82)}
    shapes |= {"value": (channels, 1), "value, hidden": (81, 256), "value, dense": (256, 1)}
    generator = np.random.default_rng(1)
    drawn = {
        name: generator.standard_normal(shape) * np.sqrt(2 / np.prod(shape[:-1])) for name, shape in shapes.items()
    }
    return {name: (jnp.asarray(kernel, dtype), jnp.zeros(kernel.shape[-1], dtype)) for name, kernel in drawn.items()}


def network(weights: dict, height: int, planes: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Planes [B, 9, 9, C] to logits [B, 82] and values [B], float32."""

    def convolved(name: str, features: jax.Array) -> jax.Array:
        kernel, bias = weights[name]
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(features, kernel, (1, 1), "SAME", dimension_numbers=layout) + bias

    def dense(name: str, features: jax.Array) -> jax.Array:
        kernel, bias = weights[name]
        return features @ kernel + bias

    features = jax.nn.relu(convolved("stem", planes.astype(weights["stem"][0].dtype)))
    for b in range(height):
        inner = jax.nn.relu(convolved(f"block {b}, 1", features))
        features = jax.nn.relu(features + convolved(f"block {b}, 2", inner))
    policy = jax.nn.relu(dense("policy", features)).reshape(len(features), -1)
    value = jax.nn.relu(dense("value", features)).reshape(len(features), -1)
    value = jnp.tanh(dense("value, dense", jax.nn.relu(dense("value, hidden", value))))
    return dense("policy, dense", policy).astype(jnp.float32), value[:, 0].astype(jnp.float32)


def play(env: pgx.Env, readouts: int, weights: dict, key: jax.Array, state: pgx.State) -> pgx.State:
    """One searched move in every game of `state`."""
    from pgx.experimental import auto_reset

    height = sum(name.endswith(", 2") for name in weights)
    search_key, step_key = jax.random.split(key)

    def evaluated(state: pgx.State) -> tuple[jax.Array, jax.Array]:
        logits, value = network(weights, height, state.observation)
        return jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min), value

    policy = partial(mctx.gumbel_muzero_policy, max_num_considered_actions=CONSIDERED)
    output = searched(policy, evaluated, env, readouts, search_key, state)
    keys = jax.random.split(step_key, len(output.action))
    return jax.vmap(auto_reset(env.step, env.init))(state, output.action, keys)


def fastest(players: list, seconds: float) -> OurGames | PgxGames:
    """Measures each once, prints its moves per second, and returns the best."""
    rates = []
    for player in players:
        rates.append(player.rate(seconds))
        print(f"  {player.name:<36} {rates[-1]:9.1f}", flush=True)
    return players[int(np.argmax(rates))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, nargs="+", default=[64, 256], help="games side by side")
    parser.add_argument("--readouts", type=int, default=64)
    parser.add_argument("--height", type=int, default=5, help="residual blocks")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of one measurement")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="JAX chooses its own (cpu)")
    parser.add_argument("--turns", type=int, default=5, help="how often the fastest forms run in turns")
    add_option(parser)
    arguments = parser.parse_args()
    size = (arguments.height, arguments.channels, arguments.readouts)
    cores, dtypes = available_cores(), ("float32", "bfloat16")
    print(f"{platform.platform()}, {processor()}, {cores} of {os.cpu_count()} cores")
    print(f"torch {torch.__version__}, jax {jax.__version__}, pgx {pgx.__version__}, mctx {mctx.__version__}")
    print(f"\n9x9, {size[0]} blocks x {size[1]} channels, {size[2]} readouts      moves/s", flush=True)
    with one_torch_thread(), Workers(default_groups(arguments.device)) as workers:
        forms = [(width, workers, dtype, arguments.device) for width in arguments.games for dtype in dtypes]
        ours = fastest([OurGames(*size, *form) for form in forms], arguments.seconds)
        theirs = fastest(
            [PgxGames(*size, width, dtype) for width in arguments.games for dtype in dtypes], arguments.seconds
        )
        turns = [(ours.rate(arguments.seconds), theirs.rate(arguments.seconds)) for _ in range(arguments.turns)]
    ratios = [mine / other for mine, other in turns]
    print(f"\nin turns, median of {len(turns)}                       moves/s")
    print(f"  {ours.name:<36} {median(mine for mine, _ in turns):9.1f}")
    print(f"  {theirs.name:<36} {median(other for _, other in turns):9.1f}")
    figures = Figures(arguments.json)
    figures.add("pgx-selfplay", median(ratios), min(ratios), max(ratios))
    figures.save()
    print(f"  ratio {median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
