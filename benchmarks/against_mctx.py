"""Our Gumbel search against mctx's: same network, same rules, same readouts, games with colours exchanged.

mctx is DeepMind's JAX library by authors of the Gumbel paper (Danihelka et al. 2022).  It gets its priors,
values and rules from the same evaluator and the same `GameBatch` as our search, through a callback, so
that nothing but the search differs.  Both search without Gumbel noise and keep no tree between moves.

It wants an environment of its own, since JAX is no part of the project:

    python3 -m venv .peers
    .peers/bin/pip install -c constraints.txt -e . -r benchmarks/requirements.txt
    .peers/bin/python benchmarks/against_mctx.py WEIGHTS

WEIGHTS is a network for 9x9, as `load_model` takes it.  `--constants own` plays with each library's defaults
(mctx: values rescaled to 0 .. 1 between the least and the greatest, times 0.1 (50 + max N); ours: see
SearchSettings), `same` with ours on both sides, where the two should hardly ever disagree.
"""

import argparse
import os
import sys
import time
from functools import partial

import numpy as np

from alphago import GameEnv, GoEnv, Gumbel, MatchResult, SearchSettings, load_model
from alphago.arena.match_games import MatchGame, MatchPlan, ParallelGames, play_games, random_points
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import Search

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import mctx
except ImportError as error:
    sys.exit(f"{error.name} is not installed: pip install -r benchmarks/requirements.txt")

# A callback that waits for an asynchronous computation on the same threads would wait for ever.
jax.config.update("jax_cpu_enable_async_dispatch", False)

OPENING_PLIES = 2  # random points that the two games of a pair share


class OurPlayer:
    """Our Gumbel search, as a match wants it."""

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, readouts: int, settings: SearchSettings) -> None:
        self.search = Search(env, evaluator, games, settings)
        self.readouts = readouts

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        self.search.forget(games)
        readouts = np.zeros(self.search.games, np.int32)
        readouts[games] = self.readouts
        self.search.run(readouts)
        return self.search.choose(games, np.zeros(len(games), np.bool_), np.zeros(len(games)))

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.search.advance(games, actions)


class MctxPlayer:
    """mctx's Gumbel search, as a match wants it; `width` games are searched at once.

    A node of mctx's tree carries the slot of its root and the actions that lead from there to it, which
    our batch replays.
    """

    def __init__(self, env: GameEnv, evaluator: Evaluator, games: int, width: int, readouts: int, qtransform) -> None:
        self.env = env
        self.evaluator = evaluator
        self.width = width
        self.readouts = readouts
        self.batch = env.new_batch(games + width)
        self.leaves = np.arange(games, games + width)
        self.search = jax.jit(
            partial(
                mctx.gumbel_muzero_policy,
                recurrent_fn=self.expand,
                num_simulations=readouts,
                qtransform=qtransform,
                max_num_considered_actions=16,
                gumbel_scale=0.0,
            )
        )

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        parts = [games[begin : begin + self.width] for begin in range(0, len(games), self.width)]
        return np.concatenate([self.choose_at_once(part) for part in parts])

    def choose_at_once(self, games: np.ndarray) -> np.ndarray:
        """The actions of at most `width` games; what is left of the width is filled with games that are over."""
        count = len(games)
        node = {
            "root": np.resize(games, self.width).astype(np.int32),
            "path": np.zeros((self.width, self.readouts), np.int32),
            "length": np.zeros(self.width, np.int32),
            "over": np.arange(self.width) >= count,
        }
        logits, values, _, _ = self.look(**node)
        legal = np.ones((self.width, self.env.action_space), np.bool_)
        self.batch.legal_mask(games, legal[:count])
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=node)
        output = self.search((), jax.random.key(0), root, invalid_actions=~legal)
        return np.asarray(output.action)[:count]

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        self.batch.play(games, actions)

    def expand(self, params: tuple, key: jax.Array, action: jax.Array, node: dict) -> tuple:
        """mctx's recurrent_fn: the nodes that the actions lead to, and what the evaluator says of them."""
        rows = jnp.arange(self.width)
        path = jnp.where(node["over"][:, None], node["path"], node["path"].at[rows, node["length"]].set(action))
        length = node["length"] + ~node["over"]
        child = {"root": node["root"], "path": path, "length": length, "over": node["over"]}
        numbers = jax.ShapeDtypeStruct((self.width,), jnp.float32)
        shapes = (
            jax.ShapeDtypeStruct((self.width, self.env.action_space), jnp.float32),
            numbers,
            numbers,
            jax.ShapeDtypeStruct((self.width,), jnp.bool_),
        )
        logits, values, outcomes, over = jax.pure_callback(lambda child: self.look(**child), shapes, child)
        discount = jnp.where(over, 0.0, -1.0)  # the players alternate
        step = mctx.RecurrentFnOutput(reward=-outcomes, discount=discount, prior_logits=logits, value=values)
        return step, {**child, "over": over}

    def look(self, root: np.ndarray, path: np.ndarray, length: np.ndarray, over: np.ndarray) -> tuple:
        """Logits [width, A], values, outcomes and whether it is over [width] of the nodes, in their movers' view.

        Nodes that come in as `over` lie below the end of a game: all they give is 0.
        """
        logits = np.zeros((self.width, self.env.action_space), np.float32)
        values, outcomes = np.zeros(self.width, np.float32), np.zeros(self.width, np.float32)
        over = np.array(over)
        rows = np.flatnonzero(~over)
        slots = self.leaves[rows]
        roots, path, length = (np.ascontiguousarray(np.asarray(array)[rows]) for array in (root, path, length))
        self.batch.replay(roots.astype(np.int64), path, length, slots)
        ended = self.batch.is_over(slots, np.empty(len(rows), np.bool_))
        outcomes[rows[ended]] = self.batch.outcome(slots[ended], np.empty(ended.sum(), np.float32))
        over[rows[ended]] = True
        rows, slots = rows[~ended], slots[~ended]
        priors, some = np.empty((len(rows), self.env.action_space), np.float32), np.empty(len(rows), np.float32)
        self.evaluator.evaluate(self.batch, slots, priors, some)
        logits[rows] = np.log(np.maximum(priors, np.finfo(np.float32).tiny))
        logits[rows] = np.where(priors > 0, logits[rows], np.finfo(np.float32).min)
        values[rows] = some
        return logits, values, outcomes, over


def make_players(env: GameEnv, evaluator: Evaluator, games: int, readouts: int, constants: str) -> list:
    """Our player and mctx's, with each library's constants ("own") or with ours on both sides ("same")."""
    settings = Gumbel(considered=16)
    qtransform = mctx.qtransform_completed_by_mix_value
    if constants == "same":
        qtransform = partial(
            qtransform, value_scale=settings.c_scale / 2, maxvisit_init=settings.c_visit, rescale_values=False
        )
    width = (games + 1) // 2  # in a match each side is to move in half of the games
    return [
        OurPlayer(env, evaluator, games, readouts, settings),
        MctxPlayer(env, evaluator, games, width, readouts, qtransform),
    ]


def agreement(env: GameEnv, players: list, games: int, plies: int, seed: int) -> tuple[int, int]:
    """In how many positions both choose the same action, and of how many; the games follow our choices."""
    board, going = env.new_batch(games), np.arange(games)
    generators = [np.random.default_rng([seed, game]) for game in range(games)]
    same = asked = 0
    for ply in range(OPENING_PLIES + plies):
        if ply < OPENING_PLIES:
            actions = random_points(board, going, generators)
        else:
            unused = np.zeros(len(going))
            actions, others = (player.choose(going, unused, unused) for player in players)
            same += int((actions == others).sum())
            asked += len(going)
        board.play(going, actions)
        for player in players:
            player.follow(going, actions)
        going = going[~board.is_over(going, np.empty(len(going), np.bool_))]
    return same, asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", help="a network for 9x9, as load_model takes it")
    parser.add_argument("--games", type=int, default=200, help="games of each match, an even number")
    parser.add_argument("--readouts", type=int, nargs="+", default=[64, 16])
    parser.add_argument("--constants", nargs="+", choices=("own", "same"), default=["own", "same"])
    parser.add_argument("--komi", type=float, default=7.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.games < 2 or arguments.games % 2:
        parser.error(f"--games is an even number from 2, got {arguments.games}")
    env = GoEnv(9, komi=arguments.komi)
    evaluator = load_model(arguments.weights, env).evaluator()
    print(f"{env}, {arguments.weights}, mctx {mctx.__version__}, jax {jax.__version__}", flush=True)
    for readouts in arguments.readouts:
        for constants in arguments.constants:
            start = time.perf_counter()
            players = make_players(env, evaluator, 16, readouts, constants)
            same, asked = agreement(env, players, 16, 20, arguments.seed)
            print(f"\n{readouts} readouts, {constants} constants: the same move in {same} of {asked} positions")
            players = make_players(env, evaluator, arguments.games, readouts, constants)
            plan = MatchPlan(arguments.games, 0, OPENING_PLIES, arguments.seed, 1)
            played: list[MatchGame] = []
            play_games(ParallelGames(env, players, range(arguments.games), plan), played.append)
            result = MatchResult.of(env, played)
            print(f"  ours against mctx: {result}  ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
