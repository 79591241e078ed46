"""A forked child: everything with a network answers there, although torch's threads are only the parent's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Each call works on tensors that are large enough for torch to share them among its threads.
CALLS = {
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

PROGRAM = """
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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_every_call_answers(tmp_path: Path) -> None:
    program = PROGRAM.format(calls=CALLS)
    command = [sys.executable, "-W", "ignore", "-c", program, tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.stdout.splitlines() == [f"{name} 0" for name in CALLS], done.stderr
