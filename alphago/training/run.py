"""`train`: one run from its settings to its network, behind a progress bar."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.devices import find_device
from alphago.nn.loss import LossWeights
from alphago.nn.net import NeuralNet
from alphago.nn.saved import LATEST
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.checkpoint import RunFolder, default_folder, holds_run
from alphago.training.diagnosis import Diagnosis
from alphago.training.gate import Gate, Gatekeeper
from alphago.training.history import METRICS, Row, read_rows
from alphago.training.plan import Asked, Plan, new_run, old_run
from alphago.training.proof import Examiner, Opponent
from alphago.training.report import ConsoleReport, Report
from alphago.training.trainer import Trainer

MEASURED_MINUTES = 0.5  # of training, after which its speed is known
DATA = (Opponent, SearchSettings, LossWeights, Gate)  # settings that are made of settings


def expectation(metrics: dict[str, Any], needed: int, opponent: str) -> str:
    """When the network should be stronger than the opponent, at the speed so far."""
    rate = max(metrics["positions"], 1) / metrics["seconds"]
    return (
        f"{rate:.0f} positions a second here; another run was proved to be stronger than {opponent} after "
        f"{needed:,} positions, which would be {needed / rate / 60:.1f} minutes of training"
    )


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
    device: str = "auto",
    **settings: Any,
) -> NeuralNet:
    """Trains a network from games against itself and returns it.

    num_games: games to play; None for a run that ends by the clock (`max_minutes`).
    preset: a recipe by its name (see `alphago.training.presets`): network and settings where this call does not
        say otherwise.  None for the board's own recipe if the run ends by the clock, for none else.
    model: a network to go on with, trained in place; None for a new one of `tower_height` residual
        blocks and `channels` channels (see NeuralNet).
    folder: where the run is kept (see RunFolder); None for a new one under runs/.  If there is a run in it, it goes
        on where it was, with what this call says anew: of the settings, all may change but those in
        `alphago.training.plan.STRUCTURAL`; of game and network, nothing.  What the call leaves out is as before.
    reports: who is told of the progress; None for a progress bar.
    until: an opponent, such as "gnugo" or "rave:1000", whom the network plays every minute of training; the run ends
        early when it is proved to be the stronger one (a sequential test, see `alphago.training.proof`; the proof is
        kept as proof.json).  The time that these matches take is not training time.
    device: where games are played and the network learns: "cpu"; "cuda"; or "auto", the GPU where there is one that
        suits game and network.  It is no setting of the run, which may go on elsewhere.
    Further keywords are those of TrainingSettings: `sizes` plays several boards side by side, and with a `gate` it is
        the best network that is kept, saved and returned, instead of the latest.

    Ctrl-C ends the run at the next move or gradient step, with everything saved; so does the end of `max_minutes`,
    which a call with more of them prolongs: schedules then span the whole, and a curriculum does not turn back.  A
    run that is counted in games and goes on after an interrupt, or after it was killed, gives the same network on a
    CPU as an undisturbed one, to the last bit.  (Not where the network draws random numbers of its own, nor after an
    interrupt within an iteration of PUCT, whose trees are not kept.  A run by the clock goes on from the time that was
    saved.)

    On a GPU sums differ in their last bits from run to run, and with them, after a while, the games.

    Raises ValueError that names both values for what a run cannot change, BlockingIOError if somebody else trains
    in the folder, and OSError with a sentence if something cannot be written; the last checkpoint then stands;
    BackendMissing for device="cuda" where there is none.
    """
    where = find_device(env, device)  # says now what there is not
    path = Path(folder) if folder is not None else default_folder(f"{env.name}{env.N}")
    sizes = {"tower_height": tower_height, "channels": channels}
    given_sizes = {name: size for name, size in sizes.items() if size is not None}
    wanted = Opponent(until) if isinstance(until, str) else until
    asked = Asked(env, num_games, preset, model, given_sizes, wanted, settings)
    plan = None if holds_run(path) else new_run(asked)  # what cannot be trained is said before anything is written
    with RunFolder(path) as run:
        if run.config is not None:
            plan = old_run(asked, run.config, path)
        assert plan is not None
        if where != "cpu":
            where = plan.model.evaluator(device=device).device  # the CPU for a network that the GPU cannot compute
        try:
            return carry_out(plan, env, run, [ConsoleReport()] if reports is None else reports, where)
        finally:
            plan.model.cpu()


def carry_out(plan: Plan, env: GameEnv, run: RunFolder, reports: Sequence[Report], where: str) -> NeuralNet:
    """Trains as planned, on the device `where`, until the run is over or interrupted."""

    def tell(text: str) -> None:
        for report in reports:
            report.note(text)

    settings, stop = plan.settings, threading.Event()
    with stopped_by_interrupt(stop), one_torch_thread(), Workers(settings.groups or 1) as workers:
        trainer = Trainer(env, plan.model, settings, run, workers, stop, where)
        if plan.until is not None:
            trainer.examiner = Examiner(env, plan.until, run.path, tell, where)
        if isinstance(settings.gate, Gate):
            trainer.gatekeeper = Gatekeeper(settings.gate, plan.model, run.path, tell, where)
        notes = open_run(trainer, plan, run)
        for report in reports:
            report.start(run.path, settings.plain())
        if where != "cpu":
            tell(f"boards and network are on {where}")
        for note in notes:
            tell(note)
        rows = earlier_rows(run.path)
        metrics = dict(rows[-1]) if rows else {"games": trainer.games, "steps": trainer.learner.steps}
        diagnosis = Diagnosis(settings.plain())
        diagnosis.remember(rows)
        untold = plan.needed
        nothing_to_do = trainer.is_over and not trainer.candidate_is_due
        while not trainer.is_over and not stop.is_set():
            row = trainer.iterate()
            if row is None:
                break
            metrics = row
            run.add_metrics(metrics)
            for report in reports:
                report.iteration(metrics)
            for finding in diagnosis.update(metrics):
                tell(str(finding))
            if untold and plan.until and metrics["seconds"] > 60 * MEASURED_MINUTES:
                tell(expectation(metrics, untold, plan.until.name))
                untold = 0
            trainer.checkpoint_if_due()
            trainer.examine_if_due()
        if trainer.is_over and not stop.is_set():
            trainer.judge_if_due()
        latest = run.path / LATEST if nothing_to_do else trainer.checkpoint(keep=trainer.is_over)
        # After the checkpoint: these are the weights that learn.
        plan.model.load_state_dict(trainer.player.state_dict())
        for report in reports:
            report.finish(metrics, latest, stop.is_set())
    return plan.model.eval()


def open_run(trainer: Trainer, plan: Plan, run: RunFolder) -> list[str]:
    """Makes the folder of a new run, or goes on with what is in it; returns what there is to tell."""
    if run.config is None:
        trainer.boards.publish(trainer.player)
        trainer.checkpoint()
        run.write_config(plan.config)
        trainer.began = time.monotonic()
        return []
    state = run.restore()
    notes = [*state.notes, *trainer.restore(state)]
    minutes = trainer.seconds / 60
    where = f"after {trainer.games} games and {minutes:.1f} minutes of training"
    told = [f"{name} is {now!r} from now on, not {was!r}" for name, (was, now) in plan.changes.items()]
    if plan.changes:
        run.write_config(plan.config | {"changes": [*plan.config["changes"], *logged(plan.changes, trainer.games)]})
    if trainer.is_proved:
        told.append(f"this run was over {where}, with a proof: a stronger opponent (until) prolongs it")
    elif trainer.is_over:
        told.append(f"this run was over {where}: more num_games or max_minutes prolong it")
    else:
        told.append(f"this run goes on {where}")
    return notes + told


def logged(changes: Mapping[str, tuple[Any, Any]], games: int) -> list[dict[str, Any]]:
    """Changed settings as config.json keeps them."""
    plain = {name: [asdict(v) if isinstance(v, DATA) else v for v in pair] for name, pair in changes.items()}
    return [{"games": games, "setting": name, "was": was, "now": now} for name, (was, now) in plain.items()]


def earlier_rows(path: Path) -> list[Row]:
    """The metrics of the iterations before a run goes on."""
    return read_rows(path / METRICS, "seconds") if (path / METRICS).is_file() else []


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
