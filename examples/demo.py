"""`make demo`: trains a 7x7 network for five minutes, shows what it learned, and offers a game.

It starts from random weights and the rules, and prints where self-play differs from the rules of Go.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from alphago import evaluate, load_model, play, train
from alphago.arena.engine import EngineError, gnugo
from alphago.training.recipes import RECIPES
from alphago.training.runs.folder import new_folder

FEW, READOUTS = 16, 64  # readouts a move, against weak and against strong opponents
ANCHOR = "rave:1000"  # a search without a network; docs/results.md rates it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="time to train (default 5)")
    parser.add_argument("--games", type=int, default=40, help="games per match (default 40)")
    parser.add_argument("--folder", type=Path, default=None, help="where the run is saved (default: one in runs)")
    arguments = parser.parse_args()

    recipe = RECIPES["7x7"]
    env = recipe.make_env()
    folder = arguments.folder or new_folder("demo")
    size = f"{recipe.network['tower_height']} x {recipe.network['channels']}"
    print(f"Training a {size} network on {env}, komi {env.komi:g}, for {arguments.minutes:g} minutes,")
    print("from random weights.  Self-play has no early passes, a varying komi, and margins that", flush=True)
    print("count a little.", flush=True)
    net = train(env, preset="7x7", max_minutes=arguments.minutes, folder=folder)

    print(f"\nIts results, {arguments.games} games each, pairs from the same 2 random first moves:", flush=True)
    matches: list[tuple[Any, int, str]] = [
        ("random", FEW, f"with {FEW} readouts against random moves"),  # a young policy alone may lose to them
        (load_model("7x7"), FEW, f"with {FEW} readouts against the network that comes with the package"),
        (ANCHOR, READOUTS, f"with {READOUTS} readouts against {ANCHOR}, a search without a network"),
    ]
    try:
        gnugo()
        matches.append(("gnugo:10", READOUTS, f"with {READOUTS} readouts against GNU Go at level 10"))
    except EngineError as error:
        print(f"  ({error})")
    for opponent, readouts, title in matches:
        result = evaluate(env, net, opponent, arguments.games, readouts, search="gumbel", random_opening=2)
        print(f"  {title}:\n    {result}", flush=True)

    weights = folder / "weights.safetensors"
    print(f"\nPlay it at any time: .venv/bin/alphago play {weights}")
    if sys.stdin.isatty() and input("Play it now? [y/N] ").strip().lower().startswith("y"):
        play(env, net, num_readouts=READOUTS)
    print(f"In the browser, with the curves and games of its training: .venv/bin/alphago web {folder}")
    print(f"How good it is, move by move: .venv/bin/alphago exam {folder}@0")
    print(f"What to do next: .venv/bin/alphago info {folder}")


if __name__ == "__main__":
    main()
