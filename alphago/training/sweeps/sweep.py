"""`sweep`: compare settings over several seeds, one process a core."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from alphago.system.cores import available_cores
from alphago.system.files import user_path
from alphago.system.validation import check_int, checks_keywords, shown
from alphago.training.sweeps.processes import run_all
from alphago.training.sweeps.sweep_result import SweepResult
from alphago.training.sweeps.sweep_run import SweepRun, check_call


@checks_keywords()
def sweep(
    call: Callable[..., Any],
    settings: Mapping[str, Mapping[str, Any]],
    seeds: int | Sequence[int] = 3,
    *,
    folder: str | Path,
    processes: int | None = None,
    tell: Callable[[SweepResult], object] = lambda result: None,
) -> SweepResult:
    """Call a function once for each of several settings and each seed, one process a core; return their comparison.

    Every call has a folder of its own, FOLDER/NAME/SEED, and its numbers are saved there as result.json.  The same
    call of `sweep` resumes: it leaves out calls that have numbers, and a run of `train` goes on in its folder.  Numbers
    and runs of another function, of other settings, or of a function or class that was edited since, are refused.
    Several machines may share a folder: each leaves out the calls that another machine is making.

    Args:
        call: called as `call(folder=…, seed=…, **settings[name])`, such as `functools.partial(train, GoEnv(6,
            komi=4), num_games=400, watch=["random@0"])`, or a function of a module that trains, measures and returns
            a number, or several numbers by name. If it returns anything else, its numbers are the latest measurements
            of the run in its folder: losses, and win rates and grades by what it watched.
        settings: the keywords of the call, by a name for each variant; the other variants are compared to the first.
        seeds: the seeds of each variant, or the number of seeds 0, 1, 2, …
        folder: the folder of the sweep.
        processes: the number of processes, each on a core of its own; None for one per core.  With 1, this process
            makes all calls, also of functions that another process cannot import, such as those of a notebook.
        tell: called with the results so far after each call, and at once if all calls have numbers already.

    Returns a SweepResult: its text is a table of the means over seeds with 95 % intervals, and `plot` draws curves.
    The result's `faults` say which calls failed and why; the other calls go on.  On Ctrl-C all runs are saved.

    Raises:
        TypeError: if other processes cannot import `call` or a setting.
        ValueError: for a folder whose numbers are of another function, of other settings, seeds or code.
    """
    given = range(check_int("seeds", seeds, 1)) if isinstance(seeds, int) else seeds
    seeds = [check_int("each of seeds", seed, 0) for seed in given]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be a number, or different seeds, got {seeds}")
    if not isinstance(settings, Mapping) or not all(isinstance(keywords, Mapping) for keywords in settings.values()):
        raise TypeError(f"settings must be dictionaries by name, such as {{'usual': {{}}}}, got {shown(settings)}")
    may_be_folders = [isinstance(name, str) and Path(name).name == name for name in settings]
    if not settings or not all(may_be_folders):
        raise ValueError(f"settings must have names that may be folders, got {shown(list(settings))}")
    path = user_path(folder)
    runs = []
    for name, keywords in settings.items():
        runs += [SweepRun(call, path / name / str(seed), seed, dict(keywords)) for seed in seeds]
    processes = available_cores() if processes is None else check_int("processes", processes, 1)
    check_call(call, runs, alone=processes == 1)
    for run in runs:
        if run.numbers() is None:
            run.check_may_begin()
    faults: dict[str, str] = {}

    def results() -> SweepResult:
        runs_by_name = {name: [run for run in runs if run.name == name] for name in settings}
        return SweepResult(path, runs_by_name, faults)

    def ended(run: SweepRun, fault: str) -> None:
        if fault:
            faults[f"{run.name}/{run.seed}"] = fault
        tell(results())

    unfinished = [run for run in runs if run.numbers() is None]
    if not unfinished:
        tell(results())
    run_all(unfinished, processes, ended)
    return results()
