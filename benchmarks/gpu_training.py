"""A run of training on a device in slices: `benchmarks/gpu_training.py --preset 19x19 --minutes 30 --stop-after 9`.

Begins the run, or goes on with the one in its folder.  The exit code is 0 once the run is over, and 75 while it goes on in the next slice.  The matches that a result stands on are played afterwards, where
the opponent is installed: `alphago evaluate runs/gpu-9x9@64 gnugo:10 --games 200`.
"""

import argparse
from pathlib import Path
from typing import Any

from gpu_figures import SMALL_RUN
from gpu_slices import UNFINISHED

from alphago import train
from alphago.training.recipes import RECIPES
from alphago.training.watch.report import ConsoleReport, Report


class End(Report):
    """Whether the run is over."""

    stopped = True

    def finish(self, metrics: dict[str, Any], weights: Path, stopped: bool) -> None:
        self.stopped = stopped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="9x9", choices=sorted(RECIPES), help="recipe (9x9)")
    parser.add_argument("--minutes", type=float, default=5.0, help="of the whole run (5)")
    parser.add_argument("--stop-after", type=float, metavar="MINUTES", help="of this slice")
    parser.add_argument("--device", default="cuda", choices=("cuda", "host"), help="host: the CPU, to try this (cuda)")
    parser.add_argument("--folder", type=Path, required=True, help="of the run")
    parser.add_argument("--small", action="store_true", help="so little that the network learns nothing")
    options = parser.parse_args()
    end = End()
    with ConsoleReport() as console:
        train(
            RECIPES[options.preset].make_env(),
            preset=options.preset,
            folder=options.folder,
            reports=[console, end],
            device=options.device,
            stop_after=options.stop_after,
            **({**SMALL_RUN, "curriculum": ()} if options.small else {"max_minutes": options.minutes}),
        )
    raise SystemExit(UNFINISHED if end.stopped else 0)


if __name__ == "__main__":
    main()
