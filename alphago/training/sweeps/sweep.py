"""`sweep`: compare settings over several seeds, one process a core; its result has means, differences and curves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from alphago.drawing.svg import Svg
from alphago.exams.grades import estimate_text, table
from alphago.exams.statistics import Estimate, mean_of_few
from alphago.system.cores import available_cores
from alphago.system.files import user_path
from alphago.system.validation import check_int, checks_keywords, shown
from alphago.training.history import METRICS
from alphago.training.sweeps.sweep_run import SweepRun, check_call, run_all
from alphago.training.watch.plots import plot

Numbers = Mapping[int, Mapping[str, float]]  # of a variant's calls: by seed, then by the number's name


@dataclass(frozen=True)
class SweepResult:
    """The results of a sweep so far; its text form is a table.

    Attributes:
        folder: the folder of the sweep.
        runs: the calls of each variant, one for each seed, by the variant's name.
        faults: for each call that failed the reason, by "NAME/SEED".
    """

    folder: Path
    runs: Mapping[str, list[SweepRun]]
    faults: dict[str, str]

    @property
    def numbers(self) -> dict[str, dict[int, dict[str, float]]]:
        """The numbers of the calls that have ended, by the variant's name, then by seed, then by the number's name."""
        return {
            name: {run.seed: numbers for run in runs if (numbers := run.numbers()) is not None}
            for name, runs in self.runs.items()
        }

    @property
    def measures(self) -> list[str]:
        """The names of the numbers that the calls have returned or measured, such as "win rate against random"."""
        all_numbers = (numbers for by_seed in self.numbers.values() for numbers in by_seed.values())
        return list(dict.fromkeys(name for numbers in all_numbers for name in numbers))  # each name once

    def mean(self, name: str, measure: str) -> Estimate:
        """Return the mean over seeds of a variant's number, with Student's 95 % interval; NaN where unknown.

        Args:
            name: the variant's name.
            measure: the number's name.
        """
        return mean_over_seeds(self.numbers[name], measure)

    def difference(self, name: str, measure: str, base: str | None = None) -> Estimate:
        """Return the mean over seeds of a variant's measure minus that of the variant `base`, by default the first one.

        The mean has Student's 95 % interval, and is NaN where unknown.  Only seeds that both variants have count.  The
        numbers of a seed are subtracted as a pair, so what a seed does to both, for example by the first weights, is no
        part of the difference.
        """
        numbers = self.numbers
        return mean_over_seeds(numbers[name], measure, minus=numbers[base or next(iter(self.runs))])

    def plot(self, out: str | Path | None = None, x: str = "minutes") -> Svg:
        """Draw the curves of the sweep's runs: for each variant the mean, in a band of the seeds' values.

        Args:
            out, x: as in `alphago.training.watch.plots.plot`.

        Raises:
            ValueError: if no run has metrics yet.
        """
        begun = {name: [run for run in runs if (run.folder / METRICS).exists()] for name, runs in self.runs.items()}
        folders = {name: [run.folder for run in runs] for name, runs in begun.items() if runs}
        return plot(folders, None if out is None else Path(out), x)

    def _repr_svg_(self) -> str:
        """Return the picture of `plot`, which notebooks show."""
        return str(self.plot())

    def __str__(self) -> str:
        """Return a table with a line for each variant: the mean of each measure, and its difference to the first."""
        names = list(self.runs)
        numbers = self.numbers  # read from the files once
        # Pairs of a heading and the column's texts, one for each variant.
        columns = [("", names), ("seeds", [f"{len(numbers[name])} of {len(self.runs[name])}" for name in names])]
        for measure in self.measures:
            means = [mean_over_seeds(numbers[name], measure) for name in names]
            differences = [mean_over_seeds(numbers[name], measure, minus=numbers[names[0]]) for name in names[1:]]
            columns += [(measure, list(map(short_text, means)))]
            columns += [(f"- {names[0]}", ["", *(short_text(mean, signed=True) for mean in differences)])]
        lines = ["Means over seeds; ± is Student's 95 % interval, differences are of equal seeds.", "", *table(columns)]
        lines += [f"{run}: {fault}" for run, fault in self.faults.items()]
        return "\n".join(lines)

    __repr__ = __str__


def mean_over_seeds(numbers: Numbers, measure: str, minus: Numbers | None = None) -> Estimate:
    """Return the mean of a measure over the seeds that have it, minus that of another variant if `minus` is given."""
    base = {seed: {measure: 0.0} for seed in numbers} if minus is None else minus
    pairs = [(of_seed, base.get(seed, {})) for seed, of_seed in numbers.items()]
    return mean_of_few(np.array([a[measure] - b[measure] for a, b in pairs if measure in a and measure in b]))


def short_text(estimate: Estimate, *, signed: bool = False) -> str:
    """Return an estimate with three significant digits of the larger of its value and its margin.

    Args:
        signed: whether a positive value gets a plus sign.
    """
    margin = 0 if np.isnan(estimate.margin) else estimate.margin
    size = np.nanmax(np.abs([estimate.value, margin])) or 1.0  # no logarithm of 0
    digits_before_point = int(np.floor(np.log10(size))) + 1  # 0 for 0.12, -1 for 0.012
    return estimate_text(estimate, max(0, 3 - digits_before_point), signed=signed)  # no decimals from 100 on


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

    Every call has a folder of its own, FOLDER/NAME/SEED, and its numbers are saved beside it, in SEED.json.  The same
    call of `sweep` resumes: it leaves out calls that have numbers, and a run of `train` goes on in its folder.  Numbers
    and runs of another function, of other settings, or of a function or class that was edited since, are refused.
    Several machines may share a folder: each leaves out the calls that another machine is making.

    Args:
        call: called as `call(folder=…, seed=…, **settings[name])`, such as `functools.partial(train, GoEnv(6,
            komi=4), num_games=400, watch=["random@0"])`, or a function of a module that trains, measures and returns
            a number, or several numbers by name.  If it returns anything else, its numbers are the latest measurements
            of the run in its folder: losses, and win rates and grades by what it watched.
        settings: the keywords of the call, by a name for each variant; the other variants are compared to the first.
        seeds: the seeds of each variant; a number n for the seeds 0 to n - 1.
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
    given = seeds if isinstance(seeds, Iterable) else range(check_int("seeds", seeds, 1))
    seeds = [check_int("each of seeds", seed, 0) for seed in given]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be a number, or different seeds, got {seeds}")
    if not isinstance(settings, Mapping) or not all(isinstance(keywords, Mapping) for keywords in settings.values()):
        raise TypeError(f"settings must be dictionaries by name, such as {{'usual': {{}}}}, got {shown(settings)}")
    if not settings or not all(isinstance(name, str) and Path(name).name == name for name in settings):
        raise ValueError(f"settings must have names that may be folders, got {shown(list(settings))}")
    path = user_path(folder)
    runs_by_name = {
        name: [SweepRun(call, path / name / str(seed), seed, dict(keywords)) for seed in seeds]
        for name, keywords in settings.items()
    }
    runs = list(chain.from_iterable(runs_by_name.values()))
    processes = available_cores() if processes is None else check_int("processes", processes, 1)
    check_call(call, runs, alone=processes == 1)
    unfinished = [run for run in runs if run.numbers() is None]
    result = SweepResult(path, runs_by_name, {})  # its properties read the numbers from the files

    def report_end(run: SweepRun, fault: str) -> None:
        """Add a call's fault, if any, to the result, and tell the result so far."""
        if fault:
            result.faults[f"{run.name}/{run.seed}"] = fault
        tell(result)

    if not unfinished:
        tell(result)
    run_all(unfinished, processes, report_end)
    return result
