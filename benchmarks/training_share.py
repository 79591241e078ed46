"""How much of training's time is neither the network's inference nor its gradient steps.

Trains by a recipe, or reads a run that is there, and prints where its time went, in shares of the wall time: what each
kind of work is, docs/run_folder.md says.  The first iterations, which wait for compilers, are left out.
"""

import argparse
import tempfile
from pathlib import Path

from figures import Figures, add_option

from alphago import train
from alphago.nn.inference.hardware import describe_machine
from alphago.training.history import Row, read_history
from alphago.training.metrics import mean_shares, overhead
from alphago.training.recipes import RECIPES

WANTED = 0.12  # at most
WARM_UP = 2  # iterations


def rows_of(options: argparse.Namespace) -> list[Row]:
    """The metrics of the run that is there, or of a new one."""
    if options.run is not None:
        return read_history(options.run).metrics
    recipe = RECIPES[options.preset]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(recipe.make_env(), preset=options.preset, max_minutes=options.minutes, folder=path)
        return read_history(path).metrics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", metavar="RUN", help="the folder of a run; without it, one is trained")
    parser.add_argument("--preset", default="7x7", choices=sorted(RECIPES), help="the recipe to train by (7x7)")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to train (3)")
    add_option(parser)
    parser.add_argument("--row", metavar="ID", help="of the figure in --json, such as overhead-7")
    options = parser.parse_args()
    figures = Figures(options.json)
    try:
        shares = mean_shares(rows_of(options)[WARM_UP:])
    except (ValueError, OSError) as error:  # too short a run, or none
        raise SystemExit(f"training_share: {error}") from None
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, devices: {', '.join(machine['CUDA devices']) or 'none'}")
    print("share of training's wall time")
    for kind, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        print(f"  {kind:<12} {share:7.1%}")
    ratio = overhead(shares)
    figures.add(f"{options.row}", 100 * ratio)
    figures.save()
    print(f"neither inference nor gradient steps: {ratio:.1%} (at most {WANTED:.0%} are wanted)")


if __name__ == "__main__":
    main()
