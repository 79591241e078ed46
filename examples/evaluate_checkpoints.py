"""How a run grew stronger: its checkpoints in a round robin, with Elo ratings.

python examples/evaluate_checkpoints.py runs/a --checkpoints 4
"""

import argparse
import itertools
from pathlib import Path

import numpy as np

from alphago import evaluate, load_model
from alphago.arena.elo import elo_ratings


def choose_checkpoints(run: Path, count: int) -> list[Path]:
    """Return `count` of the run's checkpoints, evenly spread from the first to the last."""
    files = sorted((run / "weights").glob("games-*.safetensors"))
    if len(files) < 2:
        raise SystemExit(f"{run} must have two or more checkpoints in its folder weights, got {len(files)}")
    indices = np.linspace(0, len(files) - 1, min(count, len(files))).round().astype(int)
    return [files[i] for i in indices]


def main() -> None:
    parser = argparse.ArgumentParser(description="Rates the checkpoints of a run against each other.")
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("--checkpoints", type=int, default=4, help="how many of them (4)")
    parser.add_argument("--games", type=int, default=40, help="in each match (40)")
    parser.add_argument("--readouts", type=int, default=16, help="simulations a move; 0: the policy alone (16)")
    arguments = parser.parse_args()
    files = choose_checkpoints(arguments.run, arguments.checkpoints)
    nets = [load_model(path) for path in files]
    points = np.zeros((len(nets), len(nets)))  # [i, j]: points of network i in its games against network j
    for i, j in itertools.combinations(range(len(nets)), 2):
        result = evaluate(nets[0].env, nets[i], nets[j], arguments.games, arguments.readouts, random_opening=2)
        print(f"{files[i].stem} - {files[j].stem}: {result}", flush=True)
        points[i, j] = result.wins + result.draws / 2
        points[j, i] = result.losses + result.draws / 2
    for path, rating in zip(files, elo_ratings(points, anchor=0), strict=True):
        print(f"{path.stem:>16}  {rating.elo:+5.0f} Elo  ({rating.low:+.0f} to {rating.high:+.0f})")


if __name__ == "__main__":
    main()
