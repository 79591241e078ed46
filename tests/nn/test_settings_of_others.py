"""Where others have set torch, NumPy, warnings and streams, or forked: everything goes on, and stays as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


# Each call works on tensors that are large enough for torch to share them among its threads.
FORKED = {
    "call": "net(position)",
    "batch": "net([position] * 64)",
    "forecast": "net.forecast(position)",
    "tower": "net.base_net(torch.zeros(64, env.planes, 9, 9))",
    "copy": "copy.deepcopy(net)",
    "resized": "net.resized(GoEnv(13))(GoEnv(13).position())",
    "save": "net.save(folder + '/net.safetensors')",
    "load": "load_model('13x13')(GoEnv(13).position())",
    "picture": "net.svg()",
    "new": "NeuralNet(env, tower_height=4, channels=64)(position)",
    "analyze": "analyze(position, net, readouts=8)",
    "train_on": "train_on(net, [position] * 32, np.full((32, 82), 1 / 82), np.ones(32))",
    "evaluator": "net.evaluator()",
}

FORKING = """
import copy, os, signal, sys
import numpy as np, torch
from alphago import GoEnv, NeuralNet, analyze, load_model, train_on

torch.set_num_threads(2)
net, folder = load_model("9x9"), sys.argv[1]
env, position = net.env, net.env.position()
torch.ones(1000, 1000) @ torch.ones(1000, 1000)
copy.deepcopy(net)(position)  # torch's threads have started
for name, call in {calls!r}.items():
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # which ends what hangs
        eval(call)
        os._exit(0)
    print(name, os.waitpid(child, 0)[1], flush=True)
"""


def printed(program: str, folder: Path) -> list[str]:
    """The lines that a program prints."""
    command = [sys.executable, "-W", "ignore", "-c", program, folder]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.slow
def test_everything_goes_on(name: str, tmp_path: Path) -> None:
    setting, kept = SETTINGS[name]
    assert printed(PROGRAM.format(setting=setting, kept=kept), tmp_path) == ["done"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_every_call_answers_in_a_forked_child(tmp_path: Path) -> None:
    """Although torch's threads are only the parent's."""
    assert printed(FORKING.format(calls=FORKED), tmp_path) == [f"{name} 0" for name in FORKED]
