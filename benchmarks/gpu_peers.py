"""pgx and mctx on the same GPU: the part "peers" of `make gpu`, where they are installed with JAX for CUDA."""

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from gpu_figures import Figure, Scale

HERE = Path(__file__).resolve().parent
TIME_LIMIT = 420.0  # seconds of the self-play of both
STEPS = 64  # of random moves in one compiled call


def peers(scale: Scale) -> Iterator[Figure]:
    """Random moves of pgx, each side's own way to play them, and self-play of both in turns."""
    missing = [name for name in ("jax", "pgx", "mctx") if importlib.util.find_spec(name) is None]
    if missing or scale.device != "cuda":
        why = f"{', '.join(missing)} not installed" if missing else "there is no GPU"
        yield Figure("beside pgx and mctx", f"not run: {why}", "at least 10 times")
        return
    for size in (9, 19):
        rate = random_moves(f"go_{size}x{size}", max(1, scale.boards * 81 // size**2), scale.repeats)
        yield Figure(f"random legal moves, go {size}x{size}, pgx", f"{rate / 1e6:.2f} M/s")
    height, channels = scale.tower
    options = f"--device cuda --turns 3 --seconds 6 --height {height} --channels {channels} --readouts {scale.readouts}"
    command = [sys.executable, str(HERE / "pgx_selfplay.py"), *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    print(done.stdout + done.stderr[-2000:], flush=True)
    found = re.search(r"ratio (\d+\.\d+)", done.stdout)
    if found is None:
        raise RuntimeError(f"pgx_selfplay.py ended with exit code {done.returncode}")
    ratio = float(found[1])
    yield Figure("self-play beside pgx and mctx", f"{ratio:.2f} times", "at least 10 times", ratio >= 10)


def random_moves(game: str, width: int, repeats: int) -> float:
    """Uniformly random moves per second of as many games of pgx, in a compiled loop; a game that ends begins again."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes most of the GPU's memory
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env: Any = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))

    def move(state: Any, key: Any) -> tuple[Any, None]:
        chosen, of_step = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(chosen, logits, axis=1)
        return step(state, action, jax.random.split(of_step, width)), None

    @partial(jax.jit, donate_argnums=0)
    def play(state: Any, key: Any) -> Any:
        return jax.lax.scan(move, state, jax.random.split(key, STEPS))[0]

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), width))
    rates = []
    for turn in range(repeats + 1):
        start = time.perf_counter()
        state = jax.block_until_ready(play(state, jax.random.key(turn)))
        rates.append(STEPS * width / (time.perf_counter() - start))
    return float(median(rates[1:]))  # the first one compiles
