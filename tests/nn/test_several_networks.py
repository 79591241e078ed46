"""Seed defect 8 of AlphaGOZero-TF: weights were named by how many networks the process had made before.

So a saved network could not be loaded beside another one, nor by a program that made its networks in another order
("duplicate variable", "key not found in checkpoint"; its issues 4, 13 and 19), nor be compared with the best one.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from alphago.arena.match import evaluate
from alphago.env.go import GoEnv
from alphago.nn.model_files import ModelError
from alphago.nn.net import NeuralNet, load_model
from tests.nn.boards import lived_in
from tests.nn.test_model_files import rewritten

ROOT = Path(__file__).parents[2]
ENV = GoEnv(3, komi=0.5)
SHAPES = ((0, 8), (1, 8), (2, 16))
PROGRAM = """
import sys
from alphago import GoEnv, NeuralNet, load_model
env = GoEnv(3, komi=0.5)
NeuralNet(env, tower_height=3, channels=8)  # another network first
for path in sys.argv[1:]:
    policy, value = load_model(path, env)(env.position(black="B2"))
    print(*[f"{number:.4f}" for number in (value, *policy)])
"""


def said(net: NeuralNet) -> list[float]:
    policy, value = net(ENV.position(black="B2"))
    return [value, *policy]


@pytest.fixture
def saved(tmp_path: Path) -> dict[Path, list[float]]:
    """Networks of several shapes, made and saved in one process, and what each says of a position."""
    found = {}
    for height, channels in SHAPES:
        net = lived_in(NeuralNet(ENV, tower_height=height, channels=channels))
        net.save(tmp_path / f"{height}.safetensors")
        found[tmp_path / f"{height}.safetensors"] = said(net)
    return found


def test_networks_do_not_know_of_each_other(saved: dict[Path, list[float]]) -> None:
    """Loaded in another order, all at once, each has its own weights and names."""
    loaded = {path: load_model(path, ENV) for path in reversed(saved)}
    for path, expected in saved.items():
        assert np.allclose(said(loaded[path]), expected, atol=1e-5)
        assert np.allclose(said(load_model(path, ENV)), expected, atol=1e-5)  # and once more beside it
    alike = [NeuralNet(ENV, tower_height=1, channels=8).state_dict() for _ in range(2)]
    assert list(alike[0]) == list(alike[1]) == list(loaded[list(saved)[1]].state_dict())


@pytest.mark.slow
def test_another_program_loads_them(saved: dict[Path, list[float]]) -> None:
    paths = [*reversed(saved)]
    command = [sys.executable, "-c", PROGRAM, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    for path, line in zip(paths, done.stdout.splitlines(), strict=True):
        assert np.allclose([float(word) for word in line.split()], saved[path], atol=1e-3)


def test_a_weight_that_is_missing_is_named(saved: dict[Path, list[float]]) -> None:
    path = list(saved)[1]
    name = next(iter(load_model(path, ENV).state_dict()))
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        load_model(rewritten(path, drop=[name]), ENV)


def test_a_network_plays_against_one_that_is_stored(saved: dict[Path, list[float]]) -> None:
    first, second, _ = saved
    result = evaluate(ENV, load_model(first, ENV), str(second), num_games=2, readouts=2)
    assert len(result.outcomes) == 2
