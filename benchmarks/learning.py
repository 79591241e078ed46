"""What learning costs without each part of the recipe: trainings of equal wall time, then matches.

Every variant trains a 7x7 network (4 blocks x 32) from random weights for `--minutes`; then the default
plays each other one, pairs of games from the same 2 random first moves with colours exchanged.
"""

import argparse
import tempfile
from pathlib import Path

from alphago import GoEnv, NeuralNet, SearchSettings, evaluate, train

RECIPE = {
    "readouts": 16,
    "games_in_flight": 256,
    "plies_per_iteration": 24,
    "batch_size": 256,
    "samples_per_position": 3,
    "start_training_after": 5000,
    "tower_height": 4,
    "channels": 32,
}
VARIANTS = {
    "default (Gumbel, 16 readouts)": {},
    "PUCT, 16 readouts": {"search": SearchSettings()},
    "PUCT, 64 readouts": {"search": SearchSettings(), "readouts": 64},
    "exact rules in self-play": {"exact_rules": True},
}


def trained(options: dict, minutes: float, seed: int) -> NeuralNet:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        return train(
            GoEnv(7), 1_000_000, max_minutes=minutes, seed=seed, folder=run, reports=[], **{**RECIPE, **options}
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="training time of each variant")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each variant")
    parser.add_argument("--games", type=int, default=200, help="games per match")
    arguments = parser.parse_args()
    env = GoEnv(7)
    for seed in range(arguments.seeds):
        default: NeuralNet | None = None
        for name, options in VARIANTS.items():
            net = trained(options, arguments.minutes, seed)
            default = default or net
            print(f"\nseed {seed}, {name}, {arguments.minutes:g} minutes", flush=True)
            print(f"  its policy against random moves: {evaluate(env, net, 'random', arguments.games, 0)}", flush=True)
            if net is not default:
                match = evaluate(env, default, net, arguments.games, 32, random_opening=2, seed=seed)
                print(f"  the default against it, 32 readouts: {match}", flush=True)


if __name__ == "__main__":
    main()
