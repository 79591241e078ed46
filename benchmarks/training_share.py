"""How much of training's time is neither the network's inference nor its gradient steps.

Reads a run and prints where its time went, in shares of the wall time: what each kind of work is, docs/run_folder.md
says.  The first iterations, which wait for compilers, are left out.
"""

import argparse

from figures import Figures, add_option

from alphago.nn.inference.hardware import describe_machine
from alphago.training.history import read_history
from alphago.training.metrics import mean_shares

WANTED = 0.12  # at most
WARM_UP = 2  # iterations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    add_option(parser)
    parser.add_argument("--row", metavar="ID", help="of the figure in --json, such as overhead-7")
    options = parser.parse_args()
    figures = Figures(options.json)
    try:
        shares = mean_shares(read_history(options.run).metrics[WARM_UP:])
    except (ValueError, OSError) as error:  # too short a run, or none
        raise SystemExit(f"training_share: {error}") from None
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, devices: {', '.join(machine['CUDA devices']) or 'none'}")
    print("share of training's wall time")
    for kind, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        print(f"  {kind:<12} {share:7.1%}")
    ratio = 1 - shares["net"] - shares["optimizer"]
    figures.add(f"{options.row}", 100 * ratio)
    figures.save()
    print(f"neither inference nor gradient steps: {ratio:.1%} (at most {WANTED:.0%} are wanted)")


if __name__ == "__main__":
    main()
