"""`make demo`: trains a 7x7 network for five minutes and shows what it learned.

It starts from random weights and the rules.  Two things in self-play are no rules of Go, and are told with
the result: nobody passes before ply 45, and outcomes depend a little on the margin (see GoEnv).
"""

import argparse

from alphago import GoEnv, NeuralNet, evaluate, train
from alphago.training.checkpoint import default_folder

TOWER = {"tower_height": 4, "channels": 32}
READOUTS = 32  # of the comparisons; self-play learns from 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="time to train (default 5)")
    parser.add_argument("--games", type=int, default=100, help="games per comparison (default 100)")
    arguments = parser.parse_args()

    env = GoEnv(7)
    folder = default_folder("demo")
    print(f"Training a {TOWER['tower_height']} x {TOWER['channels']} network on {env}, komi {env.komi:g},", end=" ")
    print(f"for {arguments.minutes:g} minutes from random weights.", flush=True)
    net = train(
        GoEnv(7, first_pass=45, margin_weight=0.3),
        1_000_000,
        max_minutes=arguments.minutes,
        readouts=16,
        games_in_flight=256,
        plies_per_iteration=24,
        batch_size=256,
        samples_per_position=3,
        start_training_after=5000,
        ckp_freq=2000,
        folder=folder,
        **TOWER,
    )

    untrained = NeuralNet(env, **TOWER)
    print(f"\nHow it fares, {arguments.games} games each, colours alternating:", flush=True)
    for title, who, against, readouts in (
        ("its policy alone against random moves", net, "random", 0),
        ("an untrained policy against random moves", untrained, "random", 0),
        (f"with search ({READOUTS} readouts) against its untrained self", net, untrained, READOUTS),
    ):
        print(f"  {title}:\n    {evaluate(env, who, against, arguments.games, readouts)}", flush=True)
    weights = f'"{folder}/weights.safetensors"'
    print(
        f"""
Play it (you are Black; mode=1 for White):

    .venv/bin/python -c 'from alphago import *; play(GoEnv(7), load_model({weights}, GoEnv(7)))'
"""
    )


if __name__ == "__main__":
    main()
