"""The caller's settings of torch, NumPy, warnings and streams: everything goes on, and they stay as they were."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A statement, and an expression that is as it was before at the end.
SETTINGS = {
    "float64": ("torch.set_default_dtype(torch.float64)", "torch.get_default_dtype()"),
    "device": ("torch.set_default_device('meta')", "torch.get_default_device()"),
    "errors of NumPy": ("np.seterr(all='raise')", "np.geterr()"),
    "warnings": ("warnings.simplefilter('error')", "bool(warnings.filters)"),
    "no gradients": ("torch.set_grad_enabled(False)", "torch.is_grad_enabled()"),
    "autocast": ("torch.autocast('cpu', torch.bfloat16).__enter__()", "torch.is_autocast_enabled('cpu')"),
    "no console": ("sys.stderr = None", "sys.stderr"),
    "inference mode": ("torch.inference_mode().__enter__()", "torch.is_inference_mode_enabled()"),
}
PROGRAM = """
import os, sys, warnings
import numpy as np, torch
from alphago import GoEnv, NeuralNet, analyze, evaluate, load_model, plot, train, train_on
{setting}
before = {kept}
folder = sys.argv[1]
small = dict(tower_height=1, channels=16)
net = load_model("7x7")
env, position = net.env, net.env.position()
policy, value = net(position)
assert abs(float(np.sum(policy)) - 1) < 1e-3 and abs(value) <= 1
net.forecast(position)
analyze(position, net, readouts=8)
evaluate(GoEnv(5), NeuralNet(GoEnv(5), **small), "random", num_games=2, readouts=2)
train_on(net, [position] * 32, np.full((32, 50), 1 / 50), np.ones(32))
net.save(folder + "/net.safetensors")
train(GoEnv(5), num_games=8, readouts=4, start_training_after=20, folder=folder + "/run", reports=[], **small)
plot(folder + "/run", folder + "/out.png")
assert {kept} == before
print("done")
"""


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.slow
def test_everything_goes_on(name: str, tmp_path: Path) -> None:
    setting, kept = SETTINGS[name]
    command = [sys.executable, "-c", PROGRAM.format(setting=setting, kept=kept), tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.stdout == "done\n", done.stderr
