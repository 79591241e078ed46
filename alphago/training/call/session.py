"""The function `train`: it plans a run, opens or resumes its folder, trains (loop.py) and saves."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from alphago.env.game import GameEnv, check_env
from alphago.mcts.evaluator import as_network
from alphago.mcts.warm_up import warm_up
from alphago.nn.inference.gpu_forms import translate_out_of_memory
from alphago.nn.inference.hardware import find_device
from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.live_bar import LiveBar
from alphago.system.validation import UNSET, Unset, check_positive, checks_keywords
from alphago.training.call.compact import check_network, make_compact
from alphago.training.call.plan import Plan, TrainCall, new_run, old_run
from alphago.training.call.progress import RunProgress
from alphago.training.call.summary import longer
from alphago.training.history import METRICS, Row, read_rows, unreadable_lines
from alphago.training.judge import JudgeSettings
from alphago.training.judges.proof import Opponent, expectation
from alphago.training.learner import Learner, MakeLearner
from alphago.training.loop import train_loop
from alphago.training.memory import MemorySettings
from alphago.training.metrics import OTHER
from alphago.training.parts import plain_part, plain_settings, plain_value
from alphago.training.run import Run, Stopped
from alphago.training.runs.config import holds_run, version_errors
from alphago.training.runs.folder import LOGS, RunFolder, default_folder, new_folder
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import TrainingSettings
from alphago.training.source import MakeSource
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.live_report import usual_report
from alphago.training.watch.report import Report, Reporter
from alphago.training.watch.run_clock import stopped_at, stopped_by_interrupt

MEASURED_MINUTES = 0.5  # minutes of training from which a run's speed is estimated


@checks_keywords(TrainingSettings)
def train(
    env: GameEnv,
    num_games: int | Unset | None = UNSET,
    *,
    preset: str | None = None,
    model: NeuralNet | str | Path | None = None,
    tower_height: int | None = None,
    channels: int | None = None,
    folder: str | Path | None = None,
    reports: Sequence[Report] | None = None,
    until: str | Opponent | Unset | None = UNSET,
    stop_after: float | None = None,
    compact: bool = False,
    device: str = "auto",
    source: MakeSource = SelfPlay,
    learner: MakeLearner = Learner,
    **settings: Any,
) -> NeuralNet:
    """Train a network on games against itself and return it.

    On Ctrl-C, and at the end of `max_minutes`, the run stops at the next move or gradient step, and everything is
    saved.  A later call with the same `folder` resumes the run.  A call with more games or minutes prolongs a finished
    run: the schedules then span the whole run, and the curriculum does not return to smaller boards.

    On a CPU, a run limited by `num_games` gives bit-identical weights whether or not it was interrupted or killed and
    resumed.  This does not hold for networks that draw random numbers, nor for an interrupt within an iteration of a
    search that keeps its trees (PUCT), since trees are not saved, nor for a run limited by `max_minutes`.  On a GPU,
    rounding errors differ from run to run.

    Args:
        env: the game that the network is to play in the end.
        num_games: number of games to play; without it, or with None, the run ends after `max_minutes` or the recipe's
            minutes.
        preset: the name of a recipe (see `alphago.training.recipes`), whose network and settings apply where this call
            gives none.  None: runs limited by time use the recipe of the board or of the next larger board, and runs
            limited by `num_games` use no recipe.
        model: a network to continue with, trained in place, or its name or path as for `load_model`; None for a new
            network of `tower_height` residual blocks and `channels` channels (see NeuralNet).  If the network is for
            another board or komi, the result is a network for `env` that shares its weights.
        folder: the run's folder (see RunFolder); None for a new folder under runs/.  If the folder holds a run, this
            call resumes the run with its own settings.  All settings may change except the game, the network and the
            settings in `alphago.training.call.plan.STRUCTURAL`.  Settings that the call leaves out keep their values;
            None unsets a setting, as in `gate=None` or `until=None`.
        reports: callbacks that report the run; None for a progress bar, or in a notebook for live curves.
        until: an opponent, such as "gnugo" or "rave:1000", that the network plays every minute of training; the run
            ends early when a sequential test proves that the network is stronger (see
            `alphago.training.judges.proof`; the proof is written to proof.json).  Without a proof, the final network
            plays the opponent too.  The time of these matches is not training time.
        stop_after: minutes after which this call stops as if by Ctrl-C, with everything saved.  The run's length and
            schedules still follow from `num_games` or `max_minutes`.  The minutes include loading and compiling.
            When they are over, the call completes the move or gradient step in progress, saves and returns.
        compact: whether to make the folder small enough to copy to another machine, at most 60 MiB and 16 MiB per file
            (see `alphago.training.call.compact`), by removing older networks and the memory's oldest games.  The run
            can be resumed there, but is no longer bit-identical to a run that was not made compact.
        device: the device of self-play and training: "cpu"; "cuda"; or "auto", the GPU if there is one that supports
            game and network.  If the GPU's memory runs out with "auto", the run reports that and continues on the CPU
            from its latest checkpoint.  The device is not a setting of the run, which may be resumed on another device.
        source: creates a GameSource (see `alphago.training.source`).  By default the threads of this process play the
            games; another class may play them on other machines.
        learner: creates the learner (see `alphago.training.learner`).  By default this process takes the gradient
            steps; another class may share them with other processes.
        settings: keywords of TrainingSettings.  With a `gate`, the run saves and returns the best network instead of
            the latest.

    Raises:
        ValueError: if a value is out of range, or a call changes a setting that a resumed run cannot change.
        BlockingIOError: if another process trains in the folder.
        OSError: if a file cannot be written; the latest checkpoint remains valid.
        BackendMissing: if device="cuda" and there is no usable GPU.
        MemoryError: if device="cuda" and the GPU's memory is too small.
        EngineError: if `until` or `watch` names an engine that is not installed or does not support the board.
    """
    check_env(env)
    sizes = {"tower_height": tower_height, "channels": channels}
    slice_of = Slice(folder, reports, stop_after, compact)
    return train_run(
        env,
        num_games,
        settings,
        slice_of,
        RunParts(source, learner),
        preset=preset,
        model=model,
        sizes=sizes,
        until=until,
        device=device,
    )


class RunParts(NamedTuple):
    """The parts of a run that are no settings.

    source, learner: create each stage's source of games, and the learner.
    memory: the settings of each stage's memory; None for those of the run.  judges: judges in addition to the plan's.
    command: the command that resumes the run, with `--folder`.  notes: sentences to report when the run begins.
    """

    source: MakeSource = SelfPlay
    learner: MakeLearner = Learner
    memory: MemorySettings | None = None
    judges: Sequence[JudgeSettings[Run]] = ()
    command: str = "alphago train"
    notes: Sequence[str] = ()


class Slice(NamedTuple):
    """The arguments of `train` that concern a single call; a run may consist of several calls.

    See `train` for their meaning.
    """

    folder: str | Path | None = None
    reports: Sequence[Report] | None = None
    stop_after: float | None = None
    compact: bool = False


def train_run(
    env: GameEnv,
    num_games: int | Unset | None,
    settings: Mapping[str, Any],
    slice_of: Slice,
    parts: RunParts,
    *,
    preset: str | None = None,
    model: NeuralNet | str | Path | None = None,
    sizes: Mapping[str, int | None],
    until: str | Opponent | Unset | None = UNSET,
    device: str = "auto",
) -> NeuralNet:
    """Train a network and return it; `train` and `train_supervised` call this function.

    settings: keywords of TrainingSettings.
    slice_of: the arguments of `train` that concern only this call.
    sizes: `tower_height` and `channels` of a new network, by name.
    The other arguments are as in `train`.
    """
    began = time.monotonic()
    network: Any = as_network(model, env)
    check_types(network, until, slice_of.reports)
    folder, reports, stop_after, compact = slice_of
    deadline = None if stop_after is None else began + 60 * check_positive("stop_after, in minutes,", stop_after)
    where = find_device(env, device)  # raises now if it does not exist
    compiles = warm_up() is not None
    given_sizes = {name: size for name, size in sizes.items() if size is not None}
    opponent = Opponent(until) if isinstance(until, str) else until
    call = TrainCall(env, num_games, preset, network, given_sizes, opponent, settings, where)
    name = f"{env.name}{env.N}"
    path = Path(folder) if folder is not None else default_folder(name)
    first = "compiling, once on this machine"
    with LiveBar(desc=first, bar_format="{desc}: {elapsed}", leave=False, disable=reports is not None or not compiles):
        plan = None if holds_run(path) else new_run(call)  # raises, before anything is written, where it cannot train
    if plan is not None and compact:
        check_network(plan.model)
    with RunFolder(path if folder is not None else new_folder(name)) as run_folder:
        if run_folder.config is not None:
            plan = old_run(call, run_folder.config, path)
        assert plan is not None
        if compact:
            check_network(plan.model)
        if where != "cpu":
            where = plan.model.evaluator(
                device=device, shared=False
            ).device  # the CPU for a network that the GPU cannot compute
        notes = list(parts.notes)
        while True:
            stop = threading.Event()
            try:
                with (
                    translate_out_of_memory(), stopped_by_interrupt(stop), stopped_at(deadline, stop),
                    run_for(plan, env, run_folder, reports, where, parts) as run, explain_divergence(run),
                ):  # fmt: skip
                    anything_to_do = begin(run, plan, notes)
                    with suppress(Stopped), run.stopwatch.running(OTHER):
                        train_loop(run, stop)
                    return finish(run, plan, stopped=stop.is_set(), compact=compact, save=anything_to_do)
            except MemoryError as error:
                if device != "auto" or where == "cpu":
                    raise
                notes = [f"{error}: this run continues on the CPU, from where it was saved"]
                where, run = "cpu", None  # frees the GPU's memory
            finally:
                plan.model.cpu()


def check_types(model: Any, until: Any, reports: Any) -> None:
    """Raise TypeError if an argument of `train` has a wrong type."""
    if model is not None and not isinstance(model, NeuralNet):
        raise TypeError(f"model must be a NeuralNet, a name or path as load_model takes it, or None, got {model!r}")
    if until is not None and not isinstance(until, (str, Opponent, Unset)):
        raise TypeError(f"until must be an opponent's name, an Opponent or None, got {until!r}")
    if reports is not None and not (isinstance(reports, Sequence) and all(isinstance(one, Report) for one in reports)):
        raise TypeError(f"reports must be a list of objects of classes derived from Report, or None, got {reports!r}")


@contextmanager
def run_for(
    plan: Plan,
    env: GameEnv,
    folder: RunFolder,
    reports: Sequence[Report] | None,
    device: str,
    parts: RunParts,
) -> Iterator[Run]:
    """Create the run of a plan, with its threads, reports and judges, and close them after the `with` block.

    reports: as in `train`.  device: where to play and train.
    """
    groups = plan.settings.groups or 1
    with one_torch_thread(), Workers(groups) as workers, GpuMeter() as meter, usual_report(parts.command) as console:
        run = Run(
            env,
            plan.model,
            plan.settings,
            folder,
            workers,
            device=device,
            memory=parts.memory,
            make_source=parts.source,
            make_learner=parts.learner,
        )
        rows = read_rows(folder.path / METRICS, "seconds")
        run.reporter = Reporter(
            [console] if reports is None else reports,
            plain_settings(plan.settings), rows, meter, partial(estimate, plan) if plan.positions_to_beat else None,
        )  # fmt: skip
        judges = [*plan.judges, *parts.judges, *([plan.watch] if plan.watch else [])]
        run.judges = [judge.make_judge(env, plan.model, folder.path) for judge in judges]
        with ExitStack() as stack:
            stack.callback(run.close)
            yield run


@contextmanager
def explain_divergence(run: Run) -> Iterator[None]:
    """Add the sentence of `divergence` to a ValueError in the `with` block if the network's weights have diverged."""
    try:
        yield
    except ValueError as error:
        if not run.learner.has_diverged:
            raise
        raise ValueError(f"{error}; {divergence(run)}") from error


def divergence(run: Run) -> str:
    """Return a sentence that says that training has diverged and needs a lower learning rate."""
    return (
        f"training has diverged after {run.learner.steps} gradient steps: a new run needs a lower learning_rate than "
        f"{run.settings.learning_rate:g}"
    )


def begin(run: Run, plan: Plan, notes: Sequence[str]) -> bool:
    """Open the run with `open_run`, start the reports, and report how the run begins.

    notes: sentences to report first.
    Returns whether anything is left to do: training, a match, or the repair of damaged files.
    """
    damage, news = open_run(run, plan)
    run.reporter.metrics = run.reporter.metrics or {"games": run.games, "steps": run.learner.steps}
    progress = RunProgress(run, plan.step_seconds)
    for report in run.reporter.reports:
        report.start(run.folder.path, plain_settings(plan.settings), progress)
    run.reporter.reports = [progress, *run.reporter.reports]
    if run.device != "cpu":
        run.note(f"boards and network are on {run.device}")
    run.note(*notes, *damage, *news)
    return bool(damage) or not run.is_over or any(judge.due(run) for judge in run.judges)


def open_run(run: Run, plan: Plan) -> tuple[list[str], list[str]]:
    """Start a new run and write its folder, or resume the run in its folder.

    Returns two lists of sentences to report: about damaged files, which a checkpoint must repair, and about the run.
    """
    folder = run.folder
    if folder.config is None:
        run.start()
        run.publish()
        run.checkpoint()
        folder.write_config(plan.config)
        run.clock.set(0.0)
        height, width = run.goal.plane_shape
        news = [
            f"a new run of {run.goal} begins in {folder.path}",
            f"its network is {plan.model}, from {run.goal.planes} planes of {height}x{width}",
        ]
        return [], [*news, *plan.notes]
    with version_errors(folder.path, "a state"):
        state = folder.restore()
        damage = [*state.notes, *run.restore(state)]
    damage += folder.check_weights(run.player if run.is_over else None)
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = list(filter(None, (unreadable_lines(folder.path / name) for name in LOGS)))
    news += [f"{name} is {now!r} from now on, not {was!r}" for name, (was, now) in plan.changes.items()]
    if plan.changes:
        folder.write_config(plan.config | {"changes": [*plan.config["changes"], *log_changes(plan.changes, run.games)]})
    if run.is_proved:
        news.append(f"this run ended {where}, with its proof; to prolong it, set a stronger opponent (until) or None")
    elif run.is_over:
        news.append(f"this run ended {where}; to prolong it, raise num_games or max_minutes")
    else:
        news.append(f"this run goes on {where}")
    if run.compacted:
        times = "once" if run.compacted == 1 else f"{run.compacted} times"
        news.append(f"its folder was made compact {times}: it goes on without its oldest games, so not bit-identical")
    return damage, news


def finish(run: Run, plan: Plan, *, stopped: bool, compact: bool, save: bool) -> NeuralNet:
    """Report the run's end and return its network.

    stopped: whether the call was stopped early.  compact: whether to make the folder compact.
    save: whether to save the run first.
    """
    latest = run.checkpoint(keep=run.is_over) if save else run.folder.path / LATEST
    if run.is_over and not stopped and save:
        run.note(*filter(None, (judge.conclusion(longer(vars(run.settings), run.games)) for judge in run.judges)))
    run.note(*run.reporter.final_findings(), *([divergence(run)] if run.learner.has_diverged else []))
    if compact:
        run.note(compact_folder(run))
    # Only after saving: until here `plan.model` has the latest weights, which the checkpoint needs.
    plan.model.load_state_dict(run.player.state_dict())
    plan.model.notes = notes_of(read_weights(latest)[1])
    for report in run.reporter.reports:
        report.finish(run.reporter.metrics, latest, stopped)
    return plan.model.eval()


def compact_folder(run: Run) -> str:
    """Make the run's folder compact, log that in config.json, and return a sentence about it.

    The run must have just been saved by a checkpoint.
    """
    folder = run.folder
    run.compacted += 1
    size = make_compact(folder, run.state(), run.stage.env.N)
    assert folder.config is not None
    entry = {"games": run.games, "kept_games": size.games, "of": size.games_before}
    folder.write_config(folder.config | {"compacted": [*folder.config["compacted"], entry]})
    return str(size)


def estimate(plan: Plan, metrics: Row) -> str | None:
    """Return a sentence that estimates when the network beats the opponent `plan.until`.

    plan: the run's plan.  metrics: an iteration's row of metrics.jsonl.
    Returns None while the speed is unknown, and "" if the estimated time has passed.
    """
    if plan.until is None or metrics["seconds"] <= 60 * MEASURED_MINUTES:
        return None
    if plan.positions_to_beat <= metrics["positions"]:
        return ""
    return expectation(metrics, plan.positions_to_beat, plan.until.name)


def log_changes(changes: Mapping[str, tuple[Any, Any]], games: int) -> list[dict[str, Any]]:
    """Return entries for the list "changes" in config.json, one for each changed setting.

    changes: for each changed setting, its old and its new value.  games: number of games of the run so far.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, tuple) and any(map(is_dataclass, value)):
            return [plain_part(part) for part in value]
        return plain_part(value) if hasattr(value, "make_judge") else plain_value(value)

    pairs = {name: [plain(value) for value in pair] for name, pair in changes.items()}
    return [{"games": games, "setting": name, "was": was, "now": now} for name, (was, now) in pairs.items()]
