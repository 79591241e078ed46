"""Begin a planned run, or continue it from its folder, and report how it begins."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from alphago.nn.inference.hardware import torch_device
from alphago.nn.threads import Workers, one_torch_thread
from alphago.training.call.plan import Plan, Settings, TrainCall, new_run, old_run, value_for_message
from alphago.training.call.progress import RunProgress, SelfPlayProgress
from alphago.training.history import METRICS, Row, read_rows, unreadable_lines
from alphago.training.judge import JudgeSettings
from alphago.training.judges.proof import expectation
from alphago.training.learner import Learner, MakeLearner
from alphago.training.loop import train_loop
from alphago.training.run import Run, RunContext
from alphago.training.runs.config import flat_settings, version_errors
from alphago.training.runs.folder import LOGS, RunFolder
from alphago.training.runs.state import State
from alphago.training.selfplay import SelfPlay
from alphago.training.selfplay_run import SelfPlayRun
from alphago.training.settings.run_settings import RunSettings
from alphago.training.source import MakeSource
from alphago.training.watch.gpu_meter import GpuMeter
from alphago.training.watch.live_report import usual_report
from alphago.training.watch.report import Report, Reporter

RunT = TypeVar("RunT", bound=Run)
MEASURED_MINUTES = 0.5  # minutes of training from which a run's speed is estimated


class TrainingKind(ABC, Generic[Settings, RunT]):
    """A kind of training: by self-play, or on given games.

    learner: creates the learner.  notes: sentences to report when the run begins.
    """

    learner: MakeLearner = Learner
    notes: Sequence[str] = ()

    @abstractmethod
    def new_plan(self, call: TrainCall) -> Plan[Settings]:
        """Return the plan of a new run; raise ValueError or TypeError for invalid arguments of the call."""

    @abstractmethod
    def resumed_plan(self, call: TrainCall, config: Mapping[str, Any], folder: Path) -> Plan[Settings]:
        """Return the plan of a resumed run; config: the saved config of the run in `folder`.

        Raises ValueError if the call changes a setting that a run cannot change.
        """

    @abstractmethod
    def threads(self, plan: Plan[Settings]) -> int:
        """Return the number of threads of the plan's run."""

    @abstractmethod
    def make_run(self, settings: Settings, context: RunContext) -> RunT:
        """Begin a run, or continue it."""

    def progress(self, run: RunT, plan: Plan[Settings]) -> RunProgress:
        """Return the report that estimates the run's progress."""
        return RunProgress(run)

    @abstractmethod
    def loop(self, run: RunT, stop: threading.Event) -> None:
        """Train until the run is over; raise Stopped if `stop` is set within an iteration or a match."""


@dataclass(frozen=True)
class SelfPlayKind(TrainingKind[RunSettings, SelfPlayRun]):
    """Training by self-play.

    source, learner: create each stage's source of games, and the learner.
    judges: judges in addition to the plan's.
    default_settings: returns settings, by keyword, that a new run takes where its call gives none; its argument is the
        settings that the call gives.
    """

    source: MakeSource = SelfPlay
    learner: MakeLearner = Learner
    judges: Sequence[JudgeSettings[SelfPlayRun]] = ()
    default_settings: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict

    def new_plan(self, call: TrainCall) -> Plan[RunSettings]:
        settings = {**self.default_settings(call.settings), **call.settings}
        return self.with_judges(new_run(replace(call, settings=settings)))

    def resumed_plan(self, call: TrainCall, config: Mapping[str, Any], folder: Path) -> Plan[RunSettings]:
        return self.with_judges(old_run(call, config, folder))

    def with_judges(self, plan: Plan[RunSettings]) -> Plan[RunSettings]:
        """Return the plan with `judges` added."""
        return replace(plan, judges=[*plan.judges, *self.judges])

    def threads(self, plan: Plan[RunSettings]) -> int:
        return plan.settings.selfplay.groups

    def make_run(self, settings: RunSettings, context: RunContext) -> SelfPlayRun:
        return SelfPlayRun(settings, context, self.source)

    def progress(self, run: SelfPlayRun, plan: Plan[RunSettings]) -> RunProgress:
        return SelfPlayProgress(run, plan.step_seconds)

    def loop(self, run: SelfPlayRun, stop: threading.Event) -> None:
        train_loop(run, stop)


@contextmanager
def open_run(
    plan: Plan[Settings],
    folder: RunFolder,
    reports: Sequence[Report] | None,
    kind: TrainingKind[Settings, RunT],
    device: str,
    *,
    options: str = "",
) -> Iterator[tuple[RunT, State | None]]:
    """Begin the run of a plan, or continue it from its folder; close it after the `with` block.

    reports: as in `train`.  kind: makes the learner and the run.  device: where to play and train.
    options: as in ConsoleReport.
    Yields the run, and the state from which the run continues, or None for a new run.  The notes of the state tell of
    damaged files.
    """
    env, model = plan.env, plan.model
    with (
        one_torch_thread(),
        Workers(kind.threads(plan)) as workers,
        GpuMeter() as meter,
        usual_report(options) as console,
    ):
        state = None
        if folder.config is not None:
            with version_errors(folder.path, "a state"):
                state = folder.restore()
        rows = read_rows(folder.path / METRICS, "seconds")
        reporter = Reporter(
            [console] if reports is None else reports,
            flat_settings(plan.config),
            rows,
            meter,
            estimate=partial(estimate, plan) if plan.positions_to_beat else None,
        )
        judge_settings = [*plan.judges, *([plan.watch] if plan.watch else [])]
        judges = [settings.make_judge(env, model, folder.path) for settings in judge_settings]
        learner = kind.learner(model, plan.settings.learning, workers, torch_device(device))
        context = RunContext(env, folder, learner, workers, judges, reporter, device, state)
        # With a state, a TypeError or KeyError means that another version wrote the state.
        with nullcontext() if state is None else version_errors(folder.path, "a state"):
            run = kind.make_run(plan.settings, context)
        with closing(run):
            if state is None:
                run.checkpoint()  # before the config: a folder with a config counts as a run that can be resumed
                folder.write_config(plan.config)
                run.clock.set(0.0)  # training begins only now
            else:
                state.notes += folder.check_weights(run.player if run.is_over else None)
            yield run, state


def begin(
    run: RunT, plan: Plan[Settings], kind: TrainingKind[Settings, RunT], notes: Sequence[str], *, is_new: bool
) -> None:
    """Start the reports, and report how the run begins; notes: sentences to report first."""
    # Before the first iteration there are no metrics: the reporter gets these two numbers instead.
    run.reporter.metrics = run.reporter.metrics or {"games": run.games, "steps": run.learner.steps}
    run.reporter.start(run.folder.path, flat_settings(plan.config), kind.progress(run, plan))
    if run.device != "cpu":
        run.note(f"boards and network are on {run.device}")
    run.note(*notes, *(news_of_beginning(run, plan) if is_new else news_of_going_on(run, plan)))


def news_of_beginning(run: Run, plan: Plan[Any]) -> list[str]:
    """Return sentences about a new run."""
    height, width = run.goal.plane_shape
    return [
        f"a new run of {run.goal} begins in {run.folder.path}",
        f"its network is {plan.model}, from {run.goal.planes} planes of {height}x{width}",
        *plan.notes,
    ]


def news_of_going_on(run: Run, plan: Plan[Any]) -> list[str]:
    """Return sentences about a run that continues, and log its changed settings in config.json."""
    folder = run.folder
    where = f"after {run.games} games and {run.clock.seconds / 60:.1f} minutes of training"
    news = list(filter(None, (unreadable_lines(folder.path / name) for name in LOGS)))
    news += [
        f"{name} is {value_for_message(now)!r} from now on, not {value_for_message(was)!r}"
        for name, (was, now) in plan.changes.items()
    ]
    if plan.changes:
        folder.write_config(plan.config | {"changes": [*plan.config["changes"], *log_changes(plan, run.games)]})
    if run.is_proved:
        news.append(f"this run ended {where}, with its proof; a stronger opponent (until), or none, prolongs it")
    elif run.is_over:
        news.append(f"this run ended {where}; more games or minutes prolong it")
    else:
        news.append(f"this run goes on {where}")
    return news


def estimate(plan: Plan[Any], metrics: Row) -> str | None:
    """Return a sentence that estimates when the network beats the opponent `plan.until`.

    plan: the run's plan.  metrics: an iteration's row of metrics.jsonl.
    Returns None while the speed is unknown, and "" once the run has more positions than the estimate needs.
    """
    if plan.until is None or metrics["seconds"] <= 60 * MEASURED_MINUTES:
        return None
    if plan.positions_to_beat <= metrics["positions"]:
        return ""
    return expectation(metrics, plan.positions_to_beat, plan.until.name)


def log_changes(plan: Plan[Any], games: int) -> list[dict[str, Any]]:
    """Return entries for the list "changes" in config.json, one for each changed setting of the plan.

    games: number of games of the run so far.
    """

    def plain_value(name: str, value: Any) -> Any:
        """Return a setting's value as plain data for JSON."""
        if name == "until":
            return None if value is None else asdict(value)
        if name in plan.tree.entries:
            return plan.tree.setting_to_data(name, value)
        return value  # the path of a dataset

    return [
        {"games": games, "setting": name, "was": plain_value(name, was), "now": plain_value(name, now)}
        for name, (was, now) in plan.changes.items()
    ]
