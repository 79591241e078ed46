"""One torch thread per test, float32 that is float32, and small runs that many tests look at."""

from pathlib import Path
from shutil import copytree

import pytest

from alphago import GameRecord, selfplay
from alphago.mcts.evaluator import HashEvaluator
from tests.nn.conftest import float32_is_float32, one_torch_thread
from tests.training.small_runs import GO, GO4, Small, run, run_killed

__all__ = ["float32_is_float32", "one_torch_thread"]

STAGES = {"curriculum": ((2, 0.3),), "groups": 2}  # those of most other small runs are a single one, which is cheaper


@pytest.fixture(scope="session")
def records() -> list[GameRecord]:
    """More games on 4x4 than are predicted together."""
    return selfplay(GO4, HashEvaluator(), 4, 80, seed=1, groups=1, opening_plies=0)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A run on one board that is over; not to be changed."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return Small(folder, *run(folder, 40, GO, ckp_freq=10, seed=3, plies_per_iteration=15))


@pytest.fixture
def finished(finished_run: Small, tmp_path: Path) -> Path:
    """A copy of the folder of a run that is over."""
    return Path(copytree(finished_run.folder, tmp_path / "run"))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A run on two boards, one after the other, that nothing happens to; not to be changed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    return Small(folder, *run(folder, **STAGES))


@pytest.fixture(scope="session")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same run when it was killed late; not to be changed."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    run_killed(folder, 40, **STAGES)
    return folder


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    """A copy of the folder of a run that was killed late."""
    return Path(copytree(killed_once, tmp_path / "run"))
