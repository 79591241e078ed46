"""Begin a planned run, or continue it from its folder, and report how it begins."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from alphago.nn.inference.hardware import torch_device
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.call.plan import Plan, named
from alphago.training.call.progress import RunProgress
from alphago.training.history import METRICS, Row, read_rows, unreadable_lines
from alphago.training.judge import JudgeSettings
from alphago.training.judges.proof import expectation
from alphago.training.learner import Learner, MakeLearner
from alphago.training.memory import MemorySettings
from alphago.training.parts import RUN
from alphago.training.run import Run
from alphago.training.runs.config import flat_settings, version_errors
from alphago.training.runs.folder import LOGS, RunFolder
from alphago.training.runs.state import State
from alphago.training.selfplay import SelfPlay
from alphago.training.source import MakeSource
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.live_report import usual_report
from alphago.training.watch.report import Report, Reporter

MEASURED_MINUTES = 0.5  # minutes of training from which a run's speed is estimated


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


@contextmanager
def open_run(
    plan: Plan, folder: RunFolder, reports: Sequence[Report] | None, parts: RunParts, device: str
) -> Iterator[tuple[Run, State | None]]:
    """Begin the run of a plan, or continue it from its folder; close it after the `with` block.

    reports: as in `train`.  device: where to play and train.
    Yields the run, and the state from which it continues, whose notes tell of damaged files; None for a new run.
    """
    settings, env, model = plan.settings, plan.env, plan.model
    with (
        one_torch_thread(),
        Workers(settings.selfplay.groups) as workers,
        GpuMeter() as meter,
        usual_report(parts.command) as console,
    ):
        state = None
        if folder.config is not None:
            with version_errors(folder.path, "a state"):
                state = folder.restore()
        rows = read_rows(folder.path / METRICS, "seconds")
        expected = partial(estimate, plan) if plan.positions_to_beat else None
        reporter = Reporter(
            [console] if reports is None else reports, flat_settings(plan.config), rows, meter, expected
        )
        judges = [*plan.judges, *parts.judges, *([plan.watch] if plan.watch else [])]
        made = [judge.make_judge(env, model, folder.path) for judge in judges]
        learner = parts.learner(model, settings.learning, workers, torch_device(device))
        with nullcontext() if state is None else version_errors(folder.path, "a state"):
            run = Run(
                env,
                settings,
                folder,
                learner,
                workers,
                make_source=parts.source,
                memory=parts.memory or settings.memory,
                judges=made,
                reporter=reporter,
                device=device,
                state=state,
            )
        with closing(run):
            if state is None:
                run.checkpoint()
                folder.write_config(plan.config)
                run.clock.set(0.0)
            else:
                state.notes += folder.check_weights(run.player if run.is_over else None)
            yield run, state


def begin(run: Run, plan: Plan, notes: Sequence[str], *, is_new: bool) -> None:
    """Start the reports, and report how the run begins; notes: sentences to report first."""
    run.reporter.metrics = run.reporter.metrics or {"games": run.games, "steps": run.learner.steps}
    run.reporter.start(run.folder.path, flat_settings(plan.config), RunProgress(run, plan.step_seconds))
    if run.device != "cpu":
        run.note(f"boards and network are on {run.device}")
    run.note(*notes, *(news_of_beginning(run, plan) if is_new else news_of_going_on(run, plan)))


def news_of_beginning(run: Run, plan: Plan) -> list[str]:
    """Return sentences about a new run."""
    height, width = run.goal.plane_shape
    return [
        f"a new run of {run.goal} begins in {run.folder.path}",
        f"its network is {plan.model}, from {run.goal.planes} planes of {height}x{width}",
        *plan.notes,
    ]


def news_of_going_on(run: Run, plan: Plan) -> list[str]:
    """Return sentences about a run that continues, and log its changed settings in config.json."""
    folder = run.folder
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = list(filter(None, (unreadable_lines(folder.path / name) for name in LOGS)))
    news += [f"{name} is {named(now)!r} from now on, not {named(was)!r}" for name, (was, now) in plan.changes.items()]
    if plan.changes:
        folder.write_config(plan.config | {"changes": [*plan.config["changes"], *log_changes(plan.changes, run.games)]})
    if run.is_proved:
        news.append(f"this run ended {where}, with its proof; to prolong it, set a stronger opponent (until) or None")
    elif run.is_over:
        news.append(f"this run ended {where}; to prolong it, raise num_games or max_minutes")
    else:
        news.append(f"this run goes on {where}")
    if compacted := run.counts.compacted:
        times = "once" if compacted == 1 else f"{compacted} times"
        news.append(f"its folder was made compact {times}: it goes on without its oldest games, so not bit-identical")
    return news


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

    def plain(name: str, value: Any) -> Any:
        if name == "until":
            return None if value is None else asdict(value)
        return RUN.plain_value(name, value)

    pairs = {name: [plain(name, value) for value in pair] for name, pair in changes.items()}
    return [{"games": games, "setting": name, "was": was, "now": now} for name, (was, now) in pairs.items()]
