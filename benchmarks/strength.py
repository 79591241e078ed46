"""Ten minutes of 7x7 by the recipe, measured: what every change to search, network or training has to hold.

Trains from random weights with a fixed seed and prints one line: the win rate of the policy alone and of a small
search, each against a player without a network (`alphago.arena.playout_player`), the same on every machine.
docs/experiments/07-strength-by-version.md keeps the lines.  Not part of `make test`: on a busy machine less is learned.
"""

import argparse
import datetime
import tempfile
from pathlib import Path

from alphago import evaluate, train
from alphago.system.cores import available_cores
from alphago.training.recipes import RECIPES

READOUTS = (0, 16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="training time (10)")
    parser.add_argument("--games", type=int, default=100, help="games per match (100)")
    parser.add_argument("--anchor", default="rave:10000", help="the player without a network (rave:10000)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    env = RECIPES["7x7"].make_env()
    with tempfile.TemporaryDirectory() as folder:
        net = train(env, preset="7x7", max_minutes=arguments.minutes, seed=arguments.seed, folder=Path(folder) / "run")
    cells = [f"{datetime.date.today()}", f"{arguments.minutes:g} min, {available_cores()} cores, seed {arguments.seed}"]
    for readouts in READOUTS:
        result = evaluate(env, net, arguments.anchor, arguments.games, readouts, search="gumbel", random_opening=2)
        low, high = result.interval
        cells.append(f"{result.win_rate:.0%} ({low:.0%} to {high:.0%})")
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
