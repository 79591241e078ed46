"""What the processes do that `test_killed` kills; they are forked from one that has loaded all this."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.runs import GO, TINY, run, save_always

SETTINGS: dict[str, Any] = {**TINY, "num_games": 24, "env": GO}


def train_here(folder: Path) -> None:
    """Trains in the folder from where it stands, with a checkpoint before each move and each gradient step."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        save_always(patch)
        run(folder, **SETTINGS)
