"""The function `train_on`: gradient steps on given samples, without a run."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.evaluator import as_network
from alphago.nn.forecasts import stack
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.system.settings import keywords, make_settings
from alphago.system.validation import check_int, checks_keywords, shown
from alphago.training.learner import Learner
from alphago.training.memory import Sample, mark_illegal
from alphago.training.settings.learning_settings import LearningSettings

SUM_ERROR = 1e-3  # largest deviation of a policy's sum from 1

KEYWORDS = [name for name in keywords(LearningSettings) if name != "schedule"]  # only a run has a schedule


class KeptOptimizer(NamedTuple):
    """The optimizer of a call of `train_on`; the network's next call with the same settings continues with it."""

    settings: LearningSettings
    optimizer: torch.optim.Optimizer
    steps: int  # number of gradient steps so far


# By network.  An entry is dropped with its network, since the optimizer refers only to the network's parameters.
_KEPT: "WeakKeyDictionary[NeuralNet, KeptOptimizer]" = WeakKeyDictionary()


class StepMetrics(dict[str, float]):
    """The mean metrics of gradient steps, by name.

    Attributes:
        net: the network that the steps have trained.
    """

    net: NeuralNet


@checks_keywords(KEYWORDS)
def train_on(
    net: NeuralNet | str | PathLike[str],
    positions: Sequence[Position],
    policies: object,
    outcomes: object,
    epochs: int = 1,
    *,
    seed: int = 0,
    groups: int | None = None,
    **settings: object,
) -> StepMetrics:
    """Train a network on positions, policies and outcomes, and return the mean metrics of the gradient steps.

    The function corresponds to AlphaGo.jl's `train!(nn, (positions, pi, z); epochs)`.  The network is trained in place,
    on the CPU, and left in eval mode.  Later calls with the same settings continue with the same optimizer.  Over the
    optimizer's first 200 steps the learning rate rises from 0.

    Args:
        net: the network; or its name, file or run folder.  A file does not change: the trained network is the result's
            attribute `net`.
        positions: n positions of the network's game.
        policies: [n, action_space], the policy's target for each position: probabilities of legal moves with sum 1.
        outcomes: [n], -1 .. 1, the result of each position's game: 1 if Black won, -1 if White won (as
            `Position.result` and `GameRecord.outcome`).
        epochs: number of passes over all positions, each in a random order and in batches of `batch_size`.
        seed: random seed of the order.
        groups: number of threads; None for one per core.
        settings: settings of LearningSettings, except `schedule`, which belongs to a run.

    Returns:
        The means over all gradient steps of "policy_loss", "value_loss" and other metrics in a run's metrics.jsonl
        that do not depend on ownership and score, and "steps", the number of gradient steps, by name.  Its attribute
        `net` is the trained network.

    Raises:
        ValueError: if a shape or number is wrong, if there are no positions, or if no gradient step had finite losses
            and gradients.
        TypeError: if `net` is no network, or a keyword is unknown.
    """
    positions = list(positions)
    # If `positions` are not valid, there is no game to compare with yet, and `make_sample` raises.
    env = getattr(positions[0], "env", None) if positions else None
    network = as_network(net, env)
    if not isinstance(network, NeuralNet):
        raise TypeError(f"net must be a NeuralNet, or a name or path as load_model takes it, got {net!r}")
    learning = make_settings(LearningSettings, settings)
    sample = make_sample(network.env, positions, policies, outcomes, masked=learning.weights.masked)
    epochs = check_int("epochs", epochs, 1)
    threads = available_cores() if groups is None else check_int("groups", groups, 1)
    with one_torch_thread(), Workers(threads) as workers:
        learner = learner_for(network, learning, workers)
        generator = np.random.default_rng(check_int("seed", seed, 0))
        drawn = (batch for _ in range(epochs) for batch in batches(sample, learning.batch_size, generator))
        results = [learner.step(batch) for batch in drawn]  # the metrics of each step, or None if it was skipped
    _KEPT[network] = KeptOptimizer(learning, learner.optimizer, learner.steps)
    network.eval()
    rows = [metrics for metrics in results if metrics is not None]
    if not rows:
        raise ValueError(
            f"none of {len(results)} gradient steps was finite, and the network is as before: try a lower "
            f"learning_rate than {learning.learning_rate:g}, and look for nan in the game's planes"
        )
    names = [name for name in rows[0] if name not in ("ownership_loss", "score_loss")]  # these have no targets here
    means = StepMetrics({name: float(np.mean([row[name] for row in rows])) for name in names}, steps=len(rows))
    means.net = network
    return means


def float_array(name: str, given: object, shape: tuple[int, ...]) -> np.ndarray:
    """Copy the argument called `name` to a float32 array; raise ValueError unless it has numbers and this shape."""
    try:
        array = np.array(given, np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {list(shape)}, got {shown(given)}") from None
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {list(shape)}, got {list(array.shape)}")
    return array


def make_sample(
    env: GameEnv, positions: Sequence[Position], policies: object, outcomes: object, *, masked: bool = False
) -> Sample:
    """Return positions, policies and outcomes as a Sample; raise ValueError if a shape or number is wrong.

    Args:
        positions, policies, outcomes: as in `train_on`.
        masked: whether to set illegal actions to ILLEGAL in the policies, for losses that leave them out.
    """
    count = len(positions)
    shape = (count, env.action_space)
    if not count or not all(isinstance(position, Position) for position in positions):
        raise ValueError(f"positions must be a list of at least one position of {env}, got {positions[:1] or 'none'}")
    policy = float_array("policies", policies, shape)
    outcome = float_array("outcomes", outcomes, (count,))
    sums_to_1 = np.abs(policy.sum(axis=1) - 1) < SUM_ERROR
    if not (np.all(policy >= 0) and np.all(sums_to_1)):
        raise ValueError("policies must be probabilities from 0 to 1 whose rows sum to 1")
    if not np.all(np.abs(outcome) <= 1):
        raise ValueError("outcomes must be numbers from -1 (White won) to 1 (Black won)")
    batch = stack(positions, env)
    slots = np.arange(count)
    on_illegal = np.where(batch.legal_mask(slots, np.empty(shape, np.bool_)), 0, policy)
    if np.any(on_illegal.sum(axis=1) > SUM_ERROR):
        row, action = divmod(int(on_illegal.argmax()), env.action_space)  # `argmax` counts through all rows
        raise ValueError(
            f"policies must be 0 for illegal moves, got {policy[row, action]:g} for {env.to_text(action)} in position "
            f"{row} of {count}"
        )
    movers = batch.to_play(slots, np.empty(count, np.int8))
    if masked:
        mark_illegal(batch, slots, policy)
    unknown = np.zeros(count, np.float32)
    return Sample(
        planes=batch.planes(slots, np.empty((count, env.planes, *env.plane_shape), np.float32)),
        policy=policy,
        value=outcome * movers,
        weight=np.ones(count, np.float32),
        score=unknown,
        ownership=np.zeros((count, 0), np.int8),
        ended=unknown,  # 0: score and ownership are not learned
    )


def batches(sample: Sample, size: int, generator: np.random.Generator) -> Iterator[Sample]:
    """Yield each row of a sample once, in random order, in batches of nearly equal size, at most `size`."""
    order = generator.permutation(len(sample.value))
    for rows in np.array_split(order, math.ceil(len(order) / size)):
        yield sample.map(lambda array, rows=rows: array[rows])  # type: ignore[misc]


def learner_for(net: NeuralNet, settings: LearningSettings, workers: Workers) -> Learner:
    """Return a learner of the network for a call of `train_on`.

    If the network's previous call of `train_on` had the same settings, the learner continues with its optimizer.

    Args:
        workers: the threads of the gradient steps.
    """
    kept = _KEPT.get(net)
    if kept is None or kept.settings != settings:
        return Learner(net, settings, workers)
    # The learner takes the kept optimizer, which has this network's parameters and their rates, instead of making one.
    learner = Learner(net, replace(settings, optimizer=lambda *_: kept.optimizer, dense_rate=1.0), workers)
    learner.steps = kept.steps
    return learner
