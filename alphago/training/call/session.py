"""The function `train`: it settles how a run starts, opens its folder, trains (loop.py) and saves."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from alphago.env.game import GameEnv, check_env
from alphago.mcts.warm_up import warm_up
from alphago.nn.inference.gpu_forms import translate_out_of_memory
from alphago.nn.inference.hardware import why_not_gpu
from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.files import user_path
from alphago.system.interrupts import stopped_at, stopped_by_interrupt
from alphago.system.live_bar import LiveBar
from alphago.system.settings import keywords, spread
from alphago.system.user_warning import warn_user
from alphago.system.validation import UNSET, Unset, check_positive, checks_keywords
from alphago.training.call.news import news_of_beginning, news_of_going_on
from alphago.training.call.progress import RunProgress, SelfPlayProgress
from alphago.training.call.start import NetworkWish, Start, new_run, resumed_run
from alphago.training.call.summary import longer
from alphago.training.history import METRICS, read_rows
from alphago.training.judges.made import make_judges
from alphago.training.learner import Learner, MakeLearner
from alphago.training.loop import train_loop
from alphago.training.metrics import OTHER
from alphago.training.run import Run, Stopped
from alphago.training.runs.config import flat_settings, holds_run, version_errors
from alphago.training.runs.folder import RunFolder, default_folder, new_folder
from alphago.training.runs.going_on import call_options, how_to_continue
from alphago.training.selfplay import SelfPlay
from alphago.training.selfplay_run import SelfPlayRun
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import MakeSource
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.live_report import usual_report
from alphago.training.watch.report import Report, Reporter
from alphago.training.workers.playing_crew import playing_crew

RunT = TypeVar("RunT", bound=Run)
FEW_STEPS = 100  # gradient steps below which a network has hardly begun: one of 57 was weaker than random moves


@checks_keywords(keywords(RunSettings))
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
            gives none.  None: the recipe of the board, or of the next larger board that has one; runs of fewer than
            5 000 games take its network, and the settings "few-games" in recipes.toml.
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
        settings: settings of the run: those of RunSettings, of its groups SelfPlaySettings and LearningSettings, and of
            its parts, by keyword or by path, `**{"search.virtual_loss": 3}` (see `alphago.system.settings`).  With a
            `gate`, the run saves and returns the best network instead of the latest.

    Raises:
        ValueError: if a value is out of range, or a call changes a setting that a resumed run cannot change.
        BlockingIOError: if another process trains in the folder.
        OSError: if a file cannot be written; the latest checkpoint remains valid.
        BackendMissing: if device="cuda" and there is no usable GPU.
        MemoryError: if device="cuda" and the GPU's memory is too small.
        EngineError: if `until` or `watch` names an engine that is not installed or does not support the board.
    """
    check_env(env)
    # Options of this call that the run does not keep: the command that goes on with the run repeats them.
    options = {"workers": workers, "max_lag": max_lag, "device": None if device == "auto" else device}
    call = Call.of(reports, stop_after, options)
    wish = NetworkWish.of(model, env, device, tower_height=tower_height, channels=channels)
    if num_games is not UNSET:
        settings["num_games"] = num_games
    given = spread(RunSettings, settings)
    crew = playing_crew(workers, max_lag)

    def begin() -> Start:
        defaults = {} if crew is None else spread(RunSettings, crew.default_settings(settings))
        return new_run(env, {**defaults, **given}, preset, wish)

    def go_on(config: Mapping[str, Any], path: Path) -> Start:
        return resumed_run(env, given, preset, wish, config=config, folder=path)

    with open_folder(env, folder, begin, go_on, shows_bar=reports is None) as (run_folder, start):

        def make_run(**parts: Any) -> SelfPlayRun:
            settings = start.settings
            assert isinstance(settings, RunSettings)
            judges = make_judges(settings, start.watch, env, start.model, run_folder.path)
            parts |= {"judges": judges, "make_source": crew or source, "make_learner": learner}
            return SelfPlayRun(settings, start.model, env=env, folder=run_folder, **parts)

        progress = partial(SelfPlayProgress, step_seconds=start.step_seconds)
        return train_run(start, run_folder, call, wish, make_run, train_loop, make_progress=progress)


class Call(NamedTuple):
    """What concerns a single call of `train`; a run may consist of several calls.

    reports: see `train`.
    deadline: the value of time.monotonic() at which the call stops; None for no limit.
    options: options that the run's folder does not keep, written as on the command line.
    """

    reports: Sequence[Report] | None
    deadline: float | None
    options: str

    @classmethod
    def of(cls, reports: object, stop_after: float | None, options: Mapping[str, Any]) -> "Call":
        """Return the call that begins now; raise TypeError or ValueError unless the arguments are as `train` says."""
        if reports is not None and not (
            isinstance(reports, Sequence) and all(isinstance(report, Report) for report in reports)
        ):
            raise TypeError(
                f"reports must be a list of objects of classes derived from Report, or None, got {reports!r}"
            )
        minutes = None if stop_after is None else check_positive("stop_after, in minutes,", stop_after)
        deadline = None if minutes is None else time.monotonic() + 60 * minutes
        return cls(reports, deadline, call_options(options))


def train_run(
    start: Start,
    folder: RunFolder,
    call: Call,
    wish: NetworkWish,
    make_run: Callable[..., RunT],
    loop: Callable[[RunT, threading.Event], None],
    *,
    make_progress: Callable[[RunT], RunProgress] = RunProgress,
    notes: Sequence[str] = (),
) -> NeuralNet:
    """Train the network of `start` and return it; `train` and `train_supervised` end here.

    make_run: makes the run from its workers, reporter, device and state.
    loop: trains until the run is over; raises Stopped if the event is set within an iteration or a match.
    notes: sentences to report when the run begins.
    """
    devices = devices_of(wish, start.model)
    if wish.may_change and devices == ["cpu"] and (why := why_not_gpu(start.model.env)):
        notes = [*notes, f"boards and network are on the CPU, since the GPU cannot be used: {why}"]
    for device in devices:
        stop = threading.Event()
        try:
            with (
                translate_out_of_memory(),
                stopped_by_interrupt(stop),
                stopped_at(call.deadline, stop),
                open_run(start, folder, call, device, make_run) as (run, is_new),
                explain_divergence(run),
            ):
                begin(run, start, make_progress(run), notes, is_new=is_new)
                anything_to_do = bool(run.damage) or not run.is_over or any(judge.due(run) for judge in run.judges)
                with suppress(Stopped), run.stopwatch.running(OTHER):
                    loop(run, stop)
                finish(run, start.model, stopped=stop.is_set(), save=anything_to_do)
            break
        except MemoryError as error:
            if device == devices[-1]:
                raise
            notes = [f"{error}: this run continues on the CPU, from where it was saved"]
        finally:
            start.model.cpu()
    return start.model


def devices_of(wish: NetworkWish, model: NeuralNet) -> list[str]:
    """Return the devices to train on: the call's, then the CPU if it may replace a GPU that runs out of memory."""
    if wish.device == "cpu":
        return ["cpu"]
    asked = "auto" if wish.may_change else wish.device
    device = model.evaluator(device=asked, shared=False).device  # the CPU for a network that the GPU cannot compute
    return [device, *(["cpu"] if wish.may_change and device != "cpu" else [])]


@contextmanager
def open_folder(
    env: GameEnv,
    folder: str | Path | None,
    begin: Callable[[], Start],
    go_on: Callable[[Mapping[str, Any], Path], Start],
    *,
    shows_bar: bool,
) -> Iterator[tuple[RunFolder, Start]]:
    """Open a run's folder, and settle how the run starts.

    folder: see `train`.
    begin: settles how a new run starts.  It is called before the folder is made: an invalid call leaves no folder.
    go_on: settles how the run in a locked folder, with this config, goes on.
    shows_bar: whether to show how long kernels are compiled.
    """
    name = f"{env.name}{env.N}"
    path = default_folder(name) if folder is None else user_path(folder)
    shows_bar = warm_up() is not None and shows_bar
    label = "compiling, once on this machine"
    with LiveBar(desc=label, bar_format="{desc}: {elapsed}", leave=False, disable=not shows_bar):
        start = None if holds_run(path) else begin()
    # Another process may have made `path` meanwhile, where the call names no folder.
    with RunFolder(new_folder(name) if folder is None else path) as opened:
        if opened.config is not None:
            start = go_on(opened.config, path)
        assert start is not None
        yield opened, start


@contextmanager
def open_run(
    start: Start, folder: RunFolder, call: Call, device: str, make_run: Callable[..., RunT]
) -> Iterator[tuple[RunT, bool]]:
    """Begin a run, or continue it from its folder, and close it after the `with` block.

    device: where to play and train.  make_run: as in `train_run`.
    Yields the run, and whether it is new.
    """
    with (
        one_torch_thread(),
        Workers(start.settings.thread_count) as workers,
        GpuMeter() as meter,
        usual_report(call.options) as console,
    ):
        state = None
        if folder.config is not None:
            with version_errors(folder.path, "a state"):
                state = folder.restore()
        reporter = Reporter(
            [console] if call.reports is None else call.reports,
            flat_settings(start.config),
            read_rows(folder.path / METRICS, "seconds"),
            meter,
            estimate=start.estimate if start.positions_to_beat else None,
        )
        # With a state, a TypeError or KeyError means that another version wrote the state.
        with nullcontext() if state is None else version_errors(folder.path, "a state"):
            run = make_run(workers=workers, reporter=reporter, device=device, state=state)
        with closing(run):
            if state is None:
                run.checkpoint()  # before the config: a folder with a config counts as a run that can be resumed
                folder.write_config(start.config)
                run.clock.set(0.0)  # training begins only now
            else:
                run.damage += folder.check_weights(run.player if run.is_over else None)
            yield run, state is None


def begin(run: Run, start: Start, progress: RunProgress, notes: Sequence[str], *, is_new: bool) -> None:
    """Start the reports, and report how the run begins; notes: sentences to report first."""
    # Before the first iteration there are no metrics: the reporter gets these two numbers instead.
    run.reporter.metrics = run.reporter.metrics or {"games": run.games, "steps": run.learner.steps}
    run.reporter.start(run.folder.path, flat_settings(start.config), progress)
    if run.device != "cpu":
        run.note(f"boards and network are on {run.device}")
    news = news_of_beginning(run, start) if is_new else news_of_going_on(run, start)
    run.note(*notes, *run.damage, *news)


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


def finish(run: Run, model: NeuralNet, *, stopped: bool, save: bool) -> None:
    """Report the run's end; `model` becomes its network.

    stopped: whether the call was stopped early.
    save: whether to save the run first; False if this call had nothing to do.
    """
    latest = run.checkpoint(keep=run.is_over) if save else run.folder.path / LATEST
    ends_with_this_call = run.is_over and save and not stopped
    if ends_with_this_call:
        option = longer(vars(run.settings), run.games)
        tell_that_little_was_learned(run, option)
        run.note(*filter(None, (judge.conclusion(option) for judge in run.judges)))
    run.note(*run.reporter.final_findings())
    if run.learner.has_diverged:
        run.note(divergence(run))
    # Only after the checkpoint: until here `model` is the network that trains, whose latest weights are saved.
    # The run's network may be an earlier one, which a judge has chosen.
    model.load_state_dict(run.player.state_dict())
    _, description = read_weights(latest)
    model.notes = notes_of(description)
    model.eval()
    for report in run.reporter.reports:
        report.finish(run.reporter.metrics, latest, stopped)


def tell_that_little_was_learned(run: Run, option: str) -> None:
    """Note that a run is over with next to no gradient steps; without any, warn of it if no report shows notes.

    option: of the command line, with which the run goes on twice as long.
    """
    steps = run.learner.steps
    over = f"this run is over ({run.clock.seconds / 60:.1f} minutes, games: {run.games})"
    longer = f"a longer run learns more: {how_to_continue(run.folder.path, option)}"
    if steps and steps < FEW_STEPS:
        run.note(f"{over} after {steps} gradient steps: its network may still lose to random moves; {longer}")
    if steps:
        return
    text = f"{over} without a gradient step: its network is as it began"
    if run.reporter.shows_notes:
        run.note(f"{text}; {longer}")
    else:
        warn_user(text)
