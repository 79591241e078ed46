"""Choose the dtypes in which a run computes on a CPU.

The dtypes are chosen by the kind of the processor and the size of the network, so that the same call is the same run.
The settings may ask for a choice by stopwatch instead, which may differ the next time, when other programs are running.
"""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Literal, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.hardware import (
    choose_dtype,
    dtype_name,
    fastest_float,
    has_native_bfloat16,
    trains_in_bfloat16,
)
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.learner import Learner
from alphago.training.memory import Sample
from alphago.training.settings.learning_settings import MEASURED, LearningSettings

ENOUGH = 0.5  # seconds per task after which a measurement ends
LEAST_RUNS, MOST_RUNS = 2, 9  # least and largest number of timed runs of each task
POSITIONS = 64  # positions in a batch of the search


class Precision(NamedTuple):
    """Settings of learning with the dtype chosen, and the measured seconds of a gradient step with these settings."""

    learning: LearningSettings
    step_seconds: float


def choose_precision(env: GameEnv, net: NeuralNet, learning: LearningSettings, threads: int) -> Precision:
    """Choose `bfloat16` for this CPU, if it is None or "measured" in the settings, and time a step with the choice.

    The network's weights and torch's random state are not changed.

    threads: number of threads that take the step.
    """
    flags: Sequence[bool | Literal["measured"] | None] = [learning.bfloat16]  # the call's own choice
    if learning.bfloat16 is None:
        flags = [trains_in_bfloat16(sum(parameter.numel() for parameter in net.parameters()))]
    elif learning.bfloat16 == MEASURED:
        flags = [False, True] if has_native_bfloat16() else [False]
    candidates = [replace(learning, bfloat16=flag) for flag in flags]
    with one_torch_thread(), Workers(threads) as workers:
        sample = random_sample(env, learning.batch_size)
        learners = [Learner(copy.deepcopy(net), candidate, workers) for candidate in candidates]
        seconds = measure([partial(learner.step, sample) for learner in learners])  # also of a single candidate
    best = int(np.argmin(seconds))
    return Precision(candidates[best], seconds[best])


def inference_dtype(env: GameEnv, net: NeuralNet, wish: str | None) -> str:
    """Return the dtype of self-play's inference.

    wish: a dtype; None for the dtype that suits this kind of CPU, "measured" for the fastest dtype by stopwatch.
    """
    if wish == MEASURED:
        return fastest_inference(env, net)
    return wish or dtype_name(choose_dtype(None))


def fastest_inference(env: GameEnv, net: NeuralNet) -> str:
    """Return the name of the dtype in which the network's evaluator is fastest on this CPU."""
    dtypes = (choose_dtype(None), fastest_float(), torch.float32)
    names = list(dict.fromkeys(map(dtype_name, dtypes)))  # each name once
    if len(names) == 1:
        return names[0]
    batch = env.new_batch(POSITIONS)
    slots = np.arange(POSITIONS)
    priors = np.empty((POSITIONS, env.action_space), np.float32)
    values = np.empty(POSITIONS, np.float32)
    evaluators = [NetEvaluator(env, net.base_net, net.value, net.policy, dtype=name) for name in names]
    with one_torch_thread():
        seconds = measure([partial(evaluator.evaluate, batch, slots, priors, values) for evaluator in evaluators])
    return names[int(np.argmin(seconds))]


def measure(tasks: Sequence[Callable[[], object]]) -> list[float]:
    """Return the median seconds of each task; the tasks run in turns, after an untimed run of each.

    A single task, which is compared with none, runs LEAST_RUNS times.
    """
    for task in tasks:
        task()
    times: list[list[float]] = [[] for _ in tasks]
    began = time.perf_counter()
    for runs in range(MOST_RUNS if len(tasks) > 1 else LEAST_RUNS):
        if runs >= LEAST_RUNS and time.perf_counter() - began > ENOUGH * len(tasks):
            break
        for task, task_times in zip(tasks, times, strict=True):
            start = time.perf_counter()
            task()
            task_times.append(time.perf_counter() - start)
    return list(map(median, times))


def random_sample(env: GameEnv, count: int) -> Sample:
    """Return a Sample of `count` random rows, the same on every call."""
    generator = np.random.default_rng(1)
    points = env.plane_shape[0] * env.plane_shape[1] if env.has_ownership else 0
    return Sample(
        planes=generator.integers(0, 2, (count, env.planes, *env.plane_shape)).astype(np.float32),
        policy=generator.dirichlet(np.full(env.action_space, 0.1), count).astype(np.float32),  # few likely moves
        value=generator.uniform(-1, 1, count).astype(np.float32),
        weight=np.ones(count, np.float32),
        score=np.zeros(count, np.float32),
        ownership=generator.integers(-1, 2, (count, points)).astype(np.int8),  # -1, 0 or 1
        ended=np.ones(count, np.float32),
    )
