"""Measure how fast this machine computes rules, search, networks and training."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.kernels.playouts import playout_batch, random_action
from alphago.mcts.evaluator import Evaluator, HashEvaluator
from alphago.mcts.puct import Puct
from alphago.mcts.search import Search
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.cpu_forms import FORMS
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.training.batches import random_sample
from alphago.training.learner import Learner
from alphago.training.recipes import RECIPES
from alphago.training.settings.learning_settings import LearningSettings

BATCH = 128  # positions in a call of the network
SAMPLES = 512  # positions in a gradient step
PLAYOUT_POINTS = 16_000  # points of all boards together in a call of the playouts
READOUTS = 400  # simulations of a search


def measure_rates(seconds: float) -> dict[str, float]:
    """Return measured rates, in units per second, by name, on 9x9 with the network of the 9x9 recipe.

    Playouts and search use one core, networks and training all cores.  Forms of the network (`FORMS` in
    nn.inference.cpu_forms) that this machine cannot run are left out.

    Args:
        seconds: time for all measurements together, without compiling and loading.
    """
    recipe = RECIPES["9x9"]
    env, cores = recipe.make_env(), available_cores()
    net = NeuralNet(env, **recipe.network)
    size = f"{recipe.network['tower_height']} x {recipe.network['channels']}"
    forms = [("openvino", "int8"), *((form, None) for form in FORMS)]  # with their dtypes; None: the fastest
    share = seconds / (3 + len(forms))  # one share for each form, and one each for playouts, search and training
    rates = {"playouts, one core": playout_rate(env.N, share)}
    rates["search simulations, one core"] = simulation_rate(HashEvaluator(), env.N, games=64, seconds=share)
    for form, dtype in forms:
        try:
            evaluator = NetEvaluator(net, form=form, dtype=dtype)
        except ValueError:  # for example, OpenVINO is not installed
            continue
        name = f"positions of {size}, {form} {evaluator.dtype}"
        rates[name] = network_rate(evaluator, env, width=BATCH, cores=cores, seconds=share)
    rates[f"training samples of {size}"] = training_rate(net, cores, share)
    return rates


def rate(work: Callable[[], object], units: int, seconds: float) -> float:
    """Call `work` repeatedly and return the number of units per second.

    The first call, which compiles and warms up, does not count.

    Args:
        units: the number of units of work in a call.
        seconds: how long to measure.
    """
    work()
    calls, start = 0, time.perf_counter()  # at least one call counts, even one that takes longer than `seconds`
    while calls == 0 or time.perf_counter() - start < seconds:
        work()
        calls += 1
    return calls * units / (time.perf_counter() - start)


def playout_rate(size: int, seconds: float, fill_eyes: bool = False) -> float:
    """Return the number of random games of Go per second, on one core.

    Args:
        size: the board's size.
        seconds: how long to measure.
        fill_eyes: whether the players may fill their own eyes.
    """
    count = max(1, PLAYOUT_POINTS // size**2)  # games side by side
    batch = GoEnv(size).new_batch(count)
    slots, random_state = np.arange(count), np.array([1], np.int64)

    def work() -> None:
        batch.reset(slots)
        playout_batch(batch.rows, slots, random_state, fill_eyes)

    return rate(work, count, seconds)


def simulation_rate(evaluator: Evaluator, size: int, games: int, seconds: float) -> float:
    """Return the number of simulations per second of PUCT, which searches `games` games of Go in parallel.

    Args:
        size: the board's size.
        seconds: how long to measure.
    """
    search = Search(GoEnv(size), evaluator, games, Puct())
    random_starts(search.batch, games, plies=10)

    def work() -> None:
        search.forget(np.arange(games))  # so that every call grows its trees from the root
        search.run(np.full(games, READOUTS, np.int32))

    return rate(work, games * READOUTS, seconds)


def network_rate(evaluator: Evaluator, env: GameEnv, width: int, cores: int, seconds: float) -> float:
    """Return the number of positions that an evaluator evaluates per second on `cores` cores, in batches of `width`."""

    def one_core() -> float:
        """Measure the positions per second of one of the cores, while the others do the same."""
        batch = env.new_batch(width)
        random_starts(batch, width, plies=20)
        priors, values = np.empty((width, env.action_space), np.float32), np.empty(width, np.float32)
        return rate(partial(evaluator.evaluate, batch, np.arange(width), priors, values), width, seconds)

    with one_torch_thread(), Workers(cores) as workers:
        return sum(workers.run([one_core] * cores))


def training_rate(net: NeuralNet, cores: int, seconds: float) -> float:
    """Return the number of positions per second in gradient steps on batches of SAMPLES positions, on `cores` cores.

    The network's weights are changed.
    """
    sample = random_sample(net.env, SAMPLES)
    with one_torch_thread(), Workers(cores) as workers:
        return rate(partial(Learner(net, LearningSettings(), workers).step, sample), SAMPLES, seconds)


def random_starts(batch: GameBatch, games: int, plies: int) -> None:
    """Play `plies` random moves in each of the slots 0 .. games - 1 of a batch."""
    random_state = np.array([7], np.int64)
    for slot in range(games):
        for _ in range(plies):
            # False: own eyes are not filled.
            action = random_action(batch.rows[slot], random_state, False)  # type: ignore[attr-defined]
            batch.play(np.array([slot]), np.array([action], np.int32))
