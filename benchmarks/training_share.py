"""How much of training's time is neither the network's inference nor its gradient steps.

Trains by a recipe, or reads a run that is there, and prints where its time went, in shares of the wall time: what each
part is, docs/run_folder.md says.  The first iterations, which wait for compilers, are left out.
"""

import argparse
import tempfile
from pathlib import Path

from alphago import train
from alphago.nn.machine import describe_machine
from alphago.training.history import Row, number, read_history
from alphago.training.presets import PRESETS
from alphago.training.time_shares import PARTS, overhead

WANTED = 0.12  # at most
WARM_UP = 2  # iterations


def rows_of(options: argparse.Namespace) -> list[Row]:
    """The metrics of the run that is there, or of a new one."""
    if options.run is not None:
        return read_history(options.run).metrics
    recipe = PRESETS[options.preset]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(recipe.make_env(), preset=options.preset, max_minutes=options.minutes, folder=path)
        return read_history(path).metrics


def mean_share(rows: list[Row], name: str) -> float:
    """Of a part of the time, over iterations weighted by their length; those of `rows[0]` do not count."""
    seconds = [number(row, "seconds") or 0.0 for row in rows]
    lengths = [after - before for before, after in zip(seconds, seconds[1:], strict=False)]
    shares = [number(row, name) or 0.0 for row in rows[1:]]
    return sum(length * share for length, share in zip(lengths, shares, strict=True)) / max(sum(lengths), 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", metavar="RUN", help="the folder of a run; without it, one is trained")
    parser.add_argument("--preset", default="7x7", choices=sorted(PRESETS), help="the recipe to train by (7x7)")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to train (3)")
    options = parser.parse_args()
    rows = rows_of(options)
    if len(rows) < WARM_UP + 2:
        raise SystemExit(f"{len(rows)} iterations tell nothing yet: wanted {WARM_UP + 2} or more")
    rows = rows[WARM_UP - 1 :]
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, devices: {', '.join(machine['CUDA devices']) or 'none'}")
    print("share of training's wall time")
    for part in sorted(PARTS, key=lambda part: -mean_share(rows, f"{part}_share")):
        print(f"  {part:<12} {mean_share(rows, f'{part}_share'):7.1%}")
    ratio = overhead(rows)
    print(f"neither inference nor gradient steps: {ratio:.1%} (at most {WANTED:.0%} are wanted)")


if __name__ == "__main__":
    main()
