"""Whether everything that takes a device runs on it: the part "runs" of `make gpu`."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from gpu_figures import Figure, Scale

from alphago import GomokuEnv, NeuralNet, ReversiEnv, evaluate, selfplay, train
from alphago.env.game import GameEnv
from alphago.mcts.player import MCTSPlayer
from alphago.nn.inference.hardware import find_device
from alphago.training.recipes import RECIPES
from alphago.training.watch.report import Report
from alphago.ui.terminal.play_call import play

ROOT = Path(__file__).resolve().parents[1]
LEFT_FREE = 400 * 2**20  # bytes of the GPU that a process gets while another has the rest: a context and little more
TIME_LIMIT = 300.0  # seconds of one command


class Told(Report):
    """What a run tells."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.metrics: dict[str, Any] = {}

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.metrics = metrics


def runs(scale: Scale) -> Iterator[Figure]:
    """A run on the device, on the CPU and back, then its network wherever a network is taken."""
    env = RECIPES[scale.preset].make_env()
    chosen = find_device(env, "auto")
    yield Figure('device="auto"', chosen, "cuda", None if scale.device == "host" else chosen == "cuda")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        net, before = None, 0
        for where, share in ((scale.device, 1.0), ("cpu", 0.2), (scale.device, 0.2)):
            told = Told()
            minutes = share * scale.run_minutes
            how = {"preset": scale.preset, **length_of(scale), **scale.settings}
            net = train(env, folder=folder, reports=[told], stop_after=minutes, device=where, **how)
            games, steps = (int(told.metrics.get(name) or 0) for name in ("games", "steps"))
            sound = all(bool(weight.isfinite().all()) for weight in net.parameters()) and games >= max(1, before)
            yield Figure(f"train on {where}, {minutes:g} minutes", f"{games} games, {steps} steps", "goes on", sound)
            before = games
        assert net is not None
        yield from callers(env, net, scale)
        yield from commands(folder, scale, place)
    for other in (ReversiEnv(8), GomokuEnv(9)):
        yield small_game(other, scale)


def length_of(scale: Scale) -> dict[str, float]:
    """How long runs are, of which `stop_after` makes slices, unless the settings say so."""
    return {} if "num_games" in scale.settings else {"max_minutes": 60.0}


def callers(env: GameEnv, net: NeuralNet, scale: Scale) -> Iterator[Figure]:
    """The calls of Python that take a device."""
    readouts = scale.readouts
    games = selfplay(env, net, readouts, scale.flight, device=scale.device, seed=0)
    ended = all(record.position(env).is_over or record.resigned for record in games)
    yield Figure("selfplay", f"{len(games)} games", "all end", ended)
    match = evaluate(env, net, "random", 2 * scale.flight if scale.flight < 10 else 40, readouts, device=scale.device)
    yield Figure("evaluate, against random moves", f"{match.win_rate:.0%}")
    player = MCTSPlayer(env, net, readouts, device=scale.device)
    yield Figure("MCTSPlayer", env.to_text(player.suggest_move()), "a legal move", True)
    answers, shown = iter(["hint", "pass", "quit"]), []
    play(env, net, readouts, read=lambda _: next(answers), write=shown.append, device=scale.device)
    yield Figure("play", f"{len(shown)} lines", "a hint and a move", len(shown) > 2)


def commands(folder: Path, scale: Scale, place: str) -> Iterator[Figure]:
    """Command lines with the run's network; two at once, and one where another process has nearly all memory."""
    where = "cpu" if scale.device == "host" else scale.device
    readouts = ["--readouts", str(scale.readouts), "--device", where]
    spoken = command(["gtp", str(folder), *readouts], "genmove b\ngenmove w\nfinal_score\nquit\n")
    answers = [line for line in spoken.stdout.splitlines() if line.startswith("=")]
    yield Figure("alphago gtp", " ".join(answers), "four answers", spoken.returncode == 0 and len(answers) == 4)

    games = ["selfplay", str(folder), *readouts, "--records", "--games", str(scale.flight)]
    both = [begun([*games, "--folder", f"{place}/games-{i}"]) for i in range(2)]
    codes = [ended(process).returncode for process in both]
    yield Figure("two processes at once", f"exit codes {codes}", "0 twice", codes == [0, 0])

    if scale.torch_device != "cuda":
        yield Figure("out of memory", "not run: there is no GPU")
        return
    small = ["train", "--preset", scale.preset, "--stop-after", "1", "--folder"]
    with filled():
        refused = command([*small, f"{place}/full", "--device", "cuda"])
        goes_on = command([*small, f"{place}/auto", "--device", "auto"])
    lines = refused.stderr.strip().splitlines()
    one_sentence = refused.returncode != 0 and "Traceback" not in refused.stderr
    yield Figure("out of memory, device cuda", lines[-1] if lines else "silence", "one sentence", one_sentence)
    told = [line for line in (goes_on.stdout + goes_on.stderr).splitlines() if "CPU" in line]
    sound = goes_on.returncode == 0 and "Traceback" not in goes_on.stderr
    yield Figure("out of memory, device auto", told[-1].strip() if told else "silence", "goes on on the CPU", sound)


def small_game(env: GameEnv, scale: Scale) -> Figure:
    """A slice of training of another game than Go."""
    told = Told()
    minutes = min(0.5, 0.2 * scale.run_minutes)
    with tempfile.TemporaryDirectory() as place:
        train(
            env,
            folder=Path(place) / "run",
            reports=[told],
            stop_after=minutes,
            device=scale.device,
            **{**length_of(scale), **scale.settings, "curriculum": ()},
        )
    on_device = any("boards and network are on" in note for note in told.notes)
    games = int(told.metrics.get("games") or 0)
    return Figure(
        f"train {env.name} {env.N}x{env.N}", f"{games} games in {minutes:g} minutes", "on the device", on_device
    )


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


def begun(arguments: list[str]) -> subprocess.Popen[str]:
    """An `alphago` command of this checkout."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-m", "alphago", *arguments], text=True, cwd=ROOT, env=env, **pipes)


def ended(process: subprocess.Popen[str], typed: str = "") -> subprocess.CompletedProcess[str]:
    """What it has printed and its exit code, after its end; what it complains of is shown."""
    try:
        output, errors = process.communicate(typed, TIME_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
    if process.returncode:
        print(f"{process.args}: exit code {process.returncode}\n{errors[-2000:]}", flush=True)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def command(arguments: list[str], typed: str = "") -> subprocess.CompletedProcess[str]:
    return ended(begun(arguments), typed)
