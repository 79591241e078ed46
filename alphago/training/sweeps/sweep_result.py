"""`SweepResult`: the numbers of a sweep, as means over seeds with intervals, differences, and curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphago.drawing.svg import Svg
from alphago.exams.grades import estimate_text, table
from alphago.exams.statistics import Estimate, mean_of_few
from alphago.training.history import METRICS
from alphago.training.sweeps.sweep_run import SweepRun
from alphago.training.watch.plots import plot


@dataclass(frozen=True)
class SweepResult:
    """The results of a sweep so far; its text form is a table.

    folder: the folder of the sweep.
    runs: the calls of each variant, by its name.
    faults: why calls failed, by "NAME/SEED".
    """

    folder: Path
    runs: Mapping[str, list[SweepRun]]
    faults: Mapping[str, str]

    @property
    def numbers(self) -> dict[str, dict[int, dict[str, float]]]:
        """The numbers of the calls that have ended: by variant, seed and name."""
        return {
            name: {run.seed: numbers for run in runs if (numbers := run.numbers()) is not None}
            for name, runs in self.runs.items()
        }

    @property
    def measures(self) -> list[str]:
        """The names of all numbers."""
        all_numbers = (numbers for by_seed in self.numbers.values() for numbers in by_seed.values())
        return list(dict.fromkeys(name for numbers in all_numbers for name in numbers))

    def mean(self, name: str, measure: str) -> Estimate:
        """Return the mean of a variant's numbers over seeds, with Student's 95 % interval; NaN where unknown."""
        return mean_of_few(np.array(list(self._values(name, measure).values())))

    def _values(self, name: str, measure: str) -> dict[int, float]:
        """Return a measure of a variant by seed, without seeds that lack the measure."""
        return {seed: numbers[measure] for seed, numbers in self.numbers[name].items() if measure in numbers}

    def difference(self, name: str, measure: str, base: str | None = None) -> Estimate:
        """Return the mean over seeds of a measure of `name` minus the measure of `base`, by default the first variant.

        Only seeds that both variants have count.  The numbers of a seed are a pair, so effects that a seed has on both,
        for example by the first weights, are no part of the difference.
        """
        values = self._values(name, measure)
        base_values = self._values(base or next(iter(self.runs)), measure)
        differences = [value - base_values[seed] for seed, value in values.items() if seed in base_values]
        return mean_of_few(np.array(differences))

    def plot(self, out: str | Path | None = None, x: str = "minutes") -> Svg:
        """Draw the curves of the runs of `train` as `plot` does: for each variant the mean, in the band of its seeds.

        Raises ValueError if no run has metrics yet.
        """
        folders_by_name = {}
        for name, runs in self.runs.items():
            if folders := [run.folder for run in runs if (run.folder / METRICS).exists()]:
                folders_by_name[name] = folders
        return plot(folders_by_name, None if out is None else Path(out), x)

    def _repr_svg_(self) -> str:
        return str(self.plot())

    def __str__(self) -> str:
        """Return a table with a line for each variant: the mean of each measure, and its difference to the first."""
        names = list(self.runs)
        base = names[0]
        numbers = self.numbers
        columns = [("", names), ("seeds", [f"{len(numbers[name])} of {len(self.runs[name])}" for name in names])]
        for measure in self.measures:
            means = [text(self.mean(name, measure)) for name in names]
            differences = [text(self.difference(name, measure), signed=True) for name in names[1:]]
            columns += [(measure, means), (f"- {base}", ["", *differences])]
        lines = ["Means over seeds; ± is Student's 95 % interval, differences are of equal seeds.", "", *table(columns)]
        lines += [f"{run}: {fault}" for run, fault in self.faults.items()]
        return "\n".join(lines)

    __repr__ = __str__


def text(estimate: Estimate, *, signed: bool = False) -> str:
    """Return an estimate with three significant digits of the larger of its value and its margin.

    signed: whether a positive value gets a plus sign.
    """
    margin = 0 if np.isnan(estimate.margin) else estimate.margin
    size = np.nanmax(np.abs([estimate.value, margin])) or 1.0  # no logarithm of 0
    digits_before_point = int(np.floor(np.log10(size))) + 1
    return estimate_text(estimate, max(0, 3 - digits_before_point), signed=signed)
