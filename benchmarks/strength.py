"""Ten minutes of 7x7 by the recipe, measured: what every change to search, network or training has to hold.

Prints the win rate of the trained network against the one that comes with the package, with 16 readouts and with
none, and against GNU Go where it is installed.  Not part of `make test`: learning is not the same on a busy machine.
"""

import argparse
import platform
import tempfile
from pathlib import Path
from typing import Any

from alphago import evaluate, load_model, train
from alphago.arena.gtp import EngineError, gnugo
from alphago.nn.threads import available_cores
from alphago.training.presets import PRESETS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="training time (10)")
    parser.add_argument("--games", type=int, default=200, help="games per match (200)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    env = PRESETS["7x7"].make_env()
    with tempfile.TemporaryDirectory() as folder:
        net = train(env, preset="7x7", max_minutes=arguments.minutes, seed=arguments.seed, folder=Path(folder) / "run")
    print(f"{arguments.minutes:g} minutes of 7x7 on {available_cores()} cores, {platform.processor() or 'unknown CPU'}")
    packaged = load_model("7x7")
    opponents: list[tuple[Any, int, str]] = [
        (packaged, 16, "the packaged network"),
        (packaged, 0, "the packaged network"),
    ]
    try:
        gnugo()
        opponents += [("gnugo:10", 64, "GNU Go at level 10"), ("gnugo:10", 0, "GNU Go at level 10")]
    except EngineError as error:
        print(error)
    for opponent, readouts, name in opponents:
        result = evaluate(env, net, opponent, arguments.games, readouts, search="gumbel", random_opening=2)
        print(f"{readouts} readouts against {name}: {result}", flush=True)


if __name__ == "__main__":
    main()
