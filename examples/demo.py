"""`make demo`: trains a 7x7 network for five minutes and shows what it learned.

Everything starts from random weights and the rules.  With `--minutes` it can be shorter or longer.
"""

import argparse

from alphago import GoEnv, NeuralNet, evaluate, train
from alphago.training.checkpoint import default_folder

TOWER = {"tower_height": 4, "channels": 32}
READOUTS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="time to train (default 5)")
    parser.add_argument("--games", type=int, default=100, help="games per comparison (default 100)")
    minutes, games = parser.parse_args().minutes, parser.parse_args().games

    env = GoEnv(7)
    folder = default_folder("demo")
    print(f"Training a {TOWER['tower_height']} x {TOWER['channels']} network on {env}, komi {env.komi:g}, ", end="")
    print(f"for {minutes:g} minutes from random weights ...", flush=True)
    net = train(
        env, 1_000_000, max_minutes=minutes, readouts=READOUTS, ckp_freq=2000, start_training_after=2000,
        folder=folder, **TOWER,
    )  # fmt: skip

    untrained = NeuralNet(env, **TOWER)
    print(f"\nHow it fares, {games} games each, colours alternating:", flush=True)
    for title, who, against, readouts in (
        ("its policy alone against random moves", net, "random", 0),
        ("an untrained policy against random moves", untrained, "random", 0),
        (f"with search ({READOUTS} readouts) against its untrained self", net, untrained, READOUTS),
    ):
        print(f"  {title}:\n    {evaluate(env, who, against, games, readouts)}", flush=True)
    print(
        f"""
Play it (you are Black; mode=1 for White):

    .venv/bin/python -c 'from alphago import *; play(env := GoEnv(7), load_model("{folder}/weights.safetensors", env))'
"""
    )


if __name__ == "__main__":
    main()
