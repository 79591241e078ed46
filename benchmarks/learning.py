"""What learning costs without each part of the recipe: trainings of equal wall time, then matches.

Every variant trains a network by the 7x7 recipe, changed in one point, from random weights for `--minutes` (or, on a
machine whose speed others change, for `--games-each`: its processor time is told beside the recipe's); then it
plays the network of the unchanged recipe (or of the variant `--against`) and the same seed: pairs of games from the
same 2 random first moves with colours exchanged, Gumbel search without noise on both sides.  Elo is told from the
variant's side.  A training takes the cores that it may use, so that `taskset -c 0 … --seeds 0` beside
`taskset -c 1 … --seeds 1` gives both seeds the same machine.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from alphago import NeuralNet, Puct, evaluate, train
from alphago.arena.elo import elo_difference
from alphago.arena.match import MatchResult
from alphago.nn.base import ResidualTower
from alphago.training.recipes import RECIPES

RECIPE = RECIPES["7x7"]
ENV = RECIPE.make_env()

# name: (options of the game, of the network or whether its tower is pooled, of the training)
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "exact rules": ({}, {}, {"exact_rules": True}),
    "boards alone (17 planes)": ({"planes": 17}, {}, {}),
    "dense heads, no pooling, no forecast": ({}, {"size_free": False}, {"curriculum": ()}),
    "no pooling in the tower": ({}, {"pooled": False}, {}),
    "ownership and score not learnt": ({}, {}, {"losses": {"ownership": 0.0, "score": 0.0}}),
    "one readout for each of 8 actions": ({}, {}, {"readouts": 8, "search": {"considered": 8}}),
    "one readout for each of 12 actions": ({}, {}, {"readouts": 12, "search": {"considered": 12}}),
    "one readout for each of 12 actions, c_scale 2": (
        {},
        {},
        {"readouts": 12, "search": {"considered": 12, "c_scale": 2.0}},
    ),
    "c_scale 0.3": ({}, {}, {"search": {"c_scale": 0.3}}),
    "c_scale 2": ({}, {}, {"search": {"c_scale": 2.0}}),
    "PUCT": ({}, {}, {"search": Puct()}),
    "8 readouts": ({}, {}, {"readouts": 8}),
    "32 readouts": ({}, {}, {"readouts": 32}),
    "learning rate 0.003": ({}, {}, {"learning_rate": 0.003}),
    "learning rate 0.03": ({}, {}, {"learning_rate": 0.03}),
    "1 sample a position": ({}, {}, {"samples_per_position": 1.0}),
    "4 samples a position": ({}, {}, {"samples_per_position": 4.0}),
    "results alone as value targets": ({}, {}, {"search_share": 0.0}),
    "all positions drawn alike": ({}, {}, {"surprise_share": 0.0}),
    "half of the draws by surprise": ({}, {}, {"surprise_share": 0.5}),
    "no drawn openings": ({}, {}, {"opening_plies": 0.0}),
    "32 games side by side": ({}, {}, {"games_in_flight": 32}),
    "256 games side by side": ({}, {}, {"games_in_flight": 256}),
    "batches of 128": ({}, {}, {"batch_size": 128}),
    "batches of 512": ({}, {}, {"batch_size": 512}),
    "adaptive resignation": ({}, {}, {"adaptive_resignation": True, "no_resign_share": 0.1}),
    "3 blocks x 32": ({}, {"tower_height": 3}, {}),
    "4 blocks x 64": ({}, {"channels": 64}, {}),
}


def trained(length: dict[str, Any], seed: int, env: dict, network: dict, settings: dict) -> tuple[NeuralNet, float]:
    """The network and the processor time that it took, in seconds."""
    began = time.process_time()
    game = ENV.replace(**env)
    parts = {**RECIPE.network, **network}
    if not parts.pop("pooled", True):
        parts = {"base_net": ResidualTower(game.planes, parts["channels"], parts["tower_height"])}
    net = NeuralNet(game, **parts)
    with tempfile.TemporaryDirectory() as folder:
        options = {"preset": "7x7", **length, "seed": seed, "reports": [], **settings}
        net = train(game, model=net, folder=Path(folder) / "run", **options)
    return net, time.process_time() - began


def rates(match: MatchResult) -> str:
    elo, low, high = elo_difference(match.win_rate, len(match.outcomes))
    return f"{match.win_rate:.1%}, Elo {elo:+.0f} ({low:+.0f} to {high:+.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="training time of each variant (2)")
    parser.add_argument("--games-each", type=int, help="train each for so many games of self-play instead")
    parser.add_argument(
        "--equal-processor",
        action="store_true",
        help="of --games-each: train each variant once more, for so many games as take the recipe's processor time",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="each trains every variant (0 1)")
    parser.add_argument("--games", type=int, default=200, help="games per match (200)")
    parser.add_argument("--readouts", type=int, nargs="+", default=[0, 32], help="in matches; 0 policy alone (0 32)")
    parser.add_argument("--only", nargs="*", help="variants whose name holds one of these words")
    parser.add_argument("--against", choices=list(VARIANTS), help="the variant to compare with (the recipe)")
    arguments = parser.parse_args()
    if arguments.games_each:
        length = {"num_games": arguments.games_each, "max_minutes": None}
        each = f"{arguments.games_each} games"
    else:
        length, each = {"max_minutes": arguments.minutes}, f"{arguments.minutes:g} minutes"
    reference = VARIANTS[arguments.against] if arguments.against else ({}, {}, {})
    chosen = {name: v for name, v in VARIANTS.items() if not arguments.only or any(w in name for w in arguments.only)}
    for seed in arguments.seeds:
        recipe, seconds = trained(length, seed, *reference)
        for name, options in chosen.items():
            net, took = trained(length, seed, *options)
            print(f"seed {seed}, {each}, {name}: {took:.0f} s of the processor, recipe {seconds:.0f}", flush=True)
            if arguments.equal_processor and arguments.games_each:
                longer = round(arguments.games_each * seconds / took)
                net, took = trained({**length, "num_games": longer}, seed, *options)
                print(f"seed {seed}, {name}: {longer} games, {took:.0f} s of the processor", flush=True)
            for readouts in arguments.readouts:
                match = evaluate(
                    ENV, net, recipe, arguments.games, readouts, search="gumbel", random_opening=2, seed=seed
                )
                told = f"{name}: {rates(match)} with {readouts} readouts"
                print(f"seed {seed}, {each}, {told}", flush=True)


if __name__ == "__main__":
    main()
