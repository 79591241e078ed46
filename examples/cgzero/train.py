"""CGZero's whole recipe (marchete 2020, github.com/marchete/CGZero): `python examples/cgzero/train.py --minutes 45`.

It plays Oware by the rules of CodinGame's contest, with all that CGZero has: network, search, games, targets, losses,
pool of merged samples, champions.  The same command with the same folder goes on with a run.  See docs/cgzero.md.
"""

import argparse
from typing import Any

import torch
from champions import Champions
from games import CGZeroGames
from pool import Pool
from rates import GenerationRates
from search import CGZeroPuct
from targets import MixedTargets

from alphago import NeuralNet, OwareEnv, train

# The constants are from CGZero's training notebook, where it has ranges their middle.  CGZero itself differs in four
# things: it uses 2 000 readouts, plays 800 games per generation, learns up to 20 epochs per generation in batches of 32
# (here batches and learning rates are four times as large), and has momentum 0.87.
SEARCH = CGZeroPuct(
    c_puct=2.897,
    c_puct_growth=0.0034,
    c_puct_limit=2.975,
    parent_value_weight=0.0,
    first_play_reduction=0.0,
    dirichlet_weight=0.22,
    dirichlet_alpha=1.45,
    value_noise=0.025,
    near_best=0.95,
    leaves=1,
)
RECIPE: dict[str, Any] = {
    "source": CGZeroGames(random_move_share=0.015, random_move_plies=12),
    "search": SEARCH,
    "targets": MixedTargets(),
    "memory": Pool(50_000),
    "judges": [Champions(0.556), GenerationRates()],
    "losses": "cgzero",
    "max_minutes": 45.0,
    "first_readouts": 200,
    "readouts": 800,
    "games_in_flight": 256,
    "first_games_in_flight": 64,
    "plies_per_iteration": 32,
    "ckp_freq": 500,
    "start_training_after": 5000,
    "opening_plies": 0.0,
    "optimizer": "sgd",
    "weight_decay": 0.0,
    "gradient_norm": None,
    "batch_size": 128,
    "learning_rate": 4e-3,
    "schedule": "constant",
}


def train_cgzero(seed: int = 0, **changes: Any) -> NeuralNet:
    """Train a network by CGZero's recipe, and return it.

    Args:
        seed: seed of weights, games and samples.
        changes: keywords of `train` that replace the recipe's.
    """
    env = OwareEnv(rules="cgzero", planes="one-hot")
    torch.manual_seed(seed)
    return train(env, model=NeuralNet(env, preset="cgzero"), seed=seed, **{**RECIPE, **changes})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=45.0, help="length of the run (45)")
    parser.add_argument("--games", type=int, help="length of the run in games, instead of minutes")
    parser.add_argument("--readouts", type=int, default=800, help="simulations a move in the end (800)")
    parser.add_argument("--positions", type=int, default=50_000, help="new positions of a generation (50000)")
    parser.add_argument("--pit", type=int, default=100, help="games of a match against a champion (100)")
    parser.add_argument("--seed", type=int, default=0, help="of weights, games and samples (0)")
    parser.add_argument("--device", default="auto", help="cpu or cuda (auto)")
    parser.add_argument("--folder", help="the run's folder; a run that is in it goes on")
    options = parser.parse_args()
    train_cgzero(
        num_games=options.games,
        max_minutes=None if options.games else options.minutes,
        first_readouts=min(200, options.readouts),
        readouts=options.readouts,
        memory=Pool(options.positions),
        judges=[Champions(0.556, games=options.pit), GenerationRates()],
        seed=options.seed,
        device=options.device,
        folder=options.folder,
    )


if __name__ == "__main__":
    main()
