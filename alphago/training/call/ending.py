"""End a call of `train`: save, report, and return the run's network; explain divergence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alphago.nn.model_files import LATEST, notes_of, read_weights
from alphago.training.call.compact import make_compact
from alphago.training.call.plan import Plan
from alphago.training.call.summary import longer
from alphago.training.run import Run


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


def finish(run: Run, plan: Plan[Any], *, stopped: bool, compact: bool, save: bool) -> None:
    """Report the run's end; `plan.model` becomes its network.

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
    plan.model.eval()
    for report in run.reporter.reports:
        report.finish(run.reporter.metrics, latest, stopped)


def compact_folder(run: Run) -> str:
    """Make the run's folder compact, log that in config.json, and return a sentence about it.

    The run must have just been saved by a checkpoint.
    """
    folder = run.folder
    run.count(compacted=run.counts.compacted + 1)
    size = make_compact(folder, run.state(), run.env.N)
    assert folder.config is not None
    entry = {"games": run.games, "kept_games": size.games, "of": size.games_before}
    folder.write_config(folder.config | {"compacted": [*folder.config["compacted"], entry]})
    return str(size)
