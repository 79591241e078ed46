"""The function `train`: it plans a run, opens or resumes its folder, trains (loop.py) and saves."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from alphago.env.game import GameEnv, check_env
from alphago.mcts.warm_up import warm_up
from alphago.nn.inference.gpu_forms import translate_out_of_memory
from alphago.nn.inference.hardware import why_not_gpu
from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.nn.net import NeuralNet
from alphago.system.files import user_path
from alphago.system.live_bar import LiveBar
from alphago.system.user_warning import warn_user
from alphago.system.validation import UNSET, Unset, check_positive, checks_keywords
from alphago.training.call.opening import RunT, SelfPlayKind, TrainingKind, begin, open_run
from alphago.training.call.plan import Plan, Settings, TrainCall
from alphago.training.call.summary import longer
from alphago.training.judges.proof import Opponent
from alphago.training.learner import Learner, MakeLearner
from alphago.training.metrics import OTHER
from alphago.training.run import Run, Stopped
from alphago.training.run_parts import RUN
from alphago.training.runs.config import holds_run
from alphago.training.runs.folder import RunFolder, default_folder, new_folder
from alphago.training.runs.going_on import call_options
from alphago.training.selfplay import SelfPlay
from alphago.training.source import MakeSource
from alphago.training.watch.report import Report
from alphago.training.watch.run_clock import stopped_at, stopped_by_interrupt
from alphago.training.workers.playing_crew import playing_crew


@checks_keywords(RUN.keywords)
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
    device: str = "auto",
    source: MakeSource = SelfPlay,
    learner: MakeLearner = Learner,
    workers: str | int | None = None,
    max_lag: int | None = None,
    **settings: object,
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
            network of `tower_height` residual blocks and `channels` channels (see NeuralNet).  With larger sizes than
            the network's, a new network that computes the same goes on (`alphago.nn.growing`).  If the network is for
            another board or komi, the result is a network for `env` that shares its weights.
        folder: the run's folder (see RunFolder); None for a new folder under runs/.  If the folder holds a run, this
            call resumes the run with its own settings.  All settings may change except the game, the network, and what
            the games so far depend on (`seed`, `groups`, `games_in_flight`, `curriculum`, `memory` and others).
            Settings that the call leaves out keep their values; None unsets a setting, as in `gate=None` or
            `until=None`.
        reports: callbacks that report the run; None for a progress bar, or in a notebook for live curves.
        until: an opponent, such as "gnugo" or "rave:1000", that the network plays every minute of training; the run
            ends early when a sequential test proves that the network is stronger (see
            `alphago.training.judges.proof`; the proof is written to proof.json).  Without a proof, the final network
            plays the opponent too.  The time of these matches is not training time.
        stop_after: minutes after which this call stops as if by Ctrl-C, with everything saved.  The run's length and
            schedules still follow from `num_games` or `max_minutes`.  The minutes include loading and compiling.
            When they are over, the call completes the move or gradient step in progress, saves and returns.
        device: the device of self-play and training: "cpu"; "cuda"; or "auto", the GPU if there is one that supports
            game and network.  If the GPU's memory runs out with "auto", the run reports that and continues on the CPU
            from its latest checkpoint.  The device is not a setting of the run, which may be resumed on another device.
        source: creates a GameSource (see `alphago.training.source`).  By default the threads of this process play the
            games; another class may play them on other machines.
        learner: creates the learner (see `alphago.training.learner`).  By default this process takes the gradient
            steps; another class may share them with other processes.
        workers: who plays the games, instead of `source`: a number of processes on this machine; "auto" for the Ray
            cluster that runs on this machine, if one does; a cluster's address, as "10.0.0.1:6379"; or "folder:PATH"
            for the workers of `alphago worker --folder PATH`.  The games are those of one process with as many
            `groups`, bit for bit unless `max_lag` says otherwise, and a run may be resumed with other workers or none.
            All but a folder needs the extra `ray`.
        max_lag: with workers, lets them play on while the network learns, with one that is at most so many versions
            old; the run is then not bit-identical to another one.  0: they wait for each new network.  None: 0 with
            fewer than 64 groups, otherwise 1.
        settings: settings of the run, by name: those of RunSettings, of its groups SelfPlaySettings and
            LearningSettings, and of its parts (see `alphago.training.run_parts`).  With a `gate`, the run saves and
            returns the best network instead of the latest.

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
    call = TrainCall.of(
        env, num_games, settings=settings, preset=preset, model=model, sizes=sizes, until=until, device=device
    )
    crew = playing_crew(workers, max_lag)
    if crew is None:
        kind = SelfPlayKind(source, learner)
    else:
        kind = SelfPlayKind(crew, learner, default_settings=crew.default_settings)
    # Options of this call that the run does not keep: the command that goes on with the run repeats them.
    options = call_options({"workers": workers, "max_lag": max_lag, "device": None if device == "auto" else device})
    return train_run(call, Slice(folder, reports, stop_after, options), kind)


class Slice(NamedTuple):
    """The arguments of `train` that concern a single call; a run may consist of several calls.

    options: options that the run's folder does not keep, written as on the command line.  The others: see `train`.
    """

    folder: str | Path | None = None
    reports: Sequence[Report] | None = None
    stop_after: float | None = None
    options: str = ""


def train_run(call: TrainCall, this_call: Slice, kind: TrainingKind[Settings, RunT]) -> NeuralNet:
    """Train a network and return it; `train` and `train_supervised` call this function.

    call, this_call: the arguments that make the run, and those that concern this call alone.
    kind: whether the run learns from self-play or from given games.
    """
    began = time.monotonic()
    check_reports(this_call.reports)
    minutes = this_call.stop_after
    deadline = None if minutes is None else began + 60 * check_positive("stop_after, in minutes,", minutes)
    with open_folder(call, this_call, kind) as (folder, plan):
        notes = list(kind.notes)
        devices = devices_of(call, plan.model)
        if call.may_change and devices == ["cpu"] and (why := why_not_gpu(call.env)):
            notes.append(f"boards and network are on the CPU, since the GPU cannot be used: {why}")
        for device in devices:
            stop = threading.Event()
            try:
                with translate_out_of_memory(), stopped_by_interrupt(stop), stopped_at(deadline, stop):
                    train_on(device, plan, folder, this_call, kind, notes=notes, stop=stop)
                break
            except MemoryError as error:
                if device == devices[-1]:
                    raise
                notes = [f"{error}: this run continues on the CPU, from where it was saved"]
            finally:
                plan.model.cpu()
    return plan.model


def check_reports(reports: object) -> None:
    """Raise TypeError unless the argument `reports` of `train` is None or a list of reports."""
    if reports is not None and not (
        isinstance(reports, Sequence) and all(isinstance(report, Report) for report in reports)
    ):
        raise TypeError(f"reports must be a list of objects of classes derived from Report, or None, got {reports!r}")


def devices_of(call: TrainCall, model: NeuralNet) -> list[str]:
    """Return the devices to train on: the call's, then the CPU if it may replace a GPU that runs out of memory."""
    if call.device == "cpu":
        return ["cpu"]
    asked = "auto" if call.may_change else call.device
    device = model.evaluator(device=asked, shared=False).device  # the CPU for a network that the GPU cannot compute
    return [device, *(["cpu"] if call.may_change and device != "cpu" else [])]


@contextmanager
def open_folder(
    call: TrainCall, this_call: Slice, kind: TrainingKind[Settings, RunT]
) -> Iterator[tuple[RunFolder, Plan[Settings]]]:
    """Open the run's folder, and plan the run.

    A new run is planned before its folder is made, so that an invalid call leaves no folder.  A resumed run is planned
    in its locked folder.
    """
    name = f"{call.env.name}{call.env.N}"
    path = default_folder(name) if this_call.folder is None else user_path(this_call.folder)
    compiles = warm_up() is not None
    shows_bar = compiles and this_call.reports is None
    bar = LiveBar(
        desc="compiling, once on this machine", bar_format="{desc}: {elapsed}", leave=False, disable=not shows_bar
    )
    with bar:
        plan = None if holds_run(path) else kind.new_plan(call)
    # Another process may have made `path` meanwhile, where the call names no folder.
    with RunFolder(new_folder(name) if this_call.folder is None else path) as folder:
        if folder.config is not None:
            plan = kind.resumed_plan(call, folder.config, path)
        assert plan is not None
        yield folder, plan


def train_on(
    device: str,
    plan: Plan[Settings],
    folder: RunFolder,
    this_call: Slice,
    kind: TrainingKind[Settings, RunT],
    *,
    notes: Sequence[str],
    stop: threading.Event,
) -> None:
    """Train on a device until the run is over or `stop` is set; `plan.model` becomes the run's network.

    notes: sentences to report when the run begins.
    """
    with (
        open_run(plan, folder, this_call.reports, kind, device, options=this_call.options) as (run, state),
        explain_divergence(run),
    ):
        damage = [] if state is None else state.notes
        begin(run, plan, kind, [*notes, *damage], is_new=state is None)
        anything_to_do = bool(damage) or not run.is_over or any(judge.due(run) for judge in run.judges)
        with suppress(Stopped), run.stopwatch.running(OTHER):
            kind.loop(run, stop)
        finish(run, plan, stopped=stop.is_set(), save=anything_to_do)


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
        f"{run.settings.learning.learning_rate:g}"
    )


def finish(run: Run, plan: Plan[Any], *, stopped: bool, save: bool) -> None:
    """Report the run's end; `plan.model` becomes its network.

    stopped: whether the call was stopped early.
    save: whether to save the run first; False if this call had nothing to do.
    """
    latest = run.checkpoint(keep=run.is_over) if save else run.folder.path / LATEST
    ends_with_this_call = run.is_over and save and not stopped
    if ends_with_this_call:
        option = longer(vars(run.settings), run.games)
        run.note(*filter(None, (judge.conclusion(option) for judge in run.judges)))
        if run.learner.steps == 0:
            tell_that_nothing_was_learned(run)
    run.note(*run.reporter.final_findings())
    if run.learner.has_diverged:
        run.note(divergence(run))
    # Only after the checkpoint: until here `plan.model` is the network that trains, whose latest weights are saved.
    # The run's network may be an earlier one, which a judge has chosen.
    plan.model.load_state_dict(run.player.state_dict())
    _, description = read_weights(latest)
    plan.model.notes = notes_of(description)
    plan.model.eval()
    for report in run.reporter.reports:
        report.finish(run.reporter.metrics, latest, stopped)


def tell_that_nothing_was_learned(run: Run) -> None:
    """Note that a run is over without a gradient step, or warn of it if no report shows notes."""
    text = (
        f"this run is over ({run.clock.seconds / 60:.1f} minutes, games: {run.games}) without a gradient step: "
        "its network is as it began"
    )
    if run.reporter.shows_notes:
        run.note(text)
    else:
        warn_user(text)
