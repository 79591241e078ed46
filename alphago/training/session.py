"""The call: `train` plans a run, opens or resumes its folder, trains (loop.py) and saves."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv, check_env
from alphago.mcts.warm_up import warm_up
from alphago.nn.inference.gpu import translate_out_of_memory
from alphago.nn.inference.hardware import find_device
from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.validation import UNSET, Unset, check_positive, checks_keywords
from alphago.training.group import SelfPlay
from alphago.training.history import METRICS, Row, read_rows
from alphago.training.judges.criteria import Gate, Opponent
from alphago.training.judges.gate import Gatekeeper
from alphago.training.judges.proof import Examiner, expectation
from alphago.training.loop import train_loop
from alphago.training.run import Run, Stopped
from alphago.training.runs.compact import check_network, make_compact
from alphago.training.runs.config import holds_run, version_errors
from alphago.training.runs.folder import RunFolder, default_folder, new_folder
from alphago.training.runs.resume import Plan, TrainCall, new_run, old_run
from alphago.training.runs.summary import longer
from alphago.training.selfplay import MakeSource
from alphago.training.settings import TrainingSettings, plain_search
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.metrics import OTHER
from alphago.training.watch.report import ConsoleReport, Report, Reporter
from alphago.training.watch.run_clock import stopped_at, stopped_by_interrupt

MEASURED_MINUTES = 0.5  # of training, after which its speed is known


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
    source: MakeSource = SelfPlay,
    **settings: Any,
) -> NeuralNet:
    """Train a network from games against itself and return it.

    Ctrl-C ends the run at the next move or gradient step, with everything saved; so does the end of `max_minutes`,
    which a call with more of them prolongs: schedules then span the whole, and a curriculum does not turn back.  A run
    that is counted in games and goes on after an interrupt, or after it was killed, gives the same network on a CPU as
    an undisturbed one, to the last bit.  (Not where the network draws random numbers of its own, nor after an interrupt
    within an iteration of PUCT, whose trees are not saved.  A run by the clock goes on from the time that was saved.)
    On a GPU sums differ in their last bits from run to run, and with them, after a while, the games.

    Args:
        num_games: games to play; None, or left out, for a run that ends by the clock: after `max_minutes`, or those of
            the recipe.
        preset: a recipe by its name (see `alphago.training.recipes`): network and settings that this call does not
            set.  None: timed runs use the board's recipe, or the next larger board's; counted runs use none.
        model: a network to go on with, trained in place; None for a new one of `tower_height` residual blocks and
            `channels` channels (see NeuralNet).  Of one for another board or komi the weights are trained in place,
            and what is returned is a network for `env` that shares them.
        folder: where the run is kept (see RunFolder); None for a new one under runs/.  If there is a run in it, it goes
            on where it was, with the settings of this call: all may change but those in
            `alphago.training.runs.resume.STRUCTURAL`; game and network may not.  What the call leaves out is as
            before, and None takes a setting off: `gate=None`, `until=None`.
        reports: callbacks that follow the run; None for a progress bar.
        until: an opponent, such as "gnugo" or "rave:1000", that the network plays every minute of training; the run
            ends early when it is proved to be the stronger one (a sequential test, see
            `alphago.training.judges.proof`; the proof is written to proof.json).  Without a proof its final network is
            examined too.  The time that these matches take is not training time.
        stop_after: minutes after which this call stops as if by Ctrl-C, with everything saved: a slice of a run whose
            length and schedules follow from `num_games` or `max_minutes`.  All that the call does counts; the
            move or gradient step in progress and the saving come on top.
        compact: whether to leave a folder that is easily carried to another machine, at most 60 MiB and 16 MiB a file
            (see `alphago.training.runs.compact`): older networks go, and so do the oldest games of the memory.  It goes
            on there as any run, but no longer with the same bits as it would have.
        device: where games are played and the network learns: "cpu"; "cuda"; or "auto", the GPU where there is one
            that suits game and network, and as long as its memory is enough: then the run goes on on the CPU from
            where it was saved, and says so.  It is no setting of the run, which may go on elsewhere.
        source: what makes the GameSource of each board (see `alphago.training.selfplay`): the threads of this process,
            or a class of your own that plays the games elsewhere.
        settings: keywords of TrainingSettings: `sizes` plays several boards side by side, and with a `gate` it is the
            best network that is kept, saved and returned, instead of the latest.

    Raises:
        ValueError: that names both values for what a run cannot change.
        BlockingIOError: if another process trains in the folder.
        OSError: with a sentence if something cannot be written; the last checkpoint then stands.
        BackendMissing: for device="cuda" where there is none; MemoryError where its memory is too small.
        EngineError: where `until` names an engine that is not installed or refuses the board.
    """
    began = time.monotonic()
    check_env(env)
    check_types(model, until, reports)
    deadline = None if stop_after is None else began + 60 * check_positive("stop_after, in minutes,", stop_after)
    where = find_device(env, device)  # raises now if it does not exist
    warm_up()
    sizes = {"tower_height": tower_height, "channels": channels}
    given_sizes = {name: size for name, size in sizes.items() if size is not None}
    opponent = Opponent(until) if isinstance(until, str) else until
    call = TrainCall(env, num_games, preset, model, given_sizes, opponent, settings, where)
    name = f"{env.name}{env.N}"
    path = Path(folder) if folder is not None else default_folder(name)
    plan = None if holds_run(path) else new_run(call)  # raises, before anything is written, if it cannot be trained
    if plan is not None and compact:
        check_network(plan.model)
    with RunFolder(path if folder is not None else new_folder(name)) as run_folder:
        if run_folder.config is not None:
            plan = old_run(call, run_folder.config, path)
        assert plan is not None
        if compact:
            check_network(plan.model)
        if where != "cpu":
            where = plan.model.evaluator(device=device).device  # the CPU for a network that the GPU cannot compute
        notes: list[str] = []
        while True:
            stop = threading.Event()
            try:
                with (
                    translate_out_of_memory(), stopped_by_interrupt(stop), stopped_at(deadline, stop),
                    run_for(plan, env, run_folder, reports, where, source) as run,
                ):  # fmt: skip
                    with explain_divergence(run):
                        anything_to_do = begin(run, plan, notes)
                        with suppress(Stopped), run.stopwatch.running(OTHER):
                            train_loop(run, stop)
                    return finish(run, plan, stopped=stop.is_set(), compact=compact, save=anything_to_do)
            except MemoryError as error:
                if device != "auto" or where == "cpu":
                    raise
                notes = [f"{error}: this run goes on on the CPU, from where it was saved"]
                where, run = "cpu", None  # frees the GPU's memory
            finally:
                plan.model.cpu()


def check_types(model: Any, until: Any, reports: Any) -> None:
    """Raise TypeError for what `train` cannot take for these arguments."""
    if model is not None and not isinstance(model, NeuralNet):
        raise TypeError(f"model must be a NeuralNet, such as load_model returns, or None, got {model!r}")
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
    source: MakeSource,
) -> Iterator[Run]:
    """Make the run of a plan, with its threads, reports and judges, for the block."""
    with one_torch_thread(), Workers(plan.settings.groups or 1) as workers, GpuMeter() as meter:
        run = Run(env, plan.model, plan.settings, folder, workers, device=device, make_source=source)
        rows = read_rows(folder.path / METRICS, "seconds") if (folder.path / METRICS).is_file() else []
        run.reporter = Reporter(
            [ConsoleReport()] if reports is None else reports,
            plan.settings.plain(), rows, meter, partial(estimate, plan) if plan.positions_to_beat else None,
        )  # fmt: skip
        if isinstance(plan.settings.gate, Gate):
            run.judges.append(Gatekeeper(plan.settings.gate, plan.model))
        if plan.until is not None:
            run.judges.append(Examiner(env, plan.until, folder.path))
        with closing(run):
            yield run


@contextmanager
def explain_divergence(run: Run) -> Iterator[None]:
    """Say of a ValueError in the block that the learning rate is too high, if the network's weights show it."""
    try:
        yield
    except ValueError as error:
        if not run.learner.has_diverged:
            raise
        raise ValueError(f"{error}; {divergence(run)}") from error


def divergence(run: Run) -> str:
    """Return a sentence on what to do about a network whose weights are lost."""
    return (
        f"training has diverged after {run.learner.steps} gradient steps: a new run needs a lower learning_rate than "
        f"{run.settings.learning_rate:g}"
    )


def begin(run: Run, plan: Plan, notes: Sequence[str]) -> bool:
    """Write the folder of a new run, or resume the run in it, and report; return whether anything is left to do."""
    damage, news = open_run(run, plan)
    for report in run.reporter.reports:
        report.start(run.folder.path, plan.settings.plain())
    if run.device != "cpu":
        run.note(f"boards and network are on {run.device}")
    run.note(*notes, *damage, *news)
    run.reporter.metrics = run.reporter.metrics or {"games": run.games, "steps": run.learner.steps}
    return bool(damage) or not run.is_over or any(judge.due(run) for judge in run.judges)


def open_run(run: Run, plan: Plan) -> tuple[list[str], list[str]]:
    """Write the folder of a new run, or resume the run in it.

    Returns sentences: on what was damaged, after which a checkpoint is needed, and on what else to report.
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
    news = [f"{name} is {now!r} from now on, not {was!r}" for name, (was, now) in plan.changes.items()]
    if plan.changes:
        folder.write_config(plan.config | {"changes": [*plan.config["changes"], *log_changes(plan.changes, run.games)]})
    if run.is_proved:
        news.append(f"this run was over {where}, with a proof: a stronger opponent (until), or none, prolongs it")
    elif run.is_over:
        news.append(f"this run was over {where}: more num_games or max_minutes prolong it")
    else:
        news.append(f"this run goes on {where}")
    if run.compacted:
        times = "once" if run.compacted == 1 else f"{run.compacted} times"
        news.append(f"its folder was made compact {times}: it goes on without its oldest games, not exact to the bit")
    return damage, news


def finish(run: Run, plan: Plan, *, stopped: bool, compact: bool, save: bool) -> NeuralNet:
    """Save the run, report its end, and return its network."""
    latest = run.checkpoint(keep=run.is_over) if save else run.folder.path / LATEST
    if run.is_over and not stopped and save:
        run.note(*filter(None, (judge.conclusion(longer(vars(run.settings), run.games)) for judge in run.judges)))
    run.note(*run.reporter.final_findings(), *([divergence(run)] if run.learner.has_diverged else []))
    if compact:
        run.note(compact_folder(run))
    # After all that is saved: these are the weights that learn.
    plan.model.load_state_dict(run.player.state_dict())
    plan.model.notes = notes_of(read_weights(latest)[1])
    for report in run.reporter.reports:
        report.finish(run.reporter.metrics, latest, stopped)
    return plan.model.eval()


def compact_folder(run: Run) -> str:
    """Make the run's folder compact, after a checkpoint, note it in config.json, and return a sentence about it."""
    folder = run.folder
    run.compacted += 1
    size = make_compact(folder, run.state(), [board.env.N for board in run.boards])
    assert folder.config is not None
    entry = {"games": run.games, "kept_games": size.games, "of": size.games_before}
    folder.write_config(folder.config | {"compacted": [*folder.config["compacted"], entry]})
    return str(size)


def estimate(plan: Plan, metrics: Row) -> str | None:
    """Return a sentence on when `until` should be beaten, "" if that time has passed, None while unknown."""
    if plan.until is None or metrics["seconds"] <= 60 * MEASURED_MINUTES:
        return None
    if plan.positions_to_beat <= metrics["positions"]:
        return ""
    return expectation(metrics, plan.positions_to_beat, plan.until.name)


def log_changes(changes: Mapping[str, tuple[Any, Any]], games: int) -> list[dict[str, Any]]:
    """Return changed settings as config.json keeps them."""

    def plain(value: Any) -> Any:
        value = plain_search(value)
        return asdict(value) if is_dataclass(value) else value  # type: ignore[arg-type]

    pairs = {name: [plain(value) for value in pair] for name, pair in changes.items()}
    return [{"games": games, "setting": name, "was": was, "now": now} for name, (was, now) in pairs.items()]
