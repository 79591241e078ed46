"""What the processes do that `test_killed` kills; they are forked from one that has loaded all this."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphago import ReplayMemory, selfplay
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.inference import hardware
from alphago.training.loop import train_loop
from tests.training.small_runs import GO, EagerSaving, opened

# Compiled kernels come with the fork, too.
memory = ReplayMemory(GO.selfplay_variant())
memory.add(selfplay(memory.env, HashEvaluator(), 4, 2, groups=1, device="cpu", seed=0))
memory.sample(4, np.random.default_rng(0))

SETTINGS: dict[str, Any] = {"num_games": 12, "samples_per_position": 3.0}


def train_here(folder: Path, settings: dict[str, Any]) -> None:
    """Trains in the folder from where it stands, with a checkpoint at nearly every move and gradient step.

    As in the tests' own process, networks are in float32, in the matches of candidates too.
    """
    torch.set_num_threads(1)
    hardware.cpu_has = lambda *instructions: False
    with opened(folder, saving=EagerSaving(0.03), **settings) as run:
        train_loop(run, threading.Event())
        run.checkpoint()
