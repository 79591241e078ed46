"""`train`: one run from its settings to its network, behind a progress bar."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from alphago.arena.players import contestant
from alphago.env.game import GameEnv
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, available_cores, one_torch_thread
from alphago.settings import make_settings
from alphago.training.checkpoint import RunFolder, default_folder
from alphago.training.diagnosis import Diagnosis
from alphago.training.presets import named_preset, preset_for
from alphago.training.proof import Examiner, Opponent
from alphago.training.report import ConsoleReport, Report
from alphago.training.settings import TrainingSettings
from alphago.training.trainer import Trainer

MEASURED_MINUTES = 0.5  # of training, after which its speed is known


def expectation(metrics: dict[str, Any], needed: int, opponent: str) -> str:
    """When the network should be stronger than the opponent, at the speed so far."""
    rate = max(metrics["positions"], 1) / metrics["seconds"]
    return (
        f"{rate:.0f} positions a second here; another run was proved to be stronger than {opponent} after "
        f"{needed:,} positions, which would be {needed / rate / 60:.1f} minutes of training"
    )


NO_LIMIT = 10**9  # games of a run that ends by the clock


def train(
    env: GameEnv,
    num_games: int | None = None,
    *,
    preset: str | None = None,
    model: NeuralNet | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    until: str | Opponent | None = None,
    **settings: Any,
) -> NeuralNet:
    """Trains a network from games against itself and returns it.

    num_games: games to play; None for a run that ends by the clock (`max_minutes`).
    preset: a recipe by its name (see `alphago.training.presets`): network and settings where this call does not
        say otherwise.  None for the board's own recipe if the run ends by the clock, for none else.
    model: a network to go on with, trained in place; None for a new one of `tower_height` residual
        blocks and `channels` channels (see NeuralNet).
    folder: where weights, settings, games and metrics are kept (see RunFolder); None for a new one
        under runs/.  Must be empty.
    reports: who is told of the progress; None for a progress bar.
    until: an opponent, such as "gnugo" or "rave:1000", whom the network plays every minute of training; the run ends
        early when it is proved to be the stronger one (a sequential test, see `alphago.training.proof`; the proof is
        kept as proof.json).  The time that these matches take is not training time.
    Further keywords are those of TrainingSettings.

    Ctrl-C ends the run at the next move, with everything saved; so does the end of `max_minutes`.
    """
    recipe = named_preset(preset) if preset is not None else preset_for(env) if num_games is None else None
    given = {**(recipe.settings if recipe else {}), **settings}
    if num_games is not None:
        given["num_games"] = num_games
    elif given.get("max_minutes") is not None:
        given.setdefault("num_games", NO_LIMIT)
    chosen = make_settings(TrainingSettings, **given)
    if model is not None and (tower_height is not None or channels is not None):
        raise ValueError("tower_height and channels describe a new network; a model was given too")
    if model is None:
        with seeded(chosen.seed):
            sizes = {"tower_height": tower_height, "channels": channels}
            network = recipe.network if recipe else {}
            model = NeuralNet(env, **{**network, **{k: v for k, v in sizes.items() if v is not None}})
    resized = model.resized(env)  # ValueError for another game
    model = model if model.env.plane_shape == env.plane_shape else resized
    config = {"game": env.name, "env": env.config, "network": model.config, "settings": asdict(chosen)}
    run = RunFolder(Path(folder) if folder is not None else default_folder(f"{env.name}{env.N}"), config)
    listeners: Sequence[Report] = [ConsoleReport()] if reports is None else reports

    def tell(text: str) -> None:
        for report in listeners:
            report.note(text)

    examiner, opponent_name, needed = None, "", 0
    if until is not None:
        opponent = Opponent(until) if isinstance(until, str) else until
        opponent_name = opponent.name
        needed = recipe.proved_after.get(opponent_name, 0) if recipe else 0
        contestant(opponent.name)  # raises now rather than in a minute
        examiner = Examiner(env, opponent, run.path, tell)
    for report in listeners:
        report.start(run.path, asdict(chosen))
    diagnosis = Diagnosis(asdict(chosen))
    saved_at = 0
    metrics: dict[str, Any] = {"games": 0}
    stop = threading.Event()
    with stopped_by_interrupt(stop), one_torch_thread(), Workers(chosen.groups or available_cores()) as workers:
        trainer = Trainer(env, model, chosen, run, workers, stop)
        while trainer.games < chosen.num_games and trainer.progress < 1.0 and not trainer.stop.is_set():
            metrics = trainer.iterate()
            run.add_metrics(metrics)
            for report in listeners:
                report.iteration(metrics)
            for finding in diagnosis.update(metrics):
                tell(str(finding))
            if needed and metrics["seconds"] > 60 * MEASURED_MINUTES:
                tell(expectation(metrics, needed, opponent_name))
                needed = 0
            if trainer.games // chosen.ckp_freq > saved_at // chosen.ckp_freq:
                trainer.checkpoint()
                saved_at = trainer.games
            if examiner is not None and trainer.examined(examiner):
                break
        model.load_state_dict(trainer.learner.average.state_dict())
        latest = trainer.checkpoint()
        metrics.setdefault("steps", 0)
        for report in listeners:
            report.finish(metrics, latest, trainer.stop.is_set())
    return model.eval()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds torch for the block and puts its random state back afterwards."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextlib.contextmanager
def stopped_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Lets the first Ctrl-C set `stop`, so that a run ends between two moves; a second one interrupts at once."""

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
