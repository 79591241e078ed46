"""Whether everything that takes a device runs on it: the part "runs" of `make gpu`."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from gpu_figures import Figure, Scale

from alphago import NeuralNet, evaluate, selfplay, train
from alphago.env.game import GameEnv
from alphago.nn.inference.hardware import find_device
from alphago.training.history import number, read_history
from alphago.training.recipes import RECIPES
from alphago.ui.terminal.play_call import play

ROOT = Path(__file__).resolve().parents[1]
LEFT_FREE = 400 * 2**20  # bytes of the GPU that a process gets while another has the rest: a context and little more
TIME_LIMIT = 300.0  # seconds of one command


def runs(scale: Scale) -> Iterator[Figure]:
    """A run on the device, on the CPU and back, then its network wherever a network is taken."""
    env = RECIPES[scale.preset].make_env()
    chosen = find_device(env, "auto")
    yield Figure('device="auto"', chosen, "cuda", None if scale.device == "host" else chosen == "cuda")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        net, before = None, 0
        for where, share in ((scale.device, 1.0), ("cpu", 0.2), (scale.device, 0.2)):
            minutes = share * scale.run_minutes
            how = {"preset": scale.preset, "max_minutes": 60.0, **scale.settings}
            net = train(env, folder=folder, reports=[], stop_after=minutes, device=where, **how)
            last = read_history(folder).metrics[-1]
            games, steps = (int(number(last, name) or 0) for name in ("games", "steps"))
            sound = all(bool(weight.isfinite().all()) for weight in net.parameters()) and games >= max(1, before)
            yield Figure(f"train on {where}, {minutes:g} minutes", f"{games} games, {steps} steps", "goes on", sound)
            before = games
        assert net is not None
        yield from callers(env, net, scale)
        yield from out_of_memory(scale, place)


def callers(env: GameEnv, net: NeuralNet, scale: Scale) -> Iterator[Figure]:
    """The calls of Python that take a device."""
    readouts = scale.readouts
    games = selfplay(env, net, readouts, scale.flight, device=scale.device, seed=0)
    ended = all(record.position(env).is_over or record.resigned for record in games)
    yield Figure("selfplay", f"{len(games)} games", "all end", ended)
    match = evaluate(env, net, "random", 2 * scale.flight if scale.flight < 10 else 40, readouts, device=scale.device)
    yield Figure("evaluate, against random moves", f"{match.win_rate:.0%}")
    answers, shown = iter(["hint", "pass", "quit"]), []
    play(env, net, readouts, read=lambda _: next(answers), write=shown.append, device=scale.device)
    yield Figure("play", f"{len(shown)} lines", "a hint and a move", len(shown) > 2)


def out_of_memory(scale: Scale, place: str) -> Iterator[Figure]:
    """Commands while another process has nearly all memory of the GPU."""
    if scale.torch_device != "cuda":
        yield Figure("out of memory", "not run: there is no GPU")
        return
    with filled():
        refused, goes_on = (train_command(scale, f"{place}/{device}", device) for device in ("cuda", "auto"))
    lines = refused.stderr.strip().splitlines()
    one_sentence = refused.returncode != 0 and "Traceback" not in refused.stderr
    yield Figure("out of memory, device cuda", lines[-1] if lines else "silence", "one sentence", one_sentence)
    told = [line for line in (goes_on.stdout + goes_on.stderr).splitlines() if "CPU" in line]
    sound = goes_on.returncode == 0 and "Traceback" not in goes_on.stderr
    yield Figure("out of memory, device auto", told[-1].strip() if told else "silence", "goes on on the CPU", sound)


def train_command(scale: Scale, folder: str, device: str) -> "subprocess.CompletedProcess[str]":
    """A minute of `alphago train` of this checkout."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    words = f"-m alphago train --preset {scale.preset} --stop-after 1 --device {device} --folder".split()
    command = [sys.executable, *words, folder]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=TIME_LIMIT)


@contextlib.contextmanager
def filled() -> Iterator[None]:
    """Hold the GPU's memory but for LEFT_FREE."""
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(max(0, free - LEFT_FREE), dtype=torch.uint8, device="cuda")
    try:
        yield
    finally:
        del held
        torch.cuda.empty_cache()
