"""`train`: one run from its settings to its network, behind a progress bar."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.search import SearchSettings
from alphago.mcts.warm_up import compile_ahead
from alphago.nn.inference.devices import find_device
from alphago.nn.inference.gpu import translate_out_of_memory
from alphago.nn.loss import LossWeights
from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.validation import UNSET, Unset, check_positive, checks_keywords
from alphago.training.history import METRICS, Row, read_rows
from alphago.training.judges.gate import Gate, Gatekeeper
from alphago.training.judges.proof import Examiner, Opponent, expectation
from alphago.training.loop import iterate
from alphago.training.run import Trainer
from alphago.training.runs.compact import check_network, make_compact
from alphago.training.runs.config import holds_run, of_this_version
from alphago.training.runs.folder import RunFolder, default_folder, new_folder
from alphago.training.runs.resume import Asked, Plan, new_run, old_run
from alphago.training.settings import TrainingSettings
from alphago.training.watch.diagnosis import Diagnosis
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.report import ConsoleReport, Report
from alphago.training.watch.stopping import stopped_at, stopped_by_interrupt
from alphago.training.watch.time_shares import OTHER

MEASURED_MINUTES = 0.5  # of training, after which its speed is known
DATA = (Opponent, SearchSettings, LossWeights, Gate)  # settings that are made of settings


@checks_keywords(TrainingSettings)
def train(
    env: GameEnv,
    num_games: int | Unset | None = UNSET,
    *,
    preset: str | None = None,
    model: NeuralNet | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    until: str | Opponent | Unset | None = UNSET,
    stop_after: float | None = None,
    compact: bool = False,
    device: str = "auto",
    **settings: Any,
) -> NeuralNet:
    """Trains a network from games against itself and returns it.

    num_games: games to play; None, or left out, for a run that ends by the clock: after `max_minutes`, or those of the
        recipe.
    preset: a recipe by its name (see `alphago.training.recipes`): network and settings where this call does not
        say otherwise.  None for that of the board, or of the next larger one, if the run ends by the clock, for none
        else.
    model: a network to go on with, trained in place; None for a new one of `tower_height` residual
        blocks and `channels` channels (see NeuralNet).
    folder: where the run is kept (see RunFolder); None for a new one under runs/.  If there is a run in it, it goes
        on where it was, with what this call says anew: of the settings, all may change but those in
        `alphago.training.runs.resume.STRUCTURAL`; of game and network, nothing.  What the call leaves out is as
        before, and None takes a setting off: `gate=None`, `until=None`.
    reports: who is told of the progress; None for a progress bar.
    until: an opponent, such as "gnugo" or "rave:1000", whom the network plays every minute of training; the run ends
        early when it is proved to be the stronger one (a sequential test, see `alphago.training.judges.proof`; the
        proof is kept as proof.json).  Without a proof its final network is examined too.  The time that these matches
        take is not training time.
    stop_after: minutes after which this call stops as Ctrl-C does it, with everything saved: a slice of a run whose
        length, and with it its schedules, `num_games` or `max_minutes` say.  All that the call does counts; the move or
        gradient step in progress and the saving come on top.
    compact: whether to leave a folder that is easily carried to another machine, at most 60 MiB and 16 MiB a file (see
        `alphago.training.runs.compact`): older networks go, and so do the oldest games of the memory.  It goes on
        there as any run, but no longer to the bit as it would have without.
    device: where games are played and the network learns: "cpu"; "cuda"; or "auto", the GPU where there is one that
        suits game and network, and as long as its memory is enough: then the run goes on on the CPU from where it was
        saved, and says so.  It is no setting of the run, which may go on elsewhere.
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
    BackendMissing for device="cuda" where there is none, MemoryError with a sentence where its memory is too small;
    EngineError where `until` names an engine that is not installed or refuses the board.
    """
    began = time.monotonic()
    check_env(env)
    compile_ahead()
    check_kinds(model, until, reports)
    if stop_after is not None:
        check_positive("stop_after, in minutes,", stop_after)
    where = find_device(env, device)  # says now what there is not
    name = f"{env.name}{env.N}"
    path = Path(folder) if folder is not None else default_folder(name)
    sizes = {"tower_height": tower_height, "channels": channels}
    given_sizes = {name: size for name, size in sizes.items() if size is not None}
    wanted = Opponent(until) if isinstance(until, str) else until
    asked = Asked(env, num_games, preset, model, given_sizes, wanted, settings, where)
    plan = None if holds_run(path) else new_run(asked)  # what cannot be trained is said before anything is written
    if plan is not None and compact:
        check_network(plan.model)
    if folder is None:
        path = new_folder(name)
    with RunFolder(path) as run:
        if run.config is not None:
            plan = old_run(asked, run.config, path)
        assert plan is not None
        if compact:
            check_network(plan.model)
        deadline = None if stop_after is None else began + 60 * stop_after
        told = [ConsoleReport()] if reports is None else reports
        if where != "cpu":
            where = plan.model.evaluator(device=device).device  # the CPU for a network that the GPU cannot compute
        chosen = plan

        def go(where: str, *notes: str) -> NeuralNet:
            stop = threading.Event()
            with stopped_by_interrupt(stop), stopped_at(deadline, stop):
                return carry_out(chosen, env, run, told, stop=stop, where=where, compact=compact, notes=notes)

        try:
            with translate_out_of_memory():
                return go(where)
        except MemoryError as error:
            if device != "auto" or where == "cpu":
                raise
            note = f"{error}: this run goes on on the CPU, from where it was saved"
        finally:
            plan.model.cpu()
        return go("cpu", note)  # behind the error, whose traceback holds on to what is on the GPU


def check_kinds(model: Any, until: Any, reports: Any) -> None:
    """TypeError with a sentence for what `train` cannot take for them."""
    if model is not None and not isinstance(model, NeuralNet):
        raise TypeError(f"model is a NeuralNet, such as load_model gives, or None, got {model!r}")
    if until is not None and not isinstance(until, (str, Opponent, Unset)):
        raise TypeError(f"until is an opponent's name, an Opponent or None, got {until!r}")
    if reports is not None and not isinstance(reports, Sequence):
        raise TypeError(f"reports is a list of reports or None, got {reports!r}")


def carry_out(
    plan: Plan,
    env: GameEnv,
    run: RunFolder,
    reports: Sequence[Report],
    *,
    stop: threading.Event,
    where: str,
    compact: bool,
    notes: Sequence[str] = (),
) -> NeuralNet:
    """Trains as planned until the run is over or `stop` is set, and leaves a `compact` folder or not.

    notes: to be told at the beginning.
    """
    with one_torch_thread(), Workers(plan.settings.groups or 1) as workers, GpuMeter() as meter:
        trainer = Trainer(env, plan.model, plan.settings, run, workers, stop, where)
        return carry_out_by(trainer, plan, run, reports, meter, compact=compact, notes=notes)


def carry_out_by(
    trainer: Trainer,
    plan: Plan,
    run: RunFolder,
    reports: Sequence[Report],
    meter: GpuMeter,
    *,
    compact: bool,
    notes: Sequence[str],
) -> NeuralNet:
    """As `carry_out`, by a trainer that has just been made."""
    settings, stop, hear = plan.settings, trainer.stop, partial(tell, reports)
    if plan.until is not None:
        trainer.examiner = Examiner(trainer.goal, plan.until, run.path, hear, trainer.device)
    if isinstance(settings.gate, Gate):
        trainer.gatekeeper = Gatekeeper(settings.gate, plan.model, run.path, hear, trainer.device)
    lost, told = open_run(trainer, plan, run)
    for report in reports:
        report.start(run.path, settings.plain())
    if trainer.device != "cpu":
        hear(f"boards and network are on {trainer.device}")
    hear(*notes, *lost, *told)
    done = trainer.is_over and not trainer.candidate_is_due and not trainer.last_examination_is_due
    nothing_to_do = done and not lost
    with trainer.watch.running(OTHER):
        metrics = run_iterations(trainer, plan, run, reports, meter)
    if trainer.is_over and not stop.is_set():
        trainer.judge_if_due()
        trainer.examine_last()
    latest = run.path / LATEST if nothing_to_do else trainer.checkpoint(keep=trainer.is_over)
    if trainer.examiner is not None and trainer.is_over and not stop.is_set() and not nothing_to_do:
        hear(trainer.examiner.conclusion(trainer.longer))
    if compact:
        hear(carry_away(trainer, run))
    # After all that is saved: these are the weights that learn.
    plan.model.load_state_dict(trainer.player.state_dict())
    plan.model.notes = notes_of(read_weights(latest)[1])
    for report in reports:
        report.finish(metrics, latest, stop.is_set())
    return plan.model.eval()


def run_iterations(
    trainer: Trainer, plan: Plan, run: RunFolder, reports: Sequence[Report], meter: GpuMeter
) -> dict[str, Any]:
    """The iterations of this call, told, written down and saved; returns the metrics of the run's last one."""
    rows = earlier_rows(run.path)
    metrics = dict(rows[-1]) if rows else {"games": trainer.games, "steps": trainer.learner.steps}
    diagnosis = Diagnosis(plan.settings.plain())
    diagnosis.remember(rows)
    untold = plan.needed
    while not trainer.is_over and not trainer.stop.is_set():
        row = iterate(trainer)
        if row is None:
            break
        metrics = row | {"gpu_busy": meter.busy()}
        run.add_metrics(metrics)
        for report in reports:
            report.iteration(metrics)
        notes = [str(finding) for finding in diagnosis.update(metrics)]
        if untold and plan.until and metrics["seconds"] > 60 * MEASURED_MINUTES:
            if untold > metrics["positions"]:
                notes.append(expectation(metrics, untold, plan.until.name))
            untold = 0
        tell(reports, *notes)
        trainer.checkpoint_if_due()
        trainer.examine_if_due()
    return metrics


def tell(reports: Sequence[Report], *notes: str) -> None:
    """Tells all reports these sentences."""
    for note in notes:
        for report in reports:
            report.note(note)


def open_run(trainer: Trainer, plan: Plan, run: RunFolder) -> tuple[list[str], list[str]]:
    """Makes the folder of a new run, or goes on with what is in it.

    Returns what was damaged and what else there is to tell, as sentences; after the former a checkpoint is needed.
    """
    if run.config is None:
        trainer.publish()
        trainer.checkpoint()
        run.write_config(plan.config)
        trainer.clock.set(0.0)
        return [], [f"a new run of {trainer.goal} begins in {run.path}", *([plan.note] if plan.note else [])]
    with of_this_version(run.path, "a state"):
        state = run.restore()
        lost = [*state.notes, *trainer.restore(state)]
    lost += run.check_weights(trainer.player if trainer.is_over else None)
    minutes = trainer.clock.seconds / 60
    where = f"after {trainer.games} games and {minutes:.1f} minutes of training"
    told = [f"{name} is {now!r} from now on, not {was!r}" for name, (was, now) in plan.changes.items()]
    if plan.changes:
        run.write_config(plan.config | {"changes": [*plan.config["changes"], *logged(plan.changes, trainer.games)]})
    if trainer.is_proved:
        told.append(f"this run was over {where}, with a proof: a stronger opponent (until), or none, prolongs it")
    elif trainer.is_over:
        told.append(f"this run was over {where}: more num_games or max_minutes prolong it")
    else:
        told.append(f"this run goes on {where}")
    if trainer.compacted:
        times = "once" if trainer.compacted == 1 else f"{trainer.compacted} times"
        told.append(f"its folder was made compact {times}: it goes on without its oldest games, not exact to the bit")
    return lost, told


def carry_away(trainer: Trainer, run: RunFolder) -> str:
    """Makes the folder compact, after a checkpoint, which config.json tells from then on; returns a sentence of it."""
    trainer.compacted += 1
    kept = make_compact(run, trainer.state(), [board.env.N for board in trainer.boards.boards])
    assert run.config is not None
    entry = {"games": trainer.games, "kept_games": kept.games, "of": kept.of}
    run.write_config(run.config | {"compacted": [*run.config["compacted"], entry]})
    return str(kept)


def logged(changes: Mapping[str, tuple[Any, Any]], games: int) -> list[dict[str, Any]]:
    """Changed settings as config.json keeps them."""
    plain = {name: [asdict(v) if isinstance(v, DATA) else v for v in pair] for name, pair in changes.items()}
    return [{"games": games, "setting": name, "was": was, "now": now} for name, (was, now) in plain.items()]


def earlier_rows(path: Path) -> list[Row]:
    """The metrics of the iterations before a run goes on."""
    return read_rows(path / METRICS, "seconds") if (path / METRICS).is_file() else []
