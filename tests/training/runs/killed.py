"""What the processes do that `test_killed` kills; they are forked from one that has loaded all this."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.mcts.evaluator import HashEvaluator
from alphago.training.memory import ReplayMemory
from alphago.training.selfplay import selfplay
from tests.training.small_runs import GO, TINY, run, save_always

# Compiled kernels come with the fork, too.
memory = ReplayMemory(GO.training_variant())
memory.add(selfplay(memory.env, HashEvaluator(), 4, 2, groups=1))
memory.sample(4, np.random.default_rng(0))

FLOAT32 = {"bfloat16": False, "selfplay_dtype": "float32"}  # as all tests compute: no fixture reaches these processes
SETTINGS: dict[str, Any] = {**TINY, **FLOAT32, "num_games": 12, "samples_per_position": 3.0, "env": GO}


def train_here(folder: Path) -> None:
    """Trains in the folder from where it stands, with a checkpoint at nearly every move and gradient step."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        save_always(patch, 0.03)
        run(folder, **SETTINGS)
