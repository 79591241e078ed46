"""What `train` and `train_supervised` have in common: the run's folder, its devices, its reports, and its end."""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from alphago.drawing.live_bar import LiveBar
from alphago.mcts.warm_up import warm_up
from alphago.nn.inference.gpu_forms import translate_out_of_memory
from alphago.nn.inference.hardware import why_not_gpu
from alphago.nn.model_files import LATEST, read_description, read_notes
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.files import user_path
from alphago.system.interrupts import Stopped
from alphago.system.settings import addresses, value_to_data
from alphago.training.call.progress import run_progress
from alphago.training.call.signals import stopped_at, stopped_by_interrupt
from alphago.training.call.start import Call, Start, value_for_message
from alphago.training.call.summary import prolonging_option
from alphago.training.history import METRICS, read_rows
from alphago.training.judge import Judge
from alphago.training.judges.gate import Gatekeeper
from alphago.training.judges.proof import Examiner
from alphago.training.judges.watcher import Watcher
from alphago.training.loop import train_loop
from alphago.training.metrics import OTHER
from alphago.training.run import Run
from alphago.training.runs.config import flat_settings, holds_run, how_to_continue, version_errors
from alphago.training.runs.folder import RunFolder, new_folder
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.live_report import usual_report
from alphago.training.watch.report import Reporter

FEW_STEPS = 100  # gradient steps below which a network has hardly begun: one of 57 was weaker than random moves
StartOf = Callable[[Mapping[str, Any] | None, Path], Start]


def train_run(call: Call, folder: str | Path | None, start_of: StartOf) -> NeuralNet:
    """Train the network of a run and return it; `train` and `train_supervised` end here.

    Args:
        folder: see `train`.
        start_of: called as `start_of(config, folder)`.  With the config of a saved run, and the run's folder, which is
            locked, it returns how the run goes on.  With None it returns how a new run starts; this call comes before
            the folder is made, so that an invalid call leaves no folder.
    """
    path = None if folder is None else user_path(folder)
    compiler = warm_up()  # the process that compiles kernels; None if all are compiled
    no_bar = compiler is None or call.reports is not None  # a caller with reports of its own wants nothing printed
    # The bar also covers `start_of`, which may use kernels (to replay given games) and then waits for the compiler.
    with LiveBar(desc="compiling, once on this machine", bar_format="{desc}: {elapsed}", leave=False, disable=no_bar):
        start = start_of(None, Path()) if path is None or not holds_run(path) else None
    with RunFolder(path or new_folder(f"{call.env.name}{call.env.N}")) as run_folder:
        if run_folder.config is not None:  # the folder holds a run, perhaps one that another process has begun since
            start = start_of(run_folder.config, run_folder.path)
        assert start is not None
        devices = choose_devices(call, start.model)
        why = why_not_gpu(call.env) if call.may_change_device and devices == ["cpu"] else ""
        notes = [f"boards and network are on the CPU, since the GPU cannot be used: {why}"] if why else []
        for device in devices:
            try:
                train_on(device, call, start, run_folder, notes)
                break
            except MemoryError as error:
                if device == devices[-1]:
                    raise
                notes = [f"{error}: this run continues on the CPU, from where it was saved"]
            finally:
                start.model.cpu()  # the learner trains it in place, on the device
        return start.model


def choose_devices(call: Call, model: NeuralNet) -> list[str]:
    """Return the devices to train on: the call's, then the CPU if it may replace a GPU that runs out of memory."""
    if call.device == "cpu":
        return ["cpu"]
    asked_for = "auto" if call.may_change_device else call.device
    device = model.evaluator(device=asked_for, shared=False).device  # the CPU if the GPU cannot compute this network
    return [device, "cpu"] if call.may_change_device and device != "cpu" else [device]


def train_on(device: str, call: Call, start: Start, folder: RunFolder, notes: Sequence[str]) -> None:
    """Train on a device until the run is over or the call is stopped, and finish the call.

    Args:
        device, notes: as in `open_run`.

    Raises:
        MemoryError: if the GPU's memory runs out.
    """
    stop = threading.Event()
    with (
        translate_out_of_memory(),
        stopped_by_interrupt(stop),
        stopped_at(call.deadline, stop),
        open_run(call, start, folder, device, notes) as run,
        explain_divergence(run),
    ):
        # A run that is over is saved again if files of it were damaged or lost, or a judge is due.
        is_done = run.is_over and not run.damage and folder.has_weights(run.player)
        anything_to_do = not is_done or any(judge.due(run) for judge in run.judges)
        try:
            with run.stopwatch.running(OTHER):
                train_loop(run, stop)
        except Stopped:
            if not stop.is_set():  # something else was stopped, such as a match of a judge of one's own
                raise
        finish_call(run, start.model, stopped=stop.is_set(), save=anything_to_do)


@contextmanager
def open_run(call: Call, start: Start, folder: RunFolder, device: str, notes: Sequence[str] = ()) -> Iterator[Run]:
    """Begin a run, or continue it from its folder, and start its reports; close it after the `with` block.

    Args:
        device: where to play and train.
        notes: sentences to report first.
    """
    is_new = folder.config is None
    groups = start.settings.selfplay.groups
    with one_torch_thread(), Workers(groups) as workers, closing(GpuMeter()) as meter, usual_report() as console:
        # If another version wrote the saved state, the code below cannot use the state and raises a TypeError or
        # LookupError.  `version_errors` replaces such an error by one that names the cause.
        with nullcontext() if is_new else version_errors(folder.path, "a state"):
            state = None if is_new else folder.restore()
            reports = [console] if call.reports is None else call.reports
            rows = read_rows(folder.path / METRICS, required_key="seconds")
            reporter = Reporter(reports, flat_settings(start.config), rows, meter)
            run = Run(
                start.settings,
                start.model,
                env=call.env,
                folder=folder,
                workers=workers,
                judges=make_judges(call, start, folder.path),
                reporter=reporter,
                device=device,
                state=state,
                **call.parts,
            )
        with closing(run):
            if is_new:
                run.checkpoint()  # before the config: a folder with a config counts as a run that can be resumed
                folder.write_config(start.config)
                run.clock.go_on_from(0.0)  # training begins only now
            reporter.start(folder.path, partial(run_progress, run))
            if device != "cpu":
                run.note(f"boards and network are on {device}")
            if start.changes:
                changes = [*start.config["changes"], *change_entries(start, run.games)]
                folder.write_config(start.config | {"changes": changes})
            news = new_run_sentences(run, start) if is_new else resumed_run_sentences(run, start)
            run.note(*notes, *start.notes, *run.damage, *news)
            yield run


def make_judges(call: Call, start: Start, folder: Path) -> list[Judge[Any]]:
    """Return the judges of the run in `folder`, in the order in which they judge."""
    settings, env = start.settings, call.env
    judges: list[Judge[Any]] = [] if settings.gate is None else [Gatekeeper(settings.gate, start.model)]
    judges += [maker.make_judge(env, start.model, folder) for maker in settings.judges]
    if settings.until is not None:
        judges.append(Examiner(env, settings.until, folder))
    if settings.watch is not None:
        judges.append(Watcher(env, start.watched, settings.watch.share))
    names = [judge.name for judge in judges]
    if len(set(names)) < len(names):  # under which a checkpoint keeps their states
        raise ValueError(f"judges must have names of their own, got {', '.join(names)}")
    return judges


@contextmanager
def explain_divergence(run: Run) -> Iterator[None]:
    """Add `divergence_sentence` to a ValueError in the `with` block if the network's weights have diverged."""
    try:
        yield
    except ValueError as error:
        if not run.learner.has_diverged:
            raise
        raise ValueError(f"{error}; {divergence_sentence(run)}") from error


def divergence_sentence(run: Run) -> str:
    """Return a sentence that says that training has diverged and needs a lower learning rate."""
    return (
        f"training has diverged after {run.learner.steps} gradient steps: a new run needs a lower learning_rate than "
        f"{run.settings.learning.learning_rate:g}"
    )


def finish_call(run: Run, model: NeuralNet, *, stopped: bool, save: bool) -> None:
    """Save the run at the end of a call, report the end, and give `model` the run's network: its weights and notes.

    Args:
        stopped: whether the call was stopped early.
        save: whether to save the run; False if this call had nothing to do.
    """
    latest = run.checkpoint(keep=run.is_over) if save else run.folder.path / LATEST
    if run.is_over and save and not stopped:  # the run ends with this call
        option = prolonging_option(vars(run.settings), run.games)
        note_few_steps(run, option)
        run.note(*filter(None, (judge.conclusion(option) for judge in run.judges)))
    run.note(*map(str, run.reporter.diagnosis.final()))
    if run.learner.has_diverged:
        run.note(divergence_sentence(run))
    model.load_state_dict(run.player.state_dict())  # of an earlier network, if a judge has chosen one
    model.notes, model.measured_in = read_notes(read_description(latest)), run.goal
    model.eval()
    # The last iteration's metrics; these two numbers if there was no iteration yet.
    metrics = next(reversed(run.reporter.diagnosis.rows), {"games": run.games, "steps": run.learner.steps})
    for report in run.reporter.reports:
        report.finish(dict(metrics), latest, stopped)


def note_few_steps(run: Run, option: str) -> None:
    """Note that a run is over, if it took fewer than FEW_STEPS gradient steps.

    If it took no step, and there is no report to show the note, issue a warning instead.

    Args:
        option: the option of `alphago train` with which the run goes on, to twice its length.
    """
    steps = run.learner.steps
    if steps >= FEW_STEPS:
        return
    outcome = f"after {steps} gradient steps: its network may still lose to random moves"
    if steps == 0:
        outcome = "without a gradient step: its network is as it began"
    told = f"this run is over ({run.clock.seconds / 60:.1f} minutes, games: {run.games}) {outcome}"
    if steps or run.reporter.reports:
        run.note(f"{told}; a longer run learns more: {how_to_continue(run.folder.path, option)}")
    else:
        warnings.warn(told, stacklevel=7)  # at the line that calls `train` or `train_supervised`


def new_run_sentences(run: Run, start: Start) -> list[str]:
    """Return sentences about a new run, for a report."""
    height, width = run.goal.plane_shape
    return [
        f"a new run of {run.goal} begins in {run.folder.path}",
        f"its network is {start.model}, from {run.goal.planes} planes of {height}x{width}",
    ]


def resumed_run_sentences(run: Run, start: Start) -> list[str]:
    """Return sentences about a run that continues and about its changed settings, for a report."""
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = [
        f"{name} is {value_for_message(now)!r} from now on, not {value_for_message(was)!r}"
        for name, (was, now) in start.changes.items()
    ]
    if run.is_proved:
        return [*news, f"this run ended {where}, with its proof; a stronger opponent (until), or none, prolongs it"]
    if run.is_over:
        return [*news, f"this run ended {where}; more games or minutes prolong it"]
    return [*news, f"this run goes on {where}"]


def change_entries(start: Start, games: int) -> list[dict[str, Any]]:
    """Return entries for the list "changes" in config.json, one for each setting that this call changes.

    Args:
        games: number of games of the run so far.
    """
    known = addresses(type(start.settings))
    entries = []
    for name, values in start.changes.items():
        # The declaration of a setting that is a part, such as a search; None for other settings, and for a name such as
        # "the code of X", which is no setting.
        part = known[name].part if name in known else None
        was, now = (value_to_data(value, part) for value in values)
        entries.append({"games": games, "setting": name, "was": was, "now": now})
    return entries
